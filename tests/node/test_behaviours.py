"""The node behaves as development chains and geth do, behaviour by behaviour.

`--deep` asks the reference again, where its program is: `npm install @foundry-rs/anvil` in a
folder that CROSSCHAIN_NODE_MODULES names (its `node_modules`).
"""

import json
from pathlib import Path

import pytest
import yaml

from tests.node.behaviours import BEHAVIOURS
from tests.node.mock import MockChain
from tests.node.rpc import Session

ANSWERS = yaml.safe_load((Path(__file__).parent / "answers.yaml").read_text("utf-8"))


def _plain(value):
    return json.loads(json.dumps(value))


@pytest.fixture(scope="module")
def node(server):
    return Session(MockChain(server))


def test_there_are_answers_to_all_behaviours():
    assert set(ANSWERS) == set(BEHAVIOURS)
    assert len(BEHAVIOURS) >= 100


@pytest.mark.parametrize("name", BEHAVIOURS)
@pytest.mark.deep(quick=24)
def test_the_node_behaves_as_a_chain(node, name):
    assert _plain(BEHAVIOURS[name](node)) == ANSWERS[name]["answer"]


@pytest.mark.deep
@pytest.mark.parametrize("name", BEHAVIOURS)
def test_the_reference_still_answers_so(reference, name):
    expected = ANSWERS[name].get("anvil", ANSWERS[name]["answer"])
    assert _plain(BEHAVIOURS[name](reference)) == expected
