"""The console in a real browser: what is done on the page is so in the API, and vice versa."""

import hashlib
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from axe_core_python.base import AXE_FILE_PATH
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from mockserver import jsontext
from mockserver.clock import wall_ms
from mockserver.engine.catalog import Catalog
from mockserver.engine.orders import OrderGeneration, OrderKind
from mockserver.engine.submission import OrderRequest
from mockserver.engine.world import World
from mockserver.recordings import load
from mockserver.server.control.authorization import Guard
from tests.conftest import START_MS, WALLET, Client, certificate, order
from tests.console.conftest import Page
from tests.console.lines import OnePage, Relay
from tests.plugin.conftest import apart, installed

__all__ = ["apart", "installed"]

QUOTE = "amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB"
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'`${7*7}{{7*7}}&lt;"
VIEWS = (
    *("overview", "chains", "orders", "journal", "faults", "money", "checks", "reports", "worlds"),
)


TITLES = {"overview": "Now"}


def submitted(client: Client, number: int = 1, **changes) -> str:
    """Submit an order of its own deposit and return its id."""
    digest = hashlib.sha256(str(number).encode()).hexdigest()
    certs = certificate(certHash=f"0x{digest}")
    answer = client.post(
        "/v1/submitOrder", order(sourceCerts=certs, **changes), headers=client.wallet
    )
    return str(answer.data["id"])


def now(client: Client) -> str:
    """Return the time of the client's world."""
    return str(client.control("GET", "/clock")["now"])


def test_a_chain_is_suspended_and_restored_on_the_page(page: Page, mock: Client):
    page.open(mock, "#chains")
    page.shows(".summary", "all 28 up")
    page.press("Suspend BNB with settings")
    page.fill("for", "9h", "dialog")
    page.fill("mode", "quote-only", "dialog")
    page.fill("reason", "halted", "dialog")
    page.press("Suspend", "dialog")
    page.shows("[data-chain=BNB]", "quote-only")
    assert "halted" in page.text("[data-chain=BNB]")
    assert "9h" in page.text("[data-chain=BNB]")
    window = mock.control("GET", "/outages")["outages"][0]
    assert (window["chain"], window["mode"], window["active"]) == ("BNB", "quote-only", True)
    page.press("Restore BNB")
    page.shows("[data-chain=BNB]", "up")
    assert not mock.control("GET", "/outages?which=active")["outages"]
    page.press("Suspend BNB")
    page.shows("[data-chain=BNB]", "until restored")
    page.press("Restore BNB")
    page.shows("[data-chain=BNB]", "up")
    page.fill("Show", "out")
    page.until(lambda: page.text("tbody").strip() == "", "no chain that is suspended")
    mock.control("POST", "/outages", {"chain": "FSN", "mode": "lagging", "lag": 5})
    page.shows("tbody tr:not([hidden])", "5 times slower")


def test_an_outage_that_begins_elsewhere_shows_without_a_reload(page: Page, mock: Client):
    page.open(mock, "#chains")
    page.shows("[data-chain=ARB]", "up")
    mock.control("POST", "/outages", {"chain": "ARB", "for": "2h"})
    page.shows("[data-chain=ARB]", "listed-dead")
    page.shows("#views", "1 out")
    mock.control("POST", "/clock", {"advance": "90m"})
    page.shows("[data-chain=ARB]", "30m")
    mock.control("POST", "/clock", {"advance": "30m"})
    page.shows("[data-chain=ARB]", "up")


def test_an_outage_begins_and_ends_by_the_worlds_clock_while_nobody_does_anything(
    page: Page, serve
):
    client = serve().client
    page.open(client, "#chains")
    page.shows("[data-chain=ETH]", "up")
    client.control(
        "POST", "/outages", {"chain": "ETH", "from": "2026-01-01T00:10:00Z", "for": "4d"}
    )
    # A minute of the world, which passes in a second, before each of both.
    for moment, shown in (("01T00:09:00Z", "listed-dead"), ("05T00:09:00Z", "up")):
        client.control("POST", "/clock", {"mode": "frozen"})
        client.control("POST", "/clock", {"set": f"2026-01-{moment}"})
        client.control("POST", "/clock", {"mode": "scaled", "rate": 60})
        page.shows("[data-chain=ETH]", shown)


