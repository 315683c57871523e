"""What a break changed in an answer, what that would cost, and which assertion sees it."""

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from urllib.parse import parse_qsl

from mockserver import jsontext
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.mock_headers import REFUSAL_HEADER

_BOTH = ("true", "sent")
_MISSING = object()
_LONGEST = 90
MONEY, MISLED, NUISANCE = 5, 2, 1
"""How much a break weighs: money goes astray, a user is misled, or somebody is annoyed."""

# What a wrong member costs, by its name, and its weight: the first that matches says it.
_COSTS = (
    (
        r"decimals",
        "amounts are off by a power of ten: a user pays or expects a thousandfold",
        MONEY,
    ),
    (
        r"(?i)address|addr$|recipient|^(from|to)$",
        "money is sent to, or looked for at, a wrong address",
        MONEY,
    ),
    (r"(?i)usd|price|rate", "a user decides by a wrong value, and accepts a bad trade", MISLED),
    (r"(?i)fee|gas", "a user is told wrong costs, or a payment lacks what it needs", MISLED),
    (
        r"(?i)amount|balance|min|max|value",
        "a wrong amount is agreed to or booked, and somebody pays the difference",
        MONEY,
    ),
    (
        r"(?i)status|succeeded",
        "an order counts as done or open that is not: goods leave unpaid, or a user pays twice",
        MONEY,
    ),
    (r"(?i)hash", "a payment cannot be found on its chain, so support cannot prove it", MISLED),
    (r"(?i)^id$|orderid|ordersn|sn$", "an order is lost sight of, or taken for another one", MONEY),
    (r"(?i)index", "another token is paid than the one that was meant", MONEY),
    (
        r"(?i)chain|nickname|network|disabled|delisted",
        "money goes to another chain, or a good chain is not offered",
        MONEY,
    ),
    (r"(?i)symbol|token", "another token is bought, or a good token is not offered", MONEY),
    (r"(?i)time|date", "old data counts as new, or new as old", MISLED),
    (
        r"(?i)version",
        "a list is read anew all the time, or a changed list is never read",
        NUISANCE,
    ),
    (r"(?i)reason|msg|message", "a user does not learn why something failed", NUISANCE),
    (r"(?i)^code$", "a refusal counts as a success, or a success as a refusal", MONEY),
    (r"(?i)list", "good tokens or chains are not offered, or bad ones are", MISLED),
    (r"(?i)data", "a call is signed that does something else", MONEY),
)


@dataclass(frozen=True, slots=True)
class SurvivorReason:
    """How an answer differs, what that costs, and the assertion that sees it, in Python's words.

    `true` and `came` are the two answers at the first place where they differ.
    """

    where: str
    true: str
    came: str
    cost: str
    assertion: str
    weight: int = MISLED


def explained(operation: str, example: Mapping[str, Json]) -> SurvivorReason:
    """Return what the noted example of a change says."""
    true, sent = example["true"], example["sent"]
    return (
        _of_delivery(true, sent, operation)
        or _of_bodies(true["body"], sent["body"], example)
        or _of_headers(true["headers"], sent["headers"])
    )


def _of_delivery(
    true: Mapping[str, Json], sent: Mapping[str, Json], operation: str
) -> SurvivorReason | None:
    if sent["cut"] != true["cut"]:
        return SurvivorReason(
            "connection",
            "a whole answer",
            f"{sent['cut']}",
            "the client cannot know whether its order was taken, and may pay again",
            f"{operation} answers, or the client raises an error of its own",
            MONEY,
        )
    if sent["status"] != true["status"]:
        return SurvivorReason(
            "HTTP status",
            str(true["status"]),
            str(sent["status"]),
            "a good answer counts as a failure, or a failure as a good answer",
            f"assert response.status == {true['status']}",
        )
    if sent["delay_ms"] > true["delay_ms"]:
        return SurvivorReason(
            "time",
            "at once",
            f"after {sent['delay_ms']} ms",
            "a user waits, gives up and tries again",
            f"assert elapsed_ms < {sent['delay_ms']}, or a time-out of the client below that",
            NUISANCE,
        )
    return None


