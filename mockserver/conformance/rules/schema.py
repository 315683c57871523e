"""Rules about one body against its schema: the envelope, and what is in `data`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from mockserver.conformance.basis import basis_of, joined, place_of
from mockserver.conformance.exchange import Exchange
from mockserver.conformance.probes.protocol import is_beneath
from mockserver.conformance.rules.evidence import answered, successes
from mockserver.conformance.rules.operations import EVERY, USUAL, V1, V1_LISTS
from mockserver.conformance.verdict import (
    Basis,
    Check,
    Finding,
    Grounds,
    Layer,
    Rule,
    Severity,
    assumed,
    documented,
    rule,
)
from mockserver.conformance.walk import Applied, parts_of
from mockserver.contract import Operation
from mockserver.validation import Violation, dotted, shown

if TYPE_CHECKING:
    from mockserver.conformance.seen import Seen

Case = tuple[Exchange, Violation]
Which = Callable[[Exchange, Violation], bool]


def envelope_code(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """Every answer is an object with an integer `code`, as both envelopes have it."""
    every = answered(seen, operation)
    # What HTTP itself refuses with 4xx is another rule's, since it may have no envelope.
    judged = [one for one in every if one.answer.status < 300 and operation.enveloped]
    yield from _broken(judged, lambda _, violation: violation.path in ((), ("code",)))


def envelope_members(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """The other members of the envelope have their types, and a success has all of them."""
    yield from _broken(answered(seen, operation), _is_about_envelope)


def data_form(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """The `data` of a success has the members and types that are published or known."""
    yield from _broken(successes(seen, operation), lambda _, one: len(one.path) > 1)


def success_has_success_code(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """An answer with the whole result of an operation has the code of success."""
    success = operation.generation.success_code
    for exchange in answered(seen, operation):
        if exchange.code not in (None, success) and _has_result(exchange):
            yield Finding(
                f"the answer has the result, and code {shown(exchange.code)} instead of {success}",
                (exchange,),
                place="code",
                cause="code",
            )
            return


def _has_result(exchange: Exchange) -> bool:
    """Tell whether an answer that is none by its code looks like a success all the same."""
    body, data = exchange.body, exchange.member("data")
    if not 200 <= exchange.answer.status < 300 or not isinstance(data, dict) or not data:
        return False
    operation = exchange.operation
    if operation.generation.id == "v2":
        said = {**body, "code": operation.generation.success_code}
        broken = operation.response_violations(said)
        return not any(
            basis_of(operation, one).grounds is Grounds.DOCUMENTED and len(one.path) > 1
            for one in broken
        )
    # The fields of v1 are not published, so that a list or the word has to do.
    words = exchange.member("msg")
    listed = operation.id in V1_LISTS and any(isinstance(v, list) and v for v in data.values())
    return listed or (isinstance(words, str) and words.strip().lower() in ("success", "ok"))


def success_has_content(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """The `data` of a v1 success is not empty where the table of operations names a result."""
    for exchange in successes(seen, operation):
        data = exchange.data
        if isinstance(exchange.member("data"), Mapping) and all(
            value is None or value in ("", {}) for value in data.values()
        ):
            yield Finding(
                f"data holds nothing: {shown(exchange.member('data'))}",
                (exchange,),
                place="data",
                cause="empty",
            )
            return


def integers_are_plain(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """Integers are written as digits, without a fraction or an exponent of zero worth."""
    found: dict[str, tuple[Exchange, object]] = {}
    for exchange in answered(seen, operation):
        if exchange.unreadable:
            continue
        for part in parts_of(exchange):
            if isinstance(part, Applied) and _is_odd_integer(part):
                found.setdefault(joined(part.place), (exchange, part.value))
    for place, (exchange, value) in found.items():
        yield Finding(f"{place}: the integer is written {shown(value)}", (exchange,), place=place)


def _is_odd_integer(part: Applied) -> bool:
    value = part.value
    if not isinstance(value, Decimal) or not value.is_finite():
        return False
    kinds = part.schema.get("type", ())
    wanted = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    return "integer" in wanted and "number" not in wanted and value == value.to_integral_value()


def _is_about_envelope(exchange: Exchange, violation: Violation) -> bool:
    if len(violation.path) != 1 or violation.path == ("code",):
        return False
    if exchange.succeeded:
        return True
    if is_beneath(exchange):
        return False
    # A refusal owes its caller nothing but the code; null is as good as nothing.
    name = violation.path[0]
    return violation.keyword != "required" and exchange.member(str(name)) is not None


def _broken(exchanges: Iterable[Exchange], which: Which) -> Iterator[Finding]:
    """Yield a finding for each keyword that is broken at a place, however often it is.

    What an object lacks is one finding.
    """
    found: dict[tuple[str, str], list[Case]] = {}
    for exchange in exchanges:
        for violation in exchange.violations:
            if which(exchange, violation):
                key = (place_of(violation), violation.keyword)
                found.setdefault(key, []).append((exchange, violation))
    missing: dict[tuple[str, Basis], list[tuple[str, list[Case]]]] = {}
    for (place, keyword), there in found.items():
        # What is observed may say once more what is documented; then that counts.
        first = min(there, key=lambda case: _weight(basis_of(case[0].operation, case[1])))
        cases = [first, *(case for case in there if case is not first)]
        basis = basis_of(first[0].operation, first[1])
        if (place, keyword) == ("data", "type") and first[0].operation.enveloped:
            # A type that is observed as well does not make this less published.
            basis = documented("2.1", "data is an object")
        if keyword == "required":
            parent, _, name = place.rpartition(".")
            whole = replace(basis, says=f"{parent or 'the whole'} has all its members")
            missing.setdefault((parent, whole), []).append((name, cases))
        else:
            yield _finding(str(cases[0][1]), place, basis, cases)
    for (parent, basis), lacking in missing.items():
        yield _lack(parent, basis, lacking)


def _weight(basis: Basis) -> int:
    return tuple(Grounds).index(basis.grounds)


def _lack(parent: str, basis: Basis, lacking: list[tuple[str, list[Case]]]) -> Finding:
    """Return one finding for all members that an object lacks on the same grounds."""
    name, cases = lacking[0]
    violation = cases[0][1]
    place = f"{parent}.{name}".removeprefix(".")
    if len(lacking) == 1:
        own = basis_of(cases[0][0].operation, violation)
        return _finding(str(violation), place, own, cases)
    names = ", ".join(name for name, _ in lacking)
    at = dotted(violation.path[:-1]) or "the body"
    return _finding(f"{at}: {names} are missing, they are required", parent, basis, cases)


def _finding(message: str, place: str, basis: Basis, cases: list[Case]) -> Finding:
    often = f" ({len(cases)} times)" if len(cases) > 1 else ""
    return Finding(
        f"{message}{often}",
        tuple(dict.fromkeys(one for one, _ in cases))[:3],
        place=place,
        basis=basis,
        cause=cases[0][1].keyword,
    )


_WITH_CONTENT = tuple(name for name in V1 if name != "v1.submitCrossChain")


def _rule(
    check: Check, severity: Severity, section: str, says: str, operations: tuple[str, ...] = EVERY
) -> Rule:
    return rule(
        check,
        severity,
        documented(section, says),
        layer=Layer.SCHEMA,
        operations=operations,
        probes=USUAL,
        every_exchange=True,
    )


SCHEMA = (
    _rule(envelope_code, Severity.MAJOR, "2.1", "code is an integer"),
    _rule(envelope_members, Severity.MAJOR, "2.1", "msg is a string, data an object"),
    _rule(success_has_success_code, Severity.MAJOR, "2.1", "code is 0 on success"),
    _rule(data_form, Severity.MAJOR, "2.3", "data has the fields of its table"),
    _rule(
        success_has_content,
        Severity.MAJOR,
        "4.1",
        "a success has the result that the table names",
        _WITH_CONTENT,
    ),
    rule(
        integers_are_plain,
        Severity.MINOR,
        assumed("A-215", "integers are written without fraction and exponent"),
        layer=Layer.SCHEMA,
        operations=EVERY,
        probes=USUAL,
        every_exchange=True,
    ),
)
"""Every rule of this file, in the order of reports."""
