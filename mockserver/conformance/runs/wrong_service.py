"""Recognises that something other than the service answers, and finds its base address."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from urllib.parse import urljoin, urlsplit, urlunsplit

from mockserver.clock import ticks_ms
from mockserver.conformance.checks.rule import Outcome
from mockserver.conformance.options import Options
from mockserver.conformance.requests.probe import Probe, Stage
from mockserver.conformance.result import Result
from mockserver.conformance.runs.runner import OPENERS
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, NoAnswer
from mockserver.conformance.session.permit import Permit, Refusing, Spent
from mockserver.conformance.session.target import Target, UnsafeOrWrong
from mockserver.conformance.session.transport import Transport
from mockserver.conformance.verdict import Verdict
from mockserver.contract import Contract, Operation
from mockserver.http_messages import Request

_MOST_CANDIDATES = 8
# A hint is not worth a longer wait.
_HINT_MS = 2_000
_TROUBLES = {
    NoAnswer.UNREACHABLE: "nothing answers",
    NoAnswer.TLS: "no TLS connection comes about",
    NoAnswer.TIMED_OUT: "no answer comes in time",
    NoAnswer.CUT: "the connection ends without an answer",
    NoAnswer.BROKEN_HTTP: "what answers speaks no HTTP",
}


class WrongService:
    """Stops requests to a generation where its lists show that another service answers there."""

    def __init__(self) -> None:
        self.wrong_service: dict[str, str] = {}
        self._decided: set[str] = set()

    def __call__(self, context: RunContext, probe: Probe) -> str:
        """Return why a probe is not worth sending; empty where it is."""
        generation = context.contract.operation(probe.operation_id).generation.id
        if probe.stage is not Stage.LISTS and generation not in self._decided:
            self._decided.add(generation)
            if reason := why_wrong_service(context.exchanges, generation):
                self.wrong_service[generation] = reason
        return self.wrong_service.get(generation, "")


def why_wrong_service(exchanges: Iterable[Exchange], generation: str) -> str:
    """Return why no answer to a generation's requests can be the service's; empty where one can.

    JSON, also broken JSON, may come from a service with a defect, which rules report.
    """
    of_it = (exchange for exchange in exchanges if exchange.operation.generation.id == generation)
    reasons = [_not_ours(exchange) for exchange in of_it]
    return reasons[0] if reasons and all(reasons) else ""


def _not_ours(exchange: Exchange) -> str:
    answer = exchange.answer
    if answer.trouble is not None and not answer.status:
        return f"{_TROUBLES.get(answer.trouble, answer.trouble)} ({answer.reason})"
    if 300 <= answer.status < 400:
        return f"it redirects (HTTP {answer.status} to {answer.header('Location') or 'nowhere'})"
    start = answer.body[:500].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<!--")):
        return f"it is an HTML page (HTTP {answer.status})"
    if answer.status == 404:
        return "it knows no such path (HTTP 404)"
    if answer.status >= 400 and exchange.code is None:
        return f"it answers HTTP {answer.status} without the envelope"
    return ""


def hints(
    wrong_service: Mapping[str, str], result: Result, options: Options
) -> tuple[tuple[str, ...], Result]:
    """Return a sentence for each generation that did not answer, and the result.

    A sentence tells what came, and names a base address that does answer where one is found near
    by. The result counts the requests of that search, which keeps to the time and the budget of the
    run.
    """
    lines, sent = list[str](), dict(result.sent)
    left_ms = options.time_ms - result.elapsed_ms
    room = options.limits(result.target).budget - result.requests
    search = _AddressSearch(result.contract, options, left_ms, room)
    for generation, reason in wrong_service.items():
        base = result.target.bases[generation]
        opener = result.contract.operation(OPENERS[generation])
        end = "no base address near by does either"
        if reason.startswith(_TROUBLES[NoAnswer.UNREACHABLE]):
            end = "is the service running, and is this its port?"
        elif elsewhere := search.first(opener, _candidates(base, result.exchanges)):
            end = f"{elsewhere} does: give that as base address"
        name = opener.generation.name
        lines.append(f"{base} does not answer as the {name} service: {reason}; {end}")
        sent[opener.id] = result.sent[opener.id] + search.sent[opener.id]
    alike = {line.replace(" as the v1 service", " as the 2.0 service") for line in lines}
    if len(lines) == 2 and len(alike) == 1:
        lines = [alike.pop().replace(" as the 2.0 service", " as the service", 1)]
    return tuple(lines), replace(result, sent=sent)


def silenced(result: Result, wrong_service: Mapping[str, str]) -> Result:
    """Return the result without verdicts on a generation where another service answers."""

    def judged(outcome: Outcome) -> Outcome:
        if (reason := wrong_service.get(outcome.operation.generation.id)) is None:
            return outcome
        why = f"what answers is not the {outcome.operation.generation.name} service: {reason}"
        return Outcome(outcome.rule, outcome.operation, Verdict.INCONCLUSIVE, reason=why)

    return replace(result, outcomes=tuple(map(judged, result.outcomes)))


class _AddressSearch:
    """Requests the list of chains from base addresses, and nothing else."""

    def __init__(self, contract: Contract, options: Options, left_ms: int, room: int) -> None:
        self._contract = contract
        self._options = options
        self._left_ms = left_ms
        self._room = room
        self._silent: set[str] = set()
        self._answering: list[str] = []
        self.sent: Counter[str] = Counter()
        """How many requests left for each operation."""

    def first(self, opener: Operation, candidates: Iterable[str]) -> str | None:
        """Return the first address that answers as the service, while there is time."""
        for base in dict.fromkeys((*self._answering, *candidates)):
            if base not in self._silent and self._answers(opener, base):
                self._answering.append(base)
                return base
        return None

    def _answers(self, opener: Operation, base: str) -> bool:
        time_ms = min(_HINT_MS, self._left_ms)
        if time_ms <= 0 or self._room <= 0:
            return False
        target, request = Target(base, base), Request(opener.method, opener.path)
        configured = self._options.limits(target)
        limits = replace(configured, budget=1, time_ms=time_ms, request_ms=time_ms)
        began = ticks_ms()
        try:
            permit = Permit(self._contract, target, hosts=self._options.hosts)
            with Transport(target, permit, limits, tls=self._options.tls) as transport:
                # Each address has a transport of its own, and the rate holds for all of them.
                transport.wait(int(1000 / limits.rate))
                answer = transport.send(opener.generation.id, request)
        except (UnsafeOrWrong, Refusing, Spent):
            return False
        finally:
            self._left_ms -= ticks_ms() - began
        self.sent[opener.id] += 1
        self._room -= 1
        if not answer.status:
            self._silent.add(base)
        return answer.status == 200 and Exchange(1, "", opener, request, answer).code is not None


def _candidates(base: str, exchanges: Iterable[Exchange]) -> Iterator[str]:
    """Yield addresses near one: where it redirects to, less or more of its path, other scheme."""
    parts = urlsplit(base)
    near = list(_redirected(base, exchanges))
    path = parts.path.rstrip("/")
    while path:
        path = path.rpartition("/")[0]
        near.append(urlunsplit((parts.scheme, parts.netloc, path, "", "")))
    second_scheme = "http" if parts.scheme == "https" else "https"
    near.append(urlunsplit((second_scheme, parts.netloc, parts.path, "", "")))
    near += [base + added for added in ("/v1", "/open/v1", "/api")]
    yield from [address for address in dict.fromkeys(near) if address != base][:_MOST_CANDIDATES]


def _redirected(base: str, exchanges: Iterable[Exchange]) -> Iterator[str]:
    for exchange in exchanges:
        location = exchange.answer.header("Location") or ""
        try:
            to = urljoin(base + exchange.request.path, location)
        except ValueError:
            continue
        if 300 <= exchange.answer.status < 400 and to.endswith(exchange.request.path):
            yield to.removesuffix(exchange.request.path)