def _of_headers(true: Mapping[str, Json], sent: Mapping[str, Json]) -> SurvivorReason:
    names = sorted({*true, *sent})
    name = next((name for name in names if true.get(name) != sent.get(name)), "")
    came, right = sent.get(name), true.get(name)
    test = f"== {right!r}" if right is not None else "is None"
    return SurvivorReason(
        f"header {name}",
        _short(right),
        _short(came),
        "a client that goes by the header misreads the answer; others notice nothing",
        f"assert response.headers.get({name!r}) {test}",
        NUISANCE,
    )


def _of_bodies(true: str, sent: str, example: Mapping[str, Json]) -> SurvivorReason | None:
    if true == sent:
        return None
    right, came = (_decoded(text) for text in (true, sent))
    if came is _MISSING or right is _MISSING:
        cost, test = _unreadable(sent) if right is not _MISSING else _UNREADABLE_BOTH
        return SurvivorReason("body", _short(true), _short(sent), cost, test)
    refused, refuses = (REFUSAL_HEADER.lower() in example[which]["headers"] for which in _BOTH)
    if refused != refuses:
        return SurvivorReason(
            "$.code",
            _short(jsontext.encode(right).decode()),
            _short(jsontext.encode(came).decode()),
            "a wrong request is taken for a good one, and may be paid"
            if refused
            else "good requests are refused: users cannot quote, pay or follow",
            "assert that this request is refused"
            if refused
            else "assert answer['code'] == 0 for this request",
            MONEY if refused else MISLED,
        )
    places = list(_differences("", right, came))
    # A member that is added often goes with another that is wrong, which says more.
    place = next((place for place in places if place[1] is not _MISSING), None)
    place = place or next(iter(places), None)
    if place is None:
        # The same JSON in other bytes.
        return SurvivorReason(
            "body",
            _short(true),
            _short(sent),
            "a client with a strict reader of JSON cannot read the answer",
            "json.loads(body) works, and gives the same with parse_float=str",
            NUISANCE,
        )
    return _of_place(*place, example)


_NOBODY = "no client can read the answer: nothing can be quoted, paid or followed"
_STRICT = "clients of other languages, or with a strict reader, cannot read the answer"
_UNREADABLE_BOTH = _NOBODY, "the client raises an error of its own"


def _unreadable(sent: str) -> tuple[str, str]:
    """Return what a body costs that no strict reader takes, and the assertion on it."""
    # Python's `json` takes bytes with a byte order mark or in UTF-16, NaN, and a member twice.
    if sent.startswith(("\ufeff", "\\xff\\xfe", "\\xfe\\xff")):
        return _STRICT, "json.loads(body.decode('utf-8')) works"
    try:
        json.loads(sent)
    except ValueError:
        return _NOBODY, "json.loads(body) works"
    return _STRICT, (
        "a strict json.loads(body) works: no member twice (object_pairs_hook), no NaN "
        "(parse_constant)"
    )


def _of_place(path: str, right: Json, came: Json, example: Mapping[str, Json]) -> SurvivorReason:
    name = re.sub(r"\[\d+\]$", "", path).rpartition(".")[2]
    cost, weight = _cost(name, right, example)
    parts = [
        f"[{part}]" if part.isdigit() else f"[{part!r}]" for part in re.findall(r"[^.\[\]]+", path)
    ]
    place, around = "answer" + "".join(parts), "answer" + "".join(parts[:-1])
    if came is _MISSING:
        test = f"assert {name!r} in {around}"
    elif right is _MISSING:
        # What is added takes nothing away from who reads the rest.
        weight = min(weight, MISLED)
        test = f"assert {name!r} not in {around}, or compare it with the members beside it"
    elif type(right) is not type(came) and not _both_numbers(right, came):
        test = f"assert type({place}) is {_type(right)}"
    elif isinstance(right, list):
        test = _list_assertion(place, right, came)
    else:
        test = _value_assertion(place, name, right, came, _asked(right, example))
    return SurvivorReason(f"${path}", _short(right), _short(came), cost, test, weight)


def _cost(name: str, right: Json, example: Mapping[str, Json]) -> tuple[str, int]:
    if name == "data" and isinstance(right, dict):
        # The member of the envelope; call data is a text.
        if REFUSAL_HEADER.lower() in example["true"]["headers"]:
            return "a client that reads data of a refusal stops with an error of its own", NUISANCE
        return _NOBODY, MISLED
    return next(
        ((text, weight) for pattern, text, weight in _COSTS if re.search(pattern, name)),
        (f"the client acts on a wrong {name or 'answer'}", MISLED),
    )


