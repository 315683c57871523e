"""Searches a journal, and verifies what a test expects of the requests that a world got."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from operator import itemgetter

from mockserver.contract import Contract
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.mock_headers import MUTATED_HEADER
from mockserver.responders.control_forms import BadControl, check, duration_ms, form, instant_ms
from mockserver.responders.faults.kinds import NOTHING
from mockserver.responders.faults.registry import operation_id
from mockserver.responders.partial_matching import Subset, subset_of
from mockserver.responders.refusal_answers import refusal_in
from mockserver.responders.responder import STUB
from mockserver.sliced_work import Steps, at_once, each
from mockserver.suggestions import did_you_mean
from mockserver.times_and_durations import iso
from mockserver.wording import times
from mockserver.worlds.hosted import AwaitedRefusal, HostedWorld
from mockserver.worlds.journal import Entry
from mockserver.worlds.triggers import idle


@dataclass(frozen=True, slots=True)
class Search:
    """Which entries to find; None does not narrow. Times are the world's, ms since 1970."""

    operation: str | None = None
    method: str | None = None
    path: str | None = None
    refused: bool | None = None
    since: int = 0
    from_ms: int | None = None
    until_ms: int | None = None
    match: Subset | None = None

    def takes(self, entry: Entry) -> bool:
        return self.near(entry) and (self.match is None or self.match.takes(entry.request))

    def near(self, entry: Entry) -> bool:
        """Tell whether an entry matches, apart from the parts of its request."""
        return (
            entry.sequence > self.since
            and self.operation in (None, entry.operation)
            and self.path in (None, entry.path)
            and self.method in (None, entry.request.method)
            and (self.from_ms is None or entry.at_ms >= self.from_ms)
            and (self.until_ms is None or entry.at_ms < self.until_ms)
            and self.refused in (None, entry.refusal is not None)
        )

    def found_in(self, entries: Iterable[Entry]) -> Steps[list[Entry]]:
        """Return the entries that match, in steps: to read a request takes a while."""
        # By the operation first, which narrows most and is a plain comparison.
        return (yield from each(entry if self.takes(entry) else None for entry in entries))

    def __str__(self) -> str:
        named = self.operation or " ".join(filter(None, (self.method, self.path)))
        refused = {True: "refused ", False: "answered ", None: ""}[self.refused]
        return f"{refused}{named or 'requests'}"


def search_of(fields: Mapping[str, Json], contract: Contract) -> Search:
    """Return the search of a checked request. Raises `BadControl`, `ClockRefused`."""
    name = fields.get("operation")
    return Search(
        operation=operation_id(name, contract) if name is not None else None,
        method=fields.get("method"),
        path=fields.get("path"),
        refused=fields.get("refused"),
        since=fields.get("since", 0),
        from_ms=instant_ms(fields["from"]) if "from" in fields else None,
        until_ms=instant_ms(fields["until"]) if "until" in fields else None,
        match=subset_of(fields["match"]) if "match" in fields else None,
    )


_OUTAGES = ("chain-suspended", "token-suspended")
# Faults that make a refusal themselves; the others disturb an answer that the world gave.
_REFUSING = frozenset(("refusal", "quota", "break"))


def unexpected_refusals(hosted: HostedWorld) -> Iterator[Entry]:
    """Yield refused requests but for those that the test has caused or announced.

    These are the refusals of stubs, of faults that refuse and of breaks, those announced as
    expected, and suspensions in a world that has any outage.
    """
    announced = announced_in(hosted)
    return (
        entry
        for entry in hosted.journal.refused()
        if _REFUSING.isdisjoint(kind for kind, _ in entry.disturbances)
        and entry.responder != STUB
        and not announced(entry)
    )


def announced_in(hosted: HostedWorld) -> Callable[[Entry], bool]:
    """Return what tells whether a refusal was announced, or is one of an outage that was set."""
    # Once for all entries: there may be thousands of each.
    expected = frozenset(hosted.expected)
    suspended = _OUTAGES if hosted.world.outages.all() else ()

    def announced(entry: Entry) -> bool:
        if entry.refusal is None:
            return False
        return refusal_in(entry.refusal) in suspended or not expected.isdisjoint(_awaited(entry))

    return announced


