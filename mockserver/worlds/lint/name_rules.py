"""Rules about names, lists, recipients and ids."""

from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from math import isclose

from mockserver.contract import ids
from mockserver.contract.input_fields import CHAIN_ROLES
from mockserver.engine.refusal import Refusal
from mockserver.responders.refusal_answers import refusal_in
from mockserver.worlds.audit.finding_texts import length
from mockserver.worlds.lint.finding import Remark
from mockserver.worlds.lint.traffic import CHAIN_LISTS, ClientCall, Traffic, certificate_of


def other_generation(traffic: Traffic, _: int) -> Iterator[Remark | None]:
    """Find chains by the name that only the other generation has, where they were refused."""
    reported: set[tuple[str, str]] = set()
    for call in traffic.calls:
        yield None
        # What the service took is right, whatever the catalog calls it.
        if not call.failed or call.entry.refusal is None:
            continue
        v1 = call.operation.generation.id == "v1"
        deposit = certificate_of(call)
        names = {role: call.text(role) for role in CHAIN_ROLES}
        names["fromChain of the deposit"] = str(deposit.get("fromChain", ""))
        for role, name in names.items():
            right = _own_name(traffic, name, v1=v1)
            if right and (call.operation.id, name) not in reported:
                reported.add((call.operation.id, name))
                theirs = "2.0" if v1 else "v1"
                ours = call.operation.generation.name
                yield Remark(
                    f"{role} {name!r} is the name of {theirs}; {ours} calls it {right!r}", [call]
                )
        yield from _other_members(traffic, call, reported)


def _own_name(traffic: Traffic, name: str, *, v1: bool) -> str:
    """Return what a generation calls a chain that only the other one calls so; else nothing."""
    chain = traffic.catalog.named(name) if name else None
    if chain is None:
        return ""
    right = (chain.v1_name or "") if v1 else chain.nickname
    return "" if right == name else right


def _other_members(
    traffic: Traffic, call: ClientCall, reported: set[tuple[str, str]]
) -> Iterator[Remark]:
    """Find inputs that only operations of the other generation have, where one is missing."""
    names = {field.name for field in call.operation.fields}
    missing = [field.name for field in call.operation.fields if field.required]
    request = call.entry.request
    sent = {*request.parameters, *request.members}
    missing = [name for name in missing if name not in sent and name not in request.headers]
    others = {
        field.name
        for operation in traffic.contract
        if operation.generation.id != call.operation.generation.id
        for field in operation.fields
        if field.location != "headers"
    }
    strange = sorted((sent - names) & others)
    key = call.operation.id, ",".join(strange)
    if strange and missing and key not in reported:
        reported.add(key)
        theirs = "2.0" if call.operation.generation.id == "v1" else "v1"
        yield Remark(
            f"{', '.join(map(repr, strange))} are names of {theirs}, and "
            f"{', '.join(map(repr, missing))} is missing",
            [call],
        )


def unlisted_chains(traffic: Traffic, _: int) -> Iterator[Remark]:
    """Find chains that are used before any list of them was read."""
    yield from _unlisted(traffic, "chains", CHAIN_LISTS)


def unlisted_tokens(traffic: Traffic, _: int) -> Iterator[Remark]:
    """Find tokens that are used before any list of them was read."""
    yield from _unlisted(traffic, "tokens", ids.TOKEN_LISTS)


def _unlisted(traffic: Traffic, what: str, lists: tuple[str, ...]) -> Iterator[Remark]:
    if traffic.lost or traffic.inherited:
        # The lists may have been read before.
        return
    known: set[str] = set()
    moving = (*ids.SUBMITTED_ORDERS, ids.V1_RAW)
    called = {
        submission.call.sequence
        for submission in traffic.first_submissions.values()
        if submission.by_contract
    }
    for call in traffic.calls:
        generation = call.operation.generation.id
        if call.operation.id in lists and not call.failed:
            known.add(generation)
        elif generation in known:
            continue
        elif call.operation.id in moving or call.sequence in called:
            # Once for each generation: whoever forgets it forgets it everywhere.
            known.add(generation)
            names = " or ".join(name for name in lists if name.startswith(f"{generation}."))
            yield Remark(f"a list of {what} ({names}) was not read before", [call])


