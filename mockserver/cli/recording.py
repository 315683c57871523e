"""The command `record`: a local proxy that keeps what a service answers."""

import ssl
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mockserver.times_and_durations import duration
from mockserver.wording import counted, times

if TYPE_CHECKING:
    from mockserver.server.recorder import KeeperOptions, RecordingKeeper, RecordingProxy


def record(**settings: Any) -> None:
    """Record what a service answers, as a proxy on this machine.

    Point a client at the address in the ready line. Only reading requests are passed on unless
    --arm-writes is given. Keys, signatures, cookies and every header that is not on the allow list
    are never written to a file. Each exchange is written before its answer ends.
    """
    from mockserver.server.process import Listening, to_stdout
    from mockserver.server.recorder import record

    proxy = proxy_of(settings)

    def announce(url: str) -> None:
        to_stdout(f"crosschain-mock records on {url} ({_scope(proxy, settings)})")

    listening = Listening(settings["host"], settings["port"], settings["ready_file"])
    with closing(proxy.keeper):
        record(proxy, listening, announce)
        _print_summary(proxy.keeper, proxy.not_kept)


def proxy_of(settings: Mapping[str, Any]) -> "RecordingProxy":
    """Return the proxy that the options of `record` ask for; nothing listens yet.

    Raises `CrosschainMockError` for what is unsafe or cannot be written.
    """
    _refuse_files(settings)
    if settings["out"] is None:
        raise click.UsageError("name the folder that gets the recordings with --out DIR")

    if settings["v1"] is None and settings["v2"] is None:
        raise click.UsageError("name the service with --upstream-v1 URL, --upstream-v2 URL or both")

    from mockserver.cli.record_modes import service_of
    from mockserver.server.recorder import RecordingKeeper, RecordingProxy

    # A host that is not allowed is refused before anything is written.
    options = replace(
        service_of(settings["v1"], settings["v2"], settings),
        tell=lambda sentence: click.echo(f"not kept: {sentence}", err=True),
        wait_seconds=settings["wait_ms"] / 1000,
        tls=_tls(settings["upstream_ca"]),
    )
    source = " and ".join(dict.fromkeys(options.upstreams.values()))
    return RecordingProxy(options, RecordingKeeper(keeper_options(settings, source)))


def _refuse_files(settings: Mapping[str, Any]) -> None:
    if settings["files"] or settings["check"]:
        files = " ".join(map(str, settings["files"][:1])) or "FILES"
        raise click.UsageError(
            "record keeps what a service answers, and takes no files; to answer recordings anew by "
            f"the simulation: crosschain-mock recordings simulate {files}"
        )


def keeper_options(settings: Mapping[str, Any], source: str) -> "KeeperOptions":
    """Return how exchanges are kept, from the options `keeping` of the table, and `--out`."""
    from mockserver.recordings import StandIns
    from mockserver.recordings.redaction import new_salt
    from mockserver.server.recorder import KeeperOptions

    salt = settings["salt"] or new_salt()
    if len(salt) != 32 or set(salt) - set("0123456789abcdef"):
        raise click.UsageError(f"--salt: expected 32 hexadecimal digits, got {salt!r}")
    kinds = tuple(dict.fromkeys(settings["kinds"]))
    return KeeperOptions(
        folder=settings["out"],
        title=settings["title"],
        source=source,
        one_file=settings["file_per"] == "flow",
        stand_ins=StandIns(kinds, salt) if kinds else StandIns(),
        secrets=settings["secrets"],
    )


def _tls(file: Path | None) -> ssl.SSLContext | None:
    if file is None:
        return None
    try:
        context = ssl.create_default_context()
        context.load_verify_locations(file)
    except (ssl.SSLError, OSError) as error:
        raise click.UsageError(f"--upstream-ca: {file} holds no certificates: {error}") from None
    return context


def _scope(proxy: "RecordingProxy", settings: Mapping[str, Any]) -> str:
    known = proxy.keeper.contract.generations
    bases = ", ".join(
        f"{known[upstream].name} from {base}" for upstream, base in proxy.upstreams.items()
    )
    what = "submissions too" if settings["arm_writes"] else "reading requests only"
    return f"{bases}; into {settings['out']}; {what}"


def _print_summary(keeper: "RecordingKeeper", not_kept: Mapping[str, int]) -> None:
    head, total, files = keeper.noticed(), keeper.kept.total(), keeper.files
    kept = f"kept {counted(total, 'exchange')} in {counted(len(files), 'file')}"
    click.echo(kept if total else "nothing was recorded")
    for file in files:
        click.echo(f"  {file}")
    if head.dialect:
        click.echo(f"dialect: {head.dialect}")
    if head.clock_skew_ms is not None:
        skew = head.clock_skew_ms
        how = "ahead of" if skew > 0 else "behind"
        apart = f"is {duration(abs(skew))} {how} this machine's" if skew else "shows the same time"
        click.echo(f"the service's clock {apart}")
    for remark in head.remarks:
        click.echo(remark)
    for sentence, count in not_kept.items():
        click.echo(f"not kept, {times(count)}: {sentence}", err=True)
