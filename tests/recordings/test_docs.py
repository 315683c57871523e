"""The walks of `docs/how-to/record.md` and `capsules.md`, word for word, in a shell."""

import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "how-to"


def console_lines(page):
    """The commands of the page with the lines that they print."""
    text = "".join(re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL))
    walk: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            walk.append((line[2:], []))
        else:
            walk[-1][1].append(line)
    return walk


@pytest.mark.skipif(shutil.which("curl") is None, reason="the page uses curl")
@pytest.mark.parametrize("page", ["record.md", "capsules.md"])
@pytest.mark.deep(quick=1)
def test_the_walk_works_word_for_word(tmp_path, free_ports, page):
    numbers = dict(zip(("8080", "8766", "8081"), free_ports, strict=True))

    def here(text):
        return re.sub("8080|8766|8081", lambda found: str(numbers[found[0]]), text)

    binaries = tmp_path / "bin"
    binaries.mkdir()
    command = binaries / "crosschain-mock"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mockserver "$@"\n')
    command.chmod(0o755)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{binaries}:{os.environ['PATH']}"}
    shell: Any = subprocess.Popen(
        ["bash"],
        cwd=tmp_path,
        env=env,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    watch = threading.Timer(300, shell.kill)
    watch.start()
    try:
        for written, printed in console_lines(PAGES / page):
            wanted = sorted(map(here, printed))
            line = here(written).replace(" --port 8766", "")
            if " record " in line:
                line = line.replace(" record ", f" record --port {numbers['8766']} ")
            shell.stdin.write(line + "\n")
            # `curl` prints no line end, and what runs in the background prints when it likes.
            shell.stdin.write("echo\n" if line.startswith("curl") else "")
            shell.stdin.flush()
            came: list[str] = []
            while len(came) < len(wanted):
                printed_line = shell.stdout.readline()
                assert printed_line, came
                # Empty lines are ours, and the shell tells of its jobs in brackets.
                came += [printed_line.rstrip("\n")] if printed_line[0] not in "\n[" else []
            assert sorted(came) == wanted
    finally:
        shell.communicate("kill $(jobs -p)\nwait\nexit\n", timeout=60)
        watch.cancel()
