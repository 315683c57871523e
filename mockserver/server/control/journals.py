"""Control of the journal: searched, verified, and judged at the end of a test."""

from mockserver.jsontext import Json
from mockserver.responders import verification
from mockserver.responders.decoding import decoded
from mockserver.responders.faults.kinds import rule_name
from mockserver.responders.faults.trigger import operation_id
from mockserver.responders.forms import BadControl
from mockserver.responders.hosted import Expected, HostedWorld
from mockserver.responders.journal import Entry
from mockserver.responders.judging import unexpected_refusals
from mockserver.responders.named import named_by
from mockserver.responders.nearest import nearest_form
from mockserver.responders.searching import search_of
from mockserver.server.control import keeping
from mockserver.server.control.row import Asked


def show(asked: Asked) -> Json:
    """Return what a world has seen; `next` is the cursor that goes on from here."""
    journal = asked.hosted.journal
    search = search_of(asked.query, asked.hosted.contract)
    found = search.found(journal)
    limit = asked.query.get("limit", len(found))
    shown = found[:limit]
    return {
        "last": journal.last_sequence,
        "next": shown[-1].sequence if len(found) > limit else journal.last_sequence,
        "dropped": journal.dropped,
        "entries": [_entry(asked.hosted, entry) for entry in shown],
    }


def detail(asked: Asked) -> Json:
    """Return one request with its answer, the nearest valid form, and what its codes stand for."""
    number, journal = asked.place["id"], asked.hosted.journal
    entry = next((entry for entry in journal if str(entry.sequence) == number), None)
    if entry is None:
        raise BadControl(
            f"the journal has no request {number[:40]!r}; it has "
            f"{journal.dropped + 1} to {journal.last_sequence}"
            if len(journal)
            else f"the journal has no request {number[:40]!r}; it is empty"
        )
    return {**_entry(asked.hosted, entry), "decoded": decoded(entry)}


def record(asked: Asked) -> Json:
    """Return requests of the journal as the text of a recording file, without secrets."""
    hosted, query = asked.hosted, asked.query
    found = search_of(query, hosted.contract).found(hosted.journal)
    title = query.get("title", f"Requests of the world {hosted.key}")
    text, count = keeping.recorded(hosted, found[: query.get("limit", len(found))], title)
    return {"text": text, "exchanges": count}


def forget(asked: Asked) -> Json:
    """Forget the journal; its numbers go on."""
    asked.hosted.journal.clear()
    return {"last": asked.hosted.journal.last_sequence}


def verify(asked: Asked) -> Json:
    """Tell whether what a test wants is true of the requests a world has seen."""
    verdict = verification.verify(asked.hosted, asked.body)
    return {
        "held": verdict.held,
        "told": verdict.told,
        "count": len(verdict.entries),
        "sequences": [entry.sequence for entry in verdict.entries],
        "nearest": list(verdict.nearest),
        "dropped": verdict.dropped,
    }


def expect(asked: Asked) -> Json:
    """Say that a refusal is expected, so that the end of a test does not complain about it."""
    body, hosted = asked.body, asked.hosted
    name, operation = body.get("refusal"), body.get("operation")
    expected = Expected(
        None if name is None else rule_name(name, hosted.contract.refusals),
        None if operation is None else operation_id(operation, hosted.contract),
    )
    hosted.expect(expected)
    return {"expected": len(hosted.expected)}


def check(asked: Asked) -> Json:
    """Tell what the end of a test should complain about."""
    hosted = asked.hosted
    unused = [
        {**stub.told, "id": stub.id, "used": hosted.stubs.used(stub)}
        for stub in hosted.stubs.unused()
    ]
    refusals = [_entry(hosted, entry) for entry in unexpected_refusals(hosted)]
    failures = list(hosted.failures)
    return {
        "ok": not (unused or refusals or failures),
        "unusedStubs": unused,
        "failures": failures,
        "unexpectedRefusals": refusals,
    }


def _entry(hosted: HostedWorld, entry: Entry) -> Json:
    shown = entry.render()
    shown["nearest"] = nearest_form(hosted.contract, entry)
    shown["order"] = _order(hosted, entry)
    return shown


def _order(hosted: HostedWorld, entry: Entry) -> Json:
    """Return the order that a request is about, how it stands, and how and why it ends."""
    operation = hosted.contract.find(entry.request.method, entry.path)
    name = named_by(operation, entry.request, hosted.world).order if operation else None
    if name is None:
        return None
    view, end = hosted.world.orders.look(name), hosted.world.orders.events(name)[-1]
    return {
        "id": name,
        "status": view.status.value,
        "course": view.order.course.name,
        "end": end.status.value,
        "ending": end.reason,
    }