def test_the_clock_is_moved_frozen_and_brought_back(page: Page, mock: Client):
    page.open(mock, "#chains")
    page.press("Snapshot")
    page.shows("#snapshots", "1")
    page.press("+15 s")
    page.shows("#now", "00:00:15")
    assert now(mock) == "2026-01-01T00:00:15Z"
    order_id = submitted(mock)
    page.press("Next event")
    page.until(lambda: now(mock) != "2026-01-01T00:00:15Z", "the next event")
    page.press("Revert")
    page.shows("#now", "00:00:00")
    assert (now(mock), mock.control("GET", "/orders")["orders"]) == ("2026-01-01T00:00:00Z", [])
    assert order_id not in page.text("#views")
    page.fill("How time passes", "scaled")
    page.until(lambda: mock.control("GET", "/clock")["mode"] == "scaled", "a scaled clock")
    page.press("Freeze")
    page.until(lambda: mock.control("GET", "/clock")["mode"] == "frozen", "a frozen clock")


def test_an_order_is_followed_and_brought_to_its_end(page: Page, mock: Client):
    order_id = submitted(mock)
    page.open(mock, f"#orders/{order_id}")
    page.shows(".story", "to come")
    assert "custody" in page.text(".story")
    assert "Succeeded" in page.text(".story .ahead")
    page.press("To its end")
    page.until(lambda: "to come" not in page.text(".story"), "all has happened")
    page.shows(".list-row", "Succeeded")
    assert mock.control("GET", f"/orders/{order_id}")["status"] == "Succeeded"
    second = submitted(mock, 2)
    page.go(f"orders/{second}")
    page.shows(".detail h2", second)
    page.press("Steer…")
    page.fill("status", "Failed", "dialog")
    page.fill("reason", "no liquidity", "dialog")
    page.press("Steer", "dialog")
    page.shows(".story", "no liquidity")
    assert mock.control("GET", f"/orders/{second}")["status"] == "Failed"


def test_one_line_tells_a_transfer_from_quote_to_payout(page: Page, mock: Client):
    mock.get("/v1/getBridgeQuote", query=QUOTE)
    mock.control("POST", "/outages", {"chain": "BNB", "mode": "accept-stall", "for": "9h"})
    mock.control(
        "POST",
        "/faults",
        {
            "kind": "http-status",
            "operation": "submitOrder",
            "status": 504,
            "does": "done",
            "first": 1,
        },
    )
    certs = certificate(certHash=f"0x{hashlib.sha256(b'1').hexdigest()}")
    mock.post("/v1/submitOrder", order(sourceCerts=certs), headers=mock.wallet)
    order_id = submitted(mock)
    mock.control("POST", "/clock", {"advance": "10h"})
    mock.get("/v1/checkOrder", query=f"id={order_id}")
    page.open(mock, f"#orders/{order_id}")
    page.shows(".story", "asked, and told Succeeded")
    told = page.text(".story")
    places = [
        told.index(part)
        for part in (
            *("quoted, 9.694 USDT to arrive", "10 USDT paid on ARB", "disturbed by http-status"),
            *("submitted: 200", "deposit: 10 USDT", "chain BNB is back", "delivery: "),
        )
    ]
    assert places == sorted(places)
    # A date and seconds, also on another day: statuses follow each other within a minute.
    mock.control("POST", "/clock", {"advance": "2d"})
    page.shows(".story", "2d 10h ago")
    times = page.text(".story time").splitlines()
    assert len(set(times)) == len(times) > 4
    assert all(re.match(r"2026-01-01 \d\d:\d\d:\d\d ", line) for line in times)
    page.press("request 3")
    page.shows(".detail h2", "submitOrder")
    page.press(order_id, ".detail")
    page.shows(".story", "delivery: ")


def test_the_first_page_says_what_matters_now(page: Page, mock: Client):
    page.open(mock)
    page.shows("main", "Every chain is up.")
    page.shows("main", "No request to judge yet.")
    order_id = submitted(mock)
    mock.get("/v1/getBridgeQuote", query=QUOTE.replace("USDT", "USDTT"))
    mock.control("POST", "/outages", {"chain": "FSN", "for": "2h"})
    mock.control("POST", "/faults", {"kind": "http-status", "status": 503})
    mock.control("POST", "/clock", {"advance": "20m"})
    for shown in ("chain FSN", order_id, "unknown-token", "http-status", "order-not-followed"):
        page.shows("main", shown)
    page.shows(".overview[aria-labelledby=remarks-title]", "warn: never-followed")
    page.press("Restore chain FSN")
    page.shows("main", "Every chain is up.")
    assert not mock.control("GET", "/outages?which=active")["outages"]