def _awaited(entry: Entry) -> Iterator[AwaitedRefusal]:
    """Yield what a test may have expected where it was refused so."""
    name = refusal_in(entry.refusal or "")
    for refusal, operation in product((None, name), (None, entry.operation)):
        yield AwaitedRefusal(refusal, operation)


_COUNTS = ("exactly", "atLeast", "atMost", "never")
_NEAREST, _MOST_DIFFERENCES = 3, 50


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether what was expected holds, in a sentence, with the requests that matched.

    `nearest` tells in what the requests differ that nearly matched.
    """

    held: bool
    message: str
    entries: tuple[Entry, ...]
    nearest: tuple[str, ...] = ()
    dropped: int = 0


def verify(hosted: HostedWorld, wanted: Mapping[str, Json]) -> Verification:
    """Return whether a world got the requests that a body describes. Raises `BadControl`."""
    return at_once(verify_in_steps(hosted, wanted))


def verify_in_steps(hosted: HostedWorld, wanted: Mapping[str, Json]) -> Steps[Verification]:
    """Verify as `verify` does. Raises `BadControl`."""
    check(form("verification"), wanted, "body")
    if wanted.get("never") is False:
        raise BadControl("body field 'never': only true has a meaning; leave it out")
    counts = [name for name in _COUNTS if name in wanted]
    if not counts and not {"within", "order"} & wanted.keys():
        raise BadControl(f"body: say what is wanted: one of {', '.join(_COUNTS)}, within, order")
    if len(counts) > 1 and set(counts) != {"atLeast", "atMost"}:
        raise BadControl(f"body: {' and '.join(map(repr, counts))} do not go together")
    search = search_of(wanted, hosted.contract)
    entries = tuple((yield from search.found_in(_came(hosted, search.operation))))
    # A search that can match nothing would hold as `never`: a typing error must not pass as a test.
    if not entries and _bounds_above(wanted):
        _check_possible(search, hosted)
    complaints = list(_complaints(wanted, entries, hosted.contract))
    if not complaints and hosted.dropped and _bounds_above(wanted):
        # Any of the requests that are gone may have been one too many.
        gone = f"{hosted.dropped} older requests are no longer in the journal"
        text = f"{search} came {times(len(entries))} of those that are left, and {gone}"
        return Verification(
            False, f"{text}, so that it cannot be told", entries, (), hosted.dropped
        )
    if not complaints:
        return Verification(True, f"{search} came {times(len(entries))}, as wanted", entries)
    nearest = yield from _nearest(search, _came(hosted, search.operation))
    # All complaints at once: who mends one at a time runs the test again for each.
    text = f"{search}: {'; '.join(complaints)}"
    return Verification(False, text, entries, nearest, hosted.dropped)


def _came(hosted: HostedWorld, operation: str | None = None) -> Iterator[Entry]:
    """Yield the requests of an operation, or all."""
    # As the audit does: what a revert has undone has not happened.
    entries, horizon = hosted.journal.of(operation), hosted.horizon
    if not horizon.undone:
        return entries
    return (entry for entry in entries if not horizon.has_undone(entry.sequence))


def _check_possible(search: Search, hosted: HostedWorld) -> None:
    """Raise `BadControl` where no request of any client is what is sought, so that none came."""
    contract, newest = hosted.contract, hosted.journal.last_sequence
    operations = [contract.operation(search.operation)] if search.operation else list(contract)
    operation = operations[0]
    if search.since > newest:
        raise BadControl(f"'since': {search.since} is to come; the newest request is {newest}")
    if search.from_ms is not None and search.from_ms > hosted.world.now():
        raise BadControl(f"'from': {iso(search.from_ms)} is to come; it is {_now(hosted)} here")
    if search.until_ms is not None and search.until_ms <= hosted.began_ms:
        began = iso(hosted.began_ms)
        raise BadControl(f"'until': {iso(search.until_ms)} is before this world began, {began}")
    if search.operation and search.path not in (None, operation.path):
        raise BadControl(f"'path': {operation.id} has {operation.path}, not {search.path!r}")
    if search.operation and search.method not in (None, operation.method):
        raise BadControl(f"'method': {operation.id} is a {operation.method}, no {search.method}")
    if search.path is not None:
        paths = [known.path for known in contract] + [entry.path for entry in _came(hosted)]
        if search.path not in paths:
            near = did_you_mean(search.path, paths)
            raise BadControl(f"'path': no operation has {search.path[:100]!r}{near}")
    named = {} if search.match is None else {**search.match.query, **search.match.body}
    fields = [field.name for known in operations for field in known.fields]
    for name in named:
        if name not in fields:
            of = operation.id if search.operation else "no operation"
            has = "has no" if search.operation else "has a"
            near = did_you_mean(name, fields)
            raise BadControl(f"'match': {of} {has} field {name[:60]!r}, so none can come{near}")


def _now(hosted: HostedWorld) -> str:
    return iso(hosted.world.now())


def _bounds_above(wanted: Mapping[str, Json]) -> bool:
    return bool({"exactly", "atMost", "never"} & wanted.keys())


def _complaints(
    wanted: Mapping[str, Json], entries: Sequence[Entry], contract: Contract
) -> Iterator[str]:
    count = len(entries)
    exactly = 0 if wanted.get("never") else wanted.get("exactly")
    if exactly is not None and count != exactly:
        yield f"expected {times(exactly)}, came {times(count)}"
    if count < wanted.get("atLeast", 0):
        yield f"expected at least {times(wanted['atLeast'])}, came {times(count)}"
    if count > wanted.get("atMost", count):
        most = wanted["atMost"]
        yield f"expected {'at most ' if most else ''}{times(most)}, came {times(count)}"
    moments = [entry.at_ms for entry in entries]
    spread = max(moments, default=0) - min(moments, default=0)
    if "within" in wanted and not entries and not _bounds_above(wanted):
        yield f"expected some within {wanted['within']}, none came"
    if "within" in wanted and spread > duration_ms(wanted["within"]):
        within = wanted["within"]
        yield f"expected all within {within} of the world's time, they took {spread} ms"
    if "order" in wanted:
        order = [operation_id(name, contract) for name in wanted["order"]]
        came = [entry.operation or "?" for entry in entries]
        ahead = list(order)
        # A subsequence: other requests may come in between.
        for name in came:
            if ahead and name == ahead[0]:
                ahead.pop(0)
        if ahead:
            after = f" after {order[-len(ahead) - 1]}" if len(ahead) < len(order) else ""
            yield (
                f"expected {', '.join(order)} in this order, {ahead[0]} did not come{after}; "
                f"came {', '.join(came[-20:]) or 'none'}"
            )


def _nearest(search: Search, entries: Iterable[Entry]) -> Steps[tuple[str, ...]]:
    """Return in what requests differ that match apart from their parts, closest first."""
    if search.match is None:
        return ()
    match = search.match

    def differing(entry: Entry) -> int:
        return sum(1 for _ in match.differences(entry.request))

    # Counted, and not kept: there may be thousands of each request.
    near = ((differing(entry), entry) if search.near(entry) else None for entry in entries)
    missing = [item for item in (yield from each(near)) if item[0]]
    # Stable: of those equally near, the oldest is named first.
    missing.sort(key=lambda item: item[0])
    return tuple(
        f"request {entry.sequence}: {'; '.join(_told(match, entry, count))}"
        for count, entry in missing[:_NEAREST]
    )


def _told(match: Subset, entry: Entry, count: int) -> Iterator[str]:
    for difference in islice(match.differences(entry.request), _MOST_DIFFERENCES):
        yield difference.told()
    if count > _MOST_DIFFERENCES:
        yield f"and {count - _MOST_DIFFERENCES} more"


def unmet(hosted: HostedWorld, changed_since: int = 0) -> Iterator[str | None]:
    """Yield all that was set in a world and has disturbed no request, in sentences; None is a step.

    These are faults, triggers, mutations that changed nothing, outages, prices and breaks, and
    refusals that were expected and never came; of changes, those behind the first so many.
    """
    yield from unstruck(hosted)
    yield from _mutations_without_effect(hosted)
    yield from _idle_changes(hosted, changed_since)
    yield from _never_refused(hosted)


def unstruck(hosted: HostedWorld, ids: Collection[str] | None = None) -> list[str]:
    """Return the faults and triggers that have struck no request, in sentences; or those of ids.

    One that strikes by chance, or from a number of calls on, was met once a call has come.
    """
    sentences = []
    for fault in hosted.faults:
        tally, by_chance = hosted.faults.tally(fault), fault.trigger.probability is not None
        # By chance it may strike none of a few calls, so that having been met is enough.
        if tally.struck or (tally.seen and (by_chance or fault.kind == "quota")):
            continue
        if ids is not None and fault.id not in ids:
            continue
        came = f"{tally.seen} such requests came" if tally.seen else "no such request came"
        sentences.append(f"fault {fault.id!r} ({_said(fault.definition)}) never struck: {came}")
    for trigger, why in idle(hosted.triggers):
        if ids is None or trigger.id in ids:
            what = f"trigger {trigger.id!r} ({trigger.action} {trigger.place})"
            sentences.append(f"{what} did nothing: {why}")
    return sentences


def _mutations_without_effect(hosted: HostedWorld) -> Iterator[str]:
    struck: dict[str, list[Entry]] = {}
    for entry in hosted.journal.disturbed():
        mutations = [name for kind, name in entry.disturbances if kind == "mutation"]
        if mutations and entry.response.header(MUTATED_HEADER) is not None:
            struck.setdefault(mutations[0], []).append(entry)
    for name, changed in struck.items():
        if all(entry.response.header(MUTATED_HEADER) == NOTHING for entry in changed):
            first = changed[0]
            yield (
                f"fault mutation ({name}) changed nothing: no answer that it struck has the field, "
                f"or breaks the contract by this change; the first was request {first.sequence}: "
                f"{first.request_line}"
            )


def _idle_changes(hosted: HostedWorld, first: int) -> Iterator[str | None]:
    journal = hosted.journal
    came = [(number, stored[0]) for number, stored in journal.numbered() if stored[1]]
    begun = {(window.subject, window.from_ms) for window in hosted.world.outages.all()}
    for change in hosted.changes[first:]:
        # A request that the journal has dropped may have met it.
        if journal.dropped > change.since:
            continue
        # Each change is compared with each request.
        yield None
        window = change.window
        after = bisect_right(came, change.since, key=itemgetter(0))
        if window is None:
            if after == len(came):
                yield f"{change.text} met no request: none came after it was set"
        elif (window.subject, window.from_ms) in begun and not any(
            window.covers(at_ms) for _, at_ms in islice(came, after, None)
        ):
            yield f"{change.text} met no request: none came while it was on"


def _never_refused(hosted: HostedWorld) -> Iterator[str]:
    """Yield the expected refusals that did not come, unless the journal may have dropped them."""
    if hosted.journal.dropped:
        return
    refused = hosted.journal.refused() if hosted.expected else ()
    met = {expected for entry in refused for expected in _awaited(entry)}
    for expected in dict.fromkeys(hosted.expected):
        if expected not in met:
            what = repr(expected.refusal) if expected.refusal else "a refusal"
            of = f" of {expected.operation}" if expected.operation else ""
            yield f"expected {what}{of}, it did not come"


def _said(definition: Mapping[str, Json]) -> str:
    return ", ".join(f"{name} {value}" for name, value in definition.items() if name != "id")
