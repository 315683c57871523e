"""The table of stages: flows look up its failures by name, and fill in all that they tell."""

import ast
import inspect
from string import Formatter

import pytest

from mockserver.conformance.generation import submission_flows
from mockserver.conformance.generation.read_flow import ReadFlow
from mockserver.conformance.generation.sequence_stage import FLOWS
from mockserver.conformance.generation.submission_flows import SubmissionFlow
from mockserver.contract import load


def sources(flow):
    bases = [flow] if flow is ReadFlow else [flow, SubmissionFlow]
    return [inspect.getsource(one) for one in bases]


def calls(flow):
    """Return what each failure that a flow names is told with, by its name."""
    nodes = [node for source in sources(flow) for node in ast.walk(ast.parse(source))]
    found = {}
    for node in nodes:
        match node:
            case ast.Call(ast.Attribute(attr="_fails"), [ast.Constant(name), *_], keywords):
                found[name] = {word.arg for word in keywords}
    return found


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.stage.words)
def test_every_failure_of_the_table_is_looked_up(flow):
    nodes = [node for source in sources(flow) for node in ast.walk(ast.parse(source))]
    names = {node.value for node in nodes if isinstance(node, ast.Constant)}
    assert set(flow.stage.failures) <= names | {*submission_flows._CHANGES.values()}


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.stage.words)
def test_a_failure_that_is_looked_up_is_told_with_all_that_its_row_says(flow):
    found = calls(flow)
    assert found
    # The number of a transfer need not be shown.
    assert set(found) - set(flow.stage.failures) <= {"no number"}
    for name, given in found.items():
        kind = flow.stage.failures.get(name)
        if kind is not None:
            texts = f"{kind.cause} {kind.says} {kind.place}"
            assert {field for _, field, _, _ in Formatter().parse(texts) if field} <= given
            assert kind.operation_id or "operation_id" in "".join(sources(flow))


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.stage.words)
def test_a_failure_is_about_an_operation_that_its_stage_judges(flow):
    known = {operation.id for operation in load()}
    for kind in flow.stage.failures.values():
        assert kind.operation_id in (known & set(flow.stage.operations)) | {""}
