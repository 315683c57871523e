"""The HTML report of `conform` as a person opens it: a file, without a network."""

import json

import pytest

from mockserver.conformance.report.html import as_html
from mockserver.conformance.session.exchange import Answer
from tests.conformance.report.made import exchange, finding, report
from tests.console.conftest import Page

HOSTILE = (
    "<script>document.title = 'run'</script><img src=x onerror=\"document.title = 'run'\">"
    "<style>body { display: none }</style><p style='position: fixed' id=styled>x</p>"
)


def report_text(count: int = 3) -> str:
    """Return a report of an answer that is as hostile as can be, with a mark at its last item."""
    data = {HOSTILE: HOSTILE, "list": [{"n": n, "text": HOSTILE} for n in range(count)]}
    body = json.dumps({"code": 0, "msg": HOSTILE, "data": data}).encode()
    one = exchange(query="a='b c'&amount=1", label=HOSTILE, answer=Answer(200, (), body, 3))
    place = f"data.list[{count - 1}].n"
    return as_html(report(finding(f"`{HOSTILE}`", one, place=place), hints=(HOSTILE,)))


@pytest.fixture
def opened(page: Page) -> Page:
    """The report, opened as a file."""
    return shown(page, report_text())


def shown(page: Page, text: str) -> Page:
    file = page.downloads / "report.html"
    file.write_text(text, "utf-8")
    page.driver.get("about:blank")
    page.driver.get(file.as_uri())
    return page


def test_a_button_copies_the_command(opened: Page) -> None:
    permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]
    opened.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": permissions})
    command = opened.driver.execute_script(
        "return document.querySelector('.command pre').textContent"
    )
    assert command.startswith("curl ")
    opened.press("copy")
    opened.shows("button.copies", "copied")
    read = "navigator.clipboard.readText().then(arguments[0])"
    assert opened.driver.execute_async_script(read) == command
    opened.shows("button.copies", "copy")


def test_a_button_copies_without_a_clipboard_of_its_own(opened: Page) -> None:
    opened.driver.execute_script(
        "navigator.clipboard.writeText = () => Promise.reject(new Error('refused'));"
        "document.addEventListener('copy', () => { window.taken = String(getSelection()); });"
    )
    opened.press("copy")
    opened.until(lambda: opened.driver.execute_script("return window.taken"), "a copied command")
    assert opened.driver.execute_script("return window.taken").startswith("curl ")


@pytest.mark.parametrize("width", [1400, 390])
def test_marks_are_in_sight_and_nothing_is_wider_than_the_page(page: Page, width: int) -> None:
    page.size(width)
    shown(page, report_text(60))
    assert page.text("pre mark") == '"n": 59'
    is_inside = """
        const [mark] = document.querySelectorAll("pre mark");
        const [inner, outer] = [mark, mark.closest("pre")].map((e) => e.getBoundingClientRect());
        return inner.top >= outer.top && inner.bottom <= outer.bottom;
    """
    assert page.driver.execute_script(is_inside)
    assert page.driver.execute_script("return document.documentElement.scrollWidth") <= width


def test_nothing_of_an_answer_runs_or_styles(opened: Page) -> None:
    assert opened.driver.title != "run"
    assert opened.count("script, style, img, #styled") == 2
    # Escaped at all places: the same text in the page as it came.
    assert json.dumps(HOSTILE) in opened.text("pre")


def test_the_policy_holds_where_an_escape_should_fail(page: Page) -> None:
    text = report_text().replace('<div class="page">', f'<div class="page">{HOSTILE}')
    shown(page, text)
    assert page.count("#styled") == 1
    style = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
    assert page.driver.execute_script(style, "#styled", "position") == "static"
    assert page.driver.execute_script(style, "body", "display") == "block"
    assert page.driver.title != "run"
    refused = page.complaints()
    assert refused
    assert all("Content Security Policy" in line for line in refused), refused
