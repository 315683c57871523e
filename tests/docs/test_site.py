"""The site as it is built: pages as Markdown, llms.txt, OpenAPI documents, search without a server.

Needs the dependency group `docs`; the search also Debian's packages chromium and chromium-driver.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    not importlib.util.find_spec("material"), reason="needs the group docs: mkdocs-material"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    line = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(line, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def links(text):
    return re.findall(r"\]\((?!\w+:|#|/)([^)#\s]+)", text)


def test_each_page_is_there_as_markdown_with_links_that_lead_somewhere(site):
    pages = [page for page in site.rglob("*.html") if page.name != "404.html"]
    assert len(pages) > 100
    for page in pages:
        markdown = page.with_suffix(".md")
        assert markdown.is_file(), page
        alternate = f'<link rel="alternate" type="text/markdown" href="{markdown.name}">'
        assert page.read_text("utf-8").count(alternate) == 1, page
        # In code, brackets and parentheses are no link.
        prose = re.sub(r"```.*?```|`[^`\n]*`", "", markdown.read_text("utf-8"), flags=re.DOTALL)
        for link in links(prose):
            assert (markdown.parent / link).exists(), (markdown, link)


def test_llms_txt_names_every_page(site):
    text = (site / "llms.txt").read_text("utf-8")
    assert text.startswith("# crosschain-mock\n\n> ")
    named = links(text)
    assert len(named) == len(set(named))
    assert {site / name for name in named} == {
        page.with_suffix(".md") for page in site.rglob("*.html") if page.name != "404.html"
    }
    for title in re.findall(r"^- \[(.*?)\]\(", text, re.MULTILINE):
        assert title
    everything = (site / "llms-full.txt").read_text("utf-8")
    assert "<!-- tutorial/pytest.md -->" in everything
    assert "<!-- decisions/" not in everything


@pytest.mark.parametrize("name", ["v1", "v2", "control"])
def test_the_documents_are_those_that_the_command_prints(site, name):
    page = (site / "reference/openapi.html").read_text("utf-8")
    for option, suffix in (((), ""), (("--flat",), "-flat")):
        line = [sys.executable, "-m", "mockserver", "openapi", name, *option]
        printed = subprocess.run(line, capture_output=True, text=True, check=True).stdout
        file = f"openapi-{name}{suffix}.json"
        assert json.loads((site / "reference" / file).read_text("utf-8")) == json.loads(printed)
        assert f'href="{file}"' in page


def test_nothing_is_fetched_from_elsewhere(site):
    for page in (site / "index.html", site / "how-to/install.html"):
        assert not re.findall(r'(?:src|<link[^>]* href)="https?:', page.read_text("utf-8"))


def test_the_search_finds_things_in_files(site, tmp_path):
    webdriver = pytest.importorskip("selenium.webdriver")
    waiting = pytest.importorskip("selenium.webdriver.support.wait")

    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("needs Debian's packages chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in ("--headless=new", "--no-sandbox", f"--user-data-dir={tmp_path}"):
        options.add_argument(flag)
    with webdriver.Chrome(options, webdriver.ChromeService(driver)) as browser:
        browser.get((site / "how-to/install.html").as_uri() + "?q=mistyped")
        wait = waiting.WebDriverWait(browser, 60)
        found = wait.until(
            lambda opened: opened.find_elements("css selector", "a.md-search-result__link")
        )
        assert found[0].get_attribute("href").startswith(site.as_uri())
