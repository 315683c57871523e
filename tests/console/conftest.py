"""A real browser without a window, and ways to look at the console as a person would."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.common.exceptions import (
    JavascriptException,
    StaleElementReferenceException,
    TimeoutException,
)
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from tests.conftest import Client

PATIENCE_S = 60
"""How long something may take to show; machines of CI are slow at times."""
_FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--disable-default-apps", "--disable-extensions"),
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
)
"""What keeps the browser small, and on this machine."""


@dataclass(frozen=True)
class Page:
    """The console in the browser. Waiting is for something that a person can see."""

    driver: WebDriver
    log: Callable[[str], list[Any]]
    downloads: Path

    def open(self, client: Client, place: str = "") -> "Page":
        """Open the console of a client's world and wait until it is live."""
        self.driver.get("about:blank")
        self.driver.get(f"http://127.0.0.1:{client.port}{client.prefix}/__mock/{place}")
        self.until(lambda: self.text("#line") == "live", "the page is live")
        return self

    def go(self, place: str) -> None:
        """Go to another place of the page that is open."""
        self.driver.execute_script("location.hash = arguments[0]", place)

    def until(self, true: Callable[[], Any], what: str) -> Any:
        """Wait until something is so, and return it."""
        wait = WebDriverWait(self.driver, PATIENCE_S, poll_frequency=0.05)
        try:
            return wait.until(lambda _: _calm(true))
        except TimeoutException:
            raise AssertionError(f"never: {what}; the page says {self.told()!r}") from None

    def told(self) -> str:
        """The lines in which the page says what was done and what was not."""
        return " | ".join(filter(None, (self.text("#told"), self.text(".wrong"))))

    def find(self, css: str) -> WebElement:
        """Return the first element; there must be one."""
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def all(self, css: str) -> list[WebElement]:
        """Return every element."""
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def text(self, css: str) -> str:
        """Return the visible text of all such elements, one a line."""
        script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText)"
        return "\n".join(self.driver.execute_script(script, css))

    def count(self, css: str) -> int:
        """Return how many such elements there are."""
        script = "return document.querySelectorAll(arguments[0]).length"
        return int(self.driver.execute_script(script, css))

    def press(self, name: str, within: str = "body") -> None:
        """Press the button or the link of that name, as a screen reader hears it."""
        script = """
            const wanted = arguments[1];
            const named = (one) => (one.getAttribute("aria-label") ?? one.textContent).trim();
            return [...document.querySelector(arguments[0]).querySelectorAll("button, a, summary")]
                .find((one) => named(one) === wanted && one.getClientRects().length);
        """
        self.until(lambda: self._pressed(script, within, name), f"a {name!r} to press")

    def _pressed(self, script: str, within: str, name: str) -> bool:
        found = self.driver.execute_script(script, within, name)
        if found is None or not found.is_enabled():
            return False
        found.click()
        return True

    def fill(self, label: str, value: str, within: str = "body") -> None:
        """Put a value into the input or the list with that label."""
        script = """
            return [...document.querySelector(arguments[0]).querySelectorAll("label")]
                .find((one) => one.firstChild.textContent.trim() === arguments[1])?.control;
        """
        self.until(
            lambda: self._filled(script, within, label, value), f"a {label!r} that takes {value!r}"
        )

    def _filled(self, script: str, within: str, label: str, value: str) -> bool:
        found = self.driver.execute_script(script, within, label)
        if found is None:
            return False
        if found.tag_name == "select":
            if value not in [one.get_attribute("value") for one in Select(found).options]:
                return False
            Select(found).select_by_value(value)
        else:
            found.clear()
            found.send_keys(value)
        return True

    def shows(self, css: str, text: str) -> None:
        """Wait until an element has a text."""
        self.until(
            lambda: text in self.text(css), f"{text!r} in {css}, which has {self.text(css)!r}"
        )

    def size(self, width: int, height: int = 900) -> None:
        """Give the page a width, in CSS pixels."""
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )

    def scheme(self, name: str) -> None:
        """Prefer `light` or `dark`."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def complaints(self) -> list[str]:
        """Return what the browser has complained of since the last time, and forget it.

        It notes every refusal and every lost connection of the network, too; those are told on the
        page.
        """
        noted = self.log("browser")
        return [str(one["message"]) for one in noted if one["source"] != "network"]


def _calm(true: Callable[[], Any]) -> Any:
    """Return what is so, or nothing where the page was drawn anew in between."""
    try:
        return true()
    except (StaleElementReferenceException, JavascriptException):
        return None


@contextmanager
def _browser(folder: Path) -> Iterator[webdriver.Chrome]:
    binary = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        reason = "no Chromium here: install Debian's packages chromium and chromium-driver"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    options = Options()
    options.binary_location = binary
    for flag in (*_FLAGS, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(driver))
    try:
        opened.set_page_load_timeout(60)
        opened.set_script_timeout(60)
        yield opened
    finally:
        opened.quit()


@pytest.fixture(scope="session")
def _driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with _browser(tmp_path_factory.mktemp("browser")) as driver:
        yield driver


@pytest.fixture
def page(_driver: webdriver.Chrome, tmp_path: Path) -> Iterator[Page]:
    """A page of the one browser; it must not have complained at the end of a test."""
    page = Page(_driver, _driver.get_log, tmp_path)
    _driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    page.size(1280)
    page.scheme("light")
    page.complaints()
    yield page
    complaints = page.complaints()
    _driver.get("about:blank")
    assert complaints == []
