"""What the audit and lint have in common: findings, and the ground that they rest on."""

from collections.abc import Iterator
from typing import Generic, TypeVar

from mockserver.worlds.ground import Ground

_Finding = TypeVar("_Finding")


class Judgement(Generic[_Finding]):
    """The findings about a world as a sequence.

    It is false where all is well alone: `assert not crosschain_mock.audit()` fails with findings,
    and where there is nothing to judge.
    """

    __slots__ = ()

    findings: tuple[_Finding, ...]
    ground: Ground | None

    @property
    def missing(self) -> str:
        """Why there is nothing to judge; empty where there is, and where nobody knows."""
        return "" if self.ground is None else self.ground.missing

    def __iter__(self) -> Iterator[_Finding]:
        return iter(self.findings)

    def __getitem__(self, place: int) -> _Finding:
        return self.findings[place]

    def __len__(self) -> int:
        return len(self.findings)

    def __bool__(self) -> bool:
        return bool(self.findings or self.missing)