def test_keys_search_go_to_views_and_are_listed(page: Page, mock: Client):
    page.open(mock, "#orders")
    page.shows("main h1", "Orders")
    page.find("#main").click()
    ActionChains(page.driver).send_keys("/").perform()
    focus = "return document.activeElement.id"
    assert page.driver.execute_script(focus) == "find-order"
    ActionChains(page.driver).send_keys("?g", Keys.TAB).perform()
    assert page.find("#find-order").get_attribute("value") == "?g"
    page.find("#main").click()
    ActionChains(page.driver).send_keys("gj").perform()
    page.shows("main h1", "Journal")
    ActionChains(page.driver).send_keys("?").perform()
    page.shows("dialog", "search in this view")


def test_a_small_screen_shows_content_before_the_clock_bar(page: Page, mock: Client):
    submitted(mock)
    page.size(390, 844)
    page.open(mock)
    page.shows("main", "Newest orders")
    top = "return document.querySelector('main').getBoundingClientRect().top"
    assert page.driver.execute_script(top) < 844 / 4
    # A browser of a phone makes the page as wide as what is in it; the name of this world is long.
    wide = "return document.documentElement.scrollWidth <= 390"
    for view in VIEWS:
        page.go(view)
        page.shows("main h1", TITLES.get(view, view.capitalize()))
        assert page.driver.execute_script(wide), view
    page.press("Move the clock")
    page.press("+15 s")
    page.until(lambda: now(mock) == "2026-01-01T00:00:15Z", "the clock is moved")


def test_a_small_screen_shows_the_whole_path_and_date_of_a_request_of_another_day(
    page: Page, mock: Client
):
    mock.get("/v1/getChain")
    mock.control("POST", "/clock", {"advance": "2d"})
    page.size(390, 844)
    page.open(mock, "#journal")
    page.shows(".list-row time", "2026-01-01\n00:00:00")
    cut = "const cell = document.querySelector('.grow'); return cell.scrollWidth > cell.clientWidth"
    assert page.text(".list-row .grow") == "GET /v1/getChain"
    assert not page.driver.execute_script(cut)


def test_a_request_is_copied_as_a_test_that_passes(page: Page, mock: Client, apart):
    mock.get("/v1/getBridgeQuote", query=QUOTE.replace("USDT", "USDTT"))
    mock.post("/v1/submitOrder", order(), headers=mock.wallet)
    page.open(mock, "#journal/1")
    copies = []
    for number in (1, 2):
        page.go(f"journal/{number}")
        page.shows(".detail h2", "submitOrder" if number == 2 else "getBridgeQuote")
        page.driver.execute_script(
            "navigator.clipboard.writeText = async (text) => { window.written = text; }"
        )
        page.press("Copy as pytest")
        page.until(lambda: page.driver.execute_script("return window.written"), "a copied test")
        copies.append(page.driver.execute_script("return window.written"))
        page.driver.execute_script("window.written = null")
    ended = apart(
        "-c",
        "import pathlib, sys; pathlib.Path('test_copied.py').write_text(sys.argv[1])",
        "\n".join(copies),
    )
    assert ended.returncode == 0
    ended = apart("-m", "pytest", "-q", "-p", "crosschain_mock", "-p", "no:cacheprovider")
    assert "2 passed" in ended.stdout, ended.stdout


def test_the_journal_shows_a_request_as_it_comes_and_why_it_was_refused(page: Page, mock: Client):
    page.open(mock, "#journal")
    mock.get("/v1/getBridgeQuote", query=QUOTE)
    mock.get("/v1/getBridgeQuote", query=QUOTE.replace("USDT", "USDTT"))
    page.until(lambda: page.count(".list-row") == 2, "two requests")
    page.fill("Show", "refused")
    page.until(lambda: page.count(".list-row") == 1, "one refused request")
    page.all(".list-row")[0].click()
    page.shows(".refusal", "unknown-token")
    page.shows(".detail", "Nearest valid form")
    assert page.text(".sides mark.was") == "USDTT"
    assert page.text(".sides mark.would-be") == "USDT"
    page.fill("Show", "")
    page.fill("Find", "nothing like it")
    page.shows(".summary", "0 of 2")


