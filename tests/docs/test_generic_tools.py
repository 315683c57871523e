"""A generic tool reads the exported document and finds nothing wrong with the mock."""

import os
import subprocess
import sys

import pytest

from tests.docs.pages import ROOT, written_in

[HOOKS] = [block for block in written_in("python") if block.file == "hooks.py"]
[COMMANDS] = [block.text for block in written_in("sh") if "SCHEMATHESIS_HOOKS" in block.text]


@pytest.mark.parametrize(
    ("generation", "hooked"),
    [pytest.param("v1", True, marks=pytest.mark.deep), ("v2", True), ("v2", False)],
)
@pytest.mark.deep(quick=1)
def test_schemathesis_passes_with_the_hook_of_the_page(tmp_path, serve, generation, hooked):
    (tmp_path / "hooks.py").write_text(HOOKS.text if hooked else "")
    commands = COMMANDS.replace("crosschain-mock", f"{sys.executable} -m mockserver")
    commands = commands.replace("schemathesis run", f"{sys.executable} -m schemathesis.cli run")
    commands = commands.replace(
        "http://127.0.0.1:8765", f"http://127.0.0.1:{serve().port}"
    ).replace("v2", generation)
    # Without the hook the first finding is enough.
    first = "" if hooked else " --max-failures 1"
    ended = subprocess.run(
        ["bash", "-ec", f"{commands.rstrip()} --max-examples 3 --seed 1{first}"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == (0 if hooked else 1), ended.stdout + ended.stderr
