"""The result of a run: outcomes, exchanges, and what was sent."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from mockserver.conformance.checks.rule import Outcome
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.target import Target
from mockserver.conformance.verdict import UNREACHED, Verdict
from mockserver.contract import Contract
from mockserver.fast_dataclass import dataclass, grouped

INTERRUPTED = "the run was interrupted"
"""The note of a run, a stage or a comparison that the user has ended."""


class DoesNotConform(AssertionError):
    """A service that was expected to keep the contract, and does not; the text lists the causes."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a run.

    `sent` counts requests by operation id, with a zero for those that got none; `unsent` are
    probes with the reason; `notes` are things about the run itself, such as why it ended early.
    `choices` are the options of `run` that decide which requests are made. `elapsed_ms` is wall
    time in milliseconds. `complain` words what `assert_conforms` raises.
    """

    contract: Contract
    target: Target
    seed: int
    outcomes: tuple[Outcome, ...]
    exchanges: tuple[Exchange, ...]
    sent: Mapping[str, int]
    sent_elsewhere: int = 0
    planned: int = 0
    unsent: Mapping[str, str] | None = None
    notes: tuple[str, ...] = ()
    choices: Mapping[str, object] = field(default_factory=dict)
    elapsed_ms: int = 0
    complain: "Complain" = field(default=lambda result, strict, fail_on: _plain(result))

    @property
    def refusing(self) -> dict[str, str]:
        """The generations that answered no request with a success, and what they said."""
        answered = (exchange for exchange in self.exchanges if exchange.has_answer)
        answers = grouped(answered, lambda exchange: exchange.operation.generation.id)
        return {
            generation: _refusal_of(exchanges)
            for generation, exchanges in answers.items()
            if not any(exchange.succeeded for exchange in exchanges)
        }

    @property
    def counts(self) -> Counter[Verdict]:
        return Counter(outcome.verdict for outcome in self.outcomes)

    @property
    def requests(self) -> int:
        return sum(self.sent.values()) + self.sent_elsewhere

    @property
    def submissions(self) -> int:
        return sum(self.sent[operation.id] for operation in self.contract if operation.writes)

    def exit_code(self, *, strict: bool = False, fail_on: Verdict = Verdict.VIOLATION) -> int:
        """Return what a command ends with: 0 conforms, 1 a finding of `fail_on` or worse or a
        critical difference from what was observed, 3 under `strict` where something that could have
        been judged was not reached, or where nothing was judged at all, or all was refused, or a
        rule failed by itself.
        """
        if any(outcome.fails(fail_on) for outcome in self.outcomes):
            return 1
        return 0 if self.is_judged(strict=strict) else 3

    def is_judged(self, *, strict: bool = False) -> bool:
        """Whether anything was judged and, under `strict`, all that could be was reached.

        Of a generation that refused everything, nothing was: so answers what is out of order. Where
        a rule itself failed, nobody knows what it would have said.
        """
        if self.refusing or any(outcome.is_defect for outcome in self.outcomes):
            return False
        judged = any(o.verdict is Verdict.HOLDS or o.verdict.is_finding for o in self.outcomes)
        return judged and not (strict and any(o.verdict in UNREACHED for o in self.outcomes))

    def assert_conforms(
        self, *, strict: bool = False, fail_on: Verdict = Verdict.VIOLATION
    ) -> None:
        """Raise `DoesNotConform` where `exit_code` of the same arguments is not 0."""
        __tracebackhide__ = True  # pytest shows the line of the test
        if self.exit_code(strict=strict, fail_on=fail_on):
            raise DoesNotConform(self.complain(self, strict, fail_on))


def _refusal_of(exchanges: Sequence[Exchange]) -> str:
    """Return the most frequent answer among exchanges that all failed, in words."""
    shown = Counter(_in_words(exchange) for exchange in exchanges)
    return shown.most_common(1)[0][0]


def _in_words(exchange: Exchange) -> str:
    code = "" if exchange.code is None else f", code {exchange.code}"
    text = exchange.member("msg")
    message = f": {text[:100]}" if isinstance(text, str) and text else ""
    return f"HTTP {exchange.answer.status}{code}{message}"


def _plain(result: Result) -> str:
    """Return the counts of verdicts; a run has the text of its causes from the report."""
    return ", ".join(f"{each.id}: {each.verdict}" for each in result.outcomes if each.findings)


Complain = Callable[[Result, bool, Verdict], str]
"""Words why a service does not pass: by the result, `strict` and `fail_on` of `assert_conforms`."""
