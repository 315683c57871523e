"""Hostile inputs from a seed, and what they may cost: statuses, time and memory."""

import gc
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

_T = TypeVar("_T")
MIB = 1024 * 1024
MOST_MS = 50
"""How much CPU time a turn of the server's loop may take on a machine that is not slow."""
# The first inputs import what explains a refusal and read the contracts of other dialects, once.
_READS_FILES = 200
_TRIES = 3
_CALIBRATED_MS = 12
"""What `_machine_ms` takes on the machine for which the bound holds."""
_PER_RSS_UNIT = 1 if sys.platform == "darwin" else 1024

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**63, 2**256, -(2**64), 10**400, 0.1, 1e300),
    *("", " ", "0", "-1", "1e999", "NaN", "0x", "0x" + "f" * 40, "0x" + "1" * 64, "\x00", "\ud800"),
    *("%0d%0aX: y", "\x1b[2J", "../../etc/passwd", "é" * 50, "a" * 5_000, "9" * 90, "ARB", "USDT"),
    *("2026-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1h", "999999999999d", "default"),
    *([], {}, [[]], [None] * 50, {"a": {"b": [1]}}, [{}] * 20, {"": ""}),
)
SNIPPETS = (
    *(b"\x00", b"\r\n", b"\n", b"\r", b" ", b"\t", b":", b",", b"%", b"\xff", b"\xc3\x28", b'"'),
    *(b"1e999999999", b"1e5000", b"9" * 5_000, b"[" * 200, b'{"a":' * 100, b"\\ud800", b"NaN"),
    *(
        b"Transfer-Encoding: chunked\r\n",
        b"Content-Length: 99999999999\r\n",
        b"Content-Length: 0\r\n",
    ),
    *(b"Content-Encoding: gzip\r\n", b"Content-Encoding: br\r\n", b"Expect: 100-continue\r\n"),
    *(b"Connection: close\r\n", b"Upgrade: websocket\r\n", b"HTTP/1.0", b"HTTP/9.9", b"/__mock/"),
    *(b"- " * 50, b"&a ", b"*a", b"!!python/object:os.system", b"? ", b"{", b"}", b"- ", b"|\n"),
)


def _machine_ms() -> float:
    """Return how long this machine takes for a fixed piece of work."""
    began = time.thread_time()
    for number in range(100_000):
        str(number)
    return 1000 * (time.thread_time() - began)


def most_ms_of_a_turn() -> float:
    """Return what a turn may take on this machine, which may be slow, or have neighbours."""
    return MOST_MS * max(1.0, min(_machine_ms() for _ in range(5)) / _CALIBRATED_MS)


@dataclass
class Cost:
    """What the inputs of a run have cost: the slowest one, in seconds of this process's time.

    Collections of garbage do not count: they look at all that pytest has made.
    """

    count: int = 0
    slowest: float = 0.0
    by: object = None
    statuses: set[int] = field(default_factory=set)
    collecting: float = 0.0

    def collects(self, phase: str, _: object) -> None:
        self.collecting += time.process_time() * (1 if phase == "stop" else -1)

    def of(self, what: object, do: Callable[[], _T]) -> _T:
        """Measure one input, once more where it was slow: a neighbour takes time of the machine."""
        self.count += 1
        least = float("inf")
        for _ in range(_TRIES):
            began = time.process_time() - self.collecting
            result = do()
            took = time.process_time() - self.collecting - began
            least = min(least, took)
            if least < MOST_MS / 1000:
                break
        if least > self.slowest and self.count > _READS_FILES:
            self.slowest, self.by = least, what
        return result


@contextmanager
def bounded(mebibytes: int, seconds: float | None = None) -> Iterator[Cost]:
    """Fail where one input takes longer, or where all of them make the process larger.

    Without `seconds`, an input may take what a turn of the server's loop may.
    """
    before = _most_memory()
    cost = Cost()
    gc.callbacks.append(cost.collects)
    try:
        yield cost
    finally:
        gc.callbacks.remove(cost.collects)
    seconds = most_ms_of_a_turn() / 1000 if seconds is None else seconds
    grown = _most_memory() - before
    # Shown by `pytest -rP`.
    print(f"{cost.count} inputs, the slowest {1000 * cost.slowest:.0f} ms, {grown // MIB} MiB more")  # noqa: T201
    assert cost.slowest < seconds, f"{cost.slowest:.3f} s: {cost.by!r}"[:2_000]
    assert grown < mebibytes * MIB, f"{grown // MIB} MiB more after {cost.count} inputs"


def mutated(value: Any, rng: random.Random) -> Any:
    """Return a JSON value with something wrong somewhere."""
    if rng.random() < 0.15:
        return rng.choice(VALUES)
    if isinstance(value, dict):
        return _mutated_members(value, rng)
    if isinstance(value, list) and value:
        changed = list(value)
        place = rng.randrange(len(changed))
        changed[place] = mutated(changed[place], rng)
        return changed * rng.choice((1, 1, 1, 30))
    if isinstance(value, str) and value:
        place = rng.randrange(len(value))
        return value[:place] + str(rng.choice(VALUES))[:200] + value[place + rng.randint(0, 3) :]
    return rng.choice(VALUES)


def _mutated_members(value: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    changed = dict(value)
    name = rng.choice([*changed, str(rng.choice(VALUES))[:100]])
    if name in changed and rng.random() < 0.2:
        del changed[name]
    else:
        changed[name] = mutated(changed.get(name), rng)
    return changed


def scrambled(raw: bytes, rng: random.Random) -> bytes:
    """Return bytes with some of them cut, doubled, replaced or put in."""
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(raw) + 1)
        end = min(len(raw), place + rng.choice((0, 1, 5, 100)))
        put_in: Callable[[], bytes] = rng.choice(
            (
                lambda: rng.choice(SNIPPETS),
                lambda: rng.randbytes(rng.randint(1, 20)),
                lambda: raw[place:end] * 2,  # noqa: B023 (called at once)
                lambda: b"",
            )
        )
        raw = raw[:place] + put_in() + raw[end:]
    return raw


def _most_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _PER_RSS_UNIT
