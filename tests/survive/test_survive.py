"""The search for failures that cost money: of functions and commands, and what it says of them."""

import asyncio
import base64
import contextlib
import fcntl
import hashlib
import json
import os
import queue
import re
import resource
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any
from urllib.parse import urljoin

import pytest

from mockserver import child_processes, resources
from mockserver.survive import CannotStart, FlowEnvironment, NotUsable, UnknownKind, survive
from mockserver.survive.api import searched
from mockserver.survive.flows import Ended, Process, Runnable, command_flow, function_flow
from mockserver.survive.possible_failures import Calls, UnknownFailure, kinds, kinds_named, named
from mockserver.survive.report import Subject
from mockserver.survive.report_formats import FORMATS
from mockserver.survive.runs import Lab, RunLimits
from mockserver.survive.search import SearchPlan
from mockserver.testing import MockSettings
from mockserver.validation import SchemaCheck
from tests.conftest import DEPOSIT, WALLET, certificate, eventually, order
from tests.survive.corpus import FOLDER as CLIENTS
from tests.survive.corpus import command_of

PAY = Path(__file__).parents[2] / "examples" / "python" / "pay.py"


def call(service: FlowEnvironment, path: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Evmaddress": WALLET, "Signature": "ab" * 65}
    request = urllib.request.Request(f"{service.base_url_v2}{path}", data, headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        told = json.load(answer)
    if told["code"]:
        raise RuntimeError(told["msg"])
    return told["data"]


def careful(service: FlowEnvironment) -> None:
    """Pay once, by the same deposit, and wait for the end."""
    number = None
    for _ in range(4):
        try:
            number = call(service, "/v1/submitOrder", order())["id"]
            break
        except (OSError, ValueError):
            time.sleep(1)
    for _ in range(40):
        if call(service, f"/v1/checkOrder?id={number}")["status"] == "Succeeded":
            return
        time.sleep(30)
    raise RuntimeError("not arrived")


def doubling(service: FlowEnvironment) -> None:
    """Pay a new deposit for each attempt."""
    for attempt in range(4):
        paid = certificate(certHash=f"0x{attempt + 1:064x}")
        try:
            call(service, "/v1/submitOrder", order(sourceCerts=paid))
        except (OSError, ValueError):
            continue
        return
    raise RuntimeError("no answer")


def believing(service: FlowEnvironment) -> None:
    """Take the number of an order for an arrival."""
    call(service, "/v1/submitOrder", order())


@pytest.fixture(scope="module")
def doubled():
    return survive(doubling, only=["lost", "refused"], reruns=0)


def test_a_second_deposit_is_found_with_what_it_cost_and_made_small(doubled):
    assert not doubled
    defect, refused = doubled.defects
    assert defect.result.name == "lost:once@submitOrder#1"
    assert defect.result.costs == ("10 USDT paid twice",)
    assert defect.result.outcome == "fooled"
    # It says that it was refused, and yet its deposit is paid and nobody submits it again.
    assert refused.result.costs == ("10 USDT paid without an order",)


@pytest.mark.parametrize(("flow", "outcome"), [(doubling, "fooled"), (careful, "survived")])
@pytest.mark.deep(quick=1)
def test_a_client_that_knows_only_the_host_of_its_address_is_searched_as_any_other(flow, outcome):
    def rooted(service: FlowEnvironment) -> None:
        below = urljoin(service.base_url_v2, "/v1/getChain").removesuffix("/v1/getChain")
        assert service.base_url == service.base_url_v2 == below
        flow(replace(service, base_url_v2=below))

    failures = ["lost:once@submitOrder#1", "gateway:once@submitOrder#1"]
    # Each has a world of its own, in which the other's failure does not strike.
    results = survive(rooted, replay=failures, jobs=2, reruns=0).report.results
    assert {name: results[name].outcome for name in failures} == dict.fromkeys(failures, outcome)


def test_a_quick_search_shows_the_smallest_failure_as_well():
    found = survive(doubling, only=["lost"], quick=True, reruns=0)
    assert [defect.result.name for defect in found.defects] == ["lost:once@submitOrder#1"]


def test_a_careful_flow_survives_and_its_sleeping_takes_no_time():
    begun = time.monotonic()
    found = survive(careful, only=["lost", "refused", "course", "late"], budget=12)
    assert found, str(found)
    # It sleeps for up to 20 minutes in each run.
    assert time.monotonic() - begun < 100
    outcomes = {name: result.outcome for name, result in found.report.results.items()}
    assert outcomes["lost:once@submitOrder#1"] == "survived"
    assert outcomes["course:dropped@orders#1"] == "noticed"


def trusting(service: FlowEnvironment) -> None:
    """Follow the order to its end, and take an answer without a status for a good one."""
    number = call(service, "/v1/submitOrder", order())["id"]
    while call(service, f"/v1/checkOrder?id={number}").get("status", "Succeeded") != "Succeeded":
        time.sleep(30)


def test_a_flow_that_ends_well_before_its_order_is_fooled_although_it_arrives():
    found = survive(trusting, only=["incomplete"], pairs=False)
    [defect] = found.defects
    assert defect.result.name == "incomplete:status@checkOrder#1"
    assert "it says that all is done while 1 order can still fail" in str(found)


def test_a_flow_that_believes_too_early_is_fooled():
    found = survive(believing, only=["course"], pairs=False)
    assert "course:dropped@orders#1" in {result.name for result in found.harm}


def test_money_that_is_wrong_without_any_failure_is_the_first_defect():
    def careless(service: FlowEnvironment) -> None:
        quote = "/v1/getBridgeQuote?amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB"
        call(service, quote)
        number = call(service, "/v1/submitOrder", order(toAddr="0x" + "0" * 40))["id"]
        call(service, f"/v1/checkOrder?id={number}")

    searched_flow = survive(careless, replay=["undisturbed"])
    [defect] = searched_flow.defects
    assert defect.result.name == "undisturbed"
    assert "is the zero address, of which nobody has the key" in defect.result.why
    subject = Subject("careless", "crosschain-mock survive -- x", None)
    [result] = json.loads(FORMATS["sarif"](searched_flow.report, subject))["runs"][0]["results"]
    assert result["ruleId"] == "undisturbed"
    assert "nothing goes wrong" in FORMATS["html"](searched_flow.report, subject)
    assert "when nothing goes wrong" in str(searched_flow)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that forks")
def test_a_run_that_only_the_wall_ends_is_no_harm():
    nobody_writes, writing = os.pipe()

    def endless(service: FlowEnvironment) -> None:
        try:
            call(service, "/v1/submitOrder", order())
        except OSError:
            os.read(nobody_writes, 1)

    # The undisturbed run has to end within it, on a machine that is busy as well.
    limits = RunLimits(wall_s=10)
    plan = SearchPlan(kinds_named(["lost"], ()), replay=["lost:once@submitOrder#1"])
    flow = function_flow(lambda: endless(FlowEnvironment.of_environment()), "endless")
    report = searched(flow, plan, MockSettings(clock="client"), limits)
    os.close(nobody_writes)
    os.close(writing)
    [result] = [found for found in report.results.values() if found.run.failures]
    assert (result.outcome, result.bad) == ("hung", False)
    assert "did not end within 10 s" in result.why


def test_what_never_struck_is_not_called_survived():
    found = survive(believing, replay=["lost:once@submitTicket#1"])
    assert [result.outcome for result in found.report.results.values()] == ["not reached"]


def duplicate(service: FlowEnvironment) -> None:
    """Take a refusal of the second attempt for an order that is there already."""
    try:
        call(service, "/v1/submitOrder", order())
    except OSError:
        with contextlib.suppress(RuntimeError):
            call(service, "/v1/submitOrder", order())
            careful(service)
        return
    careful(service)


def test_a_second_failure_strikes_the_call_after_that_of_the_first():
    second = "unsent:once@submitOrder#1+refused:once@submitOrder#2"
    found = survive(duplicate, replay=[second], reruns=0, jobs=0)
    assert found.report.results[second].outcome == "fooled"
    assert found.harm[0].costs == ("10 USDT paid without an order",)


def dismissing(service: FlowEnvironment) -> None:
    """Take any refusal for that of an order that is there already."""
    for _ in range(3):
        with contextlib.suppress(OSError):
            try:
                number = call(service, "/v1/submitOrder", order())["id"]
            except RuntimeError:
                return
            while call(service, f"/v1/checkOrder?id={number}")["status"] != "Succeeded":
                time.sleep(30)
            return
    raise RuntimeError("no answer")


def test_a_second_failure_strikes_what_retries_as_soon_as_each_kind_was_tried():
    tried = ["lost", "unsent", "refused", "killed"]
    names = list(survive(dismissing, only=tried, reruns=0).report.results)
    first = next(number for number, name in enumerate(names) if "+" in name)
    # `always` leaves no second call to strike, and tells that there is one after `once`.
    assert names[first] == "lost:once@submitOrder#1+refused:always@submitOrder#2"
    assert {name.partition(":")[0] for name in names[:first]} == set(tried)
    assert "unsent:once@submitOrder#1" in names[first:]
    alone = survive(dismissing, only=tried, reruns=0, pairs=False).report.results
    assert list(alone) == [name for name in names if name in alone]
    assert not any("+" in name for name in alone)


def quoted(service: FlowEnvironment) -> None:
    call(service, "/v1/getBridgeQuote?amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB")


def patient(service: FlowEnvironment) -> None:
    """Wait until the target can be used."""
    while any(
        chain["disabled"]
        for chain in call(service, "/v1/getChain")["list"]
        if chain["nickName"] == "BNB"
    ):
        time.sleep(300)


@pytest.mark.parametrize("anew", [False, True])
def test_who_waits_for_a_chain_has_to_ask_for_a_new_quote(anew):
    def flow(service: FlowEnvironment) -> None:
        quoted(service)
        patient(service)
        if anew:
            quoted(service)
        careful(service)

    closes = "suspended:target-closes@getBridgeQuote#1"
    result = survive(flow, replay=[closes]).report.results[closes]
    assert result.outcome == ("survived" if anew else "fooled")
    assert ("it was paid on a quote that was 3h old" in result.why) is not anew


def reporting(service: FlowEnvironment) -> None:
    """Give up with a ticket, and never submit again."""
    done = Path(os.environ["CROSSCHAIN_MOCK_STATE"]) / "given-up"
    if done.exists():
        raise RuntimeError("reported")
    try:
        careful(service)
    except RuntimeError:
        done.touch()
        call(service, "/v1/submitTicket", {"chain": "ARB", "hash": DEPOSIT["certHash"]})
        raise


def test_a_payment_that_is_given_up_with_a_ticket_is_no_harm_and_without_one_is():
    given_up = "refused:once@submitOrder#1"
    assert survive(reporting, replay=[given_up]).report.results[given_up].outcome == "noticed"
    alone = survive(careful, replay=[given_up], reruns=0)
    assert alone.report.results[given_up].outcome == "harmed"


FIRST_ORDER = "/v1/checkOrder?id=30000000001"
BESIDE = ("lost:once@submitOrder#1", "gateway:once@submitOrder#1", "killed:after@submitOrder#1",
          "twice:at-once@start")  # fmt: skip


@pytest.mark.parametrize("course", ["dropped", "stuck", "fail", "refund"])
@pytest.mark.deep
def test_what_the_service_owes_is_no_harm_beside_another_failure_if_the_flow_says_so(course):
    pairs = [f"course:{course}@orders#1+{second}" for second in BESIDE]
    told = survive(careful, replay=pairs, jobs=2).report.results
    assert {name: told[name].outcome for name in pairs} == dict.fromkeys(pairs, "noticed")
    unsaid = survive(believing, replay=pairs[2:], jobs=2).report.results
    assert {unsaid[name].outcome for name in pairs[2:]} <= {"fooled", "harmed"}


def test_an_order_that_is_short_is_no_harm_beside_a_lost_ticket_if_the_flow_says_so():
    pair = "course:partial@orders#1+lost:always@submitTicket#1"
    flow = command_flow(command_of(CLIENTS / "py/careful_swap.py"))
    plan = SearchPlan(kinds_named((), ()), replay=[pair], jobs=1)
    report = searched(flow, plan, MockSettings(clock="client"), RunLimits())
    result = report.results[pair]
    assert (result.outcome, result.costs) == ("noticed", ())
    assert all(start.ended.code for start in result.run.steps)


def forsaking(service: FlowEnvironment) -> None:
    """Give up for good without an answer, and never ask what has become of the order."""
    given_up = Path(os.environ["CROSSCHAIN_MOCK_STATE"]) / "given-up"
    if given_up.exists():
        raise RuntimeError("given up")
    given_up.touch()
    number = call(service, "/v1/submitOrder", order())["id"]
    while (status := call(service, f"/v1/checkOrder?id={number}")["status"]) != "Succeeded":
        if status == "Dropped":
            raise RuntimeError("dropped")
        time.sleep(30)


def test_an_order_that_fails_is_harm_where_nobody_has_asked_for_it_after_a_lost_answer():
    dropped = "course:dropped@orders#1"
    pair = f"{dropped}+lost:once@submitOrder#1"
    results = survive(forsaking, replay=[dropped, pair]).report.results
    assert (results[dropped].outcome, results[pair].outcome) == ("noticed", "harmed")
    assert results[pair].costs == ("10 USDT in an order that nobody followed",)


def test_what_a_flow_pays_twice_is_harm_beside_a_failure_of_the_service():
    def flow(service: FlowEnvironment) -> None:
        doubling(service)
        while (status := call(service, FIRST_ORDER)["status"]) != "Succeeded":
            if status == "Dropped":
                raise RuntimeError("it is dropped")
            time.sleep(30)

    pair = "course:dropped@orders#1+lost:once@submitOrder#1"
    result = survive(flow, replay=[pair], reruns=0).report.results[pair]
    assert result.outcome == "harmed"
    assert "10 USDT paid twice" in result.costs


def test_an_answer_that_is_late_times_out_in_the_clients_time():
    def hasty(service: FlowEnvironment) -> None:
        doubling(service)

    found = survive(hasty, replay=["late:once@submitOrder#1"], reruns=0)
    [result] = found.report.results.values()
    # It gave up after ten seconds of the world, and paid again.
    assert result.outcome == "fooled"


def test_threads_that_wait_sleep_for_no_longer_than_the_first_of_them():
    def flow(service: FlowEnvironment) -> None:
        begun = time.monotonic()
        answers: queue.Queue[list[float]] = queue.Queue()
        looks: list[float] = []

        def look(left: int) -> None:
            call(service, "/v1/getChain")
            looks.append(time.monotonic() - begun)
            if left:
                threading.Timer(5, look, [left - 1]).start()
            else:
                answers.put(looks)

        look(6)
        assert answers.get(timeout=86_400) is looks
        expected = pytest.approx([0, 5, 10, 15, 20, 25, 30], abs=0.5)
        assert looks == expected
        believing(service)

    assert survive(flow, replay=["clock:ahead@getChain#7"])


def test_an_asynchronous_flow_can_be_searched_and_sleeps_in_the_worlds_time():
    async def flow(service: FlowEnvironment) -> None:
        begun = time.time()
        await asyncio.sleep(6 * 3600)
        assert time.time() - begun >= 6 * 3600
        believing(service)

    assert survive(flow, replay=["down:once@submitOrder#1"])


def test_a_client_that_is_killed_is_started_again_with_its_state():
    def counted(service: FlowEnvironment) -> None:
        starts = service.state / "starts"
        starts.write_text(starts.read_text() + "x" if starts.exists() else "x")
        believing(service)
        if starts.read_text() == "x":
            # Only a client that is killed at its submission does not come here.
            (service.state / "first").touch()

    found = survive(counted, replay=["killed:after@submitOrder#1"])
    [result] = found.report.results.values()
    assert (result.outcome, len(result.run.steps)) == ("noticed", 2)
    assert result.run.first.ended.code == -9


class LateStart:
    """A flow whose start returns when its client is as far as it comes, as on a busy machine."""

    def __init__(self, flow: Runnable) -> None:
        self.flow, self.name, self.close = flow, flow.name, flow.close

    def start(self, run: str, environment: Mapping[str, str], output: Path) -> Process:
        process = self.flow.start(run, environment, output)
        submits = Path(environment["CROSSCHAIN_MOCK_STATE"]) / "submits"
        looks: list[bool] = []

        def waits() -> bool:
            looks.append(submits.exists() and bool(child_processes.rests(process.pid)))
            return process.is_over or (len(looks) >= 5 and all(looks[-5:]))

        eventually(waits, "the client waits for the answer to its submission")
        return process


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows who waits")
def test_a_client_is_killed_before_its_call_is_answered_however_late_its_start_returns():
    def hasty() -> None:
        service = FlowEnvironment.of_environment()
        (service.state / "submits").touch()
        believing(service)

    killed = "killed:after@submitOrder#1"
    plan = SearchPlan(kinds_named(["killed"], ()), replay=[killed], jobs=1)
    flow = LateStart(function_flow(hasty, "hasty"))
    report = searched(flow, plan, MockSettings(clock="client"), RunLimits(reruns=0))
    assert report.results[killed].run.first.ended == Ended(-9, "")


@pytest.mark.parametrize(
    ("flow", "sentence"),
    [
        (lambda: None, "sent no request to the mock"),
        (lambda service: call(service, "/v1/checkOrder?id=1"), "fails when nothing goes wrong"),
        (lambda service: (call(service, "/v1/getChain"), os._exit(3)), "it exits with 3"),
    ],
)
def test_a_flow_that_cannot_be_searched_is_a_sentence(flow, sentence):
    with pytest.raises(NotUsable, match=sentence):
        survive(flow)


def test_unknown_kinds_and_failures_are_sentences():
    for kinds_unknown in (["lots"], "course,lots"):
        with pytest.raises(UnknownKind, match="did you mean 'lost'"):
            survive(believing, only=kinds_unknown)
    with pytest.raises(UnknownKind, match="',' is no kind of failure; there are lost"):
        survive(believing, skip=",")
    with pytest.raises(UnknownFailure, match="is no failure"):
        survive(believing, replay=["lost:never@submitOrder#1"])


def test_two_searches_give_the_same_bytes(doubled):
    again = survive(doubling, only=["lost", "refused"], reruns=0)
    subject = Subject("doubling", "crosschain-mock survive -- x", None)
    for name, write in FORMATS.items():
        assert write(again.report, subject) == write(doubled.report, subject), name


@pytest.mark.parametrize(
    "file",
    [
        "py/queue_keyed_by_minute.py",
        "py/aio_timeout_pays_again.py",
        "fourth/gather_cancels.py",
        "fourth/careful_threads.py",
        *(
            pytest.param(
                file, marks=pytest.mark.skipif(not shutil.which("node"), reason="needs Node")
            )
            for file in ("js/race-with-timer.mjs", "seventh/pool-forgets-a-job.mjs")
        ),
    ],
)
@pytest.mark.deep(quick=1)
def test_two_searches_of_a_command_give_the_same_bytes(file):
    """With two runs at a time: one that restarts, two that ask at once, and one of timers."""

    def reports() -> dict[str, str]:
        plan = SearchPlan(kinds_named(["lost", "refused", "late"], ()), budget=5, jobs=2)
        flow = command_flow(command_of(CLIENTS / file))
        report = searched(flow, plan, MockSettings(clock="client"), RunLimits())
        subject = Subject(file, "crosschain-mock survive -- client", None)
        return {name: write(report, subject) for name, write in FORMATS.items()}

    first, second = reports(), reports()
    assert first == second
    assert {"json", "html", "sarif"} <= set(first)


AT_ONCE = """
import json, os, subprocess, sys, threading, time, urllib.request
BASE = os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"]

def ask(chain):
    for look in range(4):
        url = f"{BASE}/v1/getAssetsByChain?chain={chain}"
        json.load(urllib.request.urlopen(url, timeout=20))
        time.sleep(5)

beside = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if SPINS else None
askers = [threading.Thread(target=ask, args=(chain,)) for chain in ("ARB", "BNB")]
for thread in askers:
    thread.start()
for thread in askers:
    thread.join()
if beside:
    beside.kill()
    beside.wait()
"""


@pytest.mark.parametrize(
    ("spins", "in_turn"),
    [
        (False, False),
        pytest.param(False, True, marks=pytest.mark.deep),
        pytest.param(True, True, marks=pytest.mark.deep),
    ],
)
def test_requests_at_once_come_in_the_same_order_each_time(tmp_path, spins, in_turn):
    """A client of which a part never rests has no turns; it is run as it is."""
    client = tmp_path / "client.py"
    client.write_text(AT_ONCE.replace("SPINS", str(spins)))
    flow = command_flow([sys.executable, str(client)])
    lab = Lab(
        flow, MockSettings(clock="client"), RunLimits(wall_s=3 if spins else 60, in_turn=in_turn)
    )
    try:
        runs = [lab.run() for _ in range(2 if spins else 4)]
    finally:
        lab.close()
    assert all(run.first.good and len(run.lines) == 8 for run in runs)
    assert spins or {tuple(line.text for line in run.lines) for run in runs} == {
        tuple(line.text for line in runs[0].lines)
    }


AT_ONCE_IN_NODE = """
import http from "node:http";
const BASE = process.env.CROSSCHAIN_MOCK_BASE_URL_V2;
const agent = new http.Agent({ keepAlive: true });
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const ask = {
  fetch: async (path, stop) => (await fetch(BASE + path, { signal: stop })).json(),
  http: (path) => new Promise((done, failed) => {
    http.get(BASE + path, { agent }, (answer) => {
      let text = "";
      answer.on("data", (part) => (text += part)).on("end", () => done(JSON.parse(text)));
    }).on("error", failed);
  }),
};
// Asked for together, and read when all have begun to come, from the last to the first.
const list = (chain) => fetch(`${BASE}/v1/getAssetsByChain?chain=${chain}`);
const lists = await Promise.all(["ARB", "BNB", "ETH"].map(list));
for (const answer of lists.reverse()) await answer.json();
await Promise.all([1, 2, 3, 4].map(async (number) => {
  for (let look = 0; look < 4; look++) {
    const pair = `amount=${number}0000000&symbol=USDT&fromChain=ARB&toChain=BNB`;
    const way = ask[number % 2 ? "fetch" : "http"];
    await way(`/v1/getBridgeQuote?${pair}`, AbortSignal.timeout(20_000)).catch(() => sleep(3000));
    await sleep(5000 + number);
  }
}));
"""


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node")
@pytest.mark.parametrize(
    "failure",
    [
        "late:once@getBridgeQuote#1",
        *(
            pytest.param(text, marks=pytest.mark.deep)
            for text in (
                "late:once@getBridgeQuote#2",
                "late:once@getAssetsByChain#2",
                "lost:once@getBridgeQuote#3",
                "unreadable:truncated@getAssetsByChain#1",
            )
        ),
    ],
)
def test_what_node_asks_at_once_comes_in_the_same_order_each_time(tmp_path, failure):
    client = tmp_path / "client.mjs"
    client.write_text(AT_ONCE_IN_NODE)
    lab = Lab(command_flow(["node", str(client)]), MockSettings(clock="client"), RunLimits())
    try:
        base = lab.run()
        failures = named(failure, Calls(base.operations, base.moved), lab.contract)
        seen = [[(line.at_ms, line.text, line.came) for line in lab.run(failures).lines]
                for _ in range(3)]  # fmt: skip
    finally:
        lab.close()
    assert base.at_once
    assert not base.unordered
    assert len(base.lines) == 19
    assert all(lines == seen[0] for lines in seen)


AT_ITS_OWN_PACE = """
import http from "node:http";
const BASE = process.env.CROSSCHAIN_MOCK_BASE_URL_V2;
const chains = () => fetch(`${BASE}/v1/getChain`).then((answer) => answer.json());
const ticket = `${BASE}/v1/submitTicket`;
const answered = (request) => new Promise((done, failed) =>
  request.on("error", failed).on("response", (answer) => answer.resume().on("end", done)));
const ways = {
  async "written when another has been answered"() {
    const open = http.request(ticket, { method: "POST" });
    const over = answered(open);
    await chains();
    open.end("{}");
    await over;
  },
  async "given up before its turn"() {
    const sent = [1, 2, 3].map(() => http.get(`${BASE}/v1/getChain`));
    sent[1].destroy(new Error("not any more"));
    const ends = await Promise.allSettled(sent.map(answered));
    if (String(ends.map(({ status }) => status)) !== "fulfilled,rejected,fulfilled") throw ends;
  },
  async "written while it sleeps"() {
    async function* parts() {
      for (const part of ["{", "}"]) {
        await new Promise((done) => setTimeout(done, 1000));
        yield Buffer.from(part);
      }
    }
    const upload = fetch(ticket, { method: "POST", body: parts(), duplex: "half" });
    await Promise.all([upload, chains()]);
  },
};
await ways[process.argv[2]]();
"""


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node")
@pytest.mark.parametrize(
    ("way", "seen"),
    [
        (
            "written while it sleeps",
            [(0, "GET /v1/getChain"), (2000, "POST /v1/submitTicket")],
        ),
        (
            "written when another has been answered",
            [(0, "GET /v1/getChain"), (0, "POST /v1/submitTicket")],
        ),
        ("given up before its turn", [(0, "GET /v1/getChain"), (0, "GET /v1/getChain")]),
    ],
)
@pytest.mark.deep(quick=1)
def test_what_node_writes_late_or_gives_up_keeps_no_other_request_waiting(tmp_path, way, seen):
    """Whatever waits for nothing until its time is up counts as the machine's order."""
    client = tmp_path / "client.mjs"
    client.write_text(AT_ITS_OWN_PACE)
    lab = Lab(command_flow(["node", str(client), way]), MockSettings(clock="client"), RunLimits())
    try:
        run = lab.run()
    finally:
        lab.close()
    assert run.first.good, run.first.ended.last_lines
    assert not run.unordered
    began = run.lines[0].at_ms
    assert [(line.at_ms - began, line.text.split(" (")[0]) for line in run.lines] == seen


SPINS_BESIDE = """
import os, threading, urllib.request

def ask():
    urllib.request.urlopen(f"{os.environ['CROSSCHAIN_MOCK_BASE_URL_V2']}/v1/getChain").read()

over = []
def beside():
    while BUSY and not over:
        pass

threads = [threading.Thread(target=ask) for _ in range(2)]
other = threading.Thread(target=beside)
for thread in (other, *threads):
    thread.start()
for thread in threads:
    thread.join()
over.append(True)
"""


def undisturbed(client):
    """Run a client once, which has to be well."""
    flow = command_flow([sys.executable, str(client)])
    lab = Lab(flow, MockSettings(clock="client"), RunLimits())
    try:
        run = lab.run()
    finally:
        lab.close()
    assert run.first.good, run.first.ended.last_lines
    return run


@pytest.mark.parametrize("busy", [False, pytest.param(True, marks=pytest.mark.deep)])
def test_a_client_whose_requests_come_in_the_machines_order_is_told_as_that(tmp_path, busy):
    """Nobody can tell when it is a thread's turn while another one is always at work."""
    client = tmp_path / "client.py"
    client.write_text(SPINS_BESIDE.replace("BUSY", str(busy)))
    run = undisturbed(client)
    assert (len(run.lines), run.unordered) == (2, busy)


SLEEPS_BESIDE = """
import asyncio, os, selectors

waited, real = 0.0, selectors.DefaultSelector.select

def select(self, timeout=None):
    global waited
    events = real(self, timeout)
    if not events:
        waited += timeout or 0
    return events

selectors.DefaultSelector.select = select

async def main():
    host, port = os.environ["CROSSCHAIN_MOCK_URL"].split("/")[2].split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET /v1/getChain HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n".encode())
    await reader.read(1)
    for _ in range(1000):
        await asyncio.sleep(60)
    writer.close()

asyncio.run(main())
assert waited < 1, f"{waited} s"
"""


def test_a_client_that_sleeps_beside_a_kept_connection_waits_for_nothing(tmp_path):
    """A look at what may come by itself takes 2 ms, and nothing comes by itself from the mock."""
    client = tmp_path / "client.py"
    client.write_text(SLEEPS_BESIDE)
    undisturbed(client)


PAYS_TWO = """
import sys, threading
sys.path.insert(0, PLACE)
from common import CUSTOMER, get, load, order, post, save, transfer

bodies = load("bodies.json", [])
for number in range(2) if not bodies else ():
    amount = (20 + number) * 10**6
    get("getBridgeQuote", amount=amount, symbol="USDT", fromChain="ARB", toChain="BNB")
    tx = transfer("ARB", "USDT", amount)
    bodies.append(order(tx, amount, "ARB", 5, "BNB", 5, CUSTOMER))
save("bodies.json", bodies)
done = []

def submit(body):
    done.append(post("submitOrder", body)["id"])

threads = [threading.Thread(target=submit, args=(body,)) for body in bodies]
for thread in threads:
    thread.start() if AT_ONCE else thread.run()
for thread in threads if AT_ONCE else ():
    thread.join()
sys.exit(len(done) != 2)
"""


@pytest.mark.parametrize("at_once", [True, pytest.param(False, marks=pytest.mark.deep)])
def test_who_was_killed_beside_a_payment_has_not_paid_on_an_old_quote(tmp_path, at_once):
    """The mock hears of the second payment six hours later, which threads cannot help."""
    client = tmp_path / "client.py"
    text = PAYS_TWO.replace("PLACE", repr(str(CLIENTS / "py")))
    client.write_text(text.replace("AT_ONCE", str(at_once)))
    failure = "killed:before@submitOrder#1"
    plan = SearchPlan(kinds_named(["killed"], ()), replay=[failure])
    flow = command_flow([sys.executable, str(client)])
    report = searched(flow, plan, MockSettings(clock="client"), RunLimits())
    assert ("other-quote/old" in report.results[failure].kinds) is not at_once


def _no_lock(folder: Path) -> None:
    """Let anybody in."""


def _lock(folder: Path) -> IO[str]:
    kept = (folder / "lock").open("w")
    fcntl.flock(kept, fcntl.LOCK_EX)
    return kept


def _spin(folder: Path) -> None:
    while True:
        try:
            (folder / "lock").mkdir()
        except FileExistsError:
            time.sleep(1)
        else:
            return


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows what waits for a lock")
@pytest.mark.parametrize(
    ("lock", "outcome"),
    [
        (_no_lock, "fooled"),
        (_lock, "survived"),
        # 12 seconds, and the same way as without a lock.
        pytest.param(_spin, "survived", marks=pytest.mark.deep),
    ],
)
@pytest.mark.deep(quick=1)
def test_two_at_once_come_to_the_same_each_time_however_busy_the_machine_is(lock, outcome):
    def once(service: FlowEnvironment) -> None:
        kept = lock(service.state)
        time.sleep(3)
        call(service, "/v1/getChain")
        if not (service.state / "paid").exists():
            paid = certificate(certHash=f"0x{os.urandom(32).hex()}")
            call(service, "/v1/submitOrder", order(sourceCerts=paid))
            (service.state / "paid").touch()
        del kept
        if lock is _spin:
            (service.state / "lock").rmdir()

    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        found = [survive(once, replay=["twice:at-once@start"], reruns=0) for _ in range(2)]
    finally:
        for process in busy:
            process.kill()
            process.wait()
    results = [search.report.results["twice:at-once@start"] for search in found]
    assert {str(result.outcome) for result in results} == {outcome}
    lines = [[(line.at_ms, line.operation) for line in result.run.lines] for result in results]
    assert lines[0] == lines[1]


SHELL_THAT_PAYS_ONCE = """
cd "$CROSSCHAIN_MOCK_STATE"; v2="$CROSSCHAIN_MOCK_BASE_URL_V2/v1"
exec 9> lock; for try in $(seq 100); do LOCK && break; sleep 30; done; LOCK || exit 3
curl -s "$v2/getBridgeQuote?amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB" > quote
own=$(printf %07d $$ | sed 's/./3&/g')
test -e paid || echo 'BODY' | sed "s/NUMBER/$own/" |
  curl -s "$v2/submitOrder" -H 'Evmaddress: WALLET' -H "Signature: SIGN" -d @- > new.$$
test -e paid || mv new.$$ paid
for look in $(seq 60); do
  curl -s "$v2/checkOrder?id=$(grep -o '"id":"[^"]*' paid | cut -c7-)" > status
  grep -q Succeeded status && exit 0; sleep 60
done
exit 1
"""


@pytest.mark.skipif(
    sys.platform != "linux" or not all(map(shutil.which, ("cc", "curl", "flock"))),
    reason="needs what a client in a shell uses",
)
@pytest.mark.parametrize(
    ("lock", "outcome"),
    [("flock -n 9", "survived"), pytest.param("true", "fooled", marks=pytest.mark.deep)],
)
def test_two_shells_at_once_do_not_move_the_time_of_the_one_that_works(tmp_path, lock, outcome):
    """Each `sleep` is a process that knows nothing of the other shell's `curl`."""
    # Each process that pays has a deposit of its own, by its number in the hash.
    paid = certificate(certHash=f"0x{7:064x}").replace("30" * 6 + "37", "NUMBER")
    text = SHELL_THAT_PAYS_ONCE.replace("LOCK", lock).replace("WALLET", WALLET)
    text = text.replace("SIGN", "ab" * 65).replace("BODY", json.dumps(order(sourceCerts=paid)))
    client = tmp_path / "pay.sh"
    client.write_text(text)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        plan = SearchPlan(kinds_named(["twice"], ()), replay=["twice:at-once@start"])
        flow = command_flow(["bash", str(client)])
        report = searched(flow, plan, MockSettings(clock="client"), RunLimits(reruns=0))
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert str(report.results["twice:at-once@start"].outcome) == outcome


def test_reports_have_their_form(doubled):
    form = json.loads((resources.schemas() / "meta" / "survive.json").read_text("utf-8"))
    report = json.loads(json.dumps(doubled.as_json()))
    assert not SchemaCheck(form, compiled=False).violations(report)
    subject = Subject("<doubling>", "crosschain-mock survive -- x", None)
    page = FORMATS["html"](doubled.report, subject)
    assert "10 USDT paid twice" in page
    assert "<doubling>" not in page
    assert "failures struck (" in page
    assert "<th scope=row><code>submitOrder#1</code>" in page
    assert "See it again:</p><pre class=wrap>crosschain-mock survive --replay" in page
    (style,) = re.findall(r"<style>(.*?)</style>", page)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"content=\"default-src 'none'; style-src 'sha256-{digest}';" in page
    assert 'failures="' in FORMATS["junit"](doubled.report, subject)
    assert json.loads(FORMATS["sarif"](doubled.report, subject))["runs"][0]["results"]
    compile(FORMATS["test"](doubled.report, subject), "test", "exec")


def test_the_space_can_be_set_in_a_world_of_its_own():
    assert len(kinds()) >= 14
    quick = kinds_named((), (), quick=True)
    assert 4 <= len(quick) < len(kinds())
    assert kinds_named(["late"], ())[0].name == "late"


@pytest.mark.parametrize("only", ["late,lost", "lost late", ["late", "lost"], ("lost, late,ids",)])
def test_several_kinds_are_named_in_one_text(only):
    assert [kind.name for kind in kinds_named(only, "ids")] == ["lost", "late"]


def run(
    *words: str, timeout: float = 300, cwd: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "mockserver", "survive", *words]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, check=False, cwd=cwd
    )


@pytest.mark.deep
def test_a_quick_search_takes_less_than_three_seconds():
    # The cores may be busy with other things, so that only what they do for it counts.
    def spent():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    words = ("--quick", "--", sys.executable, str(PAY))
    # Byte code is made once, as at the installation.
    assert run(*words).returncode == 0
    before = spent()
    assert run(*words).returncode == 0
    assert spent() - before < 3


def test_the_naive_wallet_of_the_examples_pays_twice_and_the_other_does_not(tmp_path):
    report = tmp_path / "report.json"
    words = ["--only", "lost,refused", "--report", f"json={report}"]
    naive = run(*words, "--", sys.executable, str(PAY), "--naive")
    assert naive.returncode == 1, naive.stderr
    assert "10 USDT paid twice" in naive.stdout
    assert "lost:once@submitOrder#1" in naive.stdout
    resumed = run("--only", "lost", "--resume", str(report), "--", sys.executable, str(PAY))
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert "0 defects" in resumed.stdout


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--", "/no/such/program"], 127, "is not found"),
        (["--only", "lots", "--", "true"], 2, "did you mean 'lost'"),
        (["--", "false"], 2, "sent no request to the mock"),
        # Read as the word above is, before anything starts.
        pytest.param(
            *(["--report", "pdf=x", "--", "true"], 2, "write FORMAT=FILE"), marks=pytest.mark.deep
        ),
        pytest.param(
            *(["--clock", "slow", "--", "true"], 2, "none of real"), marks=pytest.mark.deep
        ),
    ],
)
@pytest.mark.deep(quick=2)
def test_a_command_that_cannot_be_searched_is_a_sentence(words, code, sentence):
    ended = run(*words)
    assert ended.returncode == code, ended.stderr
    assert sentence in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.deep(quick=1)
