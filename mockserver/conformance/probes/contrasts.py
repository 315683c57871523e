"""Requests in a form that is not published, asked only where the published one is refused.

A refusal alone proves nothing, since a service may have bounds of its own. That the same request is
taken once it is spelled another way proves that the published way is what was refused.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from mockserver import jsontext
from mockserver.conformance import amounts
from mockserver.conformance.calibration import V1_QUOTE, decimals_of
from mockserver.conformance.caller import Caller
from mockserver.conformance.draft import Draft
from mockserver.conformance.probe import Build, Probe, Stage
from mockserver.conformance.probes.comparisons import tenfold_v1
from mockserver.conformance.probes.odd import signed
from mockserver.conformance.probes.writes import (
    AGGREGATE,
    ORDER,
    TICKET,
    V1_ORDER,
    aggregate_order,
)
from mockserver.conformance.usual import (
    order,
    order_route,
    quoted_try,
    seen_hash,
    ticket,
    usual,
    v1_order,
    v1_try,
)
from mockserver.conformance.verdict import Basis, NotRun, documented, observed
from mockserver.jsontext import Json, plain

if TYPE_CHECKING:
    from mockserver.conformance.seen import Seen

SWAP, RAW = "v2.getAggregateSwap", "v1.getTransferToMinterRaw"
_FAR_MS, _LONG_MS = "4102444800000", "315360000000"
"""The begin of the year 2100, and a time-out of ten years: longer than a clock may be wrong."""
ONCE_MORE = "published form once more"
_FORM = "application/x-www-form-urlencoded"
_SIX = 6
"""The decimals that careless services take every token to have."""
_SPELLINGS = {
    "Evmaddress": "EvmAddress",
    "EvmAddress": "Evmaddress",
    "evmAddres": "evmAddress",
}
"""The published spellings, each with the one that somebody would take it for."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """A published form of a request, and the other form in which it is asked where it is refused.

    `of` is the probe with the published form, `words` name the one with the other; `told` says what
    is other about it. `place` is the input.
    """

    of: str
    words: str
    place: str
    told: str
    basis: Basis
    change: Callable[[Draft, "Seen"], Draft]

    @property
    def operation_id(self) -> str:
        """The id of the operation."""
        return self.of.partition("/")[0]

    @property
    def probe(self) -> str:
        """The name of the probe with the other form."""
        return f"{self.operation_id}/{self.words}"

    @property
    def once_more(self) -> str:
        """The name of the probe that asks the published form again, once the other was taken."""
        return f"{self.of} in the {ONCE_MORE}"


def contrasts_of(operation_id: str) -> tuple[Contrast, ...]:
    """Return the contrasts of an operation."""
    return tuple(one for one in CONTRASTS if one.operation_id == operation_id)


def contrast_probes() -> tuple[Probe, ...]:
    """Return the probes of all contrasts; each is sent only where it is needed."""
    again: dict[str, Contrast] = {one.of: one for one in CONTRASTS}
    return (
        *(_probe(one.probe, _other_form(one), one.of) for one in CONTRASTS),
        *(
            _probe(
                one.once_more,
                _published_again(of),
                of,
                *(other.probe for other in CONTRASTS if other.of == of),
            )
            for of, one in again.items()
        ),
    )


def _probe(name: str, build: Build, *after: str) -> Probe:
    writes = name.partition("/")[0] in (ORDER, TICKET, V1_ORDER)
    return Probe(name, build, Stage.WRITES if writes else Stage.READS, after, spare=True)


def _other_form(one: Contrast) -> Build:
    def build(seen: "Seen") -> Draft:
        if not seen.exchange(one.of).refused:
            raise NotRun(f"not needed, {one.of} was not refused")
        for other in CONTRASTS:
            found = seen.maybe(other.probe)
            if other.of == one.of and found is not None and found.succeeded:
                raise NotRun(f"not needed, {other.probe} was taken")
        return _signed(seen, one.change(_published(seen, one.of, one.words), seen), one)

    return build


def _published_again(of: str) -> Build:
    def build(seen: "Seen") -> Draft:
        there = [seen.maybe(one.probe) for one in CONTRASTS if one.of == of]
        taken = [one for one in there if one is not None and one.succeeded]
        if not taken:
            raise NotRun("not needed, no other form was taken")
        draft = _published(seen, of, ONCE_MORE)
        if any(one.request.headers.get("expireTime") == _FAR_MS for one in taken):
            # It may be that the usual time-out is too short, and nothing else.
            draft = draft.having("headers", "expireTime", _LONG_MS)
        operation = seen.contract.operation(of.partition("/")[0])
        return signed(draft, operation, seen.caller)

    return build


def _published(seen: "Seen", of: str, words: str) -> Draft:
    """Return a request in its published form; a submission is about a deposit of its own."""
    deposit = seen_hash(seen, f"{of} {words}")
    match of.partition("/"):
        case ("v2.submitOrder", _, "usual"):
            return order(seen, deposit)
        case ("v2.submitOrder", _, _):
            return aggregate_order(seen, deposit)
        case ("v2.submitTicket", _, _):
            return ticket(seen, order_route(seen).source.chain, deposit)
        case ("v1.submitCrossChain", _, _):
            return v1_order(seen, deposit)
        case ("v1.getCrossChainQuote", _, "tenfold"):
            return tenfold_v1(seen)
        case (operation_id, _, _):
            return usual(seen, operation_id)


def _signed(seen: "Seen", draft: Draft, one: Contrast) -> Draft:
    return signed(draft, seen.contract.operation(one.operation_id), seen.caller)


def _query(name: str, value: Callable[["Seen"], str]) -> Callable[[Draft, "Seen"], Draft]:
    return lambda draft, seen: draft.having("query", name, value(seen))


def _route_summary(draft: Draft, seen: "Seen") -> Draft:
    quote = quoted_try(seen).exchange(seen)
    if quote is None or not quote.succeeded or "routeSummary" in draft.query:
        raise NotRun("no quote was given, or its routeSummary was sent already")
    text = jsontext.encode(dict(quote.data)).decode()
    return draft.having("query", "routeSummary", text[:2000])


def _no_aggregator(draft: Draft, seen: "Seen") -> Draft:
    if "aggregator" not in draft.query:
        raise NotRun("the quote named no aggregator")
    return draft.without("query", "aggregator")


def _no_summary(draft: Draft, _: "Seen") -> Draft:
    if "routeSummary" not in draft.query:
        raise NotRun("the quote had no routeSummary")
    return draft.without("query", "routeSummary")


def _respelled(location: str) -> Callable[[Draft, "Seen"], Draft]:
    def change(draft: Draft, _: "Seen") -> Draft:
        part = draft.part(location)
        if not any(name in _SPELLINGS for name in part):
            raise NotRun("this dialect spells its inputs otherwise")
        changed = {_SPELLINGS.get(name, name): value for name, value in part.items()}
        return replace(draft, **{location: changed})  # type: ignore[arg-type]

    return change


def _filled(draft: Draft, _: "Seen") -> Draft:
    body = dict(draft.body or {})
    empty = [name for name in ("execStrategy", "extra") if body.get(name) == ""]
    if not empty:
        raise NotRun("no input of the order is an empty text")
    return replace(draft, body={**body, **dict.fromkeys(empty, "0")})


def _absolute(draft: Draft, _: "Seen") -> Draft:
    return draft.having("headers", "expireTime", _FAR_MS)


def _amount(make: Callable[["Seen", Decimal], Json]) -> Callable[[Draft, "Seen"], Draft]:
    def change(draft: Draft, seen: "Seen") -> Draft:
        name = next((one for one in ("amount", "fromAmount") if one in draft.part("body")), "")
        given = amounts.number(draft.part("body").get(name))
        if given is None:
            raise NotRun("the request has no amount")
        return draft.having("body", name, make(seen, given))

    return change


def _units(seen: "Seen", given: Decimal) -> Json:
    source = v1_try(seen).route.source
    return amounts.units_of(given, decimals_of(source))


def _millions(seen: "Seen", given: Decimal) -> Json:
    if v1_try(seen).route.source.decimals == _SIX:
        raise NotRun("the token has six decimals itself")
    return amounts.units_of(given, _SIX)


def _without_fraction(_: "Seen", given: Decimal) -> Json:
    rounded = int(given.to_integral_value(ROUND_FLOOR))
    if rounded in (given, 0):
        raise NotRun("the amount has no fraction")
    return rounded


def _with_fraction(_: "Seen", given: Decimal) -> Json:
    if given != given.to_integral_value():
        raise NotRun("the amount has a fraction itself")
    return given + Decimal("0.5")


def _v1_amounts(operation_id: str) -> tuple[Contrast, ...]:
    of = f"{operation_id}/usual"
    place = "body.fromAmount" if operation_id == V1_ORDER else "body.amount"
    says = documented("2.2", "the amount is a float of whole tokens, without token decimals")
    text = Contrast(of, "other amount: a text", place, "its amount as a text", says, _amount(_text))
    return (
        # A quote with its amount as a text is asked for anyway.
        *((text,) if operation_id != V1_QUOTE else ()),
        Contrast(
            of,
            "other amount: no fraction",
            place,
            "an amount without fraction",
            says,
            _amount(_without_fraction),
        ),
        Contrast(
            of,
            "other amount: a fraction",
            place,
            "an amount with a fraction",
            says,
            _amount(_with_fraction),
        ),
        Contrast(
            of,
            "other amount: smallest units",
            place,
            "its amount in smallest units",
            says,
            _amount(_units),
        ),
        Contrast(
            of,
            "other amount: millionths",
            place,
            "its amount in millionths of a token",
            says,
            _amount(_millions),
        ),
    )


def _text(_: "Seen", given: Decimal) -> Json:
    return plain(given)


def _v1_times() -> tuple[Contrast, ...]:
    says = documented("5", "expireTime is a time-out in milliseconds")
    return tuple(
        Contrast(
            f"{operation_id}/usual",
            "other expireTime: a time",
            "headers.expireTime",
            "an expireTime that is a time instead of a time-out",
            says,
            _absolute,
        )
        for operation_id in (V1_QUOTE, RAW, V1_ORDER)
    )


def _called_as_in_2_0(draft: Draft, seen: "Seen") -> Draft:
    known = seen.known
    twins = {chain.name: known.twin(chain) for chain in known.v1_chains}
    body = draft.part("body")
    given = {name: body.get(name) for name in ("fromChain", "toChain", "chain") if name in body}
    called = {
        name: twin.name
        for name, value in given.items()
        if isinstance(value, str) and (twin := twins.get(value)) is not None
    }
    if all(called.get(name, value) == value for name, value in given.items()):
        raise NotRun("2.0 calls the chains as v1 does")
    return replace(draft, body={**body, **called})


def _in_the_query(draft: Draft, _: "Seen") -> Draft:
    return replace(draft, query=draft.part("body"), body={})


def _as_a_form(draft: Draft, _: "Seen") -> Draft:
    pairs = {name: str(value) for name, value in draft.part("body").items()}
    return replace(draft, raw_body=urlencode(pairs).encode("ascii"), content_type=_FORM)


def _with_a_key(draft: Draft, seen: "Seen") -> Draft:
    """Add the headers of an order of v1, where keys are published; never a key of the user's."""
    signed_one = Caller(timestamp_ms=seen.caller.timestamp_ms).sign_v1(draft)
    return replace(draft, headers=signed_one.headers)


