"""Templates fitted to recorded values: the simplest expression that gives each of them."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple, cast

from mockserver.jsontext import Json, canonical, plain
from mockserver.responders.templates.evaluation import ROUNDINGS, AnswerMoment, evaluated, items_in
from mockserver.responders.templates.template_choice import amounts_in, plain_number

# A shorter text may equal an input by chance.
_SHORTEST_ECHO = 3
_LONG_TEXT = 20
# How far a recorded time may lie from the moment it tells, for a service with a clock of its own.
_APART_MS = 5_000
_DAY_MS = 86_400_000
_NAMES_TIME = re.compile(r"time|date|created|updated|at$", re.IGNORECASE)
_NAMES_COUNT = re.compile(r"total|count|size|num", re.IGNORECASE)
_WORD = 64
# An amount of 24 decimals is more than any token has.
_MOST_DECIMALS = 24
_MOST_DIGITS = 40
_SCALING = re.compile(r"amount|out|receive|usd", re.IGNORECASE)
_HASH = re.compile(r"(?:0x)?[0-9A-Fa-f]{32,}")
_MADE = re.compile(r"[0-9A-Za-z_-]{12,}|0x[0-9A-Fa-f]{12,}")
# Denominators of rates that people choose: percents, basis points, millionths.
_DENOMINATORS = tuple(10**power for power in range(7))


class FittedSample(NamedTuple):
    """What a service answered at one place, and the moment that it depends on."""

    moment: AnswerMoment
    value: Json


Samples = Sequence[FittedSample]


def fitted(samples: Samples, name: str = "", siblings: Samples = ()) -> Json:
    """Return the template of some values, which are not empty; `name` is that of the member."""
    values = [sample.value for sample in samples]
    if all(isinstance(value, dict) for value in values):
        members = [frozenset(value) for value in values if isinstance(value, dict)]
        if len(set(members)) == 1:
            return {
                member: fitted(_inside(samples, member), member, samples)
                for member in _keys(values[0])
            }
    if samples[0].moment.times and _have_one_length(values):
        count = len(values[0]) if isinstance(values[0], list) else 0
        return [fitted(_inside(samples, place), name) for place in range(count)]
    simple = _simple(samples, name, siblings)
    return _by_inputs(samples, name, siblings) if simple is None else simple


def _have_one_length(values: Sequence[Json]) -> bool:
    """Tell whether values are lists of as many items, which an order has: its steps, itself."""
    lengths = {len(value) if isinstance(value, list) else -1 for value in values}
    return len(lengths) == 1 and max(lengths) > 0


def _keys(value: Json) -> list[str]:
    return list(value) if isinstance(value, dict) else []


def _inside(samples: Samples, place: str | int) -> list[FittedSample]:
    """Return a member, or an item, of the values that are objects, or lists."""
    kind = dict if isinstance(place, str) else list
    return [
        FittedSample(sample.moment, cast("Any", sample.value)[place])
        for sample in samples
        if isinstance(sample.value, kind)
    ]


def _simple(samples: Samples, name: str, siblings: Samples) -> Json:
    """Return the first expression that gives every value; None where none does."""
    for node in _candidates(samples, name, siblings):
        is_time = isinstance(node, dict) and "$time" in node
        if is_time or all(same(evaluated(node, sample.moment), sample.value) for sample in samples):
            return node
    return _time(samples, _APART_MS) or _own_text(samples)


def same(value: Json, recorded: Json) -> bool:
    """Tell whether two values are the same to the digit: 1.10 is not 1.1."""
    return type(value) is type(recorded) and canonical(value) == canonical(recorded)


def _candidates(samples: Samples, name: str, siblings: Samples) -> Iterator[Json]:
    first = samples[0].value
    for stored in ("id", "text"):
        kind = "$ticket" if "text" in samples[0].moment.stored else "$order"
        if stored in samples[0].moment.stored:
            yield {kind: stored}
    if "under" in samples[0].moment.stored:
        yield from _counts(samples, name)
    yield from _echoes(first, samples[0].moment, name)
    if isinstance(first, str) and _HASH.fullmatch(first) and samples[0].moment.times:
        yield {"$made": first, "of": name, "for": samples[0].moment.key}
    if _NAMES_TIME.search(name) and (time := _time(samples, _DAY_MS)) is not None:
        yield time
    if isinstance(first, str) and len(first) >= _LONG_TEXT:
        text = _text(first, samples[0].moment)
        if text != first:
            yield text
    if len(samples) == 1 and _SCALING.search(name):
        yield from _amounts(samples, name, siblings)
    if not (isinstance(first, dict) and next(iter(first), "").startswith("$")):
        yield first
    yield from _amounts(samples, name, siblings)


def _counts(samples: Samples, name: str) -> Iterator[Json]:
    """Yield how many tickets are listed, and how many the address has."""
    values = [sample.value for sample in samples]
    if all(type(value) is int for value in values) and (
        _NAMES_COUNT.search(name) or len(set(map(canonical, values))) > 1
    ):
        yield {"$count": "tickets", "under": samples[0].moment.stored["under"]}
        yield {"$count": "tickets"}


def _echoes(value: Json, moment: AnswerMoment, name: str) -> Iterator[Json]:
    """Yield the inputs that a value may repeat, those of its own name first."""
    inputs = {**moment.submitted, **moment.inputs}
    for key in sorted(inputs, key=lambda key: key.lower() != name.lower()):
        sent = inputs[key]
        if key.lower() != name.lower() and len(str(value)) < _SHORTEST_ECHO:
            continue
        if same(value, sent):
            yield {"$input": key}
        elif isinstance(value, str) and isinstance(sent, int | Decimal) and value == str(sent):
            yield {"$input": key, "as": "text"}
        elif isinstance(value, str) and isinstance(sent, str) and len(value) > _SHORTEST_ECHO:
            for case, text in (("lower", sent.lower()), ("upper", sent.upper())):
                if value == text:
                    yield {"$input": key, "case": case}


def _text(text: str, moment: AnswerMoment) -> Json:
    """Return a text with the inputs in it named: call data, messages, JSON in a text."""
    marks: list[tuple[int, int, Json]] = []
    # Where two inputs are alike, call data names who is paid.
    inputs = {**moment.submitted, **moment.inputs}
    for key in sorted(inputs, key=lambda key: key not in ("recipient", "toAddr")):
        value = str(inputs[key])
        if len(value) < _SHORTEST_ECHO:
            continue
        marks += [(at, len(value), {"$input": key}) for at in _places(text, value)]
        if value.lower().startswith("0x"):
            word = value.lower()[2:].rjust(_WORD, "0")
            part = {"hex": key, "digits": _WORD}
            marks += [(at, _WORD, part) for at in _places(text, word)]
    for key, amount in amounts_in({**moment.submitted, **moment.inputs}).items():
        for shift in range(_MOST_DECIMALS + 1):
            units = Fraction(amount) * 10**shift
            if units.denominator != 1 or units <= 0:
                continue
            word = f"{int(units):0{_WORD}x}"
            part = {"hex": key, "digits": _WORD, "shift": shift}
            marks += [(at, _WORD, part) for at in _places(text, word)]
    parts: list[Json] = []
    end = 0
    for at, length, part in sorted(marks, key=lambda mark: (mark[0], -mark[1])):
        if at >= end:
            parts += [text[end:at], part]
            end = at + length
    return {"$text": [part for part in [*parts, text[end:]] if part != ""]} if parts else text


def _places(text: str, part: str) -> list[int]:
    return [match.start() for match in re.finditer(re.escape(part), text)]


# Amounts


class _Numbers(NamedTuple):
    """Numbers as they were sent: their decimal places if all have as many, text or number."""

    values: list[Decimal]
    places: int | None
    kind: str


def _numbers(samples: Samples) -> _Numbers | None:
    texts = [sample.value for sample in samples]
    if any(
        isinstance(value, bool) or not isinstance(value, str | int | Decimal) for value in texts
    ):
        return None
    values = [plain_number(str(value)) for value in texts]
    numbers = [value for value in values if value is not None]
    if len(numbers) != len(samples):
        return None
    places = {max(0, -int(number.as_tuple().exponent)) for number in numbers}
    is_text = all(isinstance(value, str) for value in texts)
    # Numbers with a point have as many places as they need, unless a zero fills one up.
    is_fixed = is_text or any(max(places) and str(number).endswith("0") for number in numbers)
    fixed = places.pop() if len(places) == 1 and is_fixed else None
    are_whole = all(number == int(number) for number in numbers) and not is_fixed
    return _Numbers(numbers, 0 if are_whole else fixed, "text" if is_text else "number")


def _amounts(samples: Samples, name: str, siblings: Samples) -> Iterator[Json]:
    """Yield how numbers may follow from an amount of the request."""
    numbers = _numbers(samples)
    if numbers is None or not any(numbers.values):
        return
    for key in amounts_in({**samples[0].moment.submitted, **samples[0].moment.inputs}):
        amounts = [sample.moment.amount(key) for sample in samples]
        known = [amount for amount in amounts if amount is not None]
        # Numbers far beyond any amount are kept as they are, since no rate explains them.
        if len(known) == len(samples) and all(known) and _are_amounts(known, numbers.values):
            yield from _lines(key, known, numbers)
            yield from _rests(key, known, numbers, name, siblings)
            yield _nearest_line(key, known, numbers)


def _are_amounts(*rows: Sequence[Decimal]) -> bool:
    return all(
        not number or abs(number.adjusted()) <= _MOST_DIGITS for row in rows for number in row
    )


def _lines(key: str, amounts: list[Decimal], numbers: _Numbers) -> Iterator[Json]:
    """Yield what is proportional, has a constant part, or a least value."""
    for times, more in _slopes(amounts, numbers.values):
        for how in ROUNDINGS:
            yield _node(key, times, numbers, {**more, "round": how})


def _slopes(amounts: list[Decimal], values: list[Decimal]) -> Iterator[tuple[Fraction, Any]]:
    pairs = sorted(
        (Fraction(amount), Fraction(value)) for amount, value in zip(amounts, values, strict=True)
    )
    (low, least), (high, most) = pairs[0], pairs[-1]
    proportion = most / high
    scale = Fraction(1)
    # Tokens of 6 and of 18 decimals: the rate is that of whole tokens.
    while abs(proportion * scale) < Fraction(1, 1000) and scale < 10**24:
        scale *= 10
    for denominator in _DENOMINATORS:
        yield Fraction(round(proportion * scale * denominator), denominator) / scale, {}
    if low == high:
        return
    for denominator in _DENOMINATORS[:5]:
        times = Fraction(round((most - least) / (high - low) * denominator), denominator)
        plus = most - times * high
        if plus == Fraction(round(plus * 10**6), 10**6):
            yield times, {"plus": str(plus)}
        rate = Fraction(round(proportion * denominator), denominator)
        if rate and rate * low < least:
            yield rate, {"least": str(least)}


def _rests(
    key: str, amounts: list[Decimal], numbers: _Numbers, name: str, siblings: Samples
) -> Iterator[Json]:
    """Yield what is left of an amount when another member, a fee, is taken off."""
    for member in _keys(siblings[0].value) if siblings else ():
        if member == name or len(siblings) != len(amounts):
            continue
        fees = _numbers(_inside(siblings, member))
        if fees is None or not any(fees.values):
            continue
        for shift in range(-_MOST_DECIMALS, _MOST_DECIMALS + 1, 1):
            times = Fraction(10) ** shift
            rest = [
                Fraction(amount) * times - Fraction(fee)
                for amount, fee in zip(amounts, fees.values, strict=True)
            ]
            if rest == [Fraction(value) for value in numbers.values]:
                less = fitted(_inside(siblings, member), member)
                taken = less.get("$amount") if isinstance(less, dict) else None
                constant = {"of": key, "times": "0", "plus": str(fees.values[0]), "places": 18}
                yield _node(key, times, numbers, {"less": taken or constant})


def _nearest_line(key: str, amounts: list[Decimal], numbers: _Numbers) -> Json:
    """Return a line through the outermost values, with each recorded one to the digit."""
    pairs = sorted(zip(amounts, numbers.values, strict=True))
    (low, least), (high, most) = pairs[0], pairs[-1]
    times = Fraction(most) / Fraction(high)
    more: dict[str, Json] = {}
    if low != high:
        times = (Fraction(most) - Fraction(least)) / (Fraction(high) - Fraction(low))
        more["plus"] = str(Fraction(most) - times * Fraction(high))
    known: dict[str, Json] = {plain(amount): f"{value:f}" for amount, value in pairs}
    return _node(key, times, numbers, {**more, "known": known})


def _node(key: str, times: Fraction, numbers: _Numbers, more: dict[str, Any]) -> Json:
    kind = {} if numbers.kind == "text" else {"as": numbers.kind}
    places = {} if numbers.places is None else {"places": numbers.places}
    if more.get("round") == "down":
        del more["round"]
    return {"$amount": {"of": key, "times": str(times), **more, **places, **kind}}


# Times, and texts that each order has of its own


def _time(samples: Samples, apart_ms: int) -> Json:
    """Return which moment of an order, or of the request, a number of seconds or of ms tells.

    It is the nearest one; none is nearer than `apart_ms`, as that number may be something else.
    """
    numbers = [plain_number(str(sample.value)) for sample in samples]
    is_text = isinstance(samples[0].value, str)
    if any(isinstance(sample.value, bool | dict | list) for sample in samples):
        return None
    best: tuple[int, Json] | None = None
    for name in ("since", "submitted", "now"):
        for unit, factor in (("s", 1000), ("ms", 1)):
            apart = [
                abs(int(number) * factor - at)
                for number, sample in zip(numbers, samples, strict=True)
                if number is not None
                for at in (_moment_of(name, sample),)
                if at is not None
            ]
            # A service cuts its times to seconds.
            worst = max(apart, default=0) // 1000
            if len(apart) == len(samples) and max(apart) <= apart_ms:
                node: Json = {"$time": name, "unit": unit, **({"as": "text"} if is_text else {})}
                best = (worst, node) if best is None or worst < best[0] else best
    return None if best is None else best[1]


def _moment_of(name: str, sample: FittedSample) -> int | None:
    return sample.moment.now_ms if name == "now" else sample.moment.times.get(name)


def _own_text(samples: Samples) -> Json:
    """Return that a text is another one for each order, where all have one form."""
    texts = {sample.value for sample in samples if isinstance(sample.value, str)}
    keys = {sample.moment.key for sample in samples}
    has_form = all(_MADE.fullmatch(text) for text in texts)
    if len(texts) == len(keys) > 1 and has_form and len({len(text) for text in texts}) == 1:
        return {"$made": min(texts)}
    return None


# Choices


def _by_inputs(samples: Samples, name: str, siblings: Samples) -> Json:
    """Return a choice by the fewest inputs that tell values apart, and the first one otherwise."""
    names = [
        key
        for key in samples[0].moment.inputs
        if not isinstance(samples[0].moment.inputs[key], dict | list)
    ]
    for size in (1, 2):
        for chosen in combinations(names, size):
            groups: dict[str, list[int]] = {}
            for place, sample in enumerate(samples):
                key = canonical([str(sample.moment.input(input_name)) for input_name in chosen])
                groups.setdefault(key, []).append(place)
            if len(groups) < 2:
                continue
            nodes = [
                _simple(
                    [samples[place] for place in places],
                    name,
                    [siblings[place] for place in places] if siblings else (),
                )
                for places in groups.values()
            ]
            if all(node is not None for node in nodes):
                firsts = [samples[places[0]].moment for places in groups.values()]
                rows: list[Json] = [
                    [[str(moment.input(input_name)) for input_name in chosen], node]
                    for moment, node in zip(firsts, nodes, strict=True)
                ]
                return {"$by": list(chosen), "rows": rows, "else": nodes[0]}
    # The same request had several answers: the last one is how it is now.
    return samples[-1].value


def filtered(samples: Samples, lists: dict[str, Json]) -> Json:
    """Return how lists of a chain follow from the list of all; None where they do not."""
    for source, body in lists.items():
        every = list(items_in(body))
        for member in _keys(every[0]) if every else ():
            for form in _forms(samples[0], every, member):
                node = {"$items": source, "of": "chain", "member": member}
                node |= {} if form is None else {"item": form}
                if all(same(evaluated(node, sample.moment), sample.value) for sample in samples):
                    return node
    return None


def _forms(sample: FittedSample, every: Sequence[Any], member: str) -> Iterator[Json]:
    """Yield how an item of the list of a chain may be made of one of the list of all."""
    yield None
    on = sample.moment.names.chain(sample.moment.input("chain"))
    sources = [item for item in every if str(item.get(member)).lower() in on]
    items = sample.value if isinstance(sample.value, list) else []
    if not items or len(items) != len(sources):
        return
    if isinstance(items[0], dict):
        form = {name: _source(name, items, sources) for name in items[0]}
        if all(form.values()):
            yield form
    else:
        for name in sources[0]:
            if [source.get(name) for source in sources] == items:
                yield name


def _source(name: str, items: Sequence[Any], sources: Sequence[Any]) -> str:
    wanted = [item.get(name) if isinstance(item, dict) else None for item in items]
    for member in sources[0]:
        if all(
            same(source.get(member), value) for source, value in zip(sources, wanted, strict=True)
        ):
            return str(member)
    return ""