def test_what_is_encoded_is_decoded_and_a_request_is_kept_as_a_stub(page: Page, mock: Client):
    submitted(mock, extra="1_9994000000000000000;3_2;4_9694000000000000000;5_BNB")
    mock.get("/v1/getBridgeQuote", query=QUOTE)
    page.open(mock, "#journal/1")
    page.shows(".detail", "Decoded: deposit")
    assert '"fromChain": "ARB"' in page.text(".detail pre")
    assert '"minimum": "9694000000000000000"' in page.text(".detail pre")
    page.go("journal/2")
    page.shows(".detail h2", "getBridgeQuote")
    page.press("Keep as stub")
    page.shows("#told", "stub 1")
    mock.control("POST", "/outages", {"chain": "BNB"})
    assert not mock.get("/v1/getBridgeQuote", query=QUOTE).refusal
    assert mock.control("GET", "/journal")["entries"][-1]["responder"] == "stub"


def test_a_request_and_its_nearest_valid_form_are_copied_as_commands(page: Page, mock: Client):
    body = {"it's": HOSTILE, "amount": 10**40}
    mock.call("POST", "/v1/submitOrder", query="q=a%20b", body=body, headers={"X-Odd": "o'clock"})
    mock.get("/v1/getBridgeQuote", query=QUOTE.replace("USDT", "USDTT"))
    page.open(mock, "#journal/1")
    page.press("Copy as curl")
    page.shows("#told", "copied")
    words = shlex.split(copied(page))
    assert words[:4] == ["curl", "-sS", "-X", "POST"]
    assert "X-Odd: o'clock" in words
    assert jsontext.decode(words[words.index("--data-binary") + 1].encode()) == body
    assert words[-1] == f"http://127.0.0.1:{mock.port}{mock.prefix}/v1/submitOrder?q=a+b"
    page.go("journal/2")
    page.shows(".detail h2", "getBridgeQuote")
    page.press("Copy nearest valid form as curl")
    page.until(lambda: "getBridgeQuote" in copied(page), "the other command")
    target = shlex.split(copied(page))[-1].partition(mock.prefix)[2]
    assert not mock.call("GET", target).refusal


def copied(page: Page) -> str:
    """Return what the page has copied, as a person pastes it."""
    field = page.find("#find-request")
    field.clear()
    ActionChains(page.driver).click(field).key_down(Keys.CONTROL).send_keys("v").key_up(
        Keys.CONTROL
    ).perform()
    return str(field.get_attribute("value"))


def test_a_request_is_kept_as_a_recording_file(page: Page, mock: Client):
    mock.get("/v1/getBridgeQuote", query=QUOTE)
    page.open(mock, "#journal/1")
    page.press("Keep as recording")
    page.shows("#told", "recording.yaml")
    file = page.downloads / "recording.yaml"
    page.until(file.exists, "the file")
    (kept,) = load(file).exchanges
    assert (kept.operation, kept.request.query) == ("v2.getBridgeQuote", QUOTE)
    page.press("Close")
    page.until(lambda: not page.text(".detail"), "the list alone")


def test_a_fault_and_a_break_are_set_and_what_they_hit_is_shown(page: Page, mock: Client):
    page.open(mock, "#faults")
    page.fill("Kind", "http-status")
    page.fill("status (needed)", "503")
    page.press("Set the fault")
    page.shows(".cards", "http-status")
    assert mock.get("/v1/getBridgeQuote", query=QUOTE).status == 503
    page.shows(".cards", "struck 1 of 1")
    page.shows(".hits", "GET")
    page.press("Remove fault 1")
    page.until(lambda: not mock.control("GET", "/faults")["faults"], "the fault is gone")
    page.fill("Find", "envelope-code-missing")
    page.press("Have envelope-code-missing")
    page.until(
        lambda: mock.control("GET", "/breaks")["active"] == ["envelope-code-missing"], "a break"
    )
    mock.call("GET", "/v1/getChain?x=1")
    page.press("End envelope-code-missing")
    page.until(lambda: mock.control("GET", "/breaks")["active"] == [], "no break")


def test_a_price_is_asked_for_and_balances_are_shown(page: Page, mock: Client):
    submitted(mock)
    page.open(mock, "#money")
    page.shows("table", WALLET.lower())
    page.fill("From", "ARB")
    page.fill("To", "BNB")
    page.press("Quote")
    page.shows(".facts", "Arrives")
    told = mock.control("GET", "/quote?from=ARB&to=BNB&token=USDT&amount=10")
    assert int(told["net"]) / 10 ** told["decimals"] == pytest.approx(
        float(page.text(".facts dd").split()[0])
    )
    mock.control("POST", "/outages", {"chain": "BNB"})
    page.press("Quote")
    page.shows("#wrong", "BNB")


