"""The verdict on the money of a world, derived from its orders and its traffic.

One judge: the audit, `run --audit`, the fixture, the machine and `survive` all ask `judge`.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from mockserver import limits
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.responders.control_forms import BadControl
from mockserver.sliced_work import Steps, at_once
from mockserver.suggestions import did_you_mean
from mockserver.wording import audit_lines
from mockserver.worlds.audit.claimed import all_arrived
from mockserver.worlds.audit.expected import Moved, moved_in, not_as_expected
from mockserver.worlds.audit.finding import Finding
from mockserver.worlds.audit.finding_kinds import KINDS
from mockserver.worlds.audit.money_traffic import Evidence, evidence_of
from mockserver.worlds.claims_and_expectations import Expected
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.judgement import Judgement, counted_up_to
from mockserver.worlds.verdict_evidence import Ground, ground_of

QUOTE_AGE_MS = 300_000
"""The age at which a quote counts as old; for how long a quote is valid is not published."""

_ALL, _NONE = ("all", "yes", "true", "1"), ("", "none", "no", "false", "0")


@dataclass(frozen=True, slots=True)
class Verdict(Judgement[Finding]):
    """The findings about a world; false where all is well.

    `judged` counts the orders that were judged; `unjudged` those that cannot be, since the journal
    has dropped requests about them; `more` counts the findings beyond those that are kept. `kinds`
    are those that were looked for; `ground` is what all of it rests on.
    """

    findings: tuple[Finding, ...] = ()
    judged: int = 0
    unjudged: int = 0
    more: int = 0
    kinds: tuple[str, ...] = ()
    ground: Ground | None = None

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join(audit_lines(self.render()))

    def _members(self, findings: list[Json]) -> dict[str, Json]:
        return {
            "ok": not self,
            "findings": findings,
            "more": self.more,
            "judged": self.judged,
            "unjudged": self.unjudged,
            "leftOut": [kind for kind in KINDS if self.kinds and kind not in self.kinds],
            "ground": None if self.ground is None else self.ground.render(),
        }


def judge(
    hosted: HostedWorld,
    kinds: Sequence[str] = (),
    *,
    quote_age_ms: int = QUOTE_AGE_MS,
    as_is: bool = False,
    meant: Sequence[Expected] | None = None,
    exit_claims: bool = False,
) -> Verdict:
    """Judge the money of a world, by the kinds named or by all of them.

    Orders are judged by how they will have ended, unless `as_is`; the world is not changed. `meant`
    are all the transfers that were to happen, as those of a base run: any other is a finding.
    With `exit_claims` a client has said by its exit code that all orders arrived.
    """
    steps = judge_in_steps(
        hosted, kinds, quote_age_ms=quote_age_ms, as_is=as_is, meant=meant, exit_claims=exit_claims
    )
    return at_once(steps)


def judge_in_steps(  # noqa: PLR0913 - as of `judge`
    hosted: HostedWorld,
    kinds: Sequence[str] = (),
    *,
    quote_age_ms: int = QUOTE_AGE_MS,
    as_is: bool = False,
    meant: Sequence[Expected] | None = None,
    exit_claims: bool = False,
    others: Iterable[HostedWorld] = (),
) -> Steps[Verdict]:
    """Judge as `judge` does; `others` are the other worlds of the server, told of in the ground."""
    evidence = yield from evidence_of(hosted, quote_age_ms, as_is=as_is)
    return (
        yield from _judged(hosted, evidence, kinds, meant, exit_claims=exit_claims, others=others)
    )


def judge_run(
    hosted: HostedWorld, meant: Sequence[Expected] | None = None, *, unread: Sequence[int] = ()
) -> tuple[Verdict, tuple[Moved, ...]]:
    """Judge a run of a client as `judge` does, and return what its orders move beside that.

    `unread` are the numbers of requests whose client died before it had read the answer.
    `expected_of` makes of the moves of one run what is meant by the next. The journal is read once.
    """
    evidence = at_once(evidence_of(hosted, QUOTE_AGE_MS, unread=unread))
    return at_once(_judged(hosted, evidence, (), meant)), moved_in(evidence)


def _judged(
    hosted: HostedWorld,
    evidence: Evidence,
    kinds: Sequence[str],
    meant: Sequence[Expected] | None,
    *,
    exit_claims: bool = False,
    others: Iterable[HostedWorld] = (),
) -> Steps[Verdict]:
    findings: Iterator[Finding | None]
    # A step before each, since most kinds find nothing.
    findings = chain.from_iterable(
        chain([None], KINDS[name].find(evidence)) for name in kinds or KINDS
    )
    if meant is not None:
        findings = chain(not_as_expected(evidence, meant, nothing_else=True), findings)
    if exit_claims:
        findings = chain(findings, all_arrived(evidence))
    kept, more = yield from counted_up_to(limits.FINDINGS.most, findings)
    unjudged = evidence.older + sum(map(evidence.unknown, evidence.views))
    judged = len(evidence.views) + evidence.older - unjudged
    ground = ground_of(hosted, others)
    return Verdict(kept, judged, unjudged, more, tuple(kinds or KINDS), ground)


def kinds_named(named: object) -> tuple[str, ...]:
    """Return the kinds that a setting names: all with `True` or `all`, none with `False`.

    Names stand alone, in a list, or in a text separated by commas; one with a `-` before it is left
    out. Raises `BadControl`.
    """
    if isinstance(named, bool) or named is None:
        return tuple(KINDS) if named else ()
    words = named.replace(",", " ").split() if isinstance(named, str) else named
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        raise BadControl(f"expected True, False or names of findings, got {named!r}")
    wanted = [word for word in words if word[:1] != "-" and word not in _NONE]
    unwanted = [word[1:] for word in words if word[:1] == "-"]
    # Only names that are left out: all the others are meant.
    if (unwanted and not wanted) or any(word in _ALL for word in wanted):
        wanted = [word for word in wanted if word not in _ALL] + list(KINDS)
    for word in (*wanted, *unwanted):
        if word not in KINDS:
            near = did_you_mean(word, list(KINDS)) or f"; there are {', '.join(KINDS)}"
            raise BadControl(f"{word[:60]!r} is no kind of finding{near}")
    return tuple(name for name in KINDS if name in wanted and name not in unwanted)
