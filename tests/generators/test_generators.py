"""Five generators make clients of the flat documents; the code is typed, and calls the mock.

Needed: Node with `npm ci` in `tests/npm`, and the dependency group `generators`.
"""

import json
import re
import subprocess
import sys

import pytest

from tests.generators.calls import STEPS, calls, expected
from tests.generators.conftest import program_of
from tests.generators.python import client_program, model_program
from tests.generators.typescript import PROGRAMS, program

DOCUMENTS = ("v1", "v2", "control")
STRICT = {
    "compilerOptions": {
        "strict": True,
        "noUncheckedIndexedAccess": True,
        "noImplicitOverride": True,
        "target": "es2022",
        "module": "nodenext",
        "moduleResolution": "nodenext",
        "skipLibCheck": True,
        "outDir": "out",
        "types": ["node"],
        "lib": ["es2023", "dom", "dom.iterable"],
    },
    "include": ["src"],
}
TIMEOUT_S = 600
"""A whole compilation on a busy machine."""


def run(*command, cwd, **kwargs):
    ended = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        **kwargs,
    )
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-4000:]
    return ended.stdout


def outcome(stdout):
    return [tuple(json.loads(line)) for line in stdout.splitlines()]


def generate(generator, source, folder, tools):
    """Generate the code of one document into `src` of a folder."""
    name, src = source.stem, folder / "src"
    binaries = tools / "node_modules" / ".bin"
    if generator == "openapi-typescript":
        run(binaries / "openapi-typescript", source, "-o", src / f"{name}.ts", cwd=tools)
        return src / f"{name}.ts"
    if generator == "hey-api":
        options = ("-i", source, "-o", src / name, "-c", "@hey-api/client-fetch")
        run(binaries / "openapi-ts", *options, cwd=tools)
        return src / name / "types.gen.ts"
    for client, file in (("fetch", f"{name}.ts"), ("zod", f"{name}.zod.ts")):
        options = ("--input", source, "--output", src / file, "--client", client)
        run(binaries / "orval", *options, "--mode", "single", cwd=tools)
    return src / f"{name}.zod.ts"


def free_types(text):
    """Return the lines of TypeScript in which a member or an item has no type."""
    # Other headers of an answer are `unknown` to openapi-typescript, whatever a document says.
    lines = [line for line in text.splitlines() if "[name: string]: unknown" not in line]
    return [
        line for line in lines if re.search(r"(: |<)(unknown|any)\b|zod\.(any|unknown)\(", line)
    ]


@pytest.mark.parametrize(
    "generator",
    # Each compiles all it has made: that takes long. The first makes our own client, which is
    # compiled and run against the mock by tests/typescript.
    [pytest.param(name, marks=pytest.mark.deep) for name in PROGRAMS],
)
def test_typescript(generator, npm_folder, documents, mock, tmp_path):
    tools = tmp_path
    (tools / "node_modules").symlink_to((npm_folder / "node_modules").resolve())
    (tools / "package.json").write_text('{"type": "commonjs"}')
    (tools / "src").mkdir()
    (tmp_path / "tsconfig.json").write_text(json.dumps(STRICT))
    for name in DOCUMENTS:
        made = generate(generator, documents / f"{name}.json", tmp_path, tools)
        free = free_types(made.read_text())
        if generator == "orval":
            # Its zod forms do not recur: what stands in any JSON object may be anything.
            free = [line for line in free if "zod.null()" not in line]
        assert not free, free[:10]
    head, make, checked = PROGRAMS[generator]
    (tmp_path / "src" / "main.ts").write_text(program(head, calls(), make, checked))
    run(tools / "node_modules/.bin/tsc", "-p", "tsconfig.json", cwd=tmp_path)
    address = f"{mock.url}/w/{generator}"
    stdout = run("node", "out/main.js", address, cwd=tmp_path)
    assert outcome(stdout) == [expected(call) for call in calls()]


def test_python_client(documents, mock, tmp_path, is_deep):
    generator = program_of("openapi-python-client")
    for name in DOCUMENTS:
        source = documents / f"{name}.json"
        options = ("--path", source, "--output-path", tmp_path / name, "--meta", "none")
        run(generator, "generate", *options, "--fail-on-warning", cwd=tmp_path)
        free = [
            line
            for file in (tmp_path / name / "models").glob("*.py")
            for line in file.read_text().splitlines()
            # The bag for members that a document does not name has no types.
            if re.match(r"    \w+: .*\bAny\b", line) and "additional_properties" not in line
        ]
        assert not free, free[:10]
    (tmp_path / "main.py").write_text(client_program(calls()))
    # The part that sends is the same for every document, and not quite strict. Two members of one
    # union make it declare the same local variable twice.
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\ndisable_error_code = no-redef\n[mypy-*.client]\nignore_errors = True\n"
    )
    # That takes longer than all the rest; what has no type is found above.
    if is_deep:
        run(sys.executable, "-m", "mypy", "--strict", "main.py", cwd=tmp_path)
    address = f"{mock.url}/w/client"
    stdout = run(sys.executable, "main.py", address, cwd=tmp_path)
    assert outcome(stdout) == [expected(call) for call in calls()]


@pytest.mark.deep  # mypy takes long over what it makes, as over the client above.
def test_python_models(documents, mock, tmp_path):
    generator = program_of("datamodel-codegen")
    for name in DOCUMENTS:
        options = ("--input-file-type", "openapi", "--output-model-type", "pydantic_v2.BaseModel")
        made = tmp_path / f"{name}.py"
        where = ("--input", documents / f"{name}.json", "--output", made)
        run(generator, *where, *options, "--use-annotated", "--formatters", "builtin", cwd=tmp_path)
        assert not re.search(r"\bAny\b", made.read_text())
    (tmp_path / "main.py").write_text(model_program(calls()))
    run(sys.executable, "-m", "mypy", "--strict", "main.py", cwd=tmp_path)
    address = f"{mock.url}/w/models"
    stdout = run(sys.executable, "main.py", address, cwd=tmp_path)
    assert outcome(stdout) == [expected(call) for call in calls()]


def test_the_calls_are_all_there():
    """The bar: all operations, ten control calls, and refusals of both."""
    made = calls()
    fine = [call for call in made if not call.refused]
    assert len({call.operation for call in fine if call.document == "v1"}) == 6
    assert len({call.operation for call in fine if call.document == "v2"}) == 13
    assert len(STEPS) > 10
    assert {call.document for call in made if call.refused} == set(DOCUMENTS)
