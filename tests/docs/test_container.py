"""The image is right as far as that can be told without building it: its commands are run here."""

import json
import os
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


# What the recipes in Java and Go use of the libraries, whose packages not every machine can get:
# names, parameters and types alone, as they stand in their sources.
#
# testcontainers-java (1.18.3 and 2.0 have the same), below core/src/main/java/org/testcontainers:
# containers/GenericContainer.java (ab0f60e01cbb), containers/Container.java (9671b939f1ed),
# containers/ContainerState.java (ded632fde37e), containers/wait/strategy/Wait.java (06fadaefb39b),
# containers/wait/strategy/HttpWaitStrategy.java (0aeaec327140), utility/DockerImageName.java
# (002e2b6c5f9b).
JAVA = {
    "containers/ContainerState": """
        public interface ContainerState {
            default String getHost() { return null; }
            default Integer getMappedPort(int originalPort) { return null; }
        }""",
    "containers/Container": """
        import org.testcontainers.containers.wait.strategy.WaitStrategy;
        public interface Container<SELF extends Container<SELF>> extends ContainerState {
            SELF waitingFor(WaitStrategy waitStrategy);
            SELF withExposedPorts(Integer... ports);
            SELF withEnv(String key, String value);
            SELF withCommand(String cmd);
            SELF withCommand(String... commandParts);
        }""",
    "containers/GenericContainer": """
        import java.util.concurrent.Future;
        import org.testcontainers.containers.wait.strategy.WaitStrategy;
        import org.testcontainers.utility.DockerImageName;
        public class GenericContainer<SELF extends GenericContainer<SELF>>
                implements Container<SELF>, AutoCloseable {
            public GenericContainer(DockerImageName dockerImageName) {}
            public GenericContainer(String dockerImageName) {}
            public GenericContainer(Future<String> image) {}
            public SELF waitingFor(WaitStrategy waitStrategy) { return null; }
            public SELF withExposedPorts(Integer... ports) { return null; }
            public SELF withEnv(String key, String value) { return null; }
            public SELF withCommand(String cmd) { return null; }
            public SELF withCommand(String... commandParts) { return null; }
            public void close() {}
        }""",
    "containers/wait/strategy/WaitStrategy": "public interface WaitStrategy {}",
    "containers/wait/strategy/HttpWaitStrategy": """
        public class HttpWaitStrategy implements WaitStrategy {
            public HttpWaitStrategy forStatusCode(int statusCode) { return this; }
            public HttpWaitStrategy forPort(int port) { return this; }
        }""",
    "containers/wait/strategy/Wait": """
        public class Wait {
            public static HttpWaitStrategy forHttp(String path) { return null; }
        }""",
    "utility/DockerImageName": """
        public final class DockerImageName {
            public static DockerImageName parse(String fullImageName) { return null; }
        }""",
}
# testcontainers-go: container.go (015081466b57), generic.go (0ce34a8eef49) and wait/http.go
# (292157a3f0a1), in which a port is a nat.Port; since v0.42 it is a string (pull request 3591).
GO = {
    "container.go": """package testcontainers
        import ("context"; "github.com/testcontainers/testcontainers-go/wait")
        type Container interface {
            PortEndpoint(context.Context, wait.Port, string) (string, error)
        }
        type FromDockerfile struct { Context string }
        type ContainerRequest struct {
            FromDockerfile
            Image string
            Env map[string]string
            ExposedPorts []string
            Cmd []string
            WaitingFor wait.Strategy
        }
        type GenericContainerRequest struct {
            ContainerRequest
            Started bool
        }
        func GenericContainer(context.Context, GenericContainerRequest) (Container, error) {
            return nil, nil
        }""",
    "wait/http.go": """package wait
        import "context"
        type StrategyTarget interface { Host(context.Context) (string, error) }
        type Strategy interface { WaitUntilReady(context.Context, StrategyTarget) error }
        type Port PORT
        type HTTPStrategy struct {}
        func (*HTTPStrategy) WaitUntilReady(context.Context, StrategyTarget) error { return nil }
        func (ws *HTTPStrategy) WithPort(port Port) *HTTPStrategy { return ws }
        func ForHTTP(path string) *HTTPStrategy { return nil }""",
    "go.mod": "module github.com/testcontainers/testcontainers-go\n\ngo 1.19\n",
}
LIBRARY = "github.com/testcontainers/testcontainers-go"


def compiled_java(folder, text):
    if shutil.which("javac") is None:
        pytest.skip("javac is not installed")
    for place, source in JAVA.items():
        package = ".".join(("org.testcontainers", *place.split("/")[:-1]))
        file = folder / "org" / "testcontainers" / f"{place}.java"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"package {package};\n{source}\n")
    (folder / "Mock.java").write_text(text)
    words = ["javac", "-Xlint:all", "-d", "out", "-sourcepath", ".", "Mock.java"]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def compiled_go(folder, text, port):
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    for place, source in GO.items():
        file = folder / "library" / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source.replace("PORT", port))
    mock = folder / "mock"
    mock.mkdir()
    (mock / "mock.go").write_text(text)
    needs = f"require {LIBRARY} v0.0.0\nreplace {LIBRARY} => ../library\n"
    (mock / "go.mod").write_text(f"module mock\n\ngo 1.19\n\n{needs}")
    offline = {**os.environ, "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOCACHE": str(folder / "c")}
    words = ["go", "vet", "./..."]
    return subprocess.run(words, cwd=mock, capture_output=True, text=True, check=False, env=offline)


@pytest.mark.deep  # Compilers take seconds.
@pytest.mark.parametrize(
    "wrong", [None, ("forPort(PORT)", "withPort(PORT)"), ("PORT = 8765", 'PORT = "8765"')]
)
def test_the_recipe_in_java_fits_the_signatures_of_the_library(tmp_path, wrong):
    text = (ROOT / "examples" / "testcontainers" / "Mock.java").read_text("utf-8")
    ended = compiled_java(tmp_path, text if wrong is None else text.replace(*wrong))
    assert (ended.returncode == 0) is (wrong is None), ended.stderr


@pytest.mark.deep
@pytest.mark.parametrize(
    ("port", "wrong"),
    [
        ("string", None),
        ("= string", None),
        ("= string", ("WithPort(port)", "WithPort(8765)")),
        ("= string", ("Image:  ", "Imgae:  ")),
    ],
    ids=["a type of its own, until 0.41", "a string, since 0.42", "a number", "a wrong member"],
)
def test_the_recipe_in_go_fits_the_signatures_of_the_library(tmp_path, port, wrong):
    text = (ROOT / "examples" / "testcontainers" / "mock.go").read_text("utf-8")
    ended = compiled_go(tmp_path, text if wrong is None else text.replace(*wrong), port)
    assert (ended.returncode == 0) is (wrong is None), ended.stderr


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
