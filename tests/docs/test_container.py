"""The image is right as far as that can be told without building it: its commands are run here."""

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

from mockserver.server.tls import context_of
from mockserver.testing import running
from tests.docs.pages import ROOT
from tests.server.certificates import written_pair

DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
PORT = "8765"


def instruction(name):
    """Return the words of the last instruction of that name, in its JSON form."""
    text = re.findall(rf"^{name} (.*)$", DOCKERFILE, re.MULTILINE)[-1]
    return json.loads(text[text.index("[") :])


@pytest.fixture
def free_port(free_ports):
    return str(free_ports[0])


def test_the_image_serves_is_healthy_and_asks_for_a_token(tmp_path, free_port):
    entry, *words = instruction("ENTRYPOINT") + instruction("CMD")
    assert entry == "crosschain-mock"
    ready = tmp_path / "ready.json"
    started = [sys.executable, "-m", "mockserver", *words, "--ready-file", str(ready)]
    started = [free_port if word == PORT else word for word in started]
    with subprocess.Popen(started, stdout=subprocess.PIPE, text=True, stderr=subprocess.PIPE) as it:
        try:
            assert it.stdout
            assert it.stdout.readline().startswith("crosschain-mock ready")
            probe = [word.replace(PORT, free_port) for word in instruction("HEALTHCHECK")]
            subprocess.run(probe, check=True, timeout=300)
            with pytest.raises(urllib.error.HTTPError, match="401") as refused:
                urllib.request.urlopen(f"http://127.0.0.1:{free_port}/__mock/clock", timeout=60)
            refused.value.close()
        finally:
            it.send_signal(signal.SIGTERM)
            it.communicate(timeout=60)
    assert it.returncode == 0


def test_an_image_that_does_not_serve_is_not_healthy(free_port):
    probe = [word.replace(PORT, free_port) for word in instruction("HEALTHCHECK")]
    ended = subprocess.run(probe, check=False, timeout=300, stderr=subprocess.DEVNULL)
    assert ended.returncode != 0


def test_with_https_the_health_check_of_the_page_tells_what_that_of_the_image_cannot(
    call, monkeypatch, tmp_path
):
    page = (ROOT / "docs" / "how-to" / "docker.md").read_text("utf-8")
    health = re.findall(r"--health-cmd 'crosschain-mock (.*) \|\| exit 1'", page)[0].split()
    variables = dict(re.findall(r"-e (CROSSCHAIN_MOCK_(?:URL|CACERT))=(\S+)", page))
    pair = written_pair(tmp_path)
    assert Path(variables["CROSSCHAIN_MOCK_CACERT"]).name == pair.cert.name
    monkeypatch.setenv("CROSSCHAIN_MOCK_CACERT", str(pair.cert))
    with running(tls=context_of(pair.cert, pair.key)) as server:
        port = server.url.rpartition(":")[2]
        url = variables["CROSSCHAIN_MOCK_URL"].replace(PORT, port)
        monkeypatch.setenv("CROSSCHAIN_MOCK_URL", url)
        assert call(*health).returncode == 0
        probe = [word.replace(PORT, port) for word in instruction("HEALTHCHECK")]
        assert subprocess.run(probe, check=False, timeout=300).returncode != 0
    assert call(*health).returncode != 0


def test_the_image_names_its_base_by_digest_and_its_user_by_number():
    bases = re.findall(r"^(?:ARG BASE=|FROM )(\S+)", DOCKERFILE, re.MULTILINE)
    assert re.fullmatch(r"\S+:3\.13-slim@sha256:[0-9a-f]{64}", bases[0])
    assert set(bases[1:]) == {"${BASE}"}
    user = re.findall(r"^USER (.*)$", DOCKERFILE, re.MULTILINE)[-1]
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    assert f"chown {user} /state" in DOCKERFILE
    # The pod of the recipe runs as the same.
    recipe = (ROOT / "examples" / "scale" / "kubernetes.yaml").read_text("utf-8")
    assert "runAsUser: {}, fsGroup: {}".format(*user.split(":")) in recipe


