"""Requests in a form that is not published, sent only if the published one is refused.

A refusal alone proves nothing, since a service may have bounds of its own. Where the same request
is accepted in another spelling, the published spelling is what was refused.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import ROUND_CEILING, Decimal
from functools import partial
from itertools import chain
from urllib.parse import urlencode

from mockserver import jsontext
from mockserver.conformance.basis import basis_of_input
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import decimals_of, plain_attempt
from mockserver.conformance.discovery.inventory import twins_of
from mockserver.conformance.discovery.token_routes import OTHER_AMOUNTS
from mockserver.conformance.requests import probe_labels
from mockserver.conformance.requests.negative import DraftChange, signed
from mockserver.conformance.requests.probe import Build, Probe, Stage
from mockserver.conformance.requests.probe_table import planned
from mockserver.conformance.requests.valid import fresh_hash
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.probe_names import ProbeName
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.verdict import NotRun, needed
from mockserver.contract import Basis, fact_basis, ids, load
from mockserver.contract.input_fields import AMOUNT_ROLES, CHAIN_ROLES
from mockserver.fast_dataclass import dataclass
from mockserver.file_formats import Document
from mockserver.jsontext import Json, plain
from mockserver.tables import look_up

_TIME_OUT = "headers.expireTime"
# Ten years: longer than a clock may be wrong.
_LONG_MS = "315360000000"
ONCE_MORE = "published form once more"
_FORM_TYPE = "application/x-www-form-urlencoded"
# The decimals that careless services assume for every token.
_COMMON_DECIMALS = 6
# The published spellings, each with the correct one that a service may expect instead.
_SPELLINGS = {"Evmaddress": "EvmAddress", "EvmAddress": "Evmaddress", "evmAddres": "evmAddress"}


@dataclass(frozen=True, slots=True)
class AlternativeForm:
    """A published form of a request, and the other form that is sent if it is refused.

    `of` is the probe with the published form, `words` name the one with the other form; `how` says
    in what it differs. `place` is the input.
    """

    of: str
    words: str
    place: str
    how: str
    basis: Basis
    change: DraftChange

    @property
    def operation_id(self) -> str:
        return self.of.partition("/")[0]

    @property
    def probe(self) -> str:
        return f"{self.operation_id}/{self.words}"

    @property
    def once_more(self) -> str:
        """The name of the probe that sends the published form again, if the other was accepted."""
        return f"{self.of} in the {ONCE_MORE}"


def alternatives_of(operation_id: str) -> tuple[AlternativeForm, ...]:
    return tuple(form for form in ALTERNATIVES if form.operation_id == operation_id)


def alternative_probes() -> Iterator[Probe]:
    """Yield the probes of all alternative forms, and then of the published ones sent once more.

    Each is sent only where it is needed.
    """
    for form in ALTERNATIVES:
        yield _probe(form.probe, partial(_other_form, form), form.of, *_of_other_amounts(form))
    for name, of in {form.once_more: form.of for form in ALTERNATIVES}.items():
        others = (form.probe for form in _other_forms(of))
        yield _probe(name, partial(_published_again, of), of, *others)


def _other_forms(of: str) -> list[AlternativeForm]:
    return [form for form in ALTERNATIVES if form.of == of]


def _of_other_amounts(form: AlternativeForm) -> tuple[str, ...]:
    """Return the attempts that distinguish a refused amount from a refused form."""
    names = OTHER_AMOUNTS if form.operation_id == ids.V1_QUOTE else ()
    return tuple(f"{ids.V1_QUOTE}/{name}" for name in names)


def _probe(name: str, build: Build, *after: str) -> Probe:
    writes = ProbeName(name).operation_id in ids.WRITES
    return Probe(name, build, Stage.WRITES if writes else Stage.READS, after, conditional=True)


def _other_form(form: AlternativeForm, context: RunContext) -> Draft:
    if not context.require(form.of).refused:
        raise NotRun(f"not needed, {form.of} was not refused")
    others = (another.probe for another in _other_forms(form.of))
    for exchange in context.sent(*_of_other_amounts(form), *others):
        if exchange.succeeded:
            raise NotRun(f"not needed, {exchange.probe} was taken")
    return _made(context, form.of, form.words, form.change)


def _published_again(of: str, context: RunContext) -> Draft:
    forms = {form.probe: form for form in _other_forms(of)}
    taken = [forms[exchange.probe] for exchange in context.sent(*forms) if exchange.succeeded]
    # Only what another form was taken for: else the published one was refused for another reason.
    needed(taken, "not needed, no other form was taken")
    if any(form.place == _TIME_OUT for form in taken):
        # Only the usual time-out may be too short.
        return _made(context, of, ONCE_MORE, _sending(_TIME_OUT, _LONG_MS))
    return _made(context, of, ONCE_MORE, lambda draft, _: draft)


def _made(context: RunContext, of: str, words: str, change: DraftChange) -> Draft:
    """Return a published form with a change; a submission is about a deposit of its own."""
    published = planned(context, of, deposit=fresh_hash(context, f"{of} {words}"))
    operation = context.contract.operation(ProbeName(of).operation_id)
    return signed(change(published, context), operation, context.caller)


def _route_summary(draft: Draft, context: RunContext) -> Draft:
    quote = context.get(plain_attempt(context, ids.SWAP_QUOTE).probe)
    if quote is None or not quote.succeeded or "routeSummary" in draft.query:
        raise NotRun("no quote was given, or its routeSummary was sent already")
    text = jsontext.encode(dict(quote.data)).decode()
    # Cut, since addresses of more characters are refused by many servers.
    return draft.having("query", "routeSummary", text[:2000])


def _respelled(draft: Draft, _: RunContext) -> Draft:
    parts = {"headers": draft.part("headers"), "body": draft.part("body")}
    changed = {
        location: {_SPELLINGS.get(name, name): value for name, value in part.items()}
        for location, part in parts.items()
        if _SPELLINGS.keys() & part.keys()
    }
    needed(changed, "this dialect spells its inputs otherwise")
    return replace(draft, **changed)  # type: ignore[arg-type]


def _filled(draft: Draft, _: RunContext) -> Draft:
    body = dict(draft.body or {})
    empty = [name for name in ("execStrategy", "extra") if body.get(name) == ""]
    needed(empty, "no input of the order is an empty text")
    return replace(draft, body={**body, **dict.fromkeys(empty, "0")})


def _amount(make: Callable[[RunContext, Decimal], Json]) -> DraftChange:
    def change(draft: Draft, context: RunContext) -> Draft:
        body = draft.part("body")
        name = next((role for role in AMOUNT_ROLES if role in body), "")
        amount = amounts.number(body.get(name))
        if amount is None:
            raise NotRun("the request has no amount")
        return draft.having("body", name, make(context, amount))

    return change


def _units(context: RunContext, amount: Decimal) -> Json:
    return amounts.units_of(amount, decimals_of(plain_attempt(context, ids.V1_QUOTE).route.source))


def _millions(context: RunContext, amount: Decimal) -> Json:
    if plain_attempt(context, ids.V1_QUOTE).route.source.decimals == _COMMON_DECIMALS:
        raise NotRun("the token has six decimals itself")
    return amounts.units_of(amount, _COMMON_DECIMALS)


def _without_fraction(_: RunContext, amount: Decimal) -> Json:
    # Up: where more is taken, no bound explains that less is refused.
    rounded = int(amount.to_integral_value(ROUND_CEILING))
    # The same request once more would show nothing.
    if rounded == amount:
        raise NotRun("the amount has no fraction")
    return rounded


def _with_fraction(_: RunContext, amount: Decimal) -> Json:
    if amount != amount.to_integral_value():
        raise NotRun("the amount has a fraction itself")
    return amount + Decimal("0.5")


def _called_as_in_2_0(draft: Draft, context: RunContext) -> Draft:
    twins: dict[Json, str] = {chain.name: twin.name for chain, twin in twins_of(context)}
    body = draft.part("body")
    chains = {name: body[name] for name in CHAIN_ROLES if name in body}
    called = {name: twins.get(value, value) for name, value in chains.items()}
    if called == chains:
        raise NotRun("2.0 calls the chains as v1 does")
    return replace(draft, body={**body, **called})


def _as_a_form(draft: Draft, _: RunContext) -> Draft:
    pairs = {name: str(value) for name, value in draft.part("body").items()}
    return replace(draft, raw_body=urlencode(pairs).encode("ascii"), content_type=_FORM_TYPE)


def _with_a_key(draft: Draft, context: RunContext) -> Draft:
    """Add the headers of an order of v1, where keys are published; never a key of the user's."""
    signed_caller = Caller(timestamp_ms=context.caller.timestamp_ms).sign_v1(draft)
    return replace(draft, headers=signed_caller.headers)


