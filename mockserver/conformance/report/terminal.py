"""The report of a run on a terminal, or in a pipe: what matters first, and no wall of text."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from mockserver.conformance.report.causes import Cause
from mockserver.conformance.report.model import Report
from mockserver.conformance.verdict import Verdict
from mockserver.fast_dataclass import grouped
from mockserver.wording import counted, listed, one_line, reason_lines

HEADINGS = {
    Verdict.VIOLATION: "violations of the description",
    Verdict.DIFFERS_OBSERVED: "differs from what was observed",
    Verdict.DIFFERS_ASSUMPTION: "differs from an assumption",
    Verdict.EXTRA: "not in the description",
}
STYLES = {
    Verdict.VIOLATION: "bold red",
    Verdict.DIFFERS_OBSERVED: "bold yellow",
    Verdict.DIFFERS_ASSUMPTION: "bold cyan",
    Verdict.EXTRA: "bold cyan",
}
_LEFT_OUT = (Verdict.INCONCLUSIVE, Verdict.VACUOUS, Verdict.NOT_RUN, Verdict.NOT_APPLICABLE)
_MOST_REASONS = 4
_MOST_CAUSES = 3
_LONGEST = 400


def print_report(
    report: Report,
    console: Console,
    *,
    verbose: bool = False,
    quiet: bool = False,
    has_tests: bool = False,
) -> None:
    """Print a report: with `quiet` only findings and conclusion, with `verbose` everything.

    Where the report `has_tests` in a file of its own, there is no hint that it could.
    """
    page = _Page(report, console, verbose)
    if not quiet:
        page.head()
    page.hints()
    page.findings(has_tests=has_tests)
    if not quiet:
        page.accepted()
        # Where nothing answered, there is nothing else to report.
        if not report.silent:
            page.unjudged()
            page.facts()
        page.notes()
    page.conclusion()


class _Page:
    """The parts of the report, each printed where it belongs."""

    def __init__(self, report: Report, console: Console, verbose: bool) -> None:
        self._report = report
        self._console = console
        self._verbose = verbose
        self._begun = False

    def head(self) -> None:
        report = self._report
        names = (report.contract.generations[base].name for base in report.target.bases)
        self._line(f"conformance of {report.bases} ({' and '.join(names)})", "bold")
        self._line(report.circumstances, "dim")

    def hints(self) -> None:
        for hint in self._report.hints:
            self._gap()
            self._line(one_line(hint), "bold yellow")

    def findings(self, *, has_tests: bool) -> None:
        for verdict, heading in HEADINGS.items():
            heads = [each for each in self._report.explained if each.verdict is verdict]
            if not heads:
                continue
            self._gap()
            self._line(f"{heading.upper()} ({counted(len(heads), 'cause')})", STYLES[verdict])
            by_rule = grouped((head.cause for head in heads), lambda cause: cause.rule.name)
            for causes in by_rule.values():
                self._rule(causes)
        if self._report.causes and not has_tests:
            self._gap()
            self._line("for a test of the findings: --report pytest=FILE", "dim")

    def accepted(self) -> None:
        """Print how much a baseline accepts; what that is in detail only with `--verbose`."""
        accepted = self._report.accepted
        if accepted and not self._verbose:
            ends = {cause.acceptance.expires for cause in accepted}
            until = f"{'the first ' if len(ends) > 1 else ''}until {min(ends)}"
            number = counted(len(accepted), "cause")
            self._gap()
            self._line(f"accepted: {number}, {until}; --verbose lists them", "dim")
            return
        for cause in accepted:
            word, where = cause.acceptance, f"{cause.rule.name} ({listed(cause.operations)})"
            until = f"accepted until {word.expires} by {word.owner}"
            self._line(f"{until}: {where}: {one_line(word.reason)}", "dim")

    def unjudged(self) -> None:
        groups = {verdict: self._report.unjudged(verdict) for verdict in _LEFT_OUT}
        if not any(groups.values()):
            return
        self._gap()
        self._line("NOT JUDGED", "bold")
        for verdict, reasons in groups.items():
            if reasons:
                self._line(f"{verdict.words}: {sum(map(len, reasons.values()))}")
                for line in reason_lines(reasons, _MOST_REASONS, complete=self._verbose):
                    self._indented(line)

    def facts(self) -> None:
        coverage = self._report.coverage
        if coverage is None:
            return
        overall = coverage.overall
        self._gap()
        self._line(
            f"facts of the contract: {overall.proven} of {overall.total} proven "
            f"({overall.score} %), "
            f"{overall.within_reach} within reach of this plan ({overall.index} %)"
        )
        uses = coverage.keywords
        reach = f"{uses.reach_score} % of the {uses.reachable} that reading reaches"
        self._line(
            f"keywords of the schemas: {uses.exercised} of {uses.total} exercised "
            f"({uses.score} %{f', {reach}' if uses.beyond else ''})"
        )
        self._indented(
            f"requests broke {uses.broken} of the {uses.could_be_broken} that they can break"
        )
        for reason, names in uses.reasons.items():
            self._indented(f"{len(names)} x {reason}")
        if self._verbose:
            for operation, share in coverage.operations.items():
                self._indented(f"{operation}: {share.proven} of {share.total}")
            for reason, names in uses.reasons.items():
                for name in names:
                    self._indented(f"never exercised: {name} ({reason})")
            for name in uses.unbroken:
                self._indented(f"never broken: {name}")
        targets = coverage.targets
        if targets.total:
            self._line(f"edge cases of inputs: {len(targets.hit)} of {targets.total} tried")
            for reason, count in targets.reasons.items():
                self._indented(f"{count} x {one_line(reason, _LONGEST)}")

    def notes(self) -> None:
        if self._report.notes:
            self._gap()
        for note in self._report.notes:
            self._line(f"note: {one_line(note)}", "yellow")

    def conclusion(self) -> None:
        self._gap()
        style = {0: "bold green", 1: "bold red"}.get(self._report.exit_code, "bold yellow")
        self._line(self._report.conclusion, style)

    def _rule(self, causes: Sequence[Cause]) -> None:
        """Print the causes of one rule as one block, what they share only once."""
        rule = causes[0].rule
        grounds = dict.fromkeys(cause.ground for cause in causes)
        self._gap()
        title = Text(rule.name, style="bold")
        title.append(f"  {rule.layer} · {rule.severity}", style="dim")
        self._wrapped(title, 0)
        if len(grounds) == 1:
            self._indented(one_line(causes[0].ground), "dim")
        most = len(causes) if self._verbose else _MOST_CAUSES
        for cause in causes[:most]:
            self._cause(cause)
            if len(grounds) > 1:
                self._indented(one_line(cause.ground), "dim", 4)
            if self._verbose or cause is causes[0]:
                self._commands(cause)
            self._followers(cause)
        if len(causes) > most:
            self._more(causes[most:])

    def _more(self, causes: Sequence[Cause], indent: int = 2) -> None:
        places = listed([one_line(cause.place or cause.id) for cause in causes])
        words = f"and {counted(len(causes), 'more cause')}: {places}; --verbose"
        self._indented(words, indent=indent)

    def _cause(self, cause: Cause) -> None:
        line = Text(f"{cause.id}  ", style="dim")
        line.append(listed(cause.operations), style="not dim")
        self._wrapped(line, 2)
        self._indented(f"{one_line(cause.located, _LONGEST)}{cause.rest}", indent=4)
        for note in cause.expired:
            self._indented(one_line(f"was {note}"), "yellow", 4)

    def _followers(self, cause: Cause) -> None:
        """Print what may follow from a cause: a line, or with `--verbose` all of it."""
        (head,) = (each for each in self._report.explained if each.cause is cause)
        if not head.followers:
            return
        alike = [each for each in head.followers if each.rule.name == cause.rule.name]
        others = [each for each in head.followers if each not in alike]
        if alike:
            self._more(alike, indent=4)
        if others:
            number = counted(len(others), "finding")
            rules = listed(list(dict.fromkeys(each.rule.name for each in others)))
            self._indented(f"and {number} that may follow from it: {rules}", indent=4)
        for follower in head.followers if self._verbose else ():
            self._indented(f"{follower.verdict}: {follower.rule.name}", "dim", 4)
            self._cause(follower)
            self._indented(one_line(follower.ground), "dim", 4)
            self._commands(follower)

    def _commands(self, cause: Cause) -> None:
        exchanges = cause.exchanges if self._verbose or cause.best is None else (cause.best,)
        lines = [line for exchange in exchanges for line in exchange.lines()]
        if len(exchanges) < len(cause.exchanges):
            lines.append(f"# one of {len(cause.exchanges)} exchanges; --verbose shows all")
        # A command stays on one line, whatever the width, so that it can be copied.
        for line in lines:
            self._console.print(Text(f"    {line}", style="cyan"), soft_wrap=True)

    def _gap(self) -> None:
        if self._begun:
            self._console.print()

    def _line(self, text: str, style: str = "") -> None:
        self._wrapped(Text(text, style=style), 0)

    def _indented(self, text: str, style: str = "", indent: int = 2) -> None:
        self._wrapped(Text(text, style=style), indent)

    def _wrapped(self, text: Text, indent: int) -> None:
        self._begun = True
        # A pipe gets whole lines, for `grep`; a terminal gets lines that fit.
        width = max(self._console.width - indent, 10)
        for line in text.wrap(self._console, width) if self._console.is_terminal else [text]:
            line.rstrip()
            self._console.print(Text(" " * indent) + line, soft_wrap=True)
