"""What the audit and lint have in common: findings, and the ground that they rest on."""

from collections.abc import Iterable, Iterator
from typing import Generic, Protocol, TypeVar

from mockserver import jsontext
from mockserver.jsontext import Json
from mockserver.sliced_work import Steps, at_once, in_slices
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.verdict_evidence import Ground


class _Rendered(Protocol):
    def render(self) -> dict[str, Json]: ...


_Finding = TypeVar("_Finding", bound=_Rendered)
_T = TypeVar("_T")


def counted_up_to(most: int, items: Iterable[_T | None]) -> Steps[tuple[tuple[_T, ...], int]]:
    """Return the first items, and how many others there are, which are made and not kept.

    None among the items is a step like each of them.
    """
    kept: list[_T] = []
    more = 0
    for item in items:
        yield
        if item is None:
            continue
        if len(kept) < most:
            kept.append(item)
        else:
            more += 1
    yield
    return tuple(kept), more


class Judgement(Generic[_Finding]):
    """The findings about a world as a sequence.

    It is false where all is well alone: `assert not crosschain_mock.audit()` fails with findings,
    and where there is nothing to judge.
    """

    __slots__ = ()

    findings: tuple[_Finding, ...]
    ground: Ground | None

    def render(self) -> dict[str, Json]:
        """Return it as JSON for the control API."""
        return at_once(self.rendered())

    def rendered(self) -> Steps[dict[str, Json]]:
        """Render it in steps: a finding tells of requests, each of which has to be read."""
        findings: list[Json] = []
        for finding in self.findings:
            yield
            findings.append(finding.render())
        return self._members(findings)

    def _members(self, findings: list[Json]) -> dict[str, Json]:
        raise NotImplementedError

    @property
    def missing(self) -> str:
        """Why there is nothing to judge; empty where there is, and where nobody knows."""
        return "" if self.ground is None else self.ground.missing

    @property
    def passed(self) -> bool:
        """Whether nothing was found that a test fails for, where there was something to judge."""
        return not self

    def __iter__(self) -> Iterator[_Finding]:
        return iter(self.findings)

    def __getitem__(self, place: int) -> _Finding:
        return self.findings[place]

    def __len__(self) -> int:
        return len(self.findings)

    def __bool__(self) -> bool:
        return bool(self.findings or self.missing)


def rendered(
    steps: Steps[Judgement[_Finding]], hosted: HostedWorld, verdict: str
) -> Iterator[bytes]:
    """Yield the JSON of a judgement, made in slices; the world notes whether it passed."""
    # What comes between two slices was not judged.
    stage = hosted.stage()
    judgement = yield from in_slices(steps)
    hosted.judged(verdict, stage, well=judgement.passed)
    if judgement.findings:
        yield from in_slices(hosted.journal.study())
    members = yield from in_slices(judgement.rendered())
    yield jsontext.encode(members)