def test_the_audit_tells_of_a_lost_deposit_and_leads_to_its_request(page: Page, mock: Client):
    page.open(mock, "#checks")
    page.press("Look for money doubled, lost or stuck")
    page.shows("main", "there is nothing to judge: world")
    mock.control("POST", "/outages", {"chain": "BNB"})
    mock.post("/v1/submitOrder", order(), headers=mock.wallet)
    page.press("Look for money doubled, lost or stuck")
    page.shows(".cards", "deposit-without-order")
    page.press("POST /v1/submitOrder", ".cards")
    page.shows(".refusal", "chain-suspended")


def test_lint_names_the_rule_and_leads_to_its_request(page: Page, mock: Client):
    query = "amount=8289999&symbol=USDT&fromChain=ARB&toChain=BNB"
    mock.get("/v1/getBridgeQuote", query=query)
    page.open(mock, "#checks")
    page.press("Judge the requests so far")
    page.shows(".cards", "8.289999 USDT (8289999 smallest units) is 1 beside 8.29 USDT")
    page.press(f"GET /v1/getBridgeQuote?{query}", ".cards")
    page.shows("main", "8289999")


def test_the_audit_shows_what_it_does_not_rest_on(page: Page, mock: Client):
    mock.get("/v1/getChain")
    mock.control("POST", "/reset", {})
    mock.get("/v1/getChain")
    page.open(mock)
    page.shows("main", "Not known: 1 request before a reset of the world")
    page.go("#checks")
    page.press("Look for money doubled, lost or stuck")
    page.shows(".holes", "Not known: 1 request before a reset of the world")


PACED = """
const done = arguments[arguments.length - 1];
import(new URL("console/pace.js", document.baseURI)).then(async ({ paced }) => {
  const began = performance.now();
  const times = [];
  const act = paced(async () => times.push(performance.now() - began), 300);
  for (let call = 0; call < 20; call += 1) act();
  while (times.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  await new Promise((resolve) => setTimeout(resolve, 400));
  done(times);
});
"""


def test_what_takes_long_is_asked_at_once_and_once_more(page: Page, mock: Client):
    page.open(mock)
    first, *later = page.driver.execute_async_script(PACED)
    assert len(later) == 1
    assert later[0] - first >= 290


def test_a_world_is_made_picked_and_dropped(page: Page, serve):
    client = serve().client
    page.open(client, "#worlds")
    page.press("New world…")
    page.fill("key (needed)", "second", "dialog")
    page.press("Make it", "dialog")
    page.shows("table", "second")
    page.fill("World", "second")
    page.until(lambda: "/w/second/__mock/" in page.driver.current_url, "the other world")
    page.shows("#line", "live")
    page.press("+1 h")
    page.shows("#now", "01:00:00")
    assert now(client) == "2026-01-01T00:00:00Z"
    other = Client(client.port, client.contract, prefix="/w/second")
    assert now(other) == "2026-01-01T01:00:00Z"
    other.close()


def test_a_mistake_is_told_in_the_words_of_the_api(page: Page, mock: Client):
    page.open(mock, "#chains")
    page.fill("How far to move the clock", "soon")
    page.press("Advance")
    page.shows("#wrong", "duration")
    page.press("Suspend ETH with settings")
    page.fill("for", "tomorrow", "dialog")
    page.press("Suspend", "dialog")
    page.shows("dialog .wrong", "body field 'for'")
    assert page.find("dialog .wrong").is_displayed()


