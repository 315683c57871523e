"""Two services held against each other: what differs, what only looks so, and what is sent."""

import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockserver import contract, resources
from mockserver.conformance import run
from mockserver.conformance.comparison import Band, DifferenceKind, Terms, compare
from mockserver.conformance.comparison.answer_differences import (
    NOTHING,
    AnswerReading,
    compared,
    matched,
)
from mockserver.conformance.comparison.compare import MOST_REPEATS
from mockserver.conformance.comparison.mirrored_requests import Translation, draft_from
from mockserver.conformance.comparison.result import facts, lines
from mockserver.conformance.comparison.value_differences import Role, Roles, equal, form
from mockserver.conformance.options import Options
from mockserver.conformance.session.exchange import Answer, Exchange, NoAnswer
from mockserver.conformance.session.permit import Arming
from mockserver.conformance.session.target import UnsafeOrWrong, target_of
from mockserver.http_messages import Headers, Request
from mockserver.jsontext import encode
from mockserver.testing import MockWorld, running
from mockserver.validation import SchemaCheck
from tests.conformance.gate import gate
from tests.conformance.rawserver import http, raw_server, saying

CONTRACT = contract.load()
SOME = Options(only=("schema",))
ARMED = Options(arming=Arming(writes=True, most=100), only=("stateful",))


@pytest.fixture(scope="module")
def mock():
    with running(clock="auto", refusals="allow") as mock:
        yield mock


@pytest.fixture
def worlds(mock):
    """Make worlds that are gone after the test."""
    made: list[MockWorld] = []

    def make(**changes):
        made.append(mock.world(f"side-{len(made)}", **changes))
        return made[-1].base_url

    yield make
    for world in made:
        world.close()


def of_kind(comparison, kind):
    return [cause for cause in comparison.causes if cause.kind is kind]


@pytest.mark.deep(quick=1)
def test_two_equal_services_do_not_differ_and_are_asked_the_same(mock, worlds):
    with gate(worlds()) as left, gate(worlds()) as right:
        comparison = compare(left.url, right.url)
        assert left.requests == right.requests
    assert (comparison.exit_code, comparison.causes) == (0, ())
    assert comparison.compared > 100
    assert comparison.right.requests == len(right.requests)
    assert comparison.left.submissions == comparison.right.submissions == 0
    assert not [line for line in right.requests if "submit" in line]


@pytest.mark.parametrize("stamps", [("world", "world"), ("world", "either"), ("either", "world")])
@pytest.mark.deep(quick=1)
def test_services_that_live_in_different_times_are_each_asked_at_their_own(stamps):
    years = (f"{year}-01-01T00:00:00Z" for year in (2025, 2024))
    options = Options(only=("v1.getCrossChainQuote",))
    settings = [
        {"clock": "frozen", "start": start, "stamps": kind}
        for start, kind in zip(years, stamps, strict=True)
    ]
    with running(**settings[0]) as left, running(**settings[1]) as right:
        comparison = compare(left.url, right.url, options)
    assert (comparison.exit_code, comparison.causes) == (0, ())
    assert comparison.compared > 10


def test_orders_and_tickets_of_each_side_are_looked_up_by_its_own_ids(worlds):
    url = worlds()
    # Orders of an earlier day: the ids of this side run ahead of those of the other.
    run(url, arm_writes=True, most_writes=100, seed=99, only="stateful")
    with running(clock="auto", seed=1) as other:
        comparison = compare(url, other.url, ARMED)
    assert comparison.right.submissions > 0
    checked = [one for one in comparison.occurrences if one.operation == "v2.checkOrder"]
    assert checked == []


