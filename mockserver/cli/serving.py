"""The command `serve`."""

import atexit
import gc
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from mockserver.cli.files import with_overlay
from mockserver.cli.record_modes import taped

if TYPE_CHECKING:
    import ssl

    from mockserver.server.assembly import Settings

# Where OpenSSL looks for the certificates that a machine trusts.
_TRUSTED = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def serve(
    *,
    host: str,
    port: int,
    control_token: str | None,
    control_origins: tuple[str, ...],
    ready_file: Path | None,
    workers: int,
    **options: Any,
) -> None:
    """Serve both generations of the interface until stopped."""
    with importing_fast(options):
        from mockserver.server.assembly import build, build_workers
        from mockserver.server.control.authorization import guard_for
        from mockserver.server.process import Listening, claim, scheme_of, serve, to_stdout

    # First of all: who waits for the file must not see that of an earlier server.
    claim(ready_file)
    tls = tls_of(options)

    taping = ExitStack()
    settings = taping.enter_context(taped(settings_of(options), options))
    # The log itself goes to stderr, as that of every command.
    default_level = "info" if sys.stderr.isatty() else "warning"
    logging.getLogger().setLevel((options["log_level"] or default_level).upper())
    guard = guard_for(host, control_token, control_origins)
    settings = replace(
        settings,
        guard=guard,
        made_only=options["worlds"] == "made-only",
        advertised=(options["advertised"] or "").rstrip("/"),
        scheme=scheme_of(tls),
    )
    _check_workers(workers, options)
    forked = build_workers(settings, workers) if workers > 1 else None
    service = build(settings) if forked is None else forked.model
    scenario = settings.scenario

    def announce(url: str) -> None:
        to_stdout(f"crosschain-mock ready on {url} (v1 and 2.0, scenario {scenario})")
        if not service.reasons_in_msg(settings.dialect):
            click.echo(
                "refusals have the bare text of the service; which and why is logged here, in the "
                "header X-Mock-Refusal and on the console",
                err=True,
            )
        if service.replaying:
            click.echo(service.replaying, err=True)
        if guard.token is not None and guard.token != control_token:
            click.echo(f"the control API asks for the token {guard.token}", err=True)
        click.echo(_banner(url, short=not sys.stderr.isatty()), err=True)

    listening = Listening(host, port, ready_file, options["loop"], tls)
    with taping:
        if forked is not None:
            from mockserver.server.workers.supervisor import Supervisor

            keeps = settings.state is not None
            Supervisor(forked.make, listening, workers, keeps=keeps).serve(announce)
        else:
            serve(service, listening, announce)
    _exit_at_once()


def tls_of(options: Mapping[str, Any]) -> "ssl.SSLContext | None":
    """Return what serves TLS; None for plain HTTP. Raises `BadCertificate`."""
    cert, key = options["tls_cert"], options["tls_key"]
    if cert is None:
        if key is not None:
            raise click.UsageError("--tls-key goes with --tls-cert, the certificate of the key")
        return None
    from mockserver.server.tls import context_of

    return context_of(cert, key)


def _check_workers(workers: int, options: Mapping[str, Any]) -> None:
    """Raise `click.UsageError` where several processes cannot do what the options say."""
    if workers == 1:
        return
    if not hasattr(os, "fork"):
        raise click.UsageError(
            "--workers is not available on this system, which cannot hand connections over between "
            "processes; start one server for each group of worlds"
        )
    for name in ("record", "fall_through"):
        if options[name] is not None:
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} goes with one process; leave out --workers")


def _exit_at_once() -> NoReturn:
    """End the process without freeing its memory, which the system does at once."""
    # Python frees each value by itself, which takes seconds for a world of many orders. Nothing
    # else is left to do: the loop and the ready file are gone, and a server writes no other file.
    # `os._exit` skips them.
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


@contextmanager
def importing_fast(options: Mapping[str, Any]) -> Iterator[None]:
    """Import the server without slow work that it does not need."""
    # aiohttp reads all certificates that the machine trusts, twice, when it is imported: for
    # clients, which this process has only where it records, or passes on what was not recorded. The
    # garbage collector, which would look again and again at what stays, is off until the server
    # listens.
    names = () if options["record"] or options["fall_through"] else _TRUSTED
    kept = {name: os.environ.get(name) for name in names}
    gc.disable()
    click.get_current_context().call_on_close(gc.enable)
    os.environ.update(dict.fromkeys(kept, os.devnull))
    try:
        yield
    finally:
        for name, value in kept.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _banner(url: str, *, short: bool) -> str:
    """Return the addresses of everything; in a log, only that of the console."""
    console = f"console: {url}/__mock/"
    if short:
        return console
    return "\n".join(
        (
            f"v1:      {url}/open/v1/…   base address {url}",
            f"2.0:     {url}/v1/…   base address {url}",
            console,
            f"docs:    {url}/ (open it in a browser)",
            "stop:    Ctrl-C",
        )
    )


def settings_of(options: Mapping[str, Any]) -> "Settings":
    """Return what the options of `serve` say about the service. Raises `click.UsageError`."""
    from mockserver import limits
    from mockserver.responders.replay import ReplayMode
    from mockserver.server.assembly import Settings

    mode, rate = options["clock"] or (None, None)
    if options["erratum"] and options["dialect"] == "observed":
        raise click.UsageError("--erratum goes with the documented dialect; observed has them all")
    for name in ("replay_fallback", "replay_naked", "replay_paced", "matching"):
        if options[name] and not options["replay"]:
            raise click.UsageError(f"--{name.replace('_', '-')} goes with --replay")
    unchanged = (
        "scenario",
        "seed",
        "replay",
        "matching",
        "refusal_status",
        "check_answers",
        "state",
        "state_sync",
        "access_log",
        "lenient_chain",
        "finite_vault",
    )
    return Settings(
        **{name: options[name] for name in (*unchanged, "verify_wallets", "stamps", "breaks")},
        dialect=with_overlay(
            ",".join(options["erratum"]) or options["dialect"], options["overlay"]
        ),
        clock=mode,
        rate=rate,
        start_ms=options["start"],
        replay_mode=ReplayMode(
            strict=not options["replay_fallback"],
            naked=options["replay_naked"],
            counted=not options["replay_paced"],
        ),
        app_keys=(*options["app_keys"], *_app_keys(options["app_keys_file"])),
        bounds=limits.Bounds(
            {
                option: value
                for option in limits.SETTABLE
                if (value := options[option.replace("-", "_")]) is not None
            }
        ),
    )


def _app_keys(file: str | None) -> list[tuple[str, str]]:
    """Return the developer keys of a file. Raises `click.UsageError`, which repeats no secret."""
    if file is None:
        return []
    from mockserver.cli.files import read_input

    lines = read_input(file).decode("utf-8", "replace").splitlines()
    keys = []
    for number, line in enumerate(lines, 1):
        key, _, secret = line.strip().partition(":")
        if not line.strip() or line.startswith("#"):
            continue
        if not key or not secret:
            # Without the line, which may hold a secret.
            raise click.UsageError(f"{file}:{number}: expected KEY:SECRET")
        keys.append((key, secret))
    return keys
