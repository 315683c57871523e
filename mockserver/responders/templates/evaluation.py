"""The language of templates: JSON in which an object with one name such as `$input` is computed.

| node | becomes |
|---|---|
| `{$input: sender, case: lower}` | an input of the request, or of what it looks up |
| `{$text: [part, …]}` | parts joined: texts, inputs, amounts in hex |
| `{$amount: {…}}` | a number that follows from an amount of the request |
| `{$time: now, unit: s}` | a time: `now`, `submitted`, or `since` the last change |
| `{$order: id}`, `{$ticket: id}` | of the order or the ticket that the request is about |
| `{$made: text, for: key}` | that text for one order, and another one of its form for each other |
| `{$by: […], rows: […], else: node}` | a choice by inputs |
| `{$items: v2.getAssets, …}` | items of another recorded list |
| `{$tickets: node, under: […]}` | each ticket of an address, under these filters |
| `{$count: tickets, under: […]}` | how many these are; under any filter without `under` |
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from hashlib import sha256
from typing import Any

from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json, encode, plain
from mockserver.responders.templates.template_choice import amounts_in
from mockserver.scenarios.template_names import ListedNames, NamedInputs

ROUNDINGS = {"down": ROUND_FLOOR, "near": ROUND_HALF_EVEN, "up": ROUND_CEILING}
# Amounts have a hundred digits at most, and tokens 24 decimals.
_EXACT = Context(prec=260)
_RUNS = re.compile(r"[0-9A-Fa-f]{6,}|[0-9]{3,}|.", re.DOTALL)
_DIGITS = {"0123456789": re.compile("[0-9]+"), "0123456789abcdef": re.compile("[0-9a-f]+")}


@dataclass(frozen=True, slots=True)
class AnswerMoment:
    """All that an answer may depend on. Times are in milliseconds since 1970.

    `submitted` are the inputs of the submission that the request is about, `stored` values such as
    the id of its order; `key` tells orders apart. `tickets` are such moments of their own.
    """

    inputs: NamedInputs
    now_ms: int
    seed: int = 0
    submitted: NamedInputs = field(default_factory=dict)
    stored: Mapping[str, Json] = field(default_factory=dict)
    times: Mapping[str, int] = field(default_factory=dict)
    key: str = ""
    lists: Mapping[str, Json] = field(default_factory=dict)
    names: ListedNames = field(default_factory=ListedNames)
    closed: frozenset[str] = frozenset()
    tickets: Sequence["AnswerMoment"] = ()

    def input(self, name: str) -> Json:
        return self.inputs[name] if name in self.inputs else self.submitted.get(name)

    def amount(self, name: str) -> Decimal | None:
        """Return an amount of the request, or of the submission that it is about."""
        return amounts_in({**self.submitted, **self.inputs}).get(name)


def evaluated(node: Json, moment: AnswerMoment) -> Json:
    """Return the value that a node of a template stands for."""
    if isinstance(node, list):
        return [evaluated(item, moment) for item in node]
    if not isinstance(node, dict):
        return node
    name = next(iter(node), "")
    if name in _COMPUTED:
        return _COMPUTED[name](node, moment)
    return {member: evaluated(value, moment) for member, value in node.items()}


def _input(node: Mapping[str, Any], moment: AnswerMoment) -> Json:
    value = moment.input(node["$input"])
    if "case" in node:
        text = str(value)
        return text.lower() if node["case"] == "lower" else text.upper()
    if node.get("as") == "text":
        return str(value)
    return "" if value is None else value


def _joined(node: Mapping[str, Any], moment: AnswerMoment) -> str:
    return "".join(_part(part, moment) for part in node["$text"])


def _part(part: Json, moment: AnswerMoment) -> str:
    if not isinstance(part, dict) or "hex" not in part:
        value = evaluated(part, moment)
        return value if isinstance(value, str) else encode(value).decode("ascii")
    if "shift" in part:
        units = int(Fraction(moment.amount(part["hex"]) or 0) * 10 ** part["shift"])
        return f"{units:0{part['digits']}x}"[-part["digits"] :]
    # An address stands in call data without its prefix, filled up to a word.
    text = str(moment.input(part["hex"]) or "").lower().removeprefix("0x")
    return text.rjust(part["digits"], "0")


def _amount(node: Mapping[str, Any], moment: AnswerMoment) -> Json:
    how = node["$amount"]
    return written(calculated(how, moment), how.get("places"), how.get("as", "text"))


def calculated(how: Mapping[str, Any], moment: AnswerMoment) -> Decimal:
    """Return an amount before it is written; 0 where the request has none."""
    amount = moment.amount(how["of"])
    if amount is None:
        return Decimal(0)
    known = how.get("known", {}).get(plain(amount))
    if known is not None:
        return Decimal(known)
    exact = Fraction(amount) * Fraction(how["times"]) + Fraction(how.get("plus", "0"))
    if "least" in how:
        exact = max(exact, Fraction(how["least"]))
    if "less" in how:
        exact -= Fraction(calculated(how["less"], moment))
    return rounded(exact, how.get("places"), how.get("round", "down"))


def rounded(exact: Fraction, places: int | None, how: str) -> Decimal:
    """Return a fraction as a decimal number; without `places` to 18 of them at most."""
    quotient = _EXACT.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    step = Decimal(1).scaleb(-(18 if places is None else places))
    return quotient.quantize(step, ROUNDINGS[how], _EXACT)


def written(number: Decimal, places: int | None, kind: str) -> Json:
    """Return an amount as it is sent: a text, or a number of JSON."""
    text = plain(number) if places is None else f"{number:f}"
    if kind == "text":
        return text
    return int(text) if text.lstrip("-").isdecimal() else Decimal(text)


def _time(node: Mapping[str, Any], moment: AnswerMoment) -> Json:
    at_ms = moment.times.get(node["$time"], moment.now_ms)
    value = at_ms if node["unit"] == "ms" else at_ms // 1000
    return str(value) if node.get("as") == "text" else value


def _stored(node: Mapping[str, Any], moment: AnswerMoment) -> Json:
    return moment.stored.get(next(iter(node.values())), "")


def _made(node: Mapping[str, Any], moment: AnswerMoment) -> str:
    if node.get("for") == moment.key:
        return str(node["$made"])
    return alike(str(node["$made"]), f"{moment.seed} {node.get('of', '')} {moment.key}")


def alike(sample: str, key: str) -> str:
    """Return a text of the form of another one: runs of digits differ, the rest stays."""
    number = int(sha256(key.encode()).hexdigest(), 16)

    def run(match: re.Match[str]) -> str:
        nonlocal number
        text = match[0]
        if len(text) == 1:
            return text
        capital = text.upper() == text and text.lower() != text
        digits = next(
            (digits for digits, form in _DIGITS.items() if form.fullmatch(text.lower())), ""
        )
        made = []
        for place in range(len(text)):
            # A long run takes more digits than one hash has.
            if number < 2**64:
                number = int(sha256(f"{key} {place} {number}".encode()).hexdigest(), 16)
            number, index = divmod(number, len(digits))
            made.append(digits[index])
        # A leading 0 would make another number of it.
        first = "1" if text[0] != "0" and made[0] == "0" else made[0]
        return (first + "".join(made[1:])).upper() if capital else first + "".join(made[1:])

    prefix = "0x" if sample.startswith("0x") else ""
    return prefix + _RUNS.sub(run, sample.removeprefix(prefix))


def _by(node: Mapping[str, Any], moment: AnswerMoment) -> Json:
    asked = [str(moment.input(name)).lower() for name in node["$by"]]
    for values, then in node["rows"]:
        if [str(value).lower() for value in values] == asked:
            return evaluated(then, moment)
    return evaluated(node["else"], moment)


def _items(node: Mapping[str, Any], moment: AnswerMoment) -> Json:
    """Return the items of a list that are about a chain, each by its own members."""
    on = moment.names.chain(moment.input(node["of"]))
    items = (
        item
        for item in items_in(moment.lists.get(node["$items"]))
        if str(item.get(node["member"])).lower() in on
    )
    return without(
        [_projected(node.get("item"), item) for item in items], moment.names, moment.closed
    )


def _projected(form: Json, item: Mapping[str, Json]) -> Json:
    if form is None:
        return dict(item)
    if isinstance(form, dict):
        return {member: item.get(source) for member, source in form.items()}
    return item.get(str(form))


def items_in(value: Json) -> Iterator[Mapping[str, Json]]:
    """Yield the objects in the lists of an answer, at any depth."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))
    elif isinstance(value, dict):
        for member in value.values():
            yield from items_in(member)