@pytest.mark.parametrize(
    ("name", "kind", "place"),
    [
        ("envelope-code-as-text", DifferenceKind.OUTCOME, ""),
        # Other members that are missing and of another type are below.
        pytest.param("envelope-msg-missing", DifferenceKind.MISSING, "msg", marks=pytest.mark.deep),
        pytest.param("envelope-msg-null", DifferenceKind.TYPE, "msg", marks=pytest.mark.deep),
        ("envelope-misspelt", DifferenceKind.EXTRA, "message"),
        ("asset-decimals-as-text", DifferenceKind.TYPE, "data.list[].decimals"),
        ("price-off-by-a-million", DifferenceKind.VALUE, "data.price"),
        ("v1-status-missing", DifferenceKind.MISSING, "status"),
    ],
)
@pytest.mark.deep(quick=2)
def test_a_difference_is_found_in_its_place_and_nothing_else(worlds, name, kind, place):
    comparison = compare(worlds(), worlds(breaks=(name,)), SOME)
    assert comparison.exit_code == 1
    assert place in [cause.place for cause in of_kind(comparison, kind)]
    mirrored = {
        DifferenceKind.EXTRA: DifferenceKind.MISSING,
        DifferenceKind.MISSING: DifferenceKind.EXTRA,
    }
    renamed = {"msg"} if name == "envelope-misspelt" else set()
    assert {cause.place for cause in comparison.causes} == {place, *renamed}
    turned = compare(worlds(breaks=(name,)), worlds(), SOME)
    assert place in [cause.place for cause in of_kind(turned, mirrored.get(kind, kind))]


def test_a_suspended_chain_is_an_item_and_not_a_place_of_the_list(worlds, mock):
    suspended = mock.world("suspended")
    suspended.suspend("BNB", mode="delisted")
    comparison = compare(worlds(), suspended.base_url, SOME)
    suspended.close()
    lost = [
        cause
        for cause in of_kind(comparison, DifferenceKind.LOST)
        if "v2.getChain" in cause.operations
    ]
    assert [found.difference.item for found in lost[0].occurrences][:1] == ["bnb"]
    assert not [
        cause for cause in of_kind(comparison, DifferenceKind.VALUE) if "chain" in cause.place
    ]


def test_yesterdays_journal_and_todays_service(worlds, tmp_path):
    url, path = worlds(), tmp_path / "yesterday.jsonl"
    run(url, journal=path, seed=5, only="schema", edges=False, delivery=False, examples=0)
    same = compare(str(path), url)
    assert (same.exit_code, same.seed, same.left.requests) == (0, 5, 0)
    broken = worlds(breaks=("envelope-msg-missing",))
    for sides, kind in (
        ((str(path), broken), DifferenceKind.MISSING),
        ((broken, str(path)), DifferenceKind.EXTRA),
    ):
        comparison = compare(*sides)
        assert [(cause.kind, cause.place) for cause in comparison.causes] == [(kind, "msg")]


@pytest.mark.deep
def test_a_service_on_this_machine_gets_every_request_of_a_journal(worlds, tmp_path):
    url, path = worlds(), tmp_path / "edges.jsonl"
    only = ("v2.getBridgeQuote", "v2.getAggregateQuote", "v2.getAggregateSwap")
    lived = run(url, journal=path, only=only, edges=True, examples=0, delivery=False)
    assert lived.requests > Options().limits(target_of(url)).budget + MOST_REPEATS
    assert compare(str(path), url).compared == lived.requests
    short = compare(url, str(path), Options(budget=5))
    assert (short.compared, short.left.requests) == (5, 5)
    assert any("budget" in reason for reason in short.left_out.values())


@pytest.mark.deep
def test_a_budget_bounds_all_that_a_side_gets(worlds):
    left, right = worlds(), worlds(breaks=("bridge-whole-tokens",))
    for budget in (30, 60):
        comparison = compare(left, right, Options(budget=budget))
        assert comparison.left.requests == budget
        assert comparison.right.requests <= budget


def test_masked_secrets_of_a_journal_are_put_back(worlds, tmp_path):
    path = tmp_path / "yesterday.jsonl"
    url = worlds(app_keys=(("demo-app-key", "demo-app-secret"),))
    run(url, journal=path, only="schema", edges=False, delivery=False, examples=0)
    comparison = compare(str(path), url)
    assert comparison.exit_code == 0
    quotes = [probe for probe in comparison.left_out if "getCrossChainQuote" in probe]
    assert quotes == []


