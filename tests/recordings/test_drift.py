"""Drift: how the forms of a service's answers changed since they were recorded."""

import json
from dataclasses import replace

import pytest

from mockserver.conformance.comparison import Terms, compare
from mockserver.conformance.comparison.result import Level
from mockserver.conformance.options import Options
from mockserver.recordings import Recording, text_of
from tests.conftest import frozen
from tests.conftest import running as served
from tests.recordings.test_replay import exchange, polled, quote

OBSERVED = Options(dialect="observed")


def drift(old, new):
    return compare(str(old), str(new), OBSERVED, Terms(forms=True))


@pytest.fixture
def side(tmp_path):
    """Write recordings into a folder of that name."""

    def write(name, *exchanges):
        (tmp_path / name).mkdir(exist_ok=True)
        recording = Recording("one side", "captured", exchanges, source="https://service.example")
        (tmp_path / name / "kept.yaml").write_text(text_of(recording), "utf-8")
        return tmp_path / name

    return write


@pytest.fixture
def changes(side):
    """Return what changed from some answers to others."""

    def changed(old, new):
        causes = drift(side("old", *old), side("new", *new)).causes
        return [(one.level.value, one.kind.value, one.place) for one in causes]

    return changed


def price(**data):
    return exchange(
        "v2.getPrice", "GET", "/v1/getPrice", query={"symbol": "KAS"}, data=data, name="price"
    )


def test_other_values_are_no_drift(changes):
    assert changes([quote("10000000", "9700000000")], [quote("10000000", "9100000000")]) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"price": "0.11"}, {"price": "11"}, []),
        ({"price": "0.11"}, {"price": 1}, [("breaking", "type", "data.price")]),
        ({"price": "0.11"}, {}, [("breaking", "member-missing", "data.price")]),
        ({"price": "1"}, {"price": "1", "age": 3}, [("harmless", "member-extra", "data.age")]),
        ({"amount": "9700000000"}, {"amount": "9.7"}, [("may-break", "form", "data.amount")]),
        ({"timestamp": 1767225601}, {"timestamp": 1767225601000},
         [("may-break", "form", "data.timestamp")]),
        ({"a": {"b": {"c": 1}}}, {"a": {}}, [("breaking", "member-missing", "data.a.b")]),
        ({"list": [{"a": 1}, {"a": 2}]}, {"list": [{"a": 1}, {}]},
         [("may-break", "member-sometimes", "data.list[].a")]),
        ({"list": [{"a": 1}, {}]}, {"list": [{}]},
         [("harmless", "member-sometimes", "data.list[].a")]),
        ({"list": [{"a": 1}]}, {"list": []}, [("may-break", "list-empty", "data.list")]),
        ({"list": []}, {"list": [{"a": 1}]}, []),
        ({"a": None}, {"a": None}, []),
        ({"a": None}, {"a": True}, [("breaking", "type", "data.a")]),
        ({"a": 1}, {"a": 1.5}, []),
    ],
)  # fmt: skip
def test_each_kind_of_change_is_found_and_nothing_else(changes, old, new, expected):
    assert changes([price(**old)], [price(**new)]) == expected


def tokens(chain, *symbols):
    rows = [{"symbol": symbol} for symbol in symbols]
    return exchange("v2.getAssetsByChain", "GET", "/v1/getAssetsByChain", query={"chain": chain},
                    data={"version": 1, "list": rows}, name=f"of-{chain.lower()}")  # fmt: skip


def test_a_list_that_became_empty_is_told_though_another_has_items(changes):
    old = [tokens("ETH", "USDT"), tokens("BNB", "USDT", "DAI")]
    emptied = ("may-break", "list-empty", "data.list")
    assert changes(old, [tokens("ETH", "USDT"), tokens("BNB")]) == [emptied]
    assert changes(old, [tokens("ETH"), tokens("BNB")]) == [emptied]
    assert changes(old, [tokens("ETH", "DAI"), tokens("BNB", "DAI")]) == []
    # What was empty already, and what is asked for the first time, has not changed.
    assert changes([*old, tokens("CRO")], [*old, tokens("CRO"), tokens("FSN")]) == []


@pytest.mark.parametrize(
    "answer",
    [
        '{"code":0,"msg":"success","data":null}',
        '{"code":0,"msg":"success","data":{}}',
        '{"code":9,"msg":"no such order","data":null}',
        '{"code":0,"msg":"success","data":{"status":null,"timestamp":null,"amountOut":null}}',
    ],
)
def test_an_order_that_is_gone_is_one_line_whatever_the_service_says(changes, answer):
    known = polled("Succeeded", 1)
    lost = replace(known, response=replace(known.response, body=answer.encode()))
    assert changes([known], [lost]) == [("may-break", "gone", "")]


def test_names_that_are_data_are_no_members(changes):
    def assets(*chains):
        contracts = {chain: {"address": "0x" + "e" * 40, "decimals": 18} for chain in chains}
        data = {"version": 1, "list": [{"index": 5, "symbol": "USDT", "contracts": contracts}]}
        return exchange("v2.getAssets", "GET", "/v1/getAssets", data=data)

    assert changes([assets("ARB", "BNB")], [assets("ETH")]) == []


def test_a_request_that_is_refused_now_is_breaking(changes):
    refused = quote("10000000", "", raw='{"code":3,"msg":"no","data":{}}')
    assert changes([quote("10000000", "1")], [refused]) == [("breaking", "outcome", "")]


def test_a_request_that_is_taken_now_may_break(changes):
    refused = quote("10000000", "", raw='{"code":3,"msg":"no","data":{}}')
    assert changes([refused], [quote("10000000", "1")]) == [("may-break", "outcome", "")]


