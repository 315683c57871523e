"""ethers 6, viem and web3.py see of a node what they see of a development chain.

The suites are in `libraries/`, written as users of these libraries; what each behaviour answers is
in `libraries/answers.yaml`. They run where Node and `npm ci` in `tests/npm` (ethers, viem), and
`pip install web3`, are there. `--deep` asks anvil the same; see `test_behaviours.py`.
"""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from eth_account import Account
from eth_utils import keccak

from tests.node.behaviours import ORDER
from tests.node.mock import MockChain
from tests.node.rpc import ETHER, UNIT, call

FOLDER = Path(__file__).parent / "libraries"
ANSWERS = yaml.safe_load((FOLDER / "answers.yaml").read_text("utf-8"))
NPM = Path(__file__).parents[1] / "npm" / "node_modules"
CASES = [(library, name) for library, answers in ANSWERS.items() for name in answers]
#: Enough for the longest suite, with up to three keys a behaviour.
FUNDED, EMPTY = 110, 12


def _command(library: str) -> list[str]:
    if library == "web3":
        if importlib.util.find_spec("web3") is None:
            pytest.skip("needs web3.py: pip install web3")
        return [sys.executable, str(FOLDER / "with_web3.py")]
    if shutil.which("node") is None or not (NPM / library).is_dir():
        pytest.skip(f"needs Node and {library}: npm ci in tests/npm")
    return ["node", f"with_{library}.mjs"]


def _keys(chain, label: str, count: int, wei: int, units: int) -> list[str]:
    keys = ["0x" + keccak(text=f"{label} {number} {chain.url}").hex() for number in range(count)]
    for key in keys:
        address = Account.from_key(key).address
        chain.fund(address, wei)
        if units:
            chain.grant(address, chain.token, units)
    return keys


def answers_of(library: str, chain, folder: Path) -> dict[str, object]:
    """Run one suite against the chain and return what it printed."""
    command = _command(library)
    asked = {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"}
    given = {
        "url": chain.url,
        "chainId": int(call(chain.url, asked)["result"], 16),
        "token": chain.token,
        "proxy": chain.proxy,
        "order": "0x" + ORDER.hex(),
        "funded": _keys(chain, f"{library} funded", FUNDED, ETHER, 1000 * UNIT),
        "empty": _keys(chain, f"{library} empty", EMPTY, 0, 0),
    }
    if isinstance(chain, MockChain):
        given["payout"] = chain.payout()
    (folder / "given.json").write_text(json.dumps(given), "utf-8")
    if command[0] == "node":
        shutil.copy(FOLDER / command[1], folder)
        (folder / "node_modules").symlink_to(NPM)
    ended = subprocess.run(
        [*command, "given.json"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    answers: dict[str, object] = json.loads(ended.stdout)
    return answers


@pytest.fixture(scope="module")
def seen(server, tmp_path_factory):
    """Return what a library sees of our node; each suite runs once."""
    kept: dict[str, dict[str, object]] = {}

    def of(library: str) -> dict[str, object]:
        if library not in kept:
            kept[library] = answers_of(library, MockChain(server), tmp_path_factory.mktemp(library))
        return kept[library]

    return of


def test_there_are_behaviours_enough():
    assert len(CASES) >= 100


def test_each_difference_has_its_reason():
    for answers in ANSWERS.values():
        for answer in answers.values():
            assert ("anvil" not in answer) or answer["source"]


def of_library(library, *about):
    """Return a case; those of viem, which asks what ethers does, are for a deep run."""
    return pytest.param(library, *about, marks=pytest.mark.deep if library == "viem" else ())


@pytest.mark.parametrize("library", [of_library(library) for library in ANSWERS])
def test_each_behaviour_has_an_answer(seen, library):
    assert set(seen(library)) == set(ANSWERS[library])


@pytest.mark.parametrize(("library", "name"), [of_library(*case) for case in CASES])
def test_a_library_sees_a_chain(seen, library, name):
    assert seen(library)[name] == ANSWERS[library][name]["answer"]


@pytest.mark.deep
@pytest.mark.parametrize("library", ANSWERS)
def test_the_reference_shows_libraries_the_same(library, reference, tmp_path):
    expected = {
        name: answer.get("anvil", answer["answer"])
        for name, answer in ANSWERS[library].items()
        if not name.startswith("payout_")
    }
    assert answers_of(library, reference.chain, tmp_path) == expected
