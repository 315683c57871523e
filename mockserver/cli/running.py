"""The command `run`: a server for the time that another command takes."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import click

from mockserver.cli import serving
from mockserver.errors import CrosschainMockError

_OF_SERVE = (
    *("scenario", "dialect", "erratum", "clock", "start", "seed", "replay", "replay_fallback"),
    *("refusal_status", "app_keys", "verify_wallets", "check_answers", "breaks"),
)
_FORWARDED = (signal.SIGINT, signal.SIGTERM)


class CannotRun(CrosschainMockError):
    """A command that cannot be started: 127 where it is not found, 126 where it cannot run."""

    def __init__(self, text: str, exit_code: int) -> None:
        """Keep the sentence and the exit code that shells have for it."""
        super().__init__(text)
        self.exit_code = exit_code


@click.command(context_settings={"allow_interspersed_args": False})
@click.option(
    "--port",
    default=0,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="0 takes any free port.",
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(port: int, command: tuple[str, ...], **options: Any) -> None:
    """Serve while COMMAND runs, and exit as it does: crosschain-mock run -- npm test.

    COMMAND finds the server in CROSSCHAIN_MOCK_URL, and the base addresses of the two generations
    in CROSSCHAIN_MOCK_BASE_URL and CROSSCHAIN_MOCK_BASE_URL_V2.
    """
    from mockserver.server.assembly import build
    from mockserver.testing.running import in_thread

    service = build(serving.settings_of(options))
    with in_thread(service, port) as taken:
        url = f"http://127.0.0.1:{taken}"
        code = _ended(command, {**os.environ, **_addresses(url)})
    sys.exit(code)


run.params[:0] = [option for option in serving.serve.params if option.name in _OF_SERVE]


def _addresses(url: str) -> dict[str, str]:
    return {
        "CROSSCHAIN_MOCK_URL": url,
        "CROSSCHAIN_MOCK_BASE_URL": url,
        "CROSSCHAIN_MOCK_BASE_URL_V2": url,
    }


def _ended(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command to its end and return its exit code, 128 + n where signal n ended it."""
    early: list[int] = []
    with _signals(early.append) as deliver_to:
        try:
            process = subprocess.Popen(command, env=environment)  # noqa: S603 (what the user asked)
        except FileNotFoundError:
            raise CannotRun(
                f"command {command[0]!r} is not found; write a program that exists behind '--'", 127
            ) from None
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise CannotRun(f"cannot run {command[0]!r}: {reason}", 126) from None
        deliver_to(process.send_signal)
        for number in early:
            process.send_signal(number)
        code = process.wait()
    return 128 - code if code < 0 else code


@contextmanager
def _signals(first: Callable[[int], None]) -> Iterator[Callable[[Callable[[int], None]], None]]:
    """Hand signals to `first`, and later to whoever is named, in place of ending this process."""
    receivers = [first]

    def receive(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT and _from_terminal():
            return
        receivers[-1](number)

    # What was ignored from the start, as under nohup, stays ignored.
    taken = [one for one in _FORWARDED if signal.getsignal(one) is not signal.SIG_IGN]
    before = {number: signal.signal(number, receive) for number in taken}
    try:
        yield receivers.append
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _from_terminal() -> bool:
    """Whether an interrupt was typed: then the terminal has sent it to the command as well."""
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError, AttributeError):
        return False
