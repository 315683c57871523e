from pathlib import Path

from mockserver.conformance.generation.sequence_stage import FLOWS
from mockserver.conformance.generation.stages import stage_rules
from mockserver.conformance.options import MOST_EDGES
from mockserver.contract import load


def test_every_stage_has_a_rule_with_a_sentence_of_its_own():
    contract = load()
    rules = {rule.name: rule for rule in stage_rules(contract)}
    assert len(rules) == 8
    assert len({rule.summary for rule in rules.values()}) == 8
    known = {operation.id for operation in contract}
    assert all(set(rule.operations) <= known for rule in rules.values())
    judged = [set(machine.stage.operations) for machine in FLOWS]
    assert all(any(set(rule.operations) == one for rule in rules.values()) for one in judged)


def test_pages_say_how_many_requests_at_edges_there_are():
    root = Path(__file__).parents[3]
    for page in ("README.md", "docs/how-to/generate-requests.md"):
        text = " ".join((root / page).read_text("utf-8").split())
        assert f"up to {MOST_EDGES} " in text, page