def test_a_longer_poll_of_an_order_is_no_drift(changes):
    assert changes([polled("Pending", 1)], [polled("Pending", 1), polled("Succeeded", 9)]) == []


def test_status_and_media_type_of_an_answer_count(changes):
    page = quote("1", "", raw="<p>", status=502, headers=(("Content-Type", "text/html"),))
    other = quote("1", "", raw="<p>", status=503, headers=(("Content-Type", "text/plain"),))
    assert changes([page], [other]) == [
        ("may-break", "http-status", ""),
        ("may-break", "media-type", ""),
    ]


def test_the_command_writes_text_and_json_and_ends_by_level(side, call):
    old, new = side("old", price(price="1")), side("new", price(price=1, more=True))
    run = lambda *more: call("recordings", "drift", str(old), str(new), *more)  # noqa: E731
    text = run()
    assert text.returncode == 1
    assert "breaking: type at data.price: another type" in text.stdout
    assert "kept.yaml#price" in text.stdout
    assert run("--fail-on", "never").returncode == 0
    written = json.loads(run("--json").stdout)
    assert [one["level"] for one in written["differences"]] == ["breaking", "harmless"]
    harmless = side("more", price(price="1", more=True))
    assert call("recordings", "drift", str(old), str(harmless)).returncode == 0
    same = call("recordings", "drift", str(old), str(old))
    assert (same.returncode, same.stdout.splitlines()[-1]) == (
        0,
        "no difference: 1 request compared",
    )


@pytest.mark.parametrize("named", ["v1", "v2"])
def test_what_a_restarted_service_does_not_know_is_one_line(named):
    documented = Options()
    with served(frozen()) as mock:
        url = f"http://127.0.0.1:{mock.port}"
        comparison = compare(named, url, documented, Terms(forms=True))
    [cause] = comparison.causes
    assert (cause.kind, cause.level) == ("gone", Level.MAY_BREAK)
    expected = {
        "v1": ["v1.getOrderDetailByHashAndEvmAddress"],
        "v2": ["v2.checkOrder", "v2.checkTicket", "v2.getAllTicketByAddress"],
    }
    assert sorted(cause.operations) == expected[named]


def test_a_live_service_gets_the_recorded_reading_requests():
    with served(frozen(breaks=("bridge-amounts-as-numbers",))) as mock:
        comparison = drift("v2", f"http://127.0.0.1:{mock.port}")
    assert comparison.right.submissions == 0
    breaking = [one for one in comparison.causes if one.level is Level.BREAKING]
    assert {one.operations for one in breaking} == {("v2.getBridgeQuote",)}
    assert {one.kind for one in breaking} == {"type"}


def test_recordings_are_a_side_of_any_comparison():
    with served(frozen()) as mock:
        url = f"http://127.0.0.1:{mock.port}"
        assert compare("v2/getChain", url).exit_code == 0
        assert compare(url, "v2/getChain").exit_code == 0


def test_a_service_that_is_away_has_not_stayed_the_same(call, dead_port):
    run = call("recordings", "drift", "v2/getPrice", f"http://127.0.0.1:{dead_port}")
    assert run.returncode == 3
    assert "the right side did not answer" in run.stdout
    assert run.stdout.endswith("nothing could be compared\n")


def test_a_service_that_answers_a_part_has_not_stayed_the_same(call):
    fault = {"kind": "empty-answer", "operation": "v2.getChain"}
    with served(frozen()) as mock:
        mock.client.control("POST", "/faults", fault)
        url = f"http://127.0.0.1:{mock.port}"
        run = call("recordings", "drift", "v2", url, "--fail-on", "never")
        assert drift("v2/getPrice", url).exit_code == 0
    assert run.returncode == 3, run.stdout
    assert "nobody knows whether it changed: v2.getChain" in run.stdout


def test_recordings_of_other_operations_cannot_be_compared(call):
    run = call("recordings", "drift", "v2/getPrice", "v2/getChain")
    assert (run.returncode, run.stdout.splitlines()[-1]) == (3, "nothing could be compared")


def supported(code, **data):
    body = json.dumps({"code": code, "msg": "success", "status": 0, "data": data})
    path = "/open/v1/base/getSupportChains"
    return exchange("v1.getSupportChains", "GET", path, raw=body, name="chains")


@pytest.mark.parametrize(
    ("codes", "more", "kinds", "notes"),
    [
        ((0, 0), {}, [], ["v1 is read as documented, as its successes have code 0, not 200"]),
        ((0, 0), {"version": "2"}, ["type"],
         ["v1 is read as documented, as its successes have code 0, not 200"]),
        ((200, 200), {"version": "2"}, ["type"], []),
        ((0, 200), {}, ["outcome"], []),
        ((7, 7), {}, [],
         ["both sides refused all requests of v1, so that little of it was compared"]),
    ],
)  # fmt: skip
def test_a_generation_is_read_in_the_dialect_of_its_successes(side, codes, more, kinds, notes):
    was, now = (supported(code, **{"version": 1, "list": []} | extra)
                for code, extra in zip(codes, ({}, more), strict=True))  # fmt: skip
    comparison = drift(side("old", was, price(price="1")), side("new", now, price(price="1")))
    assert [cause.kind.value for cause in comparison.causes] == kinds
    assert list(comparison.notes) == notes
    # Other comparisons read it in the same way.
    other = compare(str(side("old", was)), str(side("new", now)), OBSERVED)
    assert [note for note in notes if note not in other.notes] == []
    assert bool(other.causes) == bool(kinds)