def test_every_hostile_string_is_text(page: Page, mock: Client):
    mock.call("GET", "/v1/%3Cscript%3Ealert(1)%3C/script%3E?q=%3Cimg%20src=x%20onerror=alert(1)%3E")
    mock.call("GET", "/v1/getBridgeQuote", headers={"X-Hostile": HOSTILE})
    mock.call("POST", "/v1/submitOrder", body={HOSTILE: HOSTILE}, headers=mock.wallet)
    mock.call("POST", "/v1/submitOrder", body=HOSTILE.encode(), headers=mock.wallet)
    mock.control("POST", "/outages", {"chain": "BNB", "reason": HOSTILE})
    mock.control("POST", "/outages", {"token": "USDT", "reason": HOSTILE, "for": "1h"})
    mock.control("POST", "/faults", {"kind": "http-status", "status": 500, "body": HOSTILE})
    mock.control("DELETE", "/faults")
    mock.control("DELETE", "/outages?chain=BNB")
    mock.control("DELETE", "/outages?token=USDT")
    order_id = submitted(mock, 7)
    mock.control("POST", f"/orders/{order_id}", {"status": "Failed", "reason": HOSTILE})
    mock.control("POST", "/outages", {"chain": "BNB", "reason": HOSTILE})
    mock.control("POST", "/faults", {"kind": "http-status", "status": 500, "body": HOSTILE})
    page.open(mock)
    for place in ("chains", f"orders/{order_id}", "faults", "money", "worlds", "journal"):
        page.go(place)
        if place in ("chains", "faults") or place.startswith("orders"):
            page.shows("main", HOSTILE)
    last = mock.control("GET", "/journal")["last"]
    for number in range(1, last + 1):
        page.go(f"journal/{number}")
        request = mock.control("GET", f"/journal/{number}")["request"]
        page.shows(".detail h2", request["method"])
        page.shows(".detail h2", request["path"])
        # All in one step: an event of the world may draw the page again.
        page.driver.execute_script(
            "document.querySelectorAll('.detail summary').forEach(part => part.click())"
        )
    assert (
        page.driver.execute_script("return document.querySelectorAll('img, main script').length")
        == 0
    )
    assert page.complaints() == []


def test_a_lost_line_is_said_and_nothing_is_missed_after_it(page: Page, mock: Client):
    with Relay(mock.port) as line:
        through = Client(line.port, mock.contract, prefix=mock.prefix)
        page.open(through, "#journal")
        mock.get("/v1/getChain")
        page.shows(".summary", "1 of 1")
        line.cut()
        page.shows("#line", "lost")
        for _ in range(3):
            mock.get("/v1/getChain")
        mock.control("POST", "/outages", {"chain": "BNB"})
        line.mend()
        page.shows("#line", "live")
        page.shows(".summary", "4 of 4")
        page.shows("#views", "1 out")
        assert page.count(".list-row") == 4
        page.complaints()


def test_what_the_server_lets_go_of_is_not_shown_any_more(page: Page, mock: Client):
    mock.get("/v1/getChain")
    page.open(mock, "#journal")
    page.shows(".summary", "1 of 1")
    mock.control("DELETE", "/journal")
    page.shows(".list-empty", "No request to show")
    mock.get("/v1/getChain")
    page.shows(".summary", "1 of 1 requests, 1 older ones let go")


def test_a_world_that_is_put_in_the_place_of_another_shows_its_own_journal(
    page: Page, mock: Client
):
    mock.get("/v1/getChain")
    page.open(mock, "#journal")
    page.shows(".summary", "1 of 1")
    mock.control("POST", "/load", mock.control("GET", "/dump"))
    page.shows(".summary", "0 of 0")
    mock.get("/v1/getChain")
    page.shows(".summary", "1 of 1")


def test_a_server_with_a_token_asks_for_it(page: Page, serve):
    client = serve(guard=Guard(loopback=False, token="right-token")).client  # noqa: S106
    page.driver.get(f"http://127.0.0.1:{client.port}/__mock/")
    page.driver.execute_script("sessionStorage.clear()")
    page.driver.get(f"http://127.0.0.1:{client.port}/__mock/")
    page.shows("dialog", "Token")
    page.fill("Token", "wrong", "dialog")
    page.press("Use the token", "dialog")
    page.shows("dialog", "does not take this token")
    page.fill("Token", "right-token", "dialog")
    page.press("Use the token", "dialog")
    page.shows("#line", "live")
    page.shows("main", "Every chain is up.")
    assert "right-token" not in page.driver.current_url


def test_the_keyboard_reaches_everything_and_moves_in_lists(page: Page, mock: Client):
    ids = [submitted(mock, number) for number in range(5)]
    page.open(mock, "#orders")
    page.until(lambda: page.count(".list-row") == 5, "five orders")
    script = "return document.activeElement.getAttribute('aria-label') ?? ''"
    for _ in range(40):
        ActionChains(page.driver).send_keys(Keys.TAB).perform()
        if page.driver.execute_script(script).startswith("Orders"):
            break
    keys = ActionChains(page.driver)
    keys.send_keys(Keys.END).send_keys(Keys.ARROW_UP).perform()
    page.shows(".detail h2", ids[1])
    active = page.find(".list").get_attribute("aria-activedescendant")
    option = page.find(f"#{active}")
    assert option.get_attribute("aria-posinset") == "4"
    assert option.get_attribute("aria-selected") == "true"
    ActionChains(page.driver).send_keys(Keys.HOME).perform()
    page.shows(".detail h2", ids[-1])


