"""The examples are run as their readers run them."""

import re
import shutil
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
ONCE = EXAMPLES / "python" / "test_paying_once.py"


def run_python(apart, *arguments):
    return apart(
        *("-m", "pytest", "-p", "crosschain_mock", "-p", "no:cacheprovider", *arguments),
        cwd=EXAMPLES / "python",
    )


def test_the_python_example(apart):
    ended = run_python(apart, "-q")
    assert ended.returncode == 0, ended.stdout
    assert re.search(r"\b5 passed, 1 xfailed", ended.stdout)


def test_the_naive_wallet_is_caught_paying_twice(apart):
    ended = run_python(apart, "--runxfail", "test_paying_once.py")
    assert ended.returncode == 1
    assert "assert 2 == 1" in ended.stdout
    assert re.search(r"FAILED \S+\[NaiveWallet\]", ended.stdout)
    assert re.search(r"\b1 failed, 1 passed", ended.stdout)


def test_fifteen_lines_are_enough_to_catch_it():
    assert len(ONCE.read_text().splitlines()) <= 15


needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")


def run_node(apart, folder):
    return apart(
        *("-m", "mockserver", "run", "--clock", "frozen", "--"),
        *("node", "--test", "--test-reporter=tap"),
        cwd=folder,
    )


@needs_node
@pytest.mark.deep(quick=1)
def test_the_javascript_example(apart):
    ended = run_node(apart, EXAMPLES / "javascript")
    assert ended.returncode == 0, ended.stdout
    assert "after a time-out the NaiveWallet has paid for 2" in ended.stdout
    assert "# pass 5" in ended.stdout


@needs_node
def test_a_javascript_wallet_that_pays_twice_fails_the_run(apart, tmp_path):
    for file in (EXAMPLES / "javascript").iterdir():
        shutil.copy(file, tmp_path)
    wallet = tmp_path / "wallet.js"
    once = "retried(() => this.submit(deposit, toChain))"
    twice = "retried(async () => this.submit(this.node.pay(fromChain, 5, amount), toChain))"
    assert once in wallet.read_text()
    wallet.write_text(wallet.read_text().replace(once, twice))
    ended = run_node(apart, tmp_path)
    assert ended.returncode == 1
    assert "not ok 4 - after a time-out the Wallet has paid for 1" in ended.stdout