def test_between_journals_nothing_is_sent(worlds, tmp_path):
    paths = [tmp_path / name for name in ("one.jsonl", "two.jsonl", "three.jsonl")]
    with gate(worlds()) as one, gate(worlds(breaks=("envelope-msg-missing",))) as two:
        run(one.url, journal=paths[0], only="schema", edges=False, delivery=False, examples=0)
        run(two.url, journal=paths[1], only="schema", edges=False, delivery=False, examples=0)
        run(
            one.url,
            journal=paths[2],
            seed=2,
            only="schema",
            edges=False,
            delivery=False,
            examples=0,
        )
        before = len(one.requests), len(two.requests)
        comparison = compare(str(paths[0]), str(paths[1]))
        seeds = compare(str(paths[0]), str(paths[2]))
        assert (len(one.requests), len(two.requests)) == before
    assert [(cause.kind, cause.place) for cause in comparison.causes] == [
        (DifferenceKind.MISSING, "msg")
    ]
    assert comparison.left.requests == comparison.right.requests == 0
    assert "its requests differ between the two journals" in seeds.left_out.values()


def test_nothing_comparable_is_no_agreement(worlds):
    with running() as gone:
        url = gone.url
    comparison = compare(worlds(), url, SOME)
    assert (comparison.exit_code, comparison.conclusion) == (3, "nothing could be compared")


@pytest.mark.parametrize(
    ("sides", "words"),
    [
        (("http://127.0.0.1:9", "http://example.org"), "'example.org' is not this machine"),
        (("http://example.org", "http://127.0.0.1:9"), "'example.org' is not this machine"),
        (("http://127.0.0.1:9", "nowhere"), "neither an address, a journal nor a recording"),
        (("http://127.0.0.1:9,nonsense", "http://127.0.0.1:9"), "is no base address"),
    ],
)
def test_unsafe_and_wrong_sides_are_refused_before_anything_is_sent(sides, words):
    with pytest.raises(UnsafeOrWrong, match=words):
        compare(*sides)


def test_what_is_ignored_and_what_is_for_people(worlds):
    left, right = worlds(), worlds(breaks=("envelope-msg-missing",))
    assert compare(left, right, SOME, Terms(ignore=("msg",))).exit_code == 0
    assert compare(left, right, SOME, Terms(ignore=("v2.*",))).exit_code == 0
    assert compare(left, right, SOME, Terms(ignore=("data*",))).exit_code == 1


OPERATION = CONTRACT.operation("v2.getBridgeQuote")


def exchange(
    body, operation=OPERATION, status=200, query="", trouble=None, media="application/json"
):
    answer = Answer(status, (("Content-Type", media),), encode(body), trouble=trouble)
    request = Request("GET", operation.path, query)
    return Exchange(1, f"{operation.id}/usual", operation, request, answer)


def told(left, right, band="1", operation=OPERATION, **options):
    found = compared(left, right, AnswerReading(Roles(operation), Band(Decimal(band)), **options))
    return [(one.kind.value, one.where) for one in found]


def quote(**changes):
    data = {"price": "1", "outAmount": "1000000", "serviceFee": "10", "gasFee": "5", **changes}
    return {"code": 0, "msg": "success", "data": data}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"outAmount": "1009999"}, []),
        ({"outAmount": "1020000"}, [("value", "data.outAmount")]),
        ({"outAmount": "-1000000"}, [("value", "data.outAmount")]),
        ({"outAmount": "0"}, [("value", "data.outAmount")]),
        ({"outAmount": "1000000.0"}, []),
        ({"outAmount": 1000000}, [("type", "data.outAmount")]),
        ({"outAmount": "a lot"}, [("value", "data.outAmount")]),
        ({"price": None}, [("type", "data.price")]),
        ({"new": 1}, [("member-extra", "data.new")]),
    ],
)
def test_amounts_within_the_band_are_equal(change, found):
    assert told(exchange(quote()), exchange(quote(**change))) == found


