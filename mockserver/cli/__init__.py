"""The command `crosschain-mock`; its commands are those of the table in `command_table.py`."""

import errno
import gc
import logging
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import click

from mockserver import __version__, standard_streams
from mockserver.cli.command_table import Commands
from mockserver.errors import CrosschainMockError
from mockserver.http_messages import printable
from mockserver.wording import reason_of

_CLICK_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

_NO_ROOM_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

_SELDOM_COLLECTED = (20_000, 20, 50)
_SIGPIPE = 13  # `signal.SIGPIPE`, which Windows lacks


_SAME_SECONDS = 1.0


class Interruption:
    """A handler of signals that ends a command by `KeyboardInterrupt`.

    One end often comes as several signals: `timeout` sends its own to the process and to the group,
    and a wrapper such as `npx` hands on what the terminal has sent as well. The second would take
    what the first lets the command tell.
    """

    def __init__(self) -> None:
        self.number = 0
        """The signal that came last."""
        self._until = 0.0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Take a signal. Raises `KeyboardInterrupt`, unless it belongs to one just before."""
        now = time.monotonic()
        if now < self._until:
            return
        self.number, self._until = number, now + _SAME_SECONDS
        raise KeyboardInterrupt

    @contextmanager
    def of(self, *numbers: int) -> Iterator[None]:
        """Take these signals, but for those that are ignored already, as under nohup."""
        left = (signal.SIG_IGN, None)
        before = {n: taken for n in numbers if (taken := signal.getsignal(n)) not in left}
        for number in before:
            signal.signal(number, self)
        try:
            yield
        finally:
            # What still comes of the signal that has ended a command changes no exit code.
            if not self.number:
                for number, handler in before.items():
                    signal.signal(number, handler)


class _ReaderLeft(Exception):
    """The reader of standard output went away, as `head` does."""


class _Commands(Commands):
    def invoke(self, ctx: click.Context) -> Any:
        """Run a command. Raises `_ReaderLeft`, in place of which click would exit with 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _ReaderLeft from None


@click.group(cls=_Commands, context_settings=_CLICK_SETTINGS)
@click.version_option(__version__, prog_name="crosschain-mock")
def _cli() -> None:
    """Mock a cross-chain transfer and swap service, and test services against its contract."""


def main() -> None:
    """Run the command; a problem that the user can fix ends it with a sentence."""
    # What a command imports lives as long as it does; the collector looked at it again and again.
    gc.set_threshold(*_SELDOM_COLLECTED)
    standard_streams.secure()
    logging.basicConfig(
        handlers=[standard_streams.Log()], format="%(asctime)s %(levelname)s %(message)s"
    )
    try:
        try:
            with Interruption().of(signal.SIGINT):
                _cli.main(prog_name="crosschain-mock", standalone_mode=False)
        finally:
            sys.stdout.flush()
    except CrosschainMockError as error:
        _print_error(str(error))
        sys.exit(error.exit_code)
    except click.ClickException as error:
        _with_hint(error).show()
        sys.exit(error.exit_code)
    except click.Abort:
        sys.exit(130)
    except (_ReaderLeft, BrokenPipeError):
        standard_streams.give_up_stdout()
        sys.exit(128 + _SIGPIPE)
    except OSError as error:
        # An invalid path, such as a name that is too long, or a full disk.
        if error.filename is None and error.errno not in _NO_ROOM_ERRNOS:
            raise
        where = "the output" if error.filename is None else str(error.filename)[:200]
        _print_error(f"{where}: {reason_of(error)}")
        sys.exit(2)


def _with_hint(error: click.ClickException) -> click.ClickException:
    """Return an error with how an option is set that the command takes by `--set` alone."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return error
    name = error.option_name.lstrip("-")
    if not any(name in getattr(option, "settings", ()) for option in error.ctx.command.params):
        return error
    return click.UsageError(f"{error.message} Write --set {name}=VALUE.", error.ctx)


def _print_error(text: str) -> None:
    for line in text.splitlines():
        click.echo(f"error: {printable(line)}", err=True)
