"""Rules about when and how often a client asks."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby, pairwise

from mockserver.contract import ids
from mockserver.jsontext import Json
from mockserver.worlds.audit.finding_texts import length
from mockserver.worlds.lint.finding import Remark
from mockserver.worlds.lint.traffic import (
    CHAIN_LISTS,
    LOOK_UPS,
    ClientCall,
    SubmitCall,
    Traffic,
    certificate_of,
)

_SECOND_MS = 1_000
# Look-ups of what an account has, or of what it is worth, by which some wait for a change.
_ACCOUNTS = (ids.BALANCE, ids.TICKETS, ids.PRICE)


def old_quote(traffic: Traffic, most_ms: int) -> Iterator[Remark]:
    """Find deposits that were paid on an old quote."""
    for submission in traffic.first_submissions.values():
        transfer = submission.transfer
        if transfer is None:
            continue
        paid_ms = traffic.paid_ms(submission)
        fitting = [
            quote
            for quote in traffic.quotes_on(transfer, submission.before)
            if quote.transfer.amount == transfer.amount and quote.call.at_ms <= paid_ms
        ]
        age = paid_ms - fitting[-1].call.at_ms if fitting else 0
        if age > most_ms:
            text = f"the quote was {length(age)} old when it was paid on"
            yield Remark(text, [fitting[-1].call, submission.call])


def storm(traffic: Traffic, most: int) -> Iterator[Remark]:
    """Find more look-ups of the same thing in a second than anybody needs."""
    if not traffic.timed:
        return
    for calls in _polled(traffic):
        # Pairs that are as far apart as the limit allows in a second.
        for first, call in zip(calls, calls[most:], strict=False):
            span = call.at_ms - first.at_ms
            if span <= _SECOND_MS:
                text = f"{most + 1} look-ups of the same within {span} ms, {len(calls)} in all"
                yield Remark(text, [first, call])
                break


def _polled(traffic: Traffic) -> Iterator[list[ClientCall]]:
    """Yield the look-ups of each thing, in the order in which the first of each came."""
    groups: dict[tuple[object, ...], list[ClientCall]] = defaultdict(list)
    written = 0
    for call in traffic.of((*LOOK_UPS, *_ACCOUNTS, *ids.WRITES, ids.V1_SWAP_ORDER)):
        if call.operation.method != "GET":
            written += 1
        elif call.operation.id in _ACCOUNTS:
            # Whoever moves money many times in a second may look at the account before each.
            groups[*call.same, written].append(call)
        else:
            groups[call.same].append(call)
    yield from groups.values()


def impatient(traffic: Traffic, most: int) -> Iterator[Remark]:
    """Find requests that failed and came again and again, without waiting longer each time."""
    if not traffic.timed:
        return
    for calls in _repeated(traffic):
        for failed, run in groupby(calls, key=lambda call: call.failed):
            tries = list(run)
            early = next(_before_allowed(tries), None) if failed else None
            if early is not None:
                seconds = early[0].entry.response.header("Retry-After")
                text = f"it came again before the {seconds} s of Retry-After were over"
                yield Remark(text, early)
                break
            if failed and len(tries) >= most and not _grows(tries):
                text = f"it failed {len(tries)} times in a row, {_gaps(tries)}"
                yield Remark(text, [tries[0], tries[-1]])
                break


def _repeated(traffic: Traffic) -> Iterator[list[ClientCall]]:
    """Yield the requests for each thing; a deposit is the same whoever signs it anew."""
    paid = {submission.call.sequence: submission.paid.key for submission in traffic.submissions}
    groups: dict[object, list[ClientCall]] = defaultdict(list)
    for call in traffic.calls:
        groups[paid.get(call.sequence, call.same)].append(call)
    yield from groups.values()


def _before_allowed(tries: list[ClientCall]) -> Iterator[list[ClientCall]]:
    for first, second in pairwise(tries):
        seconds = first.entry.response.header("Retry-After") or ""
        if seconds.isdecimal() and second.at_ms - first.at_ms < int(seconds) * _SECOND_MS:
            yield [first, second]


def _grows(tries: list[ClientCall]) -> bool:
    """Tell whether the last pause is longer than the first; a minute is long enough for all."""
    gaps = [second.at_ms - first.at_ms for first, second in pairwise(tries)]
    # The last against the first, since many add some chance to each pause.
    return gaps[-1] > gaps[0] or min(gaps) >= 60 * _SECOND_MS


def _gaps(tries: list[ClientCall]) -> str:
    gaps = [second.at_ms - first.at_ms for first, second in pairwise(tries)]
    return f"with {min(gaps)} to {max(gaps)} ms between them"


def forgotten(traffic: Traffic, _: int) -> Iterator[Remark]:
    """Find orders that nobody ever looks up."""
    followed = traffic.of((*LOOK_UPS, ids.TICKETS))
    looked_up = {_subject(call) for call in followed}
    hashes = {
        submission.call.sequence: submission.paid.hash.lower() for submission in traffic.submissions
    }
    orders: dict[int, set[str]] = defaultdict(set)
    for name, call in traffic.orders.items():
        orders[call.sequence].add(name)
    calls = {call.sequence: call for call in traffic.orders.values()}
    for number, names in orders.items():
        if looked_up.isdisjoint({*names, hashes.get(number, "")} - {""}):
            text = f"order {', '.join(sorted(names))} was never looked up"
            yield Remark(text, [calls[number]])


def _subject(call: ClientCall) -> str:
    return call.text("id") or call.text("sn") or call.text("hash").lower()


def changed_body(traffic: Traffic, _: int) -> Iterator[Remark]:
    """Find deposits that were submitted with different contents."""
    submitted: dict[object, list[SubmitCall]] = defaultdict(list)
    for submission in traffic.submissions:
        submitted[submission.paid.key].append(submission)
    for first, *later in submitted.values():
        for submission in later:
            differing = _differences(first, submission)
            if differing:
                text = f"the same transaction was submitted again with another {differing}"
                yield Remark(text, [first.call, submission.call])
                break


def _differences(first: SubmitCall, second: SubmitCall) -> str:
    if first.call.operation.id != second.call.operation.id:
        # The generations name the same things differently; what moves can be compared.
        return "" if _moved(first) == _moved(second) else "amount or route"
    before, after = _contents(first.call), _contents(second.call)
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return ", ".join(map(repr, names))


def _moved(submission: SubmitCall) -> object:
    transfer = submission.transfer
    return transfer and (transfer.kind, transfer.route, transfer.amount)


def _contents(call: ClientCall) -> dict[str, Json]:
    """Return what a submission says, whatever the order of members or the form of an address."""
    deposit = certificate_of(call)
    members = {**call.entry.request.members, **deposit}
    if deposit:
        del members["sourceCerts"]
    # Who compares these has found that both name the same transaction; who retries may sign anew.
    for name in ("certHash", "signature"):
        members.pop(name, None)
    return {name: _plain(value) for name, value in members.items()}


def _plain(value: Json) -> Json:
    return value.lower() if isinstance(value, str) and value[:2].lower() == "0x" else value


def deprecated(traffic: Traffic, _: int) -> Iterator[Remark]:
    """Find operations that are on their way out, each once."""
    reported: set[str] = set()
    for call in traffic.calls:
        if call.operation.row.get("deprecated") and call.operation.id not in reported:
            reported.add(call.operation.id)
            yield Remark(f"{call.operation.id} is deprecated", [call])


def read_twice(traffic: Traffic, most_ms: int) -> Iterator[Remark]:
    """Find lists that were read again at once, with nothing changed."""
    for first, second in pairwise(traffic.calls):
        again = first.same == second.same and first.operation.id in (*CHAIN_LISTS, *ids.TOKEN_LISTS)
        again = again and second.at_ms - first.at_ms <= most_ms
        if again and first.data is not None and first.data == second.data:
            yield Remark("the same list was read twice in a row", [first, second])
            break


def unused_quote(traffic: Traffic, _: int) -> Iterator[Remark]:
    """Find routes that were quoted and never paid."""
    paid = {
        submission.transfer.route
        for submission in (*traffic.submissions, *traffic.first_submissions.values())
        if submission.transfer is not None
    }
    # Whoever pays for nothing at all only looks at prices.
    unpaid = [quote for quote in traffic.quotes if quote.transfer.route not in paid]
    if unpaid and paid:
        route = unpaid[0].transfer.route
        text = (
            f"{route.source_token} from {route.source_chain} to {route.target_token} on "
            f"{route.target_chain} was quoted, and never paid"
        )
        yield Remark(text, [unpaid[0].call])
