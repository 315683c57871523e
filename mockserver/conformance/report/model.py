"""The model of a report: all that formats tell of a run, without secrets.

Secrets are masked, and characters that nobody can see are written as escapes, here and nowhere
else: a format has no way to what was found but through this model. What only some formats tell,
such as commands and tests, is made when it is asked for, and kept.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from mockserver.conformance.checks.rule import Outcome, Rule
from mockserver.conformance.generation.stages import saved_line
from mockserver.conformance.report.causes import Acceptance, Cause, causes_of
from mockserver.conformance.report.coverage import Coverage
from mockserver.conformance.report.expectations import clearest
from mockserver.conformance.report.masking import BodyText, body_text, visible
from mockserver.conformance.report.report import Report
from mockserver.conformance.report.rule_explanation import ground_of
from mockserver.conformance.report.snippets import curl, needs, url_of
from mockserver.conformance.report.testing import test_of, tests_of
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import UNJUDGED, Verdict
from mockserver.values import dataclass
from mockserver.wording import counted

_LONGEST = 4_000


class _Writer:
    """Writes texts and exchanges of one report without its secrets."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self._exchanges: dict[int, ExchangeModel] = {}

    def text(self, text: str) -> str:
        """Return a text of a report; a name that a service gave may be of any length."""
        whole = self.whole(text)
        return f"{whole[:_LONGEST]}…" if len(whole) > _LONGEST else whole

    def whole(self, text: str) -> str:
        return visible(self.report.masker.text(text))

    def line(self, text: str) -> str:
        """Return a command on one line: what began another could be a command of a CI's."""
        return visible(text).replace("\n", "\\n").replace("\t", "\\t")

    def headers(self, headers: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        masked = self.report.masker.header
        return tuple((visible(name), visible(masked(name, value))) for name, value in headers)

    def exchange(self, exchange: Exchange) -> "ExchangeModel":
        if exchange.number not in self._exchanges:
            self._exchanges[exchange.number] = ExchangeModel(exchange, self)
        return self._exchanges[exchange.number]

    def acceptance(self, cause: Cause) -> Acceptance:
        word = cause.acceptance
        return replace(word, reason=self.text(word.reason), owner=self.text(word.owner))


class ExchangeModel:
    """A request and its answer, and how to send it again. `elapsed_ms` is wall time."""

    def __init__(self, exchange: Exchange, writer: _Writer) -> None:
        """Take the exchange and what writes it."""
        self._exchange = exchange
        self._writer = writer
        self.number = exchange.number
        self.submits = exchange.operation.writes
        self.operation = exchange.operation.id
        self.method = exchange.request.method
        self.status, self.elapsed_ms = exchange.answer.status, exchange.answer.elapsed_ms

    @cached_property
    def probe(self) -> str:
        """The name of the request."""
        return self._writer.whole(self._exchange.probe)

    @cached_property
    def url(self) -> str:
        """Where it went, with its query."""
        return self._writer.whole(url_of(self._exchange, self._writer.report.result.target))

    @cached_property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The headers that were sent."""
        return self._writer.headers(self._exchange.request.headers.items_sent)

    @cached_property
    def answer_headers(self) -> tuple[tuple[str, str], ...]:
        """The headers that came."""
        return self._writer.headers(self._exchange.answer.headers)

    @cached_property
    def trouble(self) -> str:
        """Why no whole answer came; empty where one did."""
        answer = self._exchange.answer
        return self._writer.whole(f"{answer.trouble}: {answer.reason}") if answer.trouble else ""

    def bodies(self, *, most: int, pretty: bool = False) -> tuple[BodyText, BodyText]:
        """Return the bodies of both sides, cut to `most` characters; `pretty` has JSON in lines."""
        request, answer = (
            body_text(raw, self._writer.report.masker, most=most, pretty=pretty)
            for raw in (self._exchange.request.body, self._exchange.answer.body)
        )
        return request, answer

    @cached_property
    def command(self) -> str:
        """A curl command that sends the request once more."""
        report = self._writer.report
        line = curl(self._exchange, report.result.target, report.masker, own_keys=report.own_keys)
        return self._writer.line(line)

    @cached_property
    def kept(self) -> str:
        """The line of `--probes` that asks it in every run; empty for what is asked anyway."""
        return self._writer.whole(saved_line(self._exchange))

    @cached_property
    def needs(self) -> str:
        """What has to be exported before the command runs; empty where nothing has."""
        return self._writer.line(needs(self._exchange, own_keys=self._writer.report.own_keys))

    def lines(self, *, remarks: bool = True) -> Iterator[str]:
        """Yield the command with what it needs in front, and with `remarks` what it is."""
        if self.needs:
            yield f"# {self.needs}"
        if remarks and self.submits:
            yield "# this is a submission"
        yield self.command
        if remarks and self.kept:
            yield f"# a line of --probes FILE: {self.kept}"


@dataclass(frozen=True, slots=True)
class FindingModel:
    """One finding of a cause; `exchanges` are the numbers of those it was made of."""

    operation: str
    place: str
    message: str
    exchanges: tuple[int, ...]


class CauseModel:
    """Findings that are one for a person who has to put them right."""

    def __init__(self, cause: Cause, writer: _Writer) -> None:
        """Take the cause and what writes it."""
        self._cause = cause
        self._writer = writer
        self.id = cause.id
        self.rule: Rule = cause.rule
        self.verdict = cause.verdict
        self.basis = replace(cause.basis, says=writer.text(cause.basis.says))
        self.operations = cause.operations
        self.count = cause.count
        self.acceptance = writer.acceptance(cause)
        """The word for it, where a baseline accepts it."""
        self.place = writer.text(cause.place)
        self.message = writer.text(cause.message)
        self.located = writer.text(cause.summary)
        """The first message, with its place in front."""
        self.ground = writer.text(ground_of(cause, writer.report.result.contract))
        """A sentence that names what it contradicts."""
        self.exchanges = tuple(map(writer.exchange, cause.examples[0].finding.exchanges))
        """The exchanges of the first finding."""

    @property
    def rest(self) -> str:
        """How many findings there are beside the first, to stand behind it."""
        return f" (and {self.count - 1} more)" if self.count > 1 else ""

    @cached_property
    def expired(self) -> tuple[str, ...]:
        """Who had accepted it, and until when, a sentence each."""
        return tuple(
            f"was {self._writer.acceptance(one)}"
            for one in self._writer.report.expired
            if one.id == self.id
        )

    @cached_property
    def best(self) -> ExchangeModel | None:
        """The exchange that shows it best, None where it has none."""
        found = clearest(self._cause.examples[0].finding, self.verdict)
        return None if found is None else self._writer.exchange(found)

    @cached_property
    def test(self) -> str:
        """A pytest module that fails where the service is wrong."""
        return test_of(self._cause, self._writer.report)

    def findings(self, most: int) -> Iterator[FindingModel]:
        """Yield its findings, `most` of them."""
        for example in self._cause.examples[:most]:
            finding = example.finding
            yield FindingModel(
                example.operation.id,
                self._writer.text(finding.place),
                self._writer.text(finding.message),
                tuple(exchange.number for exchange in finding.exchanges),
            )


@dataclass(frozen=True, slots=True)
class OutcomeModel:
    """What a rule says of an operation: its causes that count, and who accepts the others."""

    id: str
    rule: Rule
    operation: str
    verdict: Verdict
    reason: str
    causes: tuple[CauseModel, ...]
    accepted: tuple[str, ...]

    @property
    def is_skipped(self) -> bool:
        """Whether it is neither good nor bad: not judged, or accepted as a whole."""
        return self.verdict in UNJUDGED or bool(self.accepted and not self.causes)

    def failing(self, verdicts: Sequence[Verdict]) -> list[CauseModel]:
        """Return its causes of some verdicts."""
        return [cause for cause in self.causes if cause.verdict in verdicts]


class ReportModel:
    """A run as formats tell it.

    `result` has the numbers of the run; the texts of its findings are told by `causes`, `accepted`
    and `outcomes`.
    """

    def __init__(self, report: Report) -> None:
        """Take a report whose findings are sorted out."""
        self._report, result = report, report.result
        self._writer = writer = _Writer(report)
        self.conclusion = writer.text(report.conclusion)
        self.exit_code = report.exit_code
        self.fail_on, self.strict = report.fail_on, report.strict
        self.failing = report.failing
        self.silent = report.silent
        self.hints = tuple(map(writer.text, report.hints))
        """What comes before everything else."""
        self.notes = tuple(map(writer.text, report.notes))
        """What is about the run and the baseline."""
        self.causes = tuple(CauseModel(cause, writer) for cause in report.causes)
        """The findings that count, by cause."""
        self.accepted = tuple(CauseModel(cause, writer) for cause in report.accepted)
        self.expired = tuple(CauseModel(cause, writer) for cause in report.expired)
        """What a baseline accepts, and what it accepted until that expired."""
        self.coverage = None if report.coverage is None else self._masked(report.coverage)
        self.contract, self.target = result.contract, result.target
        self.bases = ", ".join(dict.fromkeys(result.target.bases.values()))
        """The base addresses, once each."""
        self.seed, self.elapsed_ms = result.seed, result.elapsed_ms
        self.requests, self.submissions = result.requests, result.submissions
        self.planned, self.sent = result.planned, result.sent
        self.sent_elsewhere = result.sent_elsewhere
        unsent = sorted((result.unsent or {}).items())
        self.unsent = {writer.text(name): writer.text(why) for name, why in unsent}
        """Why probes were not sent, by their names."""
        self.rules = tuple({one.rule.name: one.rule for one in result.outcomes}.values())
        """The rules, each once."""
        self.counts = result.counts
        self.verdicts = report.findings
        """How many causes there are of each verdict."""

    @property
    def circumstances(self) -> str:
        """With what it was asked, and how much: one line for people."""
        return (
            f"seed {self.seed} · dialect {self.contract.dialect.name} · "
            f"{counted(self.requests, 'request')} in {self.elapsed_ms / 1000:.1f} s · "
            f"submissions sent: {self.submissions}"
        )

    @cached_property
    def tests(self) -> str:
        """A pytest module with a test for each finding that counts."""
        return tests_of(self._report)

    @cached_property
    def outcomes(self) -> tuple[OutcomeModel, ...]:
        """What each rule says of each operation."""
        return tuple(map(self.outcome, self._report.result.outcomes))

    def unjudged(self, verdict: Verdict) -> dict[str, list[str]]:
        """Return the ids of the outcomes of a verdict by reason, the most frequent first."""
        return {
            visible(reason): [outcome.id for outcome in outcomes]
            for reason, outcomes in self._report.unjudged(verdict).items()
        }

    def exchanges(self, most: int) -> Iterator[ExchangeModel]:
        """Yield the exchanges that `most` findings of each cause name, each once, in order."""
        report = self._report
        found = {
            exchange.number: exchange
            for cause in (*report.causes, *report.accepted)
            for example in cause.examples[:most]
            for exchange in example.finding.exchanges
        }
        yield from (self._writer.exchange(found[number]) for number in sorted(found))

    def outcome(self, outcome: Outcome) -> OutcomeModel:
        """Return what one outcome comes to."""
        words = {
            id(cause.acceptance): str(self._writer.acceptance(cause))
            for finding in outcome.findings
            if (cause := self._accepting.get(id(finding)))
        }
        return OutcomeModel(
            outcome.id,
            outcome.rule,
            outcome.operation.id,
            outcome.verdict,
            self._writer.text(outcome.reason),
            tuple(self._counting(outcome)),
            tuple(words.values()),
        )

    @cached_property
    def _accepting(self) -> dict[int, Cause]:
        return {id(one.finding): cause for cause in self._report.accepted for one in cause.examples}

    @cached_property
    def _open(self) -> set[int]:
        return {id(example.finding) for one in self._report.causes for example in one.examples}

    def _counting(self, outcome: Outcome) -> Iterator[CauseModel]:
        for cause in causes_of((outcome,)):
            examples = [one for one in cause.examples if id(one.finding) in self._open]
            if examples:
                yield CauseModel(cause.only(examples), self._writer)

    def _masked(self, coverage: Coverage) -> Coverage:
        text = self._writer.text
        missed = {text(name): text(why) for name, why in coverage.targets.missed.items()}
        return replace(coverage, targets=replace(coverage.targets, missed=missed))