def test_a_dialog_gives_the_focus_back(page: Page, mock: Client):
    page.open(mock, "#chains")
    page.press("Suspend ETH with settings")
    page.shows("dialog", "Suspend ETH")
    ActionChains(page.driver).send_keys(Keys.ESCAPE).perform()
    page.until(lambda: not page.all("dialog"), "the dialog is closed")
    focus = "return document.activeElement.getAttribute('aria-label')"
    assert page.driver.execute_script(focus) == "Suspend ETH with settings"


def test_contrast_and_names_hold_in_every_view(page: Page, mock: Client):
    order_id = submitted(mock)
    mock.get("/v1/getBridgeQuote", query=QUOTE.replace("USDT", "USDTT"))
    mock.control("POST", "/outages", {"chain": "FSN", "reason": "halted", "for": "2h"})
    mock.control("POST", "/outages", {"token": "USDC", "for": "2h"})
    mock.control("POST", "/faults", {"kind": "http-status", "status": 503})
    page.open(mock, "#chains")
    found = {}
    for place in (
        *("overview", "chains", f"orders/{order_id}", "journal/2", "faults", "money"),
        *("checks", "reports", "worlds"),
    ):
        page.go(place)
        view = place.partition("/")[0]
        page.shows("main h1", TITLES.get(view, view.capitalize()))
        if "/" in place:
            page.shows(".detail h2", " ")
        found[place] = barriers(page)
        page.scheme("dark")
        found[f"{place}, dark"] = barriers(page, "color-contrast")
        page.scheme("light")
    page.go("chains")
    page.press("Suspend ETH with settings")
    page.shows("dialog", "Suspend ETH")
    found["dialog"] = barriers(page)
    page.size(400)
    page.driver.get(f"http://127.0.0.1:{mock.port}/")
    found["front"] = barriers(page)
    assert {place: told for place, told in found.items() if told} == {}


def barriers(page: Page, *rules: str) -> list[str]:
    """Return what keeps people with other eyes, ears or hands out, as axe finds it."""
    if not page.driver.execute_script("return 'axe' in window"):
        page.driver.execute_script(AXE_FILE_PATH.read_text("utf-8"))
    found = page.driver.execute_async_script(
        """
        const [rules, done] = arguments;
        const chosen = rules.length ? { runOnly: rules } : {};
        axe.run(document, { resultTypes: ["violations"], ...chosen }).then(done);
        """,
        list(rules),
    )
    return [
        f"{one['id']}: {one['help']}: {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
        for one in found["violations"]
        for node in one["nodes"][:3]
    ]


def request_of(world: World, number: int) -> OrderRequest:
    """Return an order of ten USDT from ARB to BNB with a deposit of its own."""
    source, target = world.scenario.catalog.ends("USDT", "ARB", "BNB")
    return OrderRequest(
        generation=OrderGeneration.V2,
        kind=OrderKind.BRIDGE,
        source=source,
        target=target,
        amount=10_000_000,
        sender=WALLET,
        recipient=WALLET,
        cert_hash=f"0x{number:064x}",
    )


def test_ten_thousand_orders_are_as_quick_as_ten(page: Page, serve):
    running = serve()
    client = running.client
    world = running.service.worlds.get("default").world
    first = world.orders.submit(request_of(world, 0)).order.id
    for number in range(1, 10_000):
        world.orders.submit(request_of(world, number))
    page.open(client, "#orders")
    page.shows(".summary", "10000 orders")
    page.until(lambda: str(int(first) + 9_999) in page.text(".list-row"), "the newest")
    assert page.count(".list-row") < 60
    page.find(".list").click()
    ActionChains(page.driver).send_keys(Keys.END).perform()
    page.until(lambda: first in page.text(".list-row"), "the oldest")
    assert page.count(".list-row") < 60
    took = page.driver.execute_script(
        """
        const list = document.querySelector(".list");
        const begun = performance.now();
        for (let at = 0; at < 440000; at += 4400) {
            list.scrollTop = at;
            list.dispatchEvent(new Event("scroll"));
            list.getBoundingClientRect();
        }
        return performance.now() - begun;
        """
    )
    assert took < 2000


