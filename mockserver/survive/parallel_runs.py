"""Runs of a flow or a suite, several at a time, with their results in the order of the plan."""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class _CallingThread(Executor):
    """Runs what is submitted before it returns."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def run_in_order(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    jobs: int,
    room: Callable[[], int],
    take: Callable[[Result], None],
    interrupt: Callable[[], None],
) -> None:
    """Work on items until there are no more, or `room` for none, and `take` each result in turn.

    `room` returns how many more results may be taken. 0 `jobs` work in the calling thread.
    `KeyboardInterrupt` ends what runs by `interrupt`, since it would go on for as long as it likes,
    and is raised again.
    """
    rest, running = iter(items), deque[Future[Result]]()
    with ThreadPoolExecutor(jobs) if jobs else _CallingThread() as pool:
        try:
            while (left := room()) > 0:
                # One more than can run, so that no core waits for a result to be taken.
                most = min(jobs + 1, left)
                for item in islice(rest, max(0, most - len(running))):
                    running.append(pool.submit(work, item))
                if not running:
                    return
                take(running.popleft().result())
        except KeyboardInterrupt:
            interrupt()
            raise
        finally:
            for future in running:
                future.cancel()
