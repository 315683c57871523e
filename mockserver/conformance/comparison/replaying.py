"""The exchanges of a journal, as if they came from a service at this moment."""

from collections import defaultdict, deque
from collections.abc import Iterator

from mockserver.conformance.comparison.mirroring import Pair
from mockserver.conformance.comparison.resigning import is_masked, resigned
from mockserver.conformance.comparison.translating import Translation
from mockserver.conformance.requests.catalog import probes_of
from mockserver.conformance.requests.probe import Probe
from mockserver.conformance.runs.journal import Entry, Run, request_key
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Inconclusive, NotRun
from mockserver.exchange import Request


class Replay:
    """Reads a journal exchange by exchange; what could not be read is in `left_out`."""

    def __init__(self, run: Run, context: RunContext) -> None:
        """Take the journal, and where to remember what it shows."""
        self._run = run
        self._context = context
        self._probes = {probe.name: probe for probe in probes_of(context.contract)}
        self._ids = frozenset(operation.id for operation in context.contract)
        self.left_out: dict[str, str] = {}

    def exchanges(self) -> Iterator[Exchange]:
        """Yield the exchanges; masked secrets are put back as far as they can be made again."""
        for number, entry in enumerate(self._run.entries, 1):
            operation_id = entry.probe.partition("/")[0]
            if operation_id not in self._ids:
                self.left_out[entry.probe] = f"the contract has no operation {operation_id!r}"
            elif entry.answer is None:
                self.left_out[entry.probe] = "the run of the journal ended before its answer came"
            else:
                operation = self._context.contract.operation(operation_id)
                request = self._unmasked(entry)
                exchange = Exchange(number, entry.probe, operation, request, entry.answer)
                self._context.add(exchange)
                yield exchange

    def _unmasked(self, entry: Entry) -> Request:
        """Return the request as it was sent: made once more where that gives the same request."""
        if not is_masked(entry.request):
            return entry.request
        made = self._made(self._probes.get(entry.probe))
        if made is not None and request_key(made) == request_key(entry.request):
            return made
        return resigned(entry.request, self._context.caller)

    def _made(self, probe: Probe | None) -> Request | None:
        if probe is None:
            return None
        operation = self._context.contract.operation(probe.operation_id)
        try:
            return probe.build(self._context).request(operation)
        except (NotRun, Inconclusive):
            return None


def paired(left: Replay, right: Replay) -> tuple[list[Pair], dict[str, str]]:
    """Return what two journals have in common, and what they have not, with the reason."""
    waiting: dict[str, deque[Exchange]] = defaultdict(deque)
    for exchange in right.exchanges():
        waiting[exchange.probe].append(exchange)
    translation = Translation()
    pairs: list[Pair] = []
    left_out: dict[str, str] = {}
    for exchange in left.exchanges():
        if not waiting[exchange.probe]:
            left_out[exchange.probe] = "the right side's journal does not have it"
            continue
        other = waiting[exchange.probe].popleft()
        if request_key(translation.of(exchange.request)) != request_key(other.request):
            left_out[exchange.probe] = "the two journals asked for it in different ways"
            continue
        translation.learn(exchange, other)
        pairs.append(Pair(exchange, other))
    for probe, rest in waiting.items():
        if rest:
            left_out[probe] = "the left side's journal does not have it"
    return pairs, {**left_out, **left.left_out, **right.left_out}
