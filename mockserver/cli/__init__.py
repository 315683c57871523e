"""The command `crosschain-mock`. Each command imports what it needs when it is called."""

import sys

import click

from mockserver import __version__
from mockserver.cli import (
    breaking,
    calendars,
    checking,
    comparing,
    conforming,
    controlling,
    differing,
    exporting,
    hosting,
    recording,
    running,
    serving,
    signing,
    watching,
)
from mockserver.errors import CrosschainMockError

_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(context_settings=_SETTINGS)
@click.version_option(__version__, prog_name="crosschain-mock")
def _cli() -> None:
    """Stand in for a cross-chain transfer and swap service, and test against its contract."""


for _command in (
    serving.serve,
    exporting.routes,
    exporting.openapi,
    exporting.assumptions,
    exporting.errata,
    exporting.reference,
    checking.validate,
    checking.doctor,
    conforming.conform,
    comparing.diff,
    recording.record,
    running.run,
    signing.sign,
    calendars.calendar,
    breaking.breaks,
    differing.compare,
    controlling.clock,
    controlling.control,
    controlling.fault,
    controlling.order,
    controlling.outage,
    controlling.reset,
    controlling.stub,
    hosting.snapshot,
    hosting.world,
    watching.check,
    watching.journal,
    watching.verify,
):
    _cli.add_command(_command)


def main() -> None:
    """Run the command; a problem that a person can put right ends it with a sentence."""
    try:
        _cli.main(prog_name="crosschain-mock", standalone_mode=False)
    except CrosschainMockError as error:
        _complain(str(error))
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        sys.exit(130)
    except BrokenPipeError:
        # The reader went away, as `head` does; there is nobody left to tell.
        sys.stderr.close()
        sys.exit(0)


def _complain(text: str) -> None:
    for line in text.splitlines():
        click.echo(f"error: {line}", err=True)
