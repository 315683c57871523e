"""The reference page of lint, of its table of rules."""

from collections.abc import Iterator

from mockserver import markdown
from mockserver.times_and_durations import duration
from mockserver.worlds.lint.finding import LimitUnit, LintLevel, LintRule
from mockserver.worlds.lint.rule_table import RULES

_ABOUT = """\
What `crosschain-mock lint` judges in a run in which nothing went wrong. `error`: money is wrong
already; `warn`: it will be as soon as anything goes wrong; `note`: nothing is wrong. Limits can be
set: `lint stale-quote=30s` on the command line, `lint={"stale-quote": "30s"}` on the marker. How to
use it says [Judge a run in which nothing went wrong](../how-to/lint.md)."""


def page() -> str:
    return markdown.page("Rules of lint", _ABOUT, list(_lines()))


def _lines() -> Iterator[str]:
    rows = (
        (f"[`{rule.name}`](#{rule.name})", rule.level.value, rule.summary, limit_text(rule))
        for rule in RULES.values()
    )
    yield from markdown.table(("rule", "level", "finds", "limit"), rows)
    for level in LintLevel:
        for rule in RULES.values():
            if rule.level is level:
                yield from _rule(rule)


def _rule(rule: LintRule) -> Iterator[str]:
    yield from ("", f"## {rule.name}", "")
    yield f"{rule.level.value} · {rule.basis}"
    yield ""
    yield f"Finds {rule.summary}. Reads {rule.reads}. {rule.why[0].upper()}{rule.why[1:]}."
    if rule.limit is not None:
        yield ""
        yield f"The limit is {rule.limit.of}: {limit_text(rule)}."


def limit_text(rule: LintRule) -> str:
    """Return the limit of a rule in words; nothing where it has none."""
    if rule.limit is None:
        return ""
    if rule.limit.unit is LimitUnit.DURATION:
        return duration(rule.limit.value)
    unit = "" if rule.limit.unit is LimitUnit.TIMES else f" {rule.limit.unit.value}"
    return f"{rule.limit.value:,}{unit}"
