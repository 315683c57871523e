"""The command `run`: a server for the time that another command takes."""

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from mockserver.cli import serving
from mockserver.cli.child import Child, typed
from mockserver.errors import CrosschainMockError
from mockserver.exchange import printable
from mockserver.wording import reason_of

if TYPE_CHECKING:
    from mockserver.worlds.hosted import HostedWorld

_ADDRESSES = [f"CROSSCHAIN_MOCK_{name}" for name in ("URL", "BASE_URL", "BASE_URL_V2")]
_FORWARDED = tuple(
    getattr(signal, name)
    for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
)


class CannotRun(CrosschainMockError):
    """A command that cannot be started: 127 where it is not found, 126 where it cannot run."""

    def __init__(self, text: str, exit_code: int) -> None:
        """Keep the sentence and the exit code that shells have for it."""
        super().__init__(text)
        self.exit_code = exit_code


def run(port: int, audited: bool, command: tuple[str, ...], **options: Any) -> None:
    """Serve while COMMAND runs, and exit as it does: crosschain-mock run -- npm test.

    COMMAND finds the server in CROSSCHAIN_MOCK_URL, and the base addresses of the two generations
    in CROSSCHAIN_MOCK_BASE_URL and CROSSCHAIN_MOCK_BASE_URL_V2.
    """
    from mockserver.server.assembly import build
    from mockserver.testing.running import in_thread

    service = build(serving.settings_of(options))
    with in_thread(service, port) as taken:
        url = f"http://127.0.0.1:{taken}"
        if service.replaying:
            click.echo(service.replaying, err=True)
        code = _ended(command, {**os.environ, **dict.fromkeys(_ADDRESSES, url)})
    if audited and _found(service.worlds):
        # What the command itself ended with comes first.
        code = code or 1
    sys.exit(code)


def _found(worlds: Iterable["HostedWorld"]) -> bool:
    """Print what the audit finds in each world; tell whether there is anything."""
    from mockserver.worlds.audit import audit

    found = [(hosted.key, audit(hosted)) for hosted in worlds]
    for key, told in found:
        if told or told.unjudged:
            click.echo(f"audit of world {key}:", err=True)
            click.echo("\n".join(map(printable, str(told).splitlines())), err=True)
    if not any(told for _, told in found):
        click.echo(
            f"audit: all is well with {sum(told.judged for _, told in found)} orders", err=True
        )
    return any(told for _, told in found)


def _ended(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command to its end and return its exit code, 128 + n where signal n ended it."""
    early: list[int] = []
    with _signals(early.append) as deliver_to:
        try:
            child = Child(command, environment)
        except FileNotFoundError:
            raise CannotRun(
                f"command {command[0]!r} is not found; write a program that exists behind '--'", 127
            ) from None
        except (OSError, ValueError) as error:
            raise CannotRun(f"cannot run {command[0]!r}: {reason_of(error)}", 126) from None
        deliver_to(child.send)
        for number in early:
            child.send(number)
        return child.wait()


@contextmanager
def _signals(first: Callable[[int], None]) -> Iterator[Callable[[Callable[[int], None]], None]]:
    """Hand signals to `first`, and later to whoever is named, in place of ending this process."""
    receivers = [first]

    def receive(number: int, frame: FrameType | None) -> None:
        if not typed(number):
            receivers[-1](number)

    # What was ignored from the start, as under nohup, stays ignored.
    taken = [one for one in _FORWARDED if signal.getsignal(one) is not signal.SIG_IGN]
    before = {number: signal.signal(number, receive) for number in taken}
    try:
        yield receivers.append
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
