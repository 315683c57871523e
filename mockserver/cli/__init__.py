"""The command `crosschain-mock`. A command's module is imported when it is called, or listed."""

import errno
import logging
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from mockserver import __version__, streams
from mockserver.errors import CrosschainMockError
from mockserver.exchange import printable
from mockserver.wording import reason_of

_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

_GROUPS: Mapping[str, tuple[str, str]] = {
    "Serve": ("run -- npm test", "serving.serve running.run recording.record"),
    "Steer a running server": (
        "outage start BNB --mode delisted --for 9h",
        (
            "controlling.clock controlling.outage controlling.order controlling.fault "
            "controlling.stub hosting.world hosting.snapshot controlling.reset controlling.control"
        ),
    ),
    "Look at what came": (
        "journal --follow",
        "watching.journal watching.verify watching.check watching.audit capsules.capsule",
    ),
    "Judge a service": (
        "conform http://127.0.0.1:8080 --wait 30s",
        "conforming.conform comparing.compare comparing.diff breaking.breaks",
    ),
    "Files and lists": (
        "calendar show weekend-halt",
        (
            "calendars.calendar recordings.recordings checking.validate signing.sign "
            "exporting.routes exporting.openapi exporting.assumptions exporting.errata "
            "exporting.reference"
        ),
    ),
    "This installation": ("completion bash", "checking.doctor completing.completion"),
}
"""What commands are for: a line that can be typed as it stands, and the commands under their names
in modules of `mockserver.cli`."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What writing fails with where there is no room."""

_SIGPIPE = 13

_PLACES = {place.partition(".")[2]: place for _, told in _GROUPS.values() for place in told.split()}


class _NotRead(Exception):
    """The reader of standard output went away, as `head` does."""


class _Commands(click.Group):
    """A group whose commands are imported one by one: most of them need more than others."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command. Raises `_NotRead`, in place of which click would exit with 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _NotRead from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted(_PLACES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported now; None for a name that none has."""
        if cmd_name not in _PLACES:
            return None
        module = import_module(f"mockserver.cli.{_PLACES[cmd_name].partition('.')[0]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by what they are for, each group with an example."""
        width = max(map(len, _PLACES))
        for title, (example, told) in _GROUPS.items():
            names = [place.partition(".")[2] for place in told.split()]
            commands = ((name, self.get_command(ctx, name)) for name in names)
            rows = [(name, one.get_short_help_str(76)) for name, one in commands if one]
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), told) for name, told in rows])
                formatter.write_text(f"$ {ctx.command_path} {example}")


@click.group(cls=_Commands, context_settings=_SETTINGS)
@click.version_option(__version__, prog_name="crosschain-mock")
def _cli() -> None:
    """Stand in for a cross-chain transfer and swap service, and test against its contract."""


def main() -> None:
    """Run the command; a problem that a person can put right ends it with a sentence."""
    streams.secure()
    logging.basicConfig(handlers=[streams.Log()], format="%(asctime)s %(levelname)s %(message)s")
    try:
        try:
            _cli.main(prog_name="crosschain-mock", standalone_mode=False)
        finally:
            sys.stdout.flush()
    except CrosschainMockError as error:
        _complain(str(error))
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        sys.exit(130)
    except (_NotRead, BrokenPipeError):
        streams.give_up_stdout()
        sys.exit(128 + _SIGPIPE)
    except OSError as error:
        # A path that the system takes for none, such as a name that is too long, or a full disk.
        if error.filename is None and error.errno not in _FULL:
            raise
        where = "the output" if error.filename is None else str(error.filename)[:200]
        _complain(f"{where}: {reason_of(error)}")
        sys.exit(2)


def _complain(text: str) -> None:
    for line in text.splitlines():
        click.echo(f"error: {printable(line)}", err=True)