def test_the_probe_of_every_five_seconds_starts_no_python():
    assert instruction("HEALTHCHECK")[:2] == ["bash", "-c"]
    assert "python" not in instruction("HEALTHCHECK")[2]


def test_the_image_installs_the_wheel_by_its_file_and_extras_that_exist():
    extras = re.findall(r"\$wheel\[([\w,]+)\]", DOCKERFILE)[0].split(",")
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert all(re.search(rf"^{extra} = \[", project, re.MULTILINE) for extra in extras)


def test_the_image_copies_what_the_build_needs():
    shown = {
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[0] == "!"
    }
    assert all((ROOT / name).exists() for name in shown)


def test_compose_publishes_the_port_on_this_machine_only():
    service = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
    assert service["crosschain-mock"]["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]


RECIPES = sorted((ROOT / "examples" / "testcontainers").iterdir())


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_recipes_of_testcontainers_say_what_the_image_does(recipe):
    text = recipe.read_text("utf-8")
    [port] = re.findall(r"^EXPOSE (\d+)$", DOCKERFILE, re.MULTILINE)
    assert set(re.findall(r"\b\d{4,5}\b", text)) == {port}
    [ready] = re.findall(r"GET (\S+) HTTP", DOCKERFILE)
    assert f'"{ready}"' in text
    [variable] = re.findall(r"set by (\w+)\.$", DOCKERFILE, re.MULTILINE)
    assert variable in text
    # The command of the image, and a clock that tests move.
    [command] = re.findall(r"\bserve\b[\", ].*?frozen", text)
    words = re.sub(r'[",]+', " ", command).split()
    assert words == [*instruction("CMD"), "--clock", "frozen"]


def test_there_is_a_recipe_for_each_language_and_the_command_in_them_serves(free_port):
    assert {recipe.suffix for recipe in RECIPES} == {".py", ".ts", ".java", ".go"}
    words = [free_port if word == PORT else word for word in instruction("CMD")]
    command = [sys.executable, "-m", "mockserver", *words, "--clock", "frozen"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdout is not None
        assert b"ready" in server.stdout.readline()
        with urllib.request.urlopen(f"http://127.0.0.1:{free_port}/__mock/ready") as answer:
            assert answer.status == 200
        server.send_signal(signal.SIGINT)


@pytest.mark.deep  # mypy reads the library of containers and what it needs.
def test_the_recipe_in_python_has_the_types_of_the_library(tmp_path):
    pytest.importorskip("testcontainers", reason="needs testcontainers (group `generators`)")
    (tmp_path / "mypy.ini").write_text("[mypy]\n")
    recipe = ROOT / "examples" / "testcontainers" / "mock.py"
    words = ["-m", "mypy", "--strict", "--config-file", "mypy.ini", str(recipe)]
    ended = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout


@pytest.mark.deep
def test_the_recipe_in_typescript_has_the_types_of_the_library(tmp_path):
    modules = ROOT / "tests" / "npm" / "node_modules"
    if not (modules / "testcontainers").is_dir():
        pytest.skip("needs `npm install --no-save testcontainers` in tests/npm")
    (tmp_path / "node_modules").symlink_to(modules)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    shutil.copy(ROOT / "examples" / "testcontainers" / "mock.ts", tmp_path)
    options = "--strict --target es2022 --module nodenext --noEmit --skipLibCheck --types node"
    ended = subprocess.run(
        [modules / ".bin" / "tsc", *options.split(), "mock.ts"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout


def test_the_hook_for_pre_commit_finds_a_mistake(tmp_path):
    [hook, *_] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    _, *words = shlex.split(hook["entry"])
    wrong = tmp_path / "crosschain-mock" / "day.yaml"
    wrong.parent.mkdir()
    assert re.search(hook["files"], "crosschain-mock/day.yaml")
    wrong.write_text("format: crosschain-mock/scenario@1\nextends: defualt\n")
    ended = subprocess.run(
        [sys.executable, "-m", "mockserver", *words, str(wrong)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ended.returncode == 2
    assert "day.yaml:" in ended.stdout + ended.stderr
