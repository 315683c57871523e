"""Reports that a person opens in the console: shown, held against their schema, and harmless."""

import json
from pathlib import Path
from typing import Any

import pytest

from mockserver import resources
from mockserver.conformance.report.json_report import as_json
from tests.conformance.report import made
from tests.conftest import Client
from tests.console.conftest import Page
from tests.console.test_browser import HOSTILE, QUOTE, barriers

KINDS = ("survive", "grade", "conformance")


def run_of(*outcomes: str) -> dict[str, Any]:
    """Return a run in which the same call was answered in different ways."""
    lines = [
        {"atMs": 1_767_225_600_000 + 1_000 * number, "request": "POST /pay", "outcome": outcome}
        for number, outcome in enumerate(outcomes)
    ]
    return {"exits": [0], "requests": lines}


def survive_report(**changes: Any) -> dict[str, Any]:
    """Return a report with one defect, whose failure is a fault."""
    fault = {"operation": "v2.getBridgeQuote", "kind": "http-status", "status": 503, "first": 1}
    result: dict[str, Any] = {
        "id": "lost@pay#1",
        "outcome": "harmed",
        "why": HOSTILE,
        "costs": ["10 USDT paid twice"],
        "diverged": 1,
        "set": [{"path": "/__mock/faults", "body": fault}],
    }
    return {
        "format": "crosschain-mock/survive@1",
        "flow": HOSTILE,
        "seed": None,
        "unsure": None,
        "stopped": None,
        "meant": [],
        "base": run_of("200", "200"),
        "lint": [],
        "coverage": {"planned": 2, "tried": 2, "reached": 1},
        "outcomes": {"harmed": 1, "survived": 1},
        "defects": [{**result, "run": run_of("200", "200 [lost]", "200"), "same": ["slow@pay#1"]}],
        "results": [result],
        **changes,
    }


def grade_report() -> dict[str, Any]:
    """Return a report with one break that survived."""
    reason = {"where": "data.price", "true": "1", "came": "2", "cost": "much", "weight": 5}
    trial = {
        "break": "price-doubled",
        "says": HOSTILE,
        "outcome": "survived",
        "late": False,
        "operation": "v2.getPrice",
        "weight": 5,
        "reason": {**reason, "assertion": "assert price == 1"},
    }
    return {
        "format": "crosschain-mock/grade@1",
        "suite": "pytest",
        "score": 0,
        "percent": 0,
        "stopped": "",
        "notes": [],
        "operations": ["v2.getPrice"],
        "planned": 1,
        "trials": [trial],
    }


def opened(page: Page, folder: Path, name: str, content: str) -> None:
    """Open a file in the page, as a person chooses it."""
    file = folder / name
    file.write_text(content, "utf-8")
    page.find("#report-file").send_keys(str(file))


def test_a_report_of_survive_shows_two_lines_and_sets_its_failure(
    page: Page, mock: Client, tmp_path: Path
):
    page.open(mock, "#reports")
    page.shows("main", "No report is open.")
    opened(page, tmp_path, "survive.json", json.dumps(survive_report()))
    page.shows(".report", "10 USDT paid twice")
    assert "1 of 2 failures struck" in page.text(".report")
    assert page.text(".two h4").splitlines() == ["Undisturbed", "With lost@pay#1"]
    assert "200 [lost]" in page.text("li[aria-current]")
    # What a file says is text, and nothing of it runs.
    assert HOSTILE in page.text(".report")
    assert page.count("main img, main script") == 0
    page.press("Set it in this world")
    page.shows("#told", "lost@pay#1 is set in this world")
    assert mock.get("/v1/getBridgeQuote", query=QUOTE).status == 503
    # Loaded again, the page still has it; closed, it does not.
    page.open(mock, "#reports")
    page.shows(".report", "10 USDT paid twice")
    page.press("Close all")
    page.shows("main", "No report is open.")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "it is no JSON"),
        ("[1]", "it is no report of survive, grade or conform"),
        (json.dumps(survive_report(base={"exits": []})), 'base: the member "requests" is missing'),
        (json.dumps(survive_report(more=1)), 'there is no member "more"'),
        (json.dumps(survive_report(outcomes={"harmed": -1})), "outcomes.harmed: a whole number"),
    ],
)
def test_what_is_no_report_is_named(
    page: Page, mock: Client, tmp_path: Path, content: str, why: str
):
    page.open(mock, "#reports")
    opened(page, tmp_path, "odd.json", content)
    page.shows("#wrong", why)
    assert page.count(".report") == 0


def test_a_report_sets_nothing_but_failures(page: Page, mock: Client, tmp_path: Path):
    report = survive_report()
    report["defects"][0]["set"] = [{"path": "/__mock/reset", "body": {}}]
    page.open(mock, "#reports")
    opened(page, tmp_path, "survive.json", json.dumps(report))
    page.shows(".report", "10 USDT paid twice")
    assert "Set it in this world" not in page.text(".report")
    page.press("Close all")


def test_a_report_of_grade_shows_what_would_have_noticed_it(
    page: Page, mock: Client, tmp_path: Path
):
    page.open(mock, "#reports")
    opened(page, tmp_path, "grade.json", json.dumps(grade_report()))
    page.shows(".report", "assert price == 1")
    page.shows(".report", "1 of 1 breaks survived")
    page.press("Copy the assertion")
    page.shows("#told", "the assertion is copied")
    page.press("Close all")


def test_open_reports_keep_nobody_out(page: Page, mock: Client, tmp_path: Path):
    conform = as_json(made.report(made.finding(HOSTILE, made.exchange()), hints=(HOSTILE,)))
    others = {
        "survive": json.dumps(survive_report(lint=[HOSTILE])),
        "grade": json.dumps(grade_report()),
    }
    page.open(mock, "#reports")
    for name, content in {**others, "conform": conform}.items():
        opened(page, tmp_path, f"{name}.json", content)
        page.shows(f"[aria-label='{name}.json'] h2", name)
    assert page.count(".report") == len(others) + 1
    found = {}
    for size in ((1400, 900), (390, 844)):
        page.size(*size)
        for scheme in ("light", "dark"):
            page.scheme(scheme)
            page.driver.execute_script(
                "document.querySelectorAll('details').forEach((one) => one.open = true)"
            )
            found[size, scheme] = barriers(page)
            wide = "return document.documentElement.scrollWidth - innerWidth"
            assert page.driver.execute_script(wide) <= 0, (size, scheme)
    assert {state: told for state, told in found.items() if told} == {}
    page.driver.execute_script("document.querySelector('.report h2').style.color = '#333'")
    assert "color-contrast" in str(barriers(page))
    page.press("Close all")


def test_the_page_knows_every_word_of_the_schemas(page: Page, mock: Client):
    def words(schema: Any) -> set[str]:
        names = set(schema)
        for members in (schema.get("properties", {}), schema.get("$defs", {})):
            names |= {word for inner in members.values() for word in words(inner)}
        inners = [schema.get("items"), schema.get("additionalProperties")]
        for inner in (*inners, *schema.get("anyOf", ())):
            names |= words(inner) if isinstance(inner, dict) else set()
        return names

    page.open(mock, "#reports")
    known = page.driver.execute_async_script(
        """
        const done = arguments[0];
        import(new URL("console/schema.js", document.baseURI)).then((one) => done(one.KEYWORDS));
        """
    )
    for kind in KINDS:
        schema = json.loads((resources.schemas() / "meta" / f"{kind}.json").read_text("utf-8"))
        assert words(schema) <= set(known), kind