def test_outcome_status_code_and_media_type():
    refusal = {"code": 3, "msg": "no such token", "data": {}}
    assert told(exchange(quote()), exchange(refusal)) == [("outcome", "")]
    other = {"code": 7, "msg": "unknown token", "data": {}}
    assert told(exchange(refusal), exchange(other)) == [("refusal-code", "code")]
    words = {"code": 3, "msg": "unknown token", "data": {}}
    assert told(exchange(refusal), exchange(words)) == []
    assert told(exchange(refusal), exchange(words), words=True) == [("value", "msg")]
    assert told(exchange(refusal), exchange(refusal, status=404)) == [("http-status", "")]
    page = exchange(quote(), media="text/html")
    assert told(exchange(quote()), page) == [("media-type", "Content-Type")]
    cut = exchange(quote(), trouble=NoAnswer.CUT)
    assert told(exchange(quote()), cut) == [("no-answer", "")]
    assert told(cut, cut) == []


CHECK = CONTRACT.operation("v2.checkOrder")


def status(**changes):
    data = {"status": "Succeeded", "timestamp": 1767225600, "execHash": "0x12ab", "reason": ""}
    return {"code": 0, "msg": "success", "data": {**data, "amountOut": "5", **changes}}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"timestamp": 1790000000}, []),
        ({"timestamp": 1767225600000}, [("value", "data.timestamp")]),
        ({"execHash": "0xffff"}, []),
        ({"execHash": "ffff"}, [("value", "data.execHash")]),
        ({"execHash": ""}, [("value", "data.execHash")]),
        ({"reason": "late"}, [("value", "data.reason")]),
        ({"status": "Failed"}, [("value", "data.status")]),
    ],
)
def test_times_hashes_and_words_are_compared_by_what_they_are(change, found):
    left, right = exchange(status(), CHECK), exchange(status(**change), CHECK)
    assert told(left, right, operation=CHECK) == found


def test_what_repeats_the_request_has_to_on_both_sides():
    raw = CONTRACT.operation("v2.getAllTicketByAddress")
    ticket = {"ticketId": 1, "address": "0xab", "chain": "ARB", "hash": "0x1234"}

    def tickets(**changes):
        body = {"code": 0, "msg": "success", "data": {"list": [{**ticket, **changes}]}}
        return exchange(body, raw, query="address=0x1234")

    found = told(tickets(), tickets(hash="0xabcd"), operation=raw)
    assert ("value", "data.list[].hash") in found or ("item-lost", "data.list[]") in found


def test_roles_come_from_the_contract_and_else_from_names():
    roles = Roles(CHECK)
    assert roles.at(("data", "timestamp")) is Role.TIME
    assert roles.at(("data", "status")) is Role.PLAIN
    lists = Roles(CONTRACT.operation("v2.getAssets"))
    assert lists.at(("data", "version")) is Role.VERSION
    assert lists.at(("data", "list", "[]", "contracts", "{}", "decimals")) is Role.PLAIN
    assert lists.is_map(("data", "list", "[]", "contracts"))
    assert lists.at(("data", "list", "[]", "lastPrice")) is Role.AMOUNT
    for name in ("createdAt", "expires_at", "since", "validUntil", "ts", "deadline"):
        assert lists.at(("data", "list", "[]", name)) is Role.TIME
    for name in ("flat", "format", "parts", "beta"):
        assert lists.at(("data", "list", "[]", name)) is Role.PLAIN


def test_items_are_found_by_what_names_them():
    left = [{"n": 1, "symbol": "A"}, {"n": 2, "symbol": "B"}, {"n": 3, "symbol": "A"}]
    right = [{"n": 9, "symbol": "B"}, {"n": 8, "symbol": "A"}, {"n": 7, "symbol": "A"}]
    found = matched(left[:2], right[:2], lambda name: True)
    assert [(key, one["n"], other["n"]) for key, one, other in found] == [
        ("a", 1, 8),
        ("b", 2, 9),
    ]
    moved = [*matched(left, list(reversed(left)), lambda name: True)]
    assert [one["n"] for _, one, _ in moved] == [1, 2, 3]
    assert all(one == other for _, one, other in moved)