def test_a_program_of_another_language_is_started_anew(tmp_path):
    address = "os.environ['CROSSCHAIN_MOCK_BASE_URL_V2'] + '/v1/getChain'"
    script = f"import os, urllib.request\nurllib.request.urlopen({address}).read()"
    client = tmp_path / "client"
    client.write_text(f"#!{sys.executable}\n{script}\n")
    client.chmod(0o755)
    plan = SearchPlan(kinds_named(["clock"], ()))
    found = searched(command_flow([str(client)]), plan, MockSettings(clock="client"), RunLimits())
    assert {str(result.outcome) for result in found.results.values()} == {"survived"}


def test_a_damaged_report_to_resume_from_is_a_sentence(tmp_path):
    damaged = tmp_path / "report.json"
    damaged.write_text('{"format": "crosschain-mock/survive@0"}')
    ended = run("--resume", str(damaged), "--", "true")
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert str(damaged) in ended.stderr


SLEEPER = """
import time, urllib.request, os
begun = time.time()
urllib.request.urlopen(os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"] + "/v1/getChain").read()
time.sleep(6 * 3600)
assert time.time() - begun >= 6 * 3600
"""
NODE_SLEEPER = """
const { setTimeout: later } = require("node:timers/promises");
(async () => {
  const begun = Date.now();
  await (await fetch(process.env.CROSSCHAIN_MOCK_BASE_URL_V2 + "/v1/getChain")).json();
  await later(6 * 3600e3);
  const late = AbortSignal.timeout(10_000);
  process.exitCode = Date.now() - begun >= 6 * 3600e3 && !late.aborted ? 0 : 5;
})();
"""