_HEX = re.compile(r"0x[0-9a-fA-F]+")


def _value_assertion(place: str, name: str, right: Json, came: Json, asked: str) -> str:
    """Return an assertion on one value: on its form or its relation where it is no constant."""
    equal = f"assert {place} {'is' if isinstance(right, bool) else '=='} {right!r}"
    if asked:
        return f"{equal}  # the {asked} that was asked for"
    if name == "data":
        return (
            f"assert that {place} decodes to the amount, the tokens, the recipient and the least "
            "output that were asked for, with a deadline to come"
        )
    if isinstance(right, str) and len(right) > 60 and _HEX.fullmatch(right):
        if isinstance(came, str) and len(came) == len(right):
            return f"assert {place} is the same whenever it is asked for"
        return f"assert re.fullmatch(r'0x[0-9a-f]{{{len(right) - 2}}}', {place})"
    if re.search(r"(?i)time", name) and f"{right}{came}".isdecimal():
        then, now = int(str(right)), int(str(came))
        far = now > 100 * then or then > 100 * now
        return f"assert {place} " + (
            "is within a day of the clock" if far else "never goes back, and is at most now"
        )
    if re.search(r"^id$|(?i:orderid|ordersn)", name):
        return f"assert that {place} is another one for each order, and is found again"
    if isinstance(right, str) and right and came == "":
        return f"assert {place}  # not empty"
    return equal


def _list_assertion(place: str, right: list[Json], came: Json) -> str:
    """Return an assertion on a list: none twice, none that nobody knows, or all of them."""
    answered = came if isinstance(came, list) else []
    texts = [jsontext.encode(item) for item in answered]
    if len(set(texts)) < len(texts):
        return f"assert that no item of {place} comes twice"
    known = list(map(jsontext.encode, right))
    if added := [item for item, text in zip(answered, texts, strict=True) if text not in known]:
        return f"assert that other operations take each item of {place}: not {_name_of(added[0])}"
    if lost := [item for item, text in zip(right, known, strict=True) if text not in texts]:
        return f"assert len({place}) == {len(right)}, or that {_name_of(lost[0])} is in it"
    return f"assert len({place}) == {len(right)}"


def _name_of(item: Json) -> str:
    """Return what an item of a list is called, or the item itself."""
    if isinstance(item, dict):
        return repr(next((item[name] for name in ("nickName", "symbol") if name in item), item))
    return repr(item)


def _differences(path: str, right: Json, came: Json) -> Iterator[tuple[str, Json, Json]]:
    """Yield the places at which two values differ, with both, in the order of the true one."""
    if isinstance(right, dict) and isinstance(came, dict):
        for name in [*right, *(name for name in came if name not in right)]:
            yield from _differences(
                f"{path}.{name}", right.get(name, _MISSING), came.get(name, _MISSING)
            )
    elif isinstance(right, list) and isinstance(came, list) and len(right) == len(came):
        for number, (item, answered) in enumerate(zip(right, came, strict=True)):
            yield from _differences(f"{path}[{number}]", item, answered)
    elif type(right) is not type(came) or right != came:
        yield path, right, came


def _asked(value: Json, example: Mapping[str, Json]) -> str:
    """Return the name of the parameter that asked for a value; empty where none did."""
    inputs = dict(parse_qsl(example["query"]))
    body = _decoded(example["body"])
    if isinstance(body, dict):
        inputs |= {name: item for name, item in body.items() if isinstance(item, str)}
    return next((name for name, item in inputs.items() if value and item == str(value)), "")


def _decoded(text: str) -> Json:
    return jsontext.decode_or(text.encode(), _MISSING)


def _both_numbers(right: Json, came: Json) -> bool:
    plain = (int, float)
    return isinstance(right, plain) and isinstance(came, plain) and type(right) is type(came)


def _type(value: Json) -> str:
    return "type(None)" if value is None else type(value).__name__


def _short(value: Json) -> str:
    if value is _MISSING:
        return "nothing"
    if isinstance(value, Decimal):
        # 1.0 is not 1 to a reader of types.
        return str(value)
    text = value if isinstance(value, str) else jsontext.encode(value).decode()
    text = repr(text) if isinstance(value, str) else text
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