def _forms() -> tuple[Contrast, ...]:
    """Return the contrasts of bodies and keys: where they go, and who is asked for them."""
    says = documented("4", "the v1 endpoints send JSON bodies")
    keyless = documented("5", "no authentication is published")
    return (
        Contrast(
            f"{V1_QUOTE}/usual",
            "other name: chains as in 2.0",
            "body.fromChain",
            "the names that 2.0 has for its chains",
            documented("2.2", "chains are called as the supported-chains result does"),
            _called_as_in_2_0,
        ),
        *(
            Contrast(
                f"{operation_id}/usual",
                "other place: the query",
                "body",
                "its body in the query",
                says,
                _in_the_query,
            )
            for operation_id in (V1_QUOTE, V1_ORDER)
        ),
        *(
            Contrast(
                f"{operation_id}/usual",
                "other form: a form",
                "body",
                "its body as that of an HTML form",
                documented(row, "the body is that of a POST of JSON"),
                _as_a_form,
            )
            for operation_id, row in ((ORDER, "4.2 row 7"), (TICKET, "4.2 row 11"))
        ),
        *(
            Contrast(
                f"{operation_id}/usual",
                "other form: with a key",
                "headers.appKey",
                "the headers of a developer key, which nothing asks for",
                keyless,
                _with_a_key,
            )
            for operation_id in ("v1.getSupportChains", "v2.getChain", "v2.getAssets")
        ),
    )