def test_eighty_chains_are_shown_and_followed(page: Page, serve):
    running = serve()
    worlds = running.service.worlds
    hosted = worlds.get("default")
    scenario = hosted.world.scenario
    more = [
        replace(
            chain, nickname=f"C{number}", index=1000 + number, v1_name=None, network=f"9{number}"
        )
        for number, chain in enumerate([*scenario.catalog.chains, *scenario.catalog.chains][:52])
    ]
    catalog = Catalog([*scenario.catalog.chains, *more], scenario.catalog.tokens)
    world = World(replace(scenario, catalog=catalog), wall_ms)
    worlds.put(replace(hosted, key="wide", world=world))
    client = Client(running.port, running.client.contract, prefix="/w/wide")
    page.open(client, "#chains")
    page.shows(".summary", "all 80 up")
    windows = [{"chain": chain.nickname, "for": "2h"} for chain in catalog.chains]
    client.control("POST", "/calendar", {"windows": windows})
    page.shows(".summary", "80 suspended, 0 up")
    page.fill("Find", "C51")
    assert page.text("tbody tr:not([hidden]) strong") == "C51"
    page.press("+1 h")
    page.shows("[data-chain=C51]", "1h")
    client.close()


def test_nothing_is_fetched_from_elsewhere_and_nothing_inline_runs(page: Page, mock: Client):
    page.open(mock)
    for view in VIEWS:
        page.go(view)
        page.shows("main h1", TITLES.get(view, view.capitalize()))
    fetched = page.driver.execute_script(
        "return performance.getEntriesByType('resource').map((one) => new URL(one.name).origin)"
    )
    assert set(fetched) == {f"http://127.0.0.1:{mock.port}"}
    ran = page.driver.execute_script(
        """
        const made = document.createElement("div");
        try { made.innerHTML = "<b>x</b>"; return "markup"; } catch (error) { return error.name; }
        """
    )
    assert ran == "TypeError"
    assert any("Trusted" in one for one in page.complaints())


@pytest.fixture
def elsewhere(page: Page) -> Iterator[int]:
    """A server of another origin with an empty page, which the page shows."""
    with OnePage(b"<!doctype html><title>wallet</title>") as port:
        page.driver.get(f"http://127.0.0.1:{port}/")
        yield port


def fetched(page: Page, url: str, options: dict[str, Any]) -> Any:
    """Return what a page gets that fetches something, or why it gets nothing."""
    return page.driver.execute_async_script(
        """
        const [url, options, done] = arguments;
        fetch(url, options).then(async (answer) => done({
            status: answer.status,
            body: await answer.text(),
            refusal: answer.headers.get("X-Mock-Refusal"),
        }), (error) => done({ error: String(error) }));
        """,
        url,
        options,
    )


def test_a_wallet_in_a_browser_calls_the_api_with_whatever_headers_it_has(
    page: Page, mock: Client, elsewhere: int
):
    url = f"http://127.0.0.1:{mock.port}{mock.prefix}/v1/getChain"
    names = ("traceparent", "sentry-trace", "Authorization", "X-Requested-With", "Cache-Control")
    headers = dict.fromkeys(names, "no-cache")
    told = fetched(page, url, {"headers": headers, "credentials": "include"})
    assert told["status"] == 200, told
    assert json.loads(told["body"])["code"] == 0
    wrong = fetched(page, url, {"method": "PUT", "headers": headers, "credentials": "include"})
    assert "wrong-method" in wrong["refusal"]
    seen = mock.control("GET", "/journal")["entries"]
    assert [one["request"]["method"] for one in seen] == ["OPTIONS", "GET", "OPTIONS", "PUT"]
    assert seen[0]["responder"] == "preflight"
    assert elsewhere != mock.port


def test_the_control_api_is_open_to_the_page_that_was_named_and_to_no_other(
    page: Page, serve, elsewhere: int
):
    named = f"http://127.0.0.1:{elsewhere}"
    options = {
        "method": "POST",
        "headers": {"Content-Type": "application/json", "X-Mock-Token": "right"},
        "body": '{"advance": "15s"}',
    }
    opened = serve(guard=Guard(token="right", origins=frozenset([named]))).client  # noqa: S106
    told = fetched(page, f"http://127.0.0.1:{opened.port}/__mock/clock", options)
    assert json.loads(told["body"])["ms"] == START_MS + 15_000
    closed = serve(guard=Guard(token="right")).client  # noqa: S106
    assert "error" in fetched(page, f"http://127.0.0.1:{closed.port}/__mock/clock", options)
    wrong = fetched(page, f"http://127.0.0.1:{opened.port}/__mock/clock", {"method": "GET"})
    assert (wrong["status"], "token" in wrong["body"]) == (401, True)
    page.complaints()
