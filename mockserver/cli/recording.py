"""The command `record`: recordings answered anew by the simulation."""

import sys
from pathlib import Path

import click

from mockserver.cli.files import spread, write_text


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Write nothing; exit 1 where a file would change.")
def record(files: tuple[Path, ...], check: bool) -> None:
    """Answer the requests of recording FILES (or folders) anew, by the simulation.

    Only files with `origin: simulation` are touched. The same scenario, start and requests give the
    same bytes.
    """
    from mockserver import recordings
    from mockserver.server.recorder import answered_anew

    changed = 0
    for file in spread(files):
        recording = recordings.load(file)
        if recording.origin != "simulation":
            continue
        text = recordings.text_of(answered_anew(recording))
        if text == file.read_text("utf-8"):
            continue
        changed += 1
        click.echo(f"{'stale' if check else 'written'}: {file}")
        if not check:
            write_text(file, text)
    if check and changed:
        sys.exit(1)
