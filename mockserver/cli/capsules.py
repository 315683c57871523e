"""The commands `capsule …`: a world's history in one file, gone through again, or made a test."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mockserver.cli.control_client import Remote
from mockserver.cli.files import read_text
from mockserver.cli.printing import print_text, quiet_refusals
from mockserver.userfiles import write_text

if TYPE_CHECKING:
    from mockserver.server.capsules import Capsule

_TEST_TEMPLATE = '''"""Goes through the capsule {name} again: {title}."""

from pathlib import Path

from mockserver.testing import replay_capsule

CAPSULE = Path(__file__).parent / {place!r}


def test_{stem}():
    """Every answer is byte for byte the one in the capsule."""
    replayed = replay_capsule(CAPSULE)
    assert not replayed.divergences, str(replayed)
'''


def save(
    remote: Remote, file: Path, scenario: Path | None, title: str | None, **settings: Any
) -> None:
    """Save the history of a world of a running server in FILE.

    The capsule is replayed at once. Exits with 1 if the answers are not the same; the file is
    written all the same, and says where they diverged.
    """
    from mockserver.server import capsules

    dump = remote.get("/dump")
    # The journal of a world that took its place in between would not fit.
    remote.stay()
    made = capsules.capsule_of(
        dump,
        remote.get("/journal"),
        title or file.stem,
        scenario_text=read_text(scenario) if scenario else "",
        **settings,
    )
    capsules.save(made, file)
    _print_replay(made, file)


def replay(file: Path) -> None:
    """Replay a capsule; exit 1 if an answer is not byte for byte the same."""
    from mockserver.server import capsules

    _print_replay(capsules.load(file), file)


def to_test(file: Path, out: Path) -> None:
    """Write a pytest file that replays the capsule FILE."""
    import os
    import re

    from mockserver.server import capsules

    title = " ".join(capsules.load(file).title.split()).replace("\\", "/").replace('"', "'")
    place = Path(os.path.relpath(file.resolve(), out.resolve().parent)).as_posix()
    stem = re.sub(r"\W+", "_", file.stem.lower()).strip("_") or "capsule"
    text = _TEST_TEMPLATE.format(name=file.name, title=title, place=place, stem=stem)
    write_text(out, text, parents=True)
    click.echo(f"written: {out}")


def _print_replay(capsule: "Capsule", file: Path) -> None:
    from mockserver.server import capsules

    with quiet_refusals():
        replayed = capsules.replay(capsule)
    for line in f"{file}: {replayed}".splitlines():
        print_text(line)
    if replayed.divergences:
        sys.exit(1)