_CHANGES: Mapping[str, DraftChange] = {
    "with summary": _route_summary,
    "a text": _amount(lambda _, amount: plain(amount)),
    "no fraction": _amount(_without_fraction),
    "a fraction": _amount(_with_fraction),
    "smallest units": _amount(_units),
    "millionths": _amount(_millions),
    "chains as in 2.0": _called_as_in_2_0,
    "in the query": lambda draft, _: replace(draft, query=draft.part("body"), body={}),
    "as a form": _as_a_form,
    "with a key": _with_a_key,
    "other spelling": _respelled,
    "not empty": _filled,
    "0x in front": lambda draft, _: draft.having(
        "body", "sourceCerts", f"0x{draft.part('body').get('sourceCerts')}"
    ),
}


def _sending(place: str, value: Json) -> DraftChange:
    """Return the change of an input to a value; without one it is left out."""
    location, _, name = place.partition(".")

    def change(draft: Draft, _: RunContext) -> Draft:
        if value is not None:
            return draft.having(location, name, value)
        if name not in draft.part(location):
            raise NotRun(f"the published form has no {name}")
        return draft.without(location, name)

    return change


def forms_of(document: Document) -> tuple[AlternativeForm, ...]:
    """Return the forms of a table. Raises `InvalidFile` for a name that nothing has."""
    rows = probe_labels.made_of(document, "forms", lambda row: [_form(row, of) for of in row["of"]])
    return tuple(chain.from_iterable(rows.values()))


def _form(row: Mapping[str, Json], of: str) -> AlternativeForm:
    """Return a row of the table for one of its probes. Raises `UnknownTableName`."""
    change = (
        _sending(row["input"], row["send"]) if "send" in row else look_up(_CHANGES, row["change"])
    )
    if "fact" in row:
        basis = fact_basis(row["fact"])
    else:
        operation = load().operation(ProbeName(of).operation_id)
        places = {f"{field.location}.{field.name}": field for field in operation.fields}
        basis = basis_of_input(operation, look_up(places, row["input"]))
    return AlternativeForm(of, row["words"], row["input"], row["with"], basis, change)


ALTERNATIVES: tuple[AlternativeForm, ...] = forms_of(probe_labels.shipped_requests())
"""Every alternative form; those of one request in the order in which they are tried."""
