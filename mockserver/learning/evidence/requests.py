"""Evidence in requests: an assumed form, and what the service makes of one that breaks it.

A request of an assumed form that is accepted shows nothing by itself: any service accepts usual
values. It is evidence where a registered alternative would have refused it, and a request that
breaks the form, and nothing else, is evidence either way.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from mockserver.conformance.basis import basis_of
from mockserver.conformance.checks.schema import AppliedSchema, walk
from mockserver.conformance.discovery.service_clock import MILLISECONDS, stamp_of
from mockserver.contract import Assumption, BasisKind, ids
from mockserver.contract.facts import nodes_along
from mockserver.jsontext import Json
from mockserver.learning.evidence.observation import (
    Observations,
    ServiceCalls,
    confirmed,
    contradicted,
)
from mockserver.learning.evidence.recorded_calls import RecordedCall
from mockserver.learning.evidence.token_lists import TokenLists
from mockserver.validation import Violation

# Clocks differ; who is further back than this besides is late.
_CLOCKS_MS = 60_000
_USUAL_TIMEOUT_MS = 1_000
# No chain has shorter addresses.
_SHORTEST_ADDRESS = 20
_CHAIN_INPUTS = ("chain", "fromChain", "toChain")
_LISTED_ONLY = (ids.V1_TOKENS, ids.OF_CHAIN, ids.BALANCE, ids.PRICE, ids.ORDER)


def forms(register: Sequence[Assumption]) -> Callable[[ServiceCalls], Observations]:
    """Return the witness of the assumed forms of inputs, for the alternatives of a register."""
    patterns = {
        assumption.id: {
            int(number): re.compile(pattern) for number, pattern in assumption.forms.items()
        }
        for assumption in register
    }

    def observed(calls: ServiceCalls) -> Observations:
        for call in (call for call in calls if not call.unreadable):
            if call.taken:
                yield from _accepted(call, patterns)
            # Of several faults nobody knows for which it was refused.
            elif call.refused and len(call.violations) == 1:
                yield from _refused(call, call.violations[0])

    return observed


_Patterns = Mapping[str, Mapping[int, re.Pattern[str]]]


def _accepted(call: RecordedCall, patterns: _Patterns) -> Observations:
    broken = set()
    for violation in call.violations:
        source = _assumed(call, violation)
        if not source:
            continue
        broken.add(source)
        value = _value(call, violation)
        fitting = (
            number
            for number, pattern in patterns.get(source, {}).items()
            # A missing input fits the alternative of a form that asks for it.
            if violation.keyword in ("required", "additionalProperties")
            or pattern.search(_written(value))
        )
        reason = f"{violation}, and was accepted"
        yield contradicted(source, reason, call, fits=next(fitting, 0))
    for source, value in _values_of_forms(call):
        alternatives = patterns.get(source, {}).values()
        # Only a value that some alternative would refuse speaks for the form.
        if source not in broken and any(not each.search(_written(value)) for each in alternatives):
            yield confirmed(source, call)


def _refused(call: RecordedCall, violation: Violation) -> Observations:
    if source := _assumed(call, violation):
        yield confirmed(source, call)


def _assumed(call: RecordedCall, violation: Violation) -> str:
    basis = basis_of(call.operation, violation, "request")
    return basis.source if basis.kind is BasisKind.ASSUMED else ""


def _values_of_forms(call: RecordedCall) -> Iterator[tuple[str, Json]]:
    """Yield the values of inputs that have an assumed form, with its assumption."""
    for location, values in (
        ("query", call.recorded.request.parameters),
        ("headers", {name: call.recorded.request.headers.get(name, "")
                     for name in call.operation.header_names}),
        ("body", call.recorded.request.members),
    ):  # fmt: skip
        schema = call.operation.request_schema["properties"].get(location, {})
        for part in walk(schema, dict(values)):
            if not isinstance(part, AppliedSchema) or not part.place or part.place[0] == "":
                continue
            if part.place[-1].lower() in call.hidden:
                continue
            nodes = list(nodes_along(schema, part.path))
            if nodes and (source := nodes[-1].get("x-assumption")):
                yield source, part.value


def _value(call: RecordedCall, violation: Violation) -> Json:
    location, *names = violation.path
    request = call.recorded.request
    name = str(names[0]) if names else ""
    if location == "query":
        return request.parameters.get(name)
    return request.members.get(name) if location == "body" else request.headers.get(name, "")


def _written(value: Json) -> str:
    return "" if value is None else str(value)


def types(calls: ServiceCalls) -> Observations:
    """Yield what becomes of a correct value in another type."""
    for call in calls:
        if call.unreadable or len(call.violations) != 1 or not (call.taken or call.refused):
            continue
        [violation] = call.violations
        if violation.keyword != "type":
            continue
        value = _value(call, violation)
        assumption = "header-types" if violation.path[0] == "headers" else "body-types"
        if assumption == "body-types" and not _spells_a_value(value):
            continue
        if call.refused:
            yield confirmed(assumption, call)
        else:
            yield contradicted(assumption, f"{violation}, and was accepted", call, fits=1)


def _spells_a_value(value: Json) -> bool:
    """Tell whether a value is right but for its type: a number as text, or the reverse."""
    if isinstance(value, str):
        return re.fullmatch(r"-?[0-9]+(\.[0-9]+)?|true|false", value) is not None
    return value is not None and not isinstance(value, list | dict)


def v1_times(calls: ServiceCalls) -> Observations:
    for call in (call for call in calls if call.generation == "v1"):
        stamp, sent_ms = stamp_of(call.recorded.request), call.recorded.time_ms
        timeout = call.recorded.request.headers.get("expireTime", "")
        if stamp is None or not timeout.isdecimal() or not {"timestamp"}.isdisjoint(call.hidden):
            continue
        if call.taken and stamp < MILLISECONDS:
            yield confirmed("timestamps-in-seconds", call)
        if call.taken and 0 < int(timeout) < _USUAL_TIMEOUT_MS:
            yield confirmed("short-time-outs", call)
        # Seconds and milliseconds differ by a factor that no clock is off by.
        stamp_ms = stamp if stamp >= MILLISECONDS else 1000 * stamp
        if sent_ms is None or not call.sound:
            continue
        if sent_ms - stamp_ms > int(timeout) + _CLOCKS_MS:
            if call.refused:
                yield confirmed("old-timestamps", call)
            elif call.taken:
                age = (sent_ms - stamp_ms) // 1000
                reason = f"a timestamp {age} s old was accepted"
                yield contradicted("old-timestamps", reason, call, fits=1)


def address_numbers(calls: ServiceCalls) -> Observations:
    for call in calls:
        if call.id != ids.V1_ORDER:
            continue
        number = call.inputs.get("fromAddress")
        address = call.inputs.get("evmAddres", call.inputs.get("evmAddress"))
        if type(number) is not int or not re.fullmatch("0x[0-9a-fA-F]{40}", str(address)):
            continue
        if number != int(str(address), 16):
            if call.refused and call.sound:
                yield confirmed("address-numbers", call)
            elif call.taken:
                reason = f"fromAddress {number} is not {address}, and was accepted"
                yield contradicted("address-numbers", reason, call, fits=1)


def recipients(calls: ServiceCalls) -> Observations:
    for call in calls:
        to = call.inputs.get("toAddr")
        if call.id != ids.ORDER or not isinstance(to, str) or len(to) >= _SHORTEST_ADDRESS:
            continue
        if call.refused and call.sound:
            yield confirmed("recipients", call)
        elif call.taken:
            yield contradicted("recipients", f"toAddr {to!r} was accepted", call, fits=1)


def unlisted_names(calls: ServiceCalls) -> Observations:
    """Yield what becomes of chains that no recorded list shows."""
    for call in calls:
        lists = TokenLists.of(calls, call.generation)
        names = [call.inputs[name] for name in _CHAIN_INPUTS if name in call.inputs]
        names += (
            [call.recorded.request.headers.get("chain", "")] if call.id == ids.V1_TOKENS else []
        )
        unlisted = [name for name in names if name and str(name) not in lists.chains]
        if call.id not in _LISTED_ONLY or not lists.chains or not unlisted or not call.sound:
            continue
        if call.refused:
            yield confirmed("unlisted-names", call)
        elif call.taken:
            reason = f"{unlisted[0]!r} is not listed, and was accepted"
            yield contradicted("unlisted-names", reason, call, fits=_of_unlisted(call))


def _of_unlisted(call: RecordedCall) -> int:
    """Return which alternative an answer about something unlisted fits."""
    amount = call.data.get("price", call.data.get("balance"))
    if amount is not None:
        return 1 if re.fullmatch(r"0+(\.0*)?", str(amount)) else 0
    if call.has_list:
        return 0 if call.items else 2
    return 3 if call.id == ids.ORDER else 0


def decimals(calls: ServiceCalls) -> Observations:
    for call in calls:
        if call.id not in (ids.SWAP_QUOTE, ids.SWAP) or not call.sound:
            continue
        lists = TokenLists.of(calls, call.generation)
        for side in ("from", "to"):
            address = str(call.inputs.get(f"{side}TokenAddress", "")).lower()
            shown, listed = call.inputs.get(f"{side}Decimal"), lists.decimals.get(address)
            if shown is None or listed is None or str(shown) == str(listed):
                continue
            if call.refused:
                yield confirmed("wrong-decimals", call)
            elif call.taken:
                reason = f"{side}Decimal {shown} in place of {listed} was accepted"
                yield contradicted("wrong-decimals", reason, call)
