"""Files that were damaged on their way: a sentence and the documented status, and nothing half."""

import json
import random
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mockserver import resources
from tests.fuzz.hostile import SNIPPETS, VALUES
from tests.recordings.test_capsules import a_flow

Damage = Callable[[bytes, random.Random], bytes]

# What `docs/reference/exit-codes.md` has for each command. A byte of a text may change and leave
# a file that is whole, so that 0 and 1 are answers as well.
COMMANDS: dict[str, list[tuple[tuple[str, ...], set[int]]]] = {
    "capsule": [
        (("capsule", "replay", "FILE"), {0, 1, 4}),
        (("capsule", "to-test", "FILE", "--out", "OUT"), {0, 4}),
        (("recordings", "scan", "FILE"), {0, 1, 2}),
    ],
    "recording": [
        (("validate", "FILE"), {0, 2}),
        (("recordings", "scan", "FILE"), {0, 1, 2}),
        (("recordings", "learn", "FILE"), {0, 1, 2}),
        (("recordings", "export", "FILE", "--to", "har", "--out", "OUT"), {0, 2}),
        (("world", "from-recording", "FILE", "--output", "OUT"), {0, 2}),
    ],
    "dump": [(("world", "load", "FILE", "--url", "URL"), {0, 2, 4})],
    "scenario": [(("validate", "FILE"), {0, 2})],
}


def flipped(raw: bytes, rng: random.Random) -> bytes:
    """Change some bits of one byte."""
    place = rng.randrange(len(raw))
    return raw[:place] + bytes([raw[place] ^ rng.randrange(1, 256)]) + raw[place + 1 :]


def cut(raw: bytes, rng: random.Random) -> bytes:
    """Leave out a part, which is mostly the end."""
    place = rng.randrange(len(raw))
    end = len(raw) if rng.random() < 0.7 else rng.randrange(place, len(raw))
    return raw[:place] + raw[end:]


def lengthened(raw: bytes, rng: random.Random) -> bytes:
    """Put something in that does not belong there."""
    place = rng.randrange(len(raw) + 1)
    return raw[:place] + rng.choice(SNIPPETS) + raw[place:]


def retyped(raw: bytes, rng: random.Random) -> bytes:
    """Give a member of a text another value, which the form of the file may allow."""
    lines = raw.split(b"\n")
    places = [number for number, line in enumerate(lines) if b": " in line]
    if not places:
        return flipped(raw, rng)
    number = rng.choice(places)
    name, _, value = lines[number].partition(b": ")
    comma = b"," if value.endswith(b",") else b""
    written = json.dumps(rng.choice(VALUES)).encode()
    lines[number] = name + b": " + written + comma
    return b"\n".join(lines)


DAMAGES: tuple[Damage, ...] = (flipped, cut, lengthened, retyped)


def packed_again(file: Path, rng: random.Random) -> bytes:
    """Unpack a capsule, damage a member, and pack it as other tools do: sums and sizes fit."""
    new = file.with_name("new.zip")
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive:
        names = old.namelist()
        damaged = rng.choice(names)
        for folder in ("", *sorted({f"{name.rpartition('/')[0]}/" for name in names})):
            if folder.strip("/"):
                archive.writestr(folder, b"")
        for name in names:
            raw = old.read(name)
            archive.writestr(name, rng.choice(DAMAGES)(raw, rng) if name == damaged else raw)
    return new.read_bytes()


@pytest.fixture
def originals(serve, call, tmp_path) -> dict[str, tuple[Path, str]]:
    """Return a real file of each kind, made of one flow, with the address of its server."""
    running = serve()
    a_flow(running.client)
    url = f"http://127.0.0.1:{running.port}"
    assert call("capsule", "save", "real.capsule", "--url", url).returncode == 0
    assert call("world", "dump", "--url", url, "--output", "real.json").returncode == 0
    with zipfile.ZipFile("real.capsule") as archive:
        Path("real.yaml").write_bytes(archive.read("journal/flow.yaml"))
    scenario = resources.fixtures() / "scenarios" / "default.yaml"
    files = {"capsule": "real.capsule", "recording": "real.yaml", "dump": "real.json"}
    return {kind: (tmp_path / name, url) for kind, name in files.items()} | {
        "scenario": (scenario, url)
    }


def damaged_files(kind: str, file: Path, count: int) -> Iterator[tuple[int, bytes]]:
    for seed in range(count):
        rng = random.Random(f"{kind} {seed}")  # noqa: S311
        if kind == "capsule" and seed % 2:
            yield seed, packed_again(file, rng)
        else:
            yield seed, rng.choice(DAMAGES)(file.read_bytes(), rng)


def tried(kind, originals, call, count) -> None:
    original, url = originals[kind]
    out = Path("out")

    def world() -> str:
        return call("world", "dump", "--url", url).stdout if kind == "dump" else ""

    for seed, raw in damaged_files(kind, original, count):
        file = Path(f"damaged{original.suffix}")
        file.write_bytes(raw)
        for template, documented in COMMANDS[kind]:
            names = {"FILE": file.name, "OUT": out.name, "URL": url}
            before = world()
            ended = call(*(names.get(word, word) for word in template))
            about = f"{kind} {seed}: {ended}"
            assert ended.returncode in documented, about
            assert "Traceback" not in ended.stdout + ended.stderr, about
            if ended.returncode in (2, 4):
                # `validate` prints nothing but problems.
                assert ended.stderr.startswith(("error: ", f"{file.name}:")), about
                assert ended.stdout == "", about
                assert not out.exists(), about
                assert world() == before, about
            else:
                assert (ended.stdout + ended.stderr).strip() or out.exists(), about
            out.unlink(missing_ok=True)


@pytest.mark.parametrize("kind", COMMANDS)
def test_what_was_damaged_ends_with_a_sentence(kind, originals, call):
    tried(kind, originals, call, 5)


@pytest.mark.deep
@pytest.mark.parametrize("kind", COMMANDS)
def test_whatever_was_damaged_ends_with_a_sentence(kind, originals, call):
    tried(kind, originals, call, 500)
