"""Control of the journal: searched, verified, judged after a test, and kept as a recording."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from mockserver import jsontext
from mockserver.http_messages import Headers
from mockserver.jsontext import Json, picked
from mockserver.recordings import RecordedExchange, Recording
from mockserver.recordings.files import exchange_text, head_text
from mockserver.responders.control_forms import BadControl
from mockserver.responders.faults.kinds import rule_name
from mockserver.responders.faults.registry import operation_id
from mockserver.responders.request_subjects import named_by
from mockserver.responders.responder import SIMULATION
from mockserver.server.control.route import ControlRequest
from mockserver.sliced_work import Steps, each, in_slices
from mockserver.times_and_durations import iso
from mockserver.worlds import audit as audits
from mockserver.worlds import verification
from mockserver.worlds.end_of_test_check import Remedies, complaints, unused
from mockserver.worlds.hosted import AwaitedRefusal, HostedWorld
from mockserver.worlds.journal import Entry
from mockserver.worlds.journal_entry_details import decoded, nearest_form
from mockserver.worlds.verdict_evidence import Ground, ground_of
from mockserver.worlds.verification import Search, search_of, unexpected_refusals, unmet

if TYPE_CHECKING:
    from mockserver.recordings.redaction import Redactor

# Entries that are written in a turn: secrets and the nearest valid form take up to 20 ms each.
_ENTRIES_AT_ONCE = 1
_REMEDIES = Remedies(
    "announce it before it with `POST /__mock/expect` (`expectRefusal`) if that is meant",
    "record it where the mock is started, with `--record new`",
    "take it away, or check with `unused=allow`",
    "`serve --stamps either` takes both",
)


def show(request: ControlRequest) -> Iterator[bytes]:
    """Return the requests of a world; `next` is the cursor of the next page."""
    return _listed(request, search_of(request.query, request.hosted.contract))


def _listed(request: ControlRequest, search: Search) -> Iterator[bytes]:
    journal = request.hosted.journal
    entries = yield from in_slices(search.found_in(journal.of(search.operation)))
    limit = request.query.get("limit", len(entries))
    page = entries[:limit]
    members: dict[str, Json] = {
        "last": journal.last_sequence,
        "next": page[-1].sequence if len(entries) > limit else journal.last_sequence,
        "dropped": request.hosted.dropped,
        "entries": _entries(request.hosted, page),
    }
    # Not before the journal is read for its secrets.
    yield from in_slices(journal.study())
    yield from jsontext.pieces(members, _ENTRIES_AT_ONCE)


def detail(request: ControlRequest) -> Iterator[bytes]:
    """Return one request with its answer, the nearest valid form, and what its codes stand for."""
    number, journal = request.place["id"], request.hosted.journal
    place = int(number) if number.isascii() and number.isdecimal() and len(number) < 20 else 0
    if not journal.dropped < place <= journal.last_sequence:
        raise BadControl(
            f"the journal has no request {number[:40]!r}; it has "
            f"{journal.dropped + 1} to {journal.last_sequence}"
            if len(journal)
            else f"the journal has no request {number[:40]!r}; it is empty"
        )
    return _detailed(request.hosted, journal.since(place - 1, 1)[0])


def _detailed(hosted: HostedWorld, entry: Entry) -> Iterator[bytes]:
    yield from in_slices(hosted.journal.study())
    members = yield from in_slices(_entry(hosted, entry))
    members["decoded"] = yield from in_slices(entry.apart(partial(decoded, entry)))
    yield jsontext.encode(members)


def record(request: ControlRequest) -> Iterator[bytes]:
    """Return requests of the journal as the text of a recording file, without secrets.

    Preflights and requests that no operation answers are left out. Raises `BadControl` where
    nothing is left.
    """
    return _recorded(request, search_of(request.query, request.hosted.contract))


def forget(request: ControlRequest) -> Json:
    """Forget the journal; its numbers go on."""
    request.hosted.journal.clear()
    return {"last": request.hosted.journal.last_sequence}


def verify(request: ControlRequest) -> Iterator[bytes]:
    """Tell whether what a test expects is true of the requests of a world."""
    ground = ground_for(request)
    verdict = yield from in_slices(verification.verify_in_steps(request.hosted, request.body))
    # What nobody has asked for cannot be too much; nor does that show anything.
    unfounded = verdict.held and ground.missing
    journal, nearest = request.hosted.journal, []
    if verdict.nearest:
        # What takes out secrets reads the whole journal for them, mostly for nothing.
        yield from in_slices(journal.study())
        nearest = [journal.redactor().line(text) for text in verdict.nearest]
    yield jsontext.encode(
        {
            "held": verdict.held and not unfounded,
            "told": unfounded or verdict.message,
            "count": len(verdict.entries),
            "sequences": [entry.sequence for entry in verdict.entries],
            "nearest": nearest,
            **picked(verdict, "dropped"),
            "ground": ground.render(),
        }
    )


def expect(request: ControlRequest) -> Json:
    """Expect a refusal, so that the check at the end of a test does not report it."""
    body, hosted = request.body, request.hosted
    name, operation = body.get("refusal"), body.get("operation")
    expected = AwaitedRefusal(
        None if name is None else rule_name(name, hosted.contract.refusals),
        None if operation is None else operation_id(operation, hosted.contract),
    )
    hosted.expect(expected)
    return {"expected": len(hosted.expected)}


def check(request: ControlRequest) -> Iterator[bytes]:
    """Return the problems that a test should fail for at its end."""
    hosted, ground = request.hosted, ground_for(request)
    silent = request.query.get("unused") == "allow"
    findings: Sequence[audits.Finding] = ()
    stage = hosted.stage()
    if request.query.get("audit", False):
        verdict = yield from in_slices(
            audits.judge_in_steps(hosted, audits.kinds_named("all"), others=request.server.worlds)
        )
        hosted.judged("audit", stage, well=verdict.passed)
        findings = verdict.findings
    stubs = [
        {**stub.definition, "id": stub.id, "used": hosted.stubs.used(stub)}
        for stub in hosted.stubs.unused()
        if not silent
    ]
    refusals = yield from in_slices(each(unexpected_refusals(hosted)))
    if refusals or findings or stubs or any(hosted.journal.disturbed()):
        # Sentences name requests.
        yield from in_slices(hosted.journal.study())
    failures = list(hosted.failures)
    met_nothing = [] if silent else (yield from in_slices(each(unmet(hosted))))
    well = not (stubs or refusals or failures or met_nothing or findings or ground.missing)
    hosted.judged("check", stage, well=well)
    told = chain(
        complaints(hosted, refusals, _REMEDIES),
        () if silent else unused(hosted, met_nothing, _REMEDIES),
        (f"audit: {finding.message}" for finding in findings),
    )
    yield from jsontext.pieces(
        {
            "ok": well,
            "told": jsontext.LazyArray(told),
            "unmet": met_nothing,
            "unusedStubs": stubs,
            "failures": failures,
            "unexpectedRefusals": _entries(hosted, refusals),
            "ground": ground.render(),
        },
        _ENTRIES_AT_ONCE,
    )


def ground(request: ControlRequest) -> Json:
    """Return what a verdict on this world rests on."""
    return ground_for(request).render()


def ground_for(request: ControlRequest) -> Ground:
    return ground_of(request.hosted, request.server.worlds)


def _entries(hosted: HostedWorld, entries: Iterable[Entry]) -> jsontext.LazyArray:
    def items() -> Iterator[Json]:
        for entry in entries:
            members = yield from in_slices(_entry(hosted, entry), jsontext.NOT_YET)
            yield members

    return jsontext.LazyArray(items())


def _entry(hosted: HostedWorld, entry: Entry) -> Steps[dict[str, Json]]:
    members = yield from entry.apart(entry.render)
    members["nearest"] = nearest_form(hosted.contract, entry, hosted.world.scenario.catalog)
    members["order"] = _order(hosted, entry)
    return members


def _order(hosted: HostedWorld, entry: Entry) -> Json:
    """Return the order that a request is about, how it stands, and how and why it ends."""
    operation = hosted.contract.find(entry.request.answered_as, entry.path)
    name = named_by(operation, entry.request, hosted.world).order if operation else None
    if name is None:
        return None
    view, end = hosted.world.orders.peek(name), hosted.world.orders.events(name)[-1]
    return {
        "id": name,
        "status": view.status.value,
        "course": view.order.course.name,
        "end": end.status.value,
        "ending": end.reason,
    }


def _recorded(request: ControlRequest, search: Search) -> Iterator[bytes]:
    """Yield the pieces of the answer with a recording of entries, without any secret."""
    hosted, query = request.hosted, request.query
    matching = yield from in_slices(search.found_in(hosted.journal.of(search.operation)))
    page = matching[: query.get("limit", len(matching))]
    kept = [entry for entry in page if entry.operation is not None]
    if not kept:
        raise BadControl("none of these requests is one of an operation, so none can be kept")
    # A piece is an exchange, since a full journal takes seconds to be written.
    yield from in_slices(hosted.journal.study())
    redactor = hosted.journal.redactor()
    head = Recording(
        title=query.get("title", f"Requests of the world {hosted.key}"),
        origin=SIMULATION,
        exchanges=(),
        dialect=hosted.contract.dialect.name,
        scenario=hosted.world.scenario.name,
        start=iso(kept[0].at_ms),
    )
    yield b'{"text":"' + _escaped(head_text(head))
    before = kept[0].at_ms
    for entry in kept:
        writing = partial(_text_of, redactor, _exchange(entry, before))
        text = yield from in_slices(entry.apart(writing))
        yield _escaped(text)
        before = entry.at_ms
    yield b'","exchanges":%d}' % len(kept)


def _text_of(redactor: "Redactor", exchange: RecordedExchange) -> str:
    return exchange_text(redactor.exchange(exchange), SIMULATION)


def _escaped(text: str) -> bytes:
    return jsontext.escaped(text).encode("ascii")


def _exchange(entry: Entry, before_ms: int) -> RecordedExchange:
    # Without the prefix of the world: a recording is served from any.
    sent = entry.request
    request = replace(sent, method=sent.answered_as, path=entry.path, headers=_plain(sent.headers))
    made = RecordedExchange(
        name=f"request-{entry.sequence}",
        operation=entry.operation or "",
        request=request,
        response=entry.response,
        origin=SIMULATION,
        advance_ms=max(0, entry.at_ms - before_ms),
        note="" if entry.responder == SIMULATION else f"answered by {entry.responder}",
    )
    return made.unpacked()


def _plain(headers: Headers) -> Headers:
    """Return headers whose names are plain texts, and not those of the HTTP library."""
    # Bodies in a journal are unpacked, so that their Content-Encoding is left out.
    sent = ((str(name), str(value)) for name, value in headers.items_sent)
    return Headers(tuple(pair for pair in sent if pair[0].lower() != "content-encoding"))