def outdated(traffic: Traffic, most_ms: int) -> Iterator[Remark]:
    """Find deposits that were paid by lists that are too old."""
    # A retry does not count: a deposit that is paid has to be submitted, whatever lists say then.
    begun = {
        submission.call.sequence: traffic.paid_ms(submission)
        for submission in traffic.first_submissions.values()
    }
    read: dict[tuple[str, str], ClientCall] = {}
    for call in traffic.calls:
        generation = call.operation.generation.id
        for what, lists in (("chains", CHAIN_LISTS), ("tokens", ids.TOKEN_LISTS)):
            if call.operation.id in lists and not call.failed:
                read[generation, what] = call
        if call.sequence in begun:
            paid_ms = begun[call.sequence]
            known = [(what, listed) for (of, what), listed in read.items() if of == generation]
            old = [(what, lst) for what, lst in known if paid_ms - lst.at_ms > most_ms]
            if old:
                what, listed = old[0]
                age = length(paid_ms - listed.at_ms)
                text = f"the list of {what} was {age} old when money was moved"
                yield Remark(text, [listed, call])
                return


def recipient(traffic: Traffic, _: int) -> Iterator[Remark | None]:
    """Find recipients that cannot have what they get."""
    for submission in traffic.first_submissions.values():
        yield None
        call, transfer = submission.call, submission.transfer
        if submission.by_contract:
            continue
        to = call.text("toAddr") or call.text("toAddress")
        if transfer is None or not to:
            continue
        with suppress(Refusal):
            chain = traffic.catalog.chain(transfer.route.target_chain)
            why = traffic.catalog.no_account(chain, to)
            if why:
                yield Remark(f"{to} on {chain.nickname} {why}", [call])


def unknown_ids(traffic: Traffic, _: int) -> Iterator[Remark | None]:
    """Find look-ups of orders that no answer has named."""
    if traffic.lost or traffic.inherited or not traffic.orders:
        return
    reported: set[str] = set()
    for call in traffic.of((ids.CHECK, ids.V1_DETAIL_BY_NUMBER)):
        yield None
        name = call.text("id") or call.text("sn")
        wrong = refusal_in(call.entry.refusal) in ("unknown-order", "contract-violation")
        # An id in another form is the business of the next rule.
        near = name in traffic.orders or _nearest_id(name, traffic.orders)
        if wrong and not near and name not in reported:
            reported.add(name)
            yield Remark(f"no answer has an order {name[:60]!r}", [call])


def _nearest_id(name: str, known: dict[str, ClientCall]) -> str:
    """Return the id that a name is, up to its form or to what a float keeps of it."""
    # As floats, which is what a number of JavaScript keeps of an id.
    try:
        value = float(name)
    except ValueError:
        return ""
    # Whoever prints an exponent or a fraction keeps six digits, in many languages.
    kept = 0.0 if name.isdecimal() else 1e-5
    for other in known:
        with suppress(ValueError):
            if isclose(float(other), value, rel_tol=kept):
                return other
    return ""


def numeric_ids(traffic: Traffic, _: int) -> Iterator[Remark | None]:
    """Find ids and amounts that travel as numbers where texts came."""
    for call in traffic.of((ids.CHECK, ids.V1_DETAIL_BY_NUMBER, ids.CHECK_TICKET)):
        yield None
        name = call.text("id") or call.text("sn") or call.text("ticketId")
        near = _nearest_id(name, traffic.orders)
        if near and name not in traffic.orders:
            text = f"id {name[:60]!r} has gone through a number; the answer had {near!r}"
            yield Remark(text, [traffic.orders[near], call])
            break
    for submission in traffic.first_submissions.values():
        yield None
        deposit = certificate_of(submission.call)
        names = [
            name
            for name in ("fromAmount", "fromIndex")
            if isinstance(deposit.get(name), int | Decimal)
        ]
        if names:
            text = f"{' and '.join(names)} of the deposit are JSON numbers"
            yield Remark(text, [submission.call])
            break
    for call in traffic.calls:
        yield None
        wrong = _numbers_for_texts(call)
        if wrong:
            yield Remark(f"{', '.join(wrong)}: a JSON number, where a text is expected", [call])
            break


def _numbers_for_texts(call: ClientCall) -> list[str]:
    if call.operation.generation.id == "v1":
        # Its description has numbers, among them an address (section 2.2).
        return []
    members = call.entry.request.members
    return [
        field.name
        for field in call.operation.fields
        if field.location == "body"
        and field.types == ("string",)
        and isinstance(members.get(field.name), int)
        and not isinstance(members.get(field.name), bool)
    ]