_PUBLISHED_NAME = "the name of the input is spelled as published"
_ONE_PERCENT = "slippage counts hundredths of a percent: 100 is 1%"

CONTRASTS: tuple[Contrast, ...] = (
    Contrast(
        f"{SWAP}/usual",
        "other form: with routeSummary",
        "query.routeSummary",
        "the optional routeSummary",
        documented("4.2 row 6", "routeSummary is optional"),
        _route_summary,
    ),
    Contrast(
        f"{SWAP}/usual",
        "other form: without aggregator",
        "query.aggregator",
        "no aggregator, which was the one that the quote names",
        documented("4.2 row 6", "aggregator is that of the aggregate quote"),
        _no_aggregator,
    ),
    Contrast(
        f"{SWAP}/usual",
        "other form: without routeSummary",
        "query.routeSummary",
        "no routeSummary, which was the one that the quote has",
        documented("4.2 row 6", "routeSummary is that of the aggregate quote"),
        _no_summary,
    ),
    Contrast(
        f"{SWAP}/usual",
        "other form: partial fill",
        "query.allowPartialFill",
        "allowPartialFill being true",
        documented("4.2 row 6", "allowPartialFill is a boolean"),
        _query("allowPartialFill", lambda _: "true"),
    ),
    Contrast(
        f"{SWAP}/usual",
        "other form: slippage of 1",
        "query.slippage",
        "a slippage of 1, and not of 100",
        documented("4.2 row 6", _ONE_PERCENT),
        _query("slippage", lambda _: "1"),
    ),
    *_v1_amounts(V1_QUOTE),
    Contrast(
        f"{V1_QUOTE}/tenfold",
        "tenfold without fraction",
        "body.amount",
        "an amount without fraction",
        documented("2.2", "the amount is a float"),
        _amount(_without_fraction),
    ),
    *_v1_amounts(RAW),
    *_v1_amounts(V1_ORDER),
    *_v1_times(),
    *_forms(),
    Contrast(
        f"{V1_ORDER}/usual",
        "other name: evmAddress",
        "body.evmAddres",
        "evmAddress in place of evmAddres",
        documented("2.2", "the field name is spelled exactly so"),
        _respelled("body"),
    ),
    Contrast(
        f"{ORDER}/usual",
        "other name: header in other case",
        "headers.Evmaddress",
        "a header whose name is in another case",
        documented("4.2 row 7", _PUBLISHED_NAME),
        _respelled("headers"),
    ),
    Contrast(
        f"{ORDER}/usual",
        "other defaults: not empty",
        "body.extra",
        "texts in place of the empty ones, which are the default",
        documented("4.2", "execStrategy and extra are empty by default"),
        _filled,
    ),
    Contrast(
        f"{ORDER}/usual",
        "other defaults: a time-out",
        "body.timeout",
        "a timeout that is not 0, which is the default",
        documented("4.2", "timeout is 0 by default"),
        lambda draft, _: draft.having("body", "timeout", "3600"),
    ),
    Contrast(
        f"{ORDER}/usual",
        "other form: 0x before the hex",
        "body.sourceCerts",
        "0x before its sourceCerts",
        observed("GB2-order", "sourceCerts is hex without 0x"),
        lambda draft, _: draft.having(
            "body", "sourceCerts", f"0x{draft.part('body').get('sourceCerts')}"
        ),
    ),
    Contrast(
        f"{ORDER}/{AGGREGATE}",
        "other slippage: 1",
        "body.slippage",
        "a slippage of 1, and not of 100",
        documented("4.2", _ONE_PERCENT),
        lambda draft, _: draft.having("body", "slippage", "1"),
    ),
    Contrast(
        f"{TICKET}/usual",
        "other name: header in other case",
        "headers.EvmAddress",
        "a header whose name is in another case",
        documented("4.2 row 11", _PUBLISHED_NAME),
        _respelled("headers"),
    ),
)
"""Every contrast; those of one request in the order in which they are tried."""