def test_run_has_the_clock_of_the_client_as_well():
    begun = time.monotonic()
    command = [sys.executable, "-m", "mockserver", "run", "--clock", "client", "--"]
    ended = subprocess.run(
        [*command, sys.executable, "-c", SLEEPER],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert time.monotonic() - begun < 200


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a.example", "a.example,127.0.0.1,localhost"),
        pytest.param("*", "*", marks=pytest.mark.deep),
    ],
)
def test_run_has_no_proxy_between_the_client_and_the_mock(before, after):
    # What is named there already stays.
    code = f"""
import os, urllib.request
assert os.environ["NO_PROXY"] == {after!r}
urllib.request.urlopen(os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"] + "/v1/getChain").read()
"""
    command = [sys.executable, "-m", "mockserver", "run", "--", sys.executable, "-c", code]
    proxies = {"http_proxy": "http://127.0.0.1:9", "NO_PROXY": before}
    ended = subprocess.run(
        command,
        env={**os.environ, **proxies},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node")
@pytest.mark.deep(quick=1)
def test_a_client_in_node_moves_the_world_in_place_of_sleeping(tmp_path):
    client = tmp_path / "client.cjs"
    client.write_text(NODE_SLEEPER)
    ended = run("--only", "clock", "--budget", "1", "--", "node", str(client))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "1 survived" in ended.stdout


NODE_BESIDE_A_BUSY_MOCK = """
const { spawnSync } = require("node:child_process");
process.kill(process.ppid, "SIGSTOP");
spawnSync("sh", ["-c", `(sleep 3; kill -CONT ${process.ppid}) > /dev/null 2>&1 &`]);
const control = new AbortController();
const url = process.env.CROSSCHAIN_MOCK_BASE_URL_V2 + "/v1/getChain";
const timer = setTimeout(() => control.abort(), 30_000);
fetch(url, { signal: control.signal })
  .then((answer) => console.log(answer.status), (error) => console.log(error.name))
  .finally(() => clearTimeout(timer));
"""


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node")
@pytest.mark.deep
def test_a_mock_that_has_no_core_for_seconds_is_no_slow_service(tmp_path):
    """It answers three seconds of the wall later, and at once by the clock that times out."""
    client = tmp_path / "client.cjs"
    client.write_text(NODE_BESIDE_A_BUSY_MOCK)
    command = [sys.executable, "-m", "mockserver", "run", "--clock", "client", "--", "node", client]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (ended.stdout, ended.returncode) == ("200\n", 0), ended.stderr


SHELL_SLEEPER = """
begun=$(date +%s); sleep 3600; sleep 18000.5; test $(($(date +%s) - begun)) -ge 21600
"""
SHELL_WITH_A_LATE_ANSWER = """
curl -s -o /dev/null $CROSSCHAIN_MOCK_URL/__mock/faults -d '{"kind": "latency", "delay": "90s"}'
begun=$(date +%s); curl -s -m 20 $CROSSCHAIN_MOCK_BASE_URL_V2/v1/getChain
echo $? $(($(date +%s) - begun))
curl -s -m 200 -o /dev/null $CROSSCHAIN_MOCK_BASE_URL_V2/v1/getChain
echo $? $(($(date +%s) - begun))
"""


def in_a_shell(script: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "mockserver", "run", "--clock", "client", "--", "sh", "-c"]
    return subprocess.run(
        [*command, script], capture_output=True, text=True, timeout=120, check=False
    )


needs_compiler = pytest.mark.skipif(
    not sys.platform.startswith("linux") or not shutil.which("cc"), reason="needs a C compiler"
)


@needs_compiler
def test_a_program_in_another_language_sleeps_in_the_worlds_time():
    """`date` and `sleep` are two programs in C, which share the page of the clock."""
    ended = in_a_shell(SHELL_SLEEPER)
    assert ended.returncode == 0, ended.stderr


@needs_compiler
@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl")
@pytest.mark.deep
def test_a_late_answer_is_late_for_a_program_in_another_language():
    """curl gives up after 20 seconds of the world, and waits for 90 where it may."""
    ended = in_a_shell(SHELL_WITH_A_LATE_ANSWER)
    assert ended.stdout.split() == ["28", "20", "0", "110"], ended.stderr


PAYING = f"""
import json, os, subprocess, sys, time, urllib.request
body = json.dumps({order()!r}).encode()
head = {{"Evmaddress": "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A", "Signature": "ab" * 65}}
url = os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"] + "/v1/submitOrder"
urllib.request.urlopen(urllib.request.Request(url, body, head)).read()
"""


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        ("assert sys.stdin.read() == ''", "0 defects"),
        ("os._exit(0)", "0 defects"),
        ("assert os.path.isabs(__file__) and not os.path.isabs(sys.argv[0])", "0 defects"),
        ("subprocess.Popen(['sleep', '30'])", "leaves processes behind, which were ended"),
        ("sys.exit('no money')", "fails when nothing goes wrong: it exits with 1"),
        ("os.kill(os.getpid(), 9)", "fails when nothing goes wrong: signal 9 ends it"),
    ],
)
@pytest.mark.deep(quick=3)
def test_a_command_with_an_odd_end_is_judged_or_a_sentence(tmp_path, ending, words):
    program = tmp_path / "client.py"
    program.write_text(PAYING + ending + "\n")
    ended = run("--only", "gateway", "--", sys.executable, program.name, cwd=tmp_path)
    assert words in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
    assert ended.returncode in (0, 2, 3)


def test_termination_ends_what_runs_and_leaves_nothing_behind(tmp_path):
    program = tmp_path / "client.py"
    program.write_text(PAYING + "open(sys.argv[1], 'a').close()\ntime.sleep(60)\n")
    begun = tmp_path / "begun"
    command = [sys.executable, "-m", "mockserver", "survive", "--clock", "real", "--"]
    searching = subprocess.Popen(
        [*command, sys.executable, str(program), str(begun)],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    while not begun.exists():
        assert searching.poll() is None
        time.sleep(0.05)
    searching.terminate()
    _, error = searching.communicate(timeout=60)
    assert searching.returncode == 143
    assert "Traceback" not in error
    assert not list(tmp_path.glob("crosschain-mock-survive-*"))


def test_a_folder_that_cannot_be_made_is_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(CannotStart, match="no folder for the state of runs can be made"):
        survive(doubling, only=["lost"])


@pytest.mark.deep(quick=1)
def test_the_example_pays_without_a_folder_of_its_own():
    ended = subprocess.run(
        # Its sleeping moves the world.
        [sys.executable, "-m", "mockserver", "run", "--clock", "client", "--", sys.executable, PAY],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (ended.returncode, "Succeeded" in ended.stdout) == (0, True), ended.stderr