def _tickets(node: Mapping[str, Any], moment: AnswerMoment) -> Json:
    shown = moment.tickets if _is_listed(node, moment) else ()
    return [evaluated(node["$tickets"], replace(ticket, inputs=moment.inputs)) for ticket in shown]


def _count(node: Mapping[str, Any], moment: AnswerMoment) -> int:
    return len(moment.tickets) if _is_listed(node, moment) else 0


def _is_listed(node: Mapping[str, Any], moment: AnswerMoment) -> bool:
    return "under" not in node or str(moment.inputs.get("filter")) in node["under"]


def without(value: Json, names: ListedNames, closed: frozenset[str]) -> Json:
    """Return an answer without the items of lists that are about a closed chain.

    An item is about a chain if one of its texts, or the item itself, is a name of that chain.
    """
    if not closed:
        return value
    if isinstance(value, dict):
        return {name: without(member, names, closed) for name, member in value.items()}
    if isinstance(value, list):
        return [without(item, names, closed) for item in value if not _about(item) & closed]
    return value


def _about(item: Json) -> frozenset[str]:
    texts = item.values() if isinstance(item, dict) else (item,)
    return frozenset(text.lower() for text in texts if isinstance(text, str))


_COMPUTED: Mapping[str, Callable[[Mapping[str, Any], AnswerMoment], Json]] = {
    "$input": _input,
    "$text": _joined,
    "$amount": _amount,
    "$time": _time,
    "$order": _stored,
    "$ticket": _stored,
    "$made": _made,
    "$by": _by,
    "$items": _items,
    "$tickets": _tickets,
    "$count": _count,
}
