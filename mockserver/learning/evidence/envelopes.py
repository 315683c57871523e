"""Evidence in envelopes and in HTTP, whatever the operation."""

from collections.abc import Callable, Iterable
from decimal import Decimal
from itertools import pairwise

from mockserver.conformance.checks.schema import AppliedSchema, parts_of
from mockserver.contract import RefusalRule, ids
from mockserver.learning.evidence.observation import (
    Observations,
    ServiceCalls,
    confirmed,
    contradicted,
)

_LONGEST_MS = 3_000
_HOUR_S = 3_600
_OF_THE_MOMENT = (
    *(ids.BRIDGE, ids.SWAP_QUOTE, ids.PRICE, ids.BALANCE, ids.CHECK, ids.CHECK_TICKET),
    *(ids.V1_QUOTE, ids.V1_DETAIL),
)


def v1_success(calls: ServiceCalls) -> Observations:
    for call in calls:
        if call.generation != "v1" or not call.taken or not isinstance(call.body, dict):
            continue
        for assumption, name, values in (
            ("v1-success-words", "msg", ("success", "", "ok")),
            ("v1-success-status", "status", (0, 200, 1)),
        ):
            value = call.body.get(name)
            if value == values[0] and type(value) is type(values[0]):
                yield confirmed(assumption, call)
            else:
                fits = values.index(value) if value in values[1:] else 0
                reason = f"{name} of a success is {value!r}"
                yield contradicted(assumption, reason, call, fits=fits)


def refusals(calls: ServiceCalls) -> Observations:
    """Yield what refusals show of their envelope."""
    for call in calls:
        body = call.body
        if not call.refused or not isinstance(body, dict) or call.code is None:
            continue
        if "data" not in body:
            yield contradicted("refusal-envelope", "a refusal without data", call, fits=1)
        elif body["data"] is None:
            yield contradicted("refusal-envelope", "data of a refusal is null", call, fits=2)
        elif body["data"] != {}:
            yield contradicted("refusal-envelope", "data of a refusal is no empty object", call)
        elif not isinstance(body.get("msg"), str) or body["msg"] in ("", "success"):
            yield contradicted("refusal-envelope", "msg of a refusal does not say why", call)
        elif call.generation == "v1" and not isinstance(body.get("status"), int):
            yield contradicted("refusal-envelope", "a refusal without status", call)
        else:
            yield confirmed("refusal-envelope", call)


def codes_of_refusals(register: Iterable[RefusalRule]) -> Callable[[ServiceCalls], Observations]:
    """Return the witness of codes, where there are several reasons to refuse."""
    known = {
        generation: {rule.words[generation].code for rule in register if rule.http < 400}
        for generation in ("v1", "v2")
    }

    def observed(calls: ServiceCalls) -> Observations:
        for generation, codes in known.items():
            refused = [
                call
                for call in calls
                if call.generation == generation and call.refused and not call.unreadable
                if call.code is not None and call.exchange.answer.status < 400
            ]
            operations, shown = {call.id for call in refused}, {call.code for call in refused}
            if len(operations) < 2:
                continue
            if shown <= codes:
                yield confirmed("refusal-codes", *refused)
            elif not shown & codes and len(shown) >= len(operations):
                reason = f"codes {', '.join(map(str, sorted(filter(None, shown))))}"
                yield contradicted("refusal-codes", reason, *refused, fits=1)

    return observed


def unreadable_requests(calls: ServiceCalls) -> Observations:
    for call in (call for call in calls if call.unreadable):
        status = call.exchange.answer.status
        if status >= 500 or call.taken:
            continue
        if status >= 400 and call.code is None:
            yield contradicted("unreadable-requests", "an answer without envelope", call, fits=2)
        elif status < 300:
            reason = f"HTTP {status} and code {call.code}"
            yield contradicted("unreadable-requests", reason, call, fits=1)
        elif call.code == status:
            yield confirmed("unreadable-requests", call)
        else:
            yield contradicted("unreadable-requests", f"HTTP {status} and code {call.code}", call)


def after_a_refusal(calls: ServiceCalls) -> Observations:
    for before, after in pairwise(calls):
        if before.refused and after.taken:
            yield confirmed("after-refusals", before, after)
        elif before.refused and after.exchange.answer.status == 429:
            reason = "the next request is held off"
            yield contradicted("after-refusals", reason, before, after, fits=1)


def http(calls: ServiceCalls) -> Observations:
    """Yield what headers and times show; where they were not recorded, nothing."""
    for call in calls:
        media, charset = _media_type(call.header("Content-Type") or "")
        if media and (not media.endswith("json") or charset not in ("", "utf-8", "utf8")):
            yield contradicted("media-types", f"Content-Type {call.header('Content-Type')}", call)
        elif media:
            yield confirmed("media-types", call)
        duration = call.recorded.duration_ms
        if duration is not None and duration <= _LONGEST_MS:
            yield confirmed("durations", call)
        elif duration is not None:
            yield contradicted("durations", f"the answer took {duration} ms", call, fits=1)
        control = (call.header("Cache-Control") or "").lower()
        if call.id in _OF_THE_MOMENT and call.taken and control:
            if _kept_for(control) >= _HOUR_S:
                yield contradicted("caching", f"Cache-Control: {control}", call)
            else:
                yield confirmed("caching", call)


def integers(calls: ServiceCalls) -> Observations:
    """Yield how integers in data are written; the code comes before all that is read."""
    for call in (call for call in calls if call.data):
        written = [
            part.value
            for part in parts_of(call.exchange)
            if isinstance(part, AppliedSchema) and part.place[:1] == ("data",)
            if part.schema.get("type") == "integer" and type(part.value) in (int, Decimal)
        ]
        odd = [value for value in written if not isinstance(value, int)]
        if odd and all(value == int(value) for value in odd):
            yield contradicted("written-integers", f"an integer is written {odd[0]}", call, fits=1)
        elif written and not odd:
            yield confirmed("written-integers", call)


def _media_type(text: str) -> tuple[str, str]:
    media, _, parameters = text.lower().partition(";")
    _, _, charset = parameters.partition("charset=")
    return media.strip(), charset.partition(";")[0].strip(' "')


def _kept_for(control: str) -> int:
    if "no-store" in control or "no-cache" in control:
        return 0
    ages = (part.strip().partition("=") for part in control.split(","))
    return max(
        (int(age) for name, _, age in ages if name in ("max-age", "s-maxage") and age.isdecimal()),
        default=0,
    )
