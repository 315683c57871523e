"""The options `taping` of `serve` and `run`: record modes, and a service behind recordings."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from mockserver.wording import counted

if TYPE_CHECKING:
    from mockserver.server.assembly import Settings
    from mockserver.server.recorder import ProxyOptions

_AGAIN = "record them with --record once and the address of the service"


@contextmanager
def taped(settings: "Settings", options: Mapping[str, Any]) -> Iterator["Settings"]:
    """Yield settings whose worlds play and record as the options say; then finish the files.

    Raises `click.UsageError` for options that do not go together, and `CrosschainMockError`.
    """
    _check(options)
    if options["fall_through"] is not None:
        from mockserver.server.recorder.record_modes import PassThrough

        first, _, second = options["fall_through"].partition(",")
        mode = replace(settings.replay_mode, strict=False)
        service = _service(first, second or first, options)
        yield replace(settings, upstream=PassThrough(service), replay_mode=mode)
        return
    if options["record"] is None:
        yield settings
        return
    from mockserver.server.recorder.record_modes import RecordMode, Tape, TapeOptions

    v1, v2 = options["v1"] or "", options["v2"] or ""
    tape = Tape(
        TapeOptions(
            RecordMode(options["record"]),
            options["recordings"],
            _service(v1, v2, options) if v1 or v2 else None,
            source=" and ".join(dict.fromkeys(filter(None, (v1, v2)))),
            record_again=_AGAIN,
        )
    )
    mode = tape.replay_mode(settings.replay_mode)
    upstream = tape if tape.passes_on else None
    try:
        yield replace(settings, replay=tape.sources, replay_mode=mode, upstream=upstream)
    finally:
        tape.close()
        if tape.kept:
            what = counted(tape.kept, "exchange")
            click.echo(f"recorded {what} in {options['recordings']}", err=True)
        if tape.missed:
            # Else a run with `once` looks whole, and the next one refuses what is missing.
            missed = counted(tape.missed, "request")
            click.echo(f"{missed} not recorded; --record new records what is missing", err=True)


def _check(options: Mapping[str, Any]) -> None:
    if options["record"] is not None and (options["replay"] or options["fall_through"]):
        raise click.UsageError(
            "--record plays the folder of --recordings; leave out --replay and --fall-through"
        )
    if options["fall_through"] is not None and not options["replay"]:
        raise click.UsageError("--fall-through goes with --replay")
    for name, option in (("v1", "--upstream-v1"), ("v2", "--upstream-v2")):
        if options[name] is not None and options["record"] is None:
            raise click.UsageError(f"{option} goes with --record")


def service_of(v1: str | None, v2: str | None, options: Mapping[str, Any]) -> "ProxyOptions":
    """Return how requests are passed on to a service. Raises `UnsafeOrWrong`."""
    from mockserver.conformance.session.permit import Arming
    from mockserver.testing.record_modes import service_at

    arming = Arming(options["arm_writes"], options["most_writes"], options["confirm_hosts"])
    return service_at(v1, v2, options["allow_hosts"], arming)


def _service(v1: str, v2: str, options: Mapping[str, Any]) -> "ProxyOptions":
    said: set[str] = set()

    def tell(sentence: str) -> None:
        if sentence not in said:
            said.add(sentence)
            click.echo(f"not recorded: {sentence}", err=True)

    return replace(service_of(v1, v2, options), tell=tell)
