"""The command `serve`."""

import logging
import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path

import click

from mockserver.clock import ClockMode, ClockRefused, parse_instant

_LEVELS = ("debug", "info", "warning", "error")


class _Clock(click.ParamType[tuple[ClockMode, Decimal | None]]):
    """A clock mode, with the factor of a scaled one behind a colon."""

    name = "clock"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[ClockMode, Decimal | None]:
        """Return the mode and the rate."""
        if isinstance(value, tuple):
            return value[0], value[1]
        name, colon, factor = str(value).partition(":")
        try:
            mode = ClockMode(name)
            rate = Decimal(factor) if colon else None
        except (ValueError, InvalidOperation):
            self.fail(f"{value!r} is none of real, frozen, auto or scaled:60", param, ctx)
        if (mode is ClockMode.SCALED) != (rate is not None):
            self.fail(f"{value!r}: a factor goes with 'scaled', as in 'scaled:60'", param, ctx)
        if rate is not None and not (rate.is_finite() and 0 < rate <= 1_000_000):
            self.fail(f"{value!r}: the factor is more than 0 and at most 1000000", param, ctx)
        return mode, rate


class _Instant(click.ParamType[int]):
    """An ISO 8601 time with its offset, as milliseconds since 1970."""

    name = "time"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the milliseconds."""
        if isinstance(value, int):
            return value
        try:
            return parse_instant(str(value))
        except ClockRefused as error:
            self.fail(str(error), param, ctx)


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port",
    default=8765,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="0 takes any free port; the ready line names it.",
)
@click.option("--scenario", default="default", show_default=True, help="A shipped name or a file.")
@click.option("--dialect", default="documented", show_default=True, help="documented or observed.")
@click.option("--erratum", multiple=True, metavar="E-NN", help="Apply one erratum; repeatable.")
@click.option("--clock", type=_Clock(), help="real, frozen, auto or scaled:FACTOR.")
@click.option("--start", type=_Instant(), help="The clock's first time, 2026-01-01T00:00:00Z.")
@click.option("--seed", type=click.IntRange(0), help="Another seed than the scenario's.")
@click.option(
    "--replay",
    type=click.Path(path_type=Path, file_okay=False),
    help="Answer from the recordings in a folder, and refuse the rest.",
)
@click.option("--replay-fallback", is_flag=True, help="Let the simulation answer the rest.")
@click.option(
    "--refusal-status",
    type=click.IntRange(400, 499),
    help="The HTTP status of refusals, for tools that do not read `code`.  [default: 200]",
)
@click.option("--check-answers", is_flag=True, help="Hold every answer against the contract.")
@click.option(
    "--ready-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Exists while the server is ready; holds its address.",
)
@click.option(
    "--log-level",
    type=click.Choice(_LEVELS),
    help="What is logged on stderr; info has a line a request.  [default: info on a terminal]",
)
def serve(  # noqa: PLR0913 (one parameter an option)
    *,
    host: str,
    port: int,
    scenario: str,
    dialect: str,
    erratum: tuple[str, ...],
    clock: tuple[ClockMode, Decimal | None] | None,
    start: int | None,
    seed: int | None,
    replay: Path | None,
    replay_fallback: bool,
    refusal_status: int | None,
    check_answers: bool,
    ready_file: Path | None,
    log_level: str | None,
) -> None:
    """Serve both generations of the interface until stopped."""
    from mockserver.server.assembly import Settings, build
    from mockserver.server.process import Listening, serve, to_stdout

    if erratum and dialect == "observed":
        raise click.UsageError("--erratum goes with the documented dialect; observed has them all")
    if replay_fallback and replay is None:
        raise click.UsageError("--replay-fallback goes with --replay")
    _log_to_stderr(log_level)
    service = build(
        Settings(
            scenario=scenario,
            dialect=",".join(erratum) or dialect,
            clock=clock[0] if clock else None,
            rate=clock[1] if clock else None,
            start_ms=start,
            seed=seed,
            replay=replay,
            strict=not replay_fallback,
            refusal_status=refusal_status,
            check_answers=check_answers,
        )
    )
    serve(
        service,
        Listening(host, port, ready_file),
        lambda url: to_stdout(f"crosschain-mock ready on {url} (v1 and 2.0, scenario {scenario})"),
    )


def _log_to_stderr(level: str | None) -> None:
    chosen = level or ("info" if sys.stderr.isatty() else "warning")
    logging.basicConfig(
        level=chosen.upper(), stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s"
    )
