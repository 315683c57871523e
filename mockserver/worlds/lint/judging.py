"""Lint: judgements on the requests of an undisturbed run, by rules that can be chosen and set."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from mockserver import limits
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.responders.control_forms import BadControl, duration_ms
from mockserver.sliced_work import Steps, at_once
from mockserver.suggestions import did_you_mean
from mockserver.times_and_durations import ClockRefused
from mockserver.wording import counted, lint_lines
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.judgement import Judgement, counted_up_to
from mockserver.worlds.lint.finding import LimitUnit, LintFinding, LintLevel, LintRule
from mockserver.worlds.lint.rule_table import RULES
from mockserver.worlds.lint.traffic import traffic_of
from mockserver.worlds.verdict_evidence import Ground, ground_of

_ALL, _NONE = ("all", "yes", "true", "1"), ("", "none", "no", "false", "0")

LintSettings = Mapping[str, int]
"""The rules to apply, each with its limit: a duration in ms, or a count; 0 where it has none."""


@dataclass(frozen=True, slots=True)
class LintResult(Judgement[LintFinding]):
    """What lint has found; false where it has nothing to say of the requests that came.

    `requests` counts those that were looked at, `lost` those that the journal no longer has, and
    `more` the findings beyond those that are kept.
    """

    findings: tuple[LintFinding, ...] = ()
    requests: int = 0
    lost: int = 0
    more: int = 0
    ground: Ground | None = None

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join(lint_lines(self.render()))

    def at_least(self, level: LintLevel) -> "LintResult":
        """Return the findings of a level, and worse ones, on the same ground."""
        findings = (finding for finding in self.findings if finding.rule.level in level.or_worse)
        return replace(self, findings=tuple(findings))

    @property
    def serious(self) -> "LintResult":
        """The findings that are more than a note."""
        return self.at_least(LintLevel.WARN)

    @property
    def passed(self) -> bool:
        return not self.serious

    def _members(self, findings: list[Json]) -> dict[str, Json]:
        tally = Counter(finding.rule.level for finding in self.findings)
        return {
            "ok": not self.serious,
            "findings": findings,
            "counts": {level.value: tally[level] for level in LintLevel},
            "more": self.more,
            "requests": self.requests,
            "lost": self.lost,
            "ground": None if self.ground is None else self.ground.render(),
        }


def lint(
    hosted: HostedWorld,
    settings: LintSettings | None = None,
    *,
    without: Collection[int] = (),
) -> LintResult:
    """Judge the requests that a world got: whatever would be wrong without any failure.

    It is a function of the journal, the catalog and the world's clock, and changes nothing. Without
    settings, all rules apply with their own limits; `lint_settings` makes settings of what people
    write. Requests whose numbers are in `without`, and refusals that were announced, do not count.
    """
    return at_once(lint_in_steps(hosted, settings, without=without))


def lint_in_steps(
    hosted: HostedWorld,
    settings: LintSettings | None = None,
    *,
    without: Collection[int] = (),
    others: Iterable[HostedWorld] = (),
) -> Steps[LintResult]:
    """Judge as `lint` does; `others` are the other worlds of the server, told of in the ground."""
    chosen = lint_settings("all") if settings is None else settings
    traffic = yield from traffic_of(hosted, without)
    remarks = (
        (RULES[name], remark)
        for name, limit in chosen.items()
        # A step before each, since most rules find nothing.
        for remark in chain([None], RULES[name].find(traffic, limit))
    )
    findings = (
        None
        if remark is None
        else LintFinding(
            rule,
            remark.text,
            remark.advice,
            tuple(dict.fromkeys(call.entry for call in remark.calls)),
        )
        for rule, remark in remarks
    )
    # Rules are generators: beyond what is kept, nothing is written, only counted.
    kept, more = yield from counted_up_to(limits.FINDINGS.most, findings)
    ground = ground_of(hosted, others)
    return LintResult(kept, len(traffic.calls), traffic.lost, more, ground)


def lint_settings(named: object) -> LintSettings:
    """Return the rules that a setting names, with their limits.

    `True` or `all` takes all rules, `False` none, a level those of that level and worse ones. Names
    stand alone, in a list, or in a text separated by commas; `-NAME` leaves one out, and
    `NAME=LIMIT` sets its limit and keeps all others. In a mapping, `{"stale-quote": "30s"}`, values
    are limits, or `False`. Raises `BadControl`.
    """
    words = _words(named)
    chosen: dict[str, int] = {}
    unwanted, limited, wanted = [], {}, []
    for word in words:
        name, equals, limit = word.partition("=")
        bare = name.removeprefix("-")
        if bare in _ALL or bare in _NONE or bare in list(LintLevel):
            wanted.append(name)
            continue
        rule = _rule_of(bare)
        if name.startswith("-"):
            unwanted.append(bare)
        elif equals:
            limited[bare] = _limit_of(rule, limit)
        else:
            wanted.append(bare)
    if words and not wanted:
        # Who only leaves out or limits some means all others.
        wanted = ["all"]
    for name in wanted:
        if name in _NONE:
            continue
        for rule in RULES.values():
            levels = LintLevel(name).or_worse if name in list(LintLevel) else ()
            if name in _ALL or rule.name == name or rule.level in levels:
                chosen[rule.name] = 0
    # In the order of the table, whatever the order of the words: reports are the same then.
    chosen.update(dict.fromkeys(limited, 0))
    return {
        name: limited.get(name, rule.limit.value if rule.limit else 0)
        for name, rule in RULES.items()
        if name in chosen and name not in unwanted
    }


def _words(named: object) -> list[str]:
    if named is None or isinstance(named, bool):
        return ["all"] if named else []
    if isinstance(named, str):
        return named.replace(",", " ").split()
    if isinstance(named, Mapping):
        return [_word(name, value) for name, value in named.items()]
    if isinstance(named, list | tuple) and all(isinstance(word, str) for word in named):
        return list(named)
    raise BadControl(f"expected True, False, names of rules or their limits, got {named!r}")


def _word(name: Any, value: Any) -> str:
    if isinstance(value, bool):
        return str(name) if value else f"-{name}"
    return f"{name}={value}"


def _rule_of(name: str) -> LintRule:
    if name in RULES:
        return RULES[name]
    near = did_you_mean(name, list(RULES)) or f"; there are {', '.join(RULES)}"
    raise BadControl(f"{name[:60]!r} is no rule of lint{near}")


def _limit_of(rule: LintRule, text: str) -> int:
    """Return a limit that was set. Raises `BadControl` where the rule has none, or it is none."""
    if rule.limit is None:
        raise BadControl(f"{rule.name!r} has no limit that can be set")
    if rule.limit.unit is LimitUnit.DURATION:
        try:
            return duration_ms(text)
        except ClockRefused as error:
            raise BadControl(f"{rule.name}: {error}") from None
    if not text.isascii() or not text.isdecimal() or len(text) > _MOST_DIGITS:
        kind = rule.limit.unit.value
        raise BadControl(f"{rule.name}: {text[:40]!r} is no limit; write a whole number ({kind})")
    return int(text)


_MOST_DIGITS = 15


def lint_words(settings: LintSettings) -> tuple[str, ...]:
    """Return the words that make these settings: each rule, and its limit where it has one."""
    limited = [
        f"{name}={_written(RULES[name], limit)}"
        for name, limit in settings.items()
        if RULES[name].limit is not None
    ]
    return (*settings, *limited) if settings else ()


def _written(rule: LintRule, limit: int) -> str:
    is_time = rule.limit is not None and rule.limit.unit is LimitUnit.DURATION
    return f"{limit}ms" if is_time else str(limit)


def summary(results: Sequence[LintResult]) -> str:
    """Return what was found in all, in a line."""
    tally = Counter(finding.rule.level for result in results for finding in result)
    found = ", ".join(counted(tally[level], level.value) for level in LintLevel if tally[level])
    requests = sum(result.requests for result in results)
    if not requests:
        return "lint: no request came to an operation, so there was nothing to judge"
    return f"lint: {found or 'nothing to say'} of {counted(requests, 'request')}"
