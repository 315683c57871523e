"""How a run is to be: what it may do, with what it calls, and how far it goes."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from fnmatch import fnmatchcase

from mockserver.conformance.caller import Caller
from mockserver.conformance.known import Bindings
from mockserver.conformance.pace import LOCAL_RATE, REMOTE_RATE, Limits
from mockserver.conformance.permit import Arming
from mockserver.conformance.target import Target
from mockserver.conformance.verdict import Rule


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of a run; all of them have a careful default.

    `hosts` are those that the user has named, beside loopback. `only` and `skip` are names of
    rules, layers or operations, with `*` as wildcard. `examples` is how many generated requests an
    operation gets, `sequences` how many sequences each state machine is tried with, and `deep` how
    many examples Schemathesis makes of each operation. `patience_ms` is how long, in wall time, a
    run waits in all for what it submitted to settle; it waits only as long as something has not. By
    itself it has six seconds of patience, and none with the mock, whose clock is its user's.
    """

    seed: int = 1
    dialect: str = "documented"
    budget: int | None = None
    rate: Decimal | None = None
    time_ms: int = 600_000
    request_ms: int = 10_000
    most_bytes: int = 16 * 1024 * 1024
    hosts: tuple[str, ...] = ()
    arming: Arming = field(default_factory=Arming)
    caller: Caller = field(default_factory=Caller)
    bindings: Bindings = field(default_factory=Bindings)
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    patience_ms: int | None = None
    examples: int = 0
    sequences: int = 0
    deep: int = 0

    def chooses(self, rule: Rule, operation_id: str = "") -> bool:
        """Whether `only` and `skip` leave a rule over, for one of its operations where named.

        The id of an operation chooses what judges that operation alone.
        """
        alone = rule.operations if len(rule.operations) == 1 else (operation_id,)
        names = (rule.name, rule.layer.value, *alone)
        return (not self.only or _match(names, self.only)) and not _match(names, self.skip)

    def limits(self, target: Target) -> Limits:
        """Return the bounds for a target: a service that is not ours is asked politely."""
        rate = self.rate or (LOCAL_RATE if target.is_local else REMOTE_RATE)
        return Limits(
            budget=self.budget if self.budget is not None else self._usual_budget(),
            rate=rate,
            time_ms=self.time_ms,
            request_ms=self.request_ms,
            most_bytes=self.most_bytes,
        )

    def _usual_budget(self) -> int:
        generated = 19 * (self.examples + self.deep * 4) + 60 * self.sequences
        return (250 if self.arming.writes else 150) + generated


def _match(names: Iterable[str], patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in names)
