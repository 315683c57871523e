"""The commands `recordings …`: convert recordings, and learn from them about a service."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mockserver.cli.files import write_output, yaml_files
from mockserver.cli.printing import print_json, print_text, quiet_refusals
from mockserver.cli.recording import keeper_options
from mockserver.cli.validating import recording_of
from mockserver.userfiles import without_modeline, write_text
from mockserver.wording import counted, first_lines, listed, one_of_each_kind

# Names of one line; a service may list thousands.
_MOST_NAMES = 12

if TYPE_CHECKING:
    from mockserver.recordings import RecordedExchange, Recording
    from mockserver.recordings.formats import ComparedHeaders, ForeignRecording


def simulate(files: tuple[Path, ...], check: bool) -> None:
    """Replace the answers in recording FILES (or folders) by those of the simulation.

    Only files with `origin: simulation` are written; others are listed and left as they are. The
    same scenario, start and requests give the same bytes.
    """
    from mockserver.recordings import text_of
    from mockserver.server.resimulation import answered_anew

    changed = 0
    for file in yaml_files(files):
        recording = recording_of(file)
        if recording.origin != "simulation":
            click.echo(f"left as it is, its origin is {recording.origin}: {file}", err=True)
            continue
        with quiet_refusals():
            text = text_of(answered_anew(recording))
        if text == without_modeline(file.read_text("utf-8")):
            continue
        changed += 1
        click.echo(f"{'stale' if check else 'written'}: {file}")
        if not check:
            write_text(file, text)
    if check and changed:
        sys.exit(1)


def import_(files: tuple[Path, ...], name: str | None, source: str | None, **settings: Any) -> None:
    """Turn FILES that other tools wrote into recordings.

    Reads HAR files of browsers and proxies, cassettes of VCR.py, WireMock mappings, journals of
    this server (`crosschain-mock journal --json`, `/__mock/journal`) and of `conform --journal`.
    Secrets are masked. Exits with 1 if nothing could be used.
    """
    kept = sum(_import_file(file, name, source, settings) for file in files)
    if not kept:
        sys.exit(1)


def export(named: tuple[str, ...], name: str, out: Path | None, base_url: str | None) -> None:
    """Write RECORDINGS as a HAR, a cassette of VCR.py or WireMock mappings.

    Each is a shipped recording, a file or a folder. Prints a line for each part that the format
    cannot hold.
    """
    from mockserver.recordings import gather
    from mockserver.recordings.formats import exported

    loaded = [source.recording for source in gather(named)]
    exchanges = [
        recorded_exchange for recording in loaded for recorded_exchange in recording.exchanges
    ]
    base = base_url or _common_base(loaded)
    written = exported(exchanges, name, base, _compared_headers())
    write_output(written.text, out)
    for loss in written.losses:
        click.echo(loss, err=True)
    if out is not None:
        click.echo(f"{counted(len(exchanges), 'exchange')}: {out}", err=True)


def scan(paths: tuple[Path, ...], secrets: tuple[str, ...], as_json: bool) -> None:
    """Look for secrets in recordings, capsules, and files of other tools.

    Prints the file, line and place of each, never the secret. Exits with 1 if there is one, so
    that it can stand in CI and in a pre-commit hook.
    """
    from mockserver.recordings.redaction.scan import scan as scanned

    problems, count = scanned(paths, secrets)
    if as_json:
        names = ("file", "line", "field", "message")
        print_json(
            {
                "files": count,
                "secrets": [{name: getattr(one, name) for name in names} for one in problems],
            }
        )
    else:
        for problem in problems:
            click.echo(str(problem))
        click.echo(f"{counted(len(problems), 'secret')} in {counted(count, 'file')}", err=True)
    if problems:
        sys.exit(1)


def _import_file(
    file: Path, name: str | None, source: str | None, settings: Mapping[str, Any]
) -> int:
    from mockserver.server.recorder import RecordingKeeper, keep_all
    from mockserver.times_and_durations import iso

    foreign_recording = _read(file, name)
    options = keeper_options(settings, source or foreign_recording.source or file.name)
    if foreign_recording.origin == "simulation":
        times = [
            recorded_exchange.time_ms
            for recorded_exchange in foreign_recording.exchanges.values()
            if recorded_exchange.time_ms is not None
        ]
        start = iso(min(times, default=0))
        options = replace(options, origin="simulation", start=start, one_file=True)
    keeper = RecordingKeeper(options)
    try:
        left_out = keep_all(foreign_recording, keeper)
    finally:
        keeper.close()
    total = keeper.kept.total()
    shares = f"{total} of {total + len(left_out)} exchanges"
    click.echo(f"{file} ({foreign_recording.format}): {shares} can be used")
    for line in first_lines([f"left out: {name}: {why}" for name, why in left_out.items()]):
        click.echo(f"  {line}", err=True)
    for written in keeper.files:
        click.echo(f"  {written}")
    return total


def _read(file: Path, name: str | None) -> "ForeignRecording":
    from mockserver.conformance.runs.run_journal import is_journal
    from mockserver.recordings.formats import read_foreign

    if name == "conform" or (name is None and is_journal(file)):
        return _read_run(file)
    return read_foreign(file, name)


def _read_run(file: Path) -> "ForeignRecording":
    """Return what a journal of `conform` holds."""
    from mockserver.conformance.runs.run_journal import read_run
    from mockserver.content_codings import is_read
    from mockserver.http_messages import Response
    from mockserver.recordings import RecordedExchange
    from mockserver.recordings.formats import ForeignRecording

    run = read_run(file)
    exchanges, skipped = {}, {}
    for line, kept in enumerate(run.entries, 2):
        place, answer = f"line {line}", kept.answer
        if answer is None or answer.trouble is not None:
            skipped[place] = answer.reason if answer is not None else "no answer came"
            continue
        # The journal has bodies as the run read them: unpacked, where it could.
        headers = tuple(
            (name, value)
            for name, value in answer.headers
            if name.lower() != "content-encoding" or not all(map(is_read, value.split(",")))
        )
        response = Response(answer.status, headers, answer.body)
        exchanges[place] = RecordedExchange.unnamed(kept.request, response, None, answer.elapsed_ms)
    bases = filter(None, (run.header.v1, run.header.v2))
    source = " and ".join(dict.fromkeys(bases))
    return ForeignRecording("journal of conform", exchanges, skipped, source=source)


def _compared_headers() -> "ComparedHeaders":
    """Return what tells the headers by which requests of an operation are told apart."""
    from mockserver.contract import load
    from mockserver.recordings import load_rules

    contract, rules = load("observed"), load_rules()

    def compared(exchange: "RecordedExchange") -> dict[str, bool]:
        operation = contract.get(exchange.operation)
        ignored = {part[1] for part in rules.of(exchange.operation).ignored if part[0] == "headers"}
        names = () if operation is None else operation.header_names
        return {name: name.lower() not in ignored for name in names}

    return compared


def _common_base(loaded: "list[Recording]") -> str:
    sources = {recording.source for recording in loaded}
    only = sources.pop() if len(sources) == 1 else ""
    is_url = only.startswith(("http://", "https://")) and " " not in only
    return only if is_url else "http://localhost"


def drift(old: str, new: str, *, as_json: bool, fail_on: str, **settings: Any) -> None:
    """Show how the forms of answers changed from OLD to NEW.

    Each is a shipped recording, a file or a folder; NEW may be the base address of a service, which
    gets the recorded reading requests. Values may differ freely. Exits with 1 if something changed
    at the level of --fail-on, or above, and with 3 if a request was not answered, a list became
    empty, or everything was refused.
    """
    from mockserver.cli.comparing import print_comparison
    from mockserver.conformance.comparison import Terms, compare
    from mockserver.conformance.runs.option_reading import options_from

    comparison = compare(old, new, options_from(settings), Terms(forms=True))
    print_comparison(comparison, as_json=as_json, verbose=False)
    if comparison.failing(fail_on):
        sys.exit(1)
    shown = comparison.fulfilled and not (comparison.silent or comparison.emptied)
    sys.exit(0 if shown else 3)


def learn(named: tuple[str, ...], *, as_json: bool, overlay: Path | None) -> None:
    """Show which assumptions RECORDINGS confirm, and which they refute.

    Each is a shipped recording, a file or a folder. Documented facts are never changed:
    recordings that violate one are reported. --overlay writes the errata that were seen, and
    members that the contract does not mention, to a file for `serve`, `conform` and `validate`.
    """
    from mockserver.learning.register_evidence import as_facts, as_lines, as_overlay, evidence_of
    from mockserver.recordings import gather

    register_evidence = evidence_of(gather(named))
    if overlay is not None:
        write_text(overlay, as_overlay(register_evidence, f"learned from {', '.join(named)}"))
    if as_json:
        print_json(as_facts(register_evidence))
        return
    for line in as_lines(register_evidence):
        print_text(line)


def world_from_recording(named: tuple[str, ...], output: Path | None) -> None:
    """Make a scenario of RECORDINGS: their chains, tokens, prices, fees, quotes and orders.

    Each is a shipped recording, a file or a folder. Serve it with `--scenario FILE`; add `--replay`
    and `--replay-fallback` to answer from the recordings first.
    """
    from mockserver.learning.seeding import scenario_text, seed_of
    from mockserver.recordings import gather

    seed = seed_of(gather(named))
    text = scenario_text(seed, f"as recorded in {', '.join(named)}")
    for sentence in one_of_each_kind([*seed.added.remarks, *seed.learned.remarks]):
        click.echo(sentence, err=True)
    if seed.unknown:
        names = listed(seed.unknown, _MOST_NAMES)
        click.echo(
            f"left out, as neither the catalog nor a recorded list has them: {names}", err=True
        )
    for line in one_of_each_kind([f"left out: {name}" for name in seed.orders.left_out]):
        click.echo(line, err=True)
    write_output(text, output)