def test_lists_without_names_are_compared_as_they_are():
    found = [*matched(["a", "b"], ["b", "c"], lambda name: True)]
    assert found == [('"a"', "a", NOTHING), ('"c"', NOTHING, "c")]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-100, max_value=100),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["list", "data", "price", "id", "version"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(JSON, JSON)
def test_any_two_answers_can_be_compared(left, right):
    one, other = exchange(left), exchange(right)
    assert told(one, one) == []
    assert bool(told(one, other)) is bool(told(other, one))


@given(st.decimals("0.01", "1e20", places=2), st.decimals("0", "10", places=3))
def test_a_band_is_the_same_from_both_sides(amount, percent):
    band = Band(percent)
    larger = amount + amount * percent / 100 + Decimal("0.01")
    assert band.holds(amount, larger) is band.holds(larger, amount)
    assert band.holds(amount, amount)


def test_forms():
    texts = ["", "12", "0x12ab", "0x123", "ab", "words"]
    assert [form(text) for text in texts] == [
        *("empty", "digits", "hex with 0x", "odd hex with 0x", "hex", "text")
    ]
    assert not equal("12", 12, Role.IDENTIFIER, Band())
    assert equal("0xAB", "0xab", Role.PLAIN, Band())
    assert not equal("AB", "ab", Role.PLAIN, Band())


def test_a_draft_makes_the_same_request_again():
    sent = Request(
        "POST",
        "/v1/submitOrder",
        "a=%20b&&c",
        Headers([("Signature", "0x1"), ("Content-Type", "text/plain")]),
        b"\xff",
    )
    assert (
        draft_from(sent).request(OPERATION)
        == Request(sent.method, sent.path, sent.query, Headers(sent.headers.items_sent), sent.body)
        or draft_from(sent).request(OPERATION).headers.items_sent == sent.headers.items_sent
    )


def test_names_of_one_side_become_those_of_the_other():
    submit = CONTRACT.operation("v2.submitOrder")
    translation = Translation()
    body = {"code": 0, "msg": "success", "data": {"id": "30000000001"}}
    other = {"code": 0, "msg": "success", "data": {"id": "x/1"}}
    translation.learn(exchange(body, submit), exchange(other, submit))
    ask = Request("GET", "/v1/checkOrder", "id=30000000001&amount=30000000001")
    assert translation.of(ask).query == "id=x%2F1&amount=30000000001"
    unknown = Request("GET", "/v1/checkOrder", "id=%ff")
    assert translation.of(unknown) == unknown


def test_the_report_is_of_the_published_form_and_hides_secrets(worlds):
    comparison = compare(worlds(), worlds(breaks=("envelope-msg-missing",)), SOME)
    path = resources.schemas() / "meta" / "comparison.json"
    check = SchemaCheck(json.loads(path.read_text("utf-8")))
    report = facts(comparison)
    assert check.violations(report) == ()
    assert check.violations({**report, "differences": [{}]}) != ()
    text = "\n".join(lines(comparison, verbose=True))
    assert "member-missing at msg: a member is missing on the right" in text
    assert text.endswith(comparison.conclusion)
    assert "demo-app-key" not in text + json.dumps(report)


def test_no_name_that_a_service_gives_shows_a_secret_or_steers_a_terminal():
    data = {"version": 1, "list": []}
    named = {**data, "\x1b[2J": 1, "demo-app-key": 1}
    answers = [http(encode({"code": 0, "msg": "success", "data": one})) for one in (data, named)]
    with raw_server(saying(answers[0])) as left, raw_server(saying(answers[1])) as right:
        comparison = compare(left.url, right.url, SOME)
    assert {"data.\\x1b[2J", "data.<APP_KEY>"} <= {cause.place for cause in comparison.causes}
    report = json.dumps(facts(comparison), ensure_ascii=False)
    for text in ("\n".join(lines(comparison, verbose=True)), report):
        assert "\x1b" not in text
        assert "demo-app-key" not in text


def test_the_command(worlds, tmp_path):
    left, right = worlds(), worlds(breaks=("envelope-msg-missing",))

    def command(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "mockserver", "compare", *arguments],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            cwd=Path(__file__).parents[2],
        )

    differing = command(left, right, "--json", "--only", "schema")
    assert differing.returncode == 1, differing.stderr
    assert json.loads(differing.stdout)["format"] == "crosschain-mock/comparison@1"
    alike = command(left, right, "--ignore", "msg", "--only", "schema")
    assert (alike.returncode, alike.stdout.splitlines()[-1][:13]) == (0, "no difference")
    wrong = command(left, "http://example.org")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("error: 'example.org' is not this machine")
