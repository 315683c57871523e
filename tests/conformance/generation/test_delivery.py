"""The stage that asks again in other ways: what stands in front of a service shows there."""

import asyncio
import gzip
import hashlib
import json
import re
from collections import Counter, defaultdict
from dataclasses import replace
from email.utils import formatdate
from functools import partial
from urllib.parse import unquote

import pytest
from aiohttp import web

from mockserver import contract
from mockserver.conformance import Verdict, run
from mockserver.conformance.generation.client_variants import forms_of_clients
from mockserver.conformance.generation.delivery_forms import FORMS, applied
from mockserver.conformance.session.request_draft import Draft
from mockserver.testing import running
from tests.blind.service_six import catalogue
from tests.blind.service_six.counting import service_six
from tests.blind.service_six.flaws import FAULTS, VARIATIONS, Flaw
from tests.blind.service_six.infrastructure import count, of_connection
from tests.blind.service_six.service import RefusalError

RULE = "same-answer-in-every-delivery"


def findings(fault="", variation="", **options):
    return findings_about(catalogue.flaw(fault or None, variation or None), **options)


def findings_about(flaw, **options):
    with service_six(flaw) as url:
        result = run(url, only=RULE, edges=False, examples=0, patience="0s", **options)
    return [
        (outcome.operation.id, outcome.verdict_of(finding), finding)
        for outcome in result.outcomes
        for finding in outcome.findings
    ]


def told_armed(fault, *beside):
    """Return the messages of an armed run of the rule and some beside it."""
    with service_six(catalogue.flaw(fault)) as url:
        result = run(url, only=(RULE, *beside), edges=False, examples=0, arm_writes=True)
    return [finding.message for outcome in result.outcomes for finding in outcome.findings]


def deep(*values):
    """Return a case for long runs: a quicker one goes the same way."""
    return pytest.param(*values, marks=pytest.mark.deep)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("v1-header-names-exact", "names of headers in lower case: the request is refused"),
        deep("gzip-large-cut", "compression accepted: no whole answer came"),
        ("keep-alive-dies", "on a connection that is used again: no whole answer came"),
        ("connection-remembers-chain", "on a connection that is used again"),
        deep("answers-swapped", "this is the answer to another request"),
        deep("latest-inputs", "with other requests at the same time"),
        deep("json-charset-refused", "the charset of the body named: the request is refused"),
        ("decimal-comma-for-germans", "with another language accepted"),
        deep(
            "bodies-behind-white-space-refused", "white space in the body: the request is refused"
        ),
        deep("percent-encoding-kept", "letters as escapes: the request is refused"),
        deep("trailing-slash-empty", "a slash at the end of the path"),
        deep("query-limit", "with a further input of 600 characters in front"),
        ("head-fails", "HEAD fails, where GET is answered: HTTP 500"),
        ("not-modified-status", "HTTP 304 (not modified)"),
        ("quotes-cacheable-for-a-day", "keep the answer for 86400 s"),
        deep("connection-remembers-owner", "on a connection that is used again"),
        deep("chunked-requests-are-empty", "with the body in chunks: the request is refused"),
        (
            "v1-headers-lost-after-twelve-on-a-connection",
            "on a connection that is used again: the request is refused",
        ),
        deep("balance-cache-key-cut", "with a further input of 600 characters in front"),
        deep("requests-from-pages-refused", "with the origin of a page: the body cannot be read"),
        deep("nameless-clients-refused", "with no name of its client: the body cannot be read"),
        deep("content-type-in-capitals-refused", "with the type of its body in capitals"),
        deep("ampersand-first-loses-an-input", "with empty inputs between its own"),
        deep("ranges-answered-with-200", "with a range: the body cannot be read"),
        deep("cookie-remembers-the-chain", "with cookies"),
        deep("lists-expire-in-a-week", "keep the answer for 604800 s"),
        ("chunked-for-http-1-0", "with HTTP/1.0: the body comes in chunks"),
        ("chains-a-day-old-by-their-age", "say that the answer was kept for 90000 s"),
        deep("v1-tokens-kept-without-vary", "Vary does not name the header chain"),
        deep("wildcard-accept-refused", "with all types of applications accepted"),
        ("connection-stays-authenticated", "it is taken behind a signed one on a connection"),
        ("compressed-from-cache", "compression accepted before: the body is compressed"),
        deep("compressed-lists-public-without-vary", "Vary does not name the header Accept-Enc"),
        deep("strong-etag-for-two-codings", " is that of an answer in two codings"),
        deep("escaped-names-of-inputs-not-read", "with letters of names as escapes: the request"),
        deep("deflate-without-its-wrapper", "packed as deflate without zlib's format"),
        deep("v1-quotes-not-modified", "HTTP 304 (not modified) to POST"),
        deep("ranges-end-a-byte-early", "the first 100 bytes of it are others"),
        deep(
            "requests-behind-another-are-lost", "what stands behind another request in one packet"
        ),
        deep("close-asked-for-is-ignored", "its connection stays open for 3 s"),
        deep(
            "cancelled-requests-answer-the-next", "after a client that did not wait for its answer"
        ),
    ],
)
@pytest.mark.deep(quick=2)
def test_what_carries_requests_shows_though_each_alone_is_answered_well(fault, words):
    messages = [finding.message for _, _, finding in findings(fault)]
    assert any(words in message for message in messages), messages


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("date-stands-still", "GMT in all answers of "),
        ("prices-move-under-one-time", "prices of one token have the updateTime"),
        deep("prices-older-than-their-max-age", "2 s, where they let others keep it for 1 s"),
    ],
)
@pytest.mark.usefixtures("wall_time")
def test_what_shows_as_time_passes_is_told(fault, words):
    with service_six(catalogue.flaw(fault)) as url:
        result = run(url, edges=False, examples=0, rate=150)
    messages = [each.message for outcome in result.outcomes for each in outcome.findings]
    assert any(words in message for message in messages), messages


@pytest.mark.parametrize("prices", [3, 50])
@pytest.mark.usefixtures("wall_time")
def test_prices_of_replicas_and_those_whose_time_moves_with_them_are_not_blamed(prices):
    def change(call, data):
        moves = count(call, "prices") % prices
        data["price"] = str(1 + moves / 1000)
        if prices == 3:
            data["updateTime"] = call.service.memory.setdefault("first", data["updateTime"])

    flaw = Flaw("", frozenset({"getPrice"}), {"data": change})
    rules = (RULE, "update-time-never-goes-back")
    with service_six(flaw) as url:
        result = run(url, only=rules, edges=True, examples=0)
    about = [each.place for outcome in result.outcomes for each in outcome.findings]
    assert "data.updateTime" not in about


def together(*flaws):
    """Return what several do to an answer as one, each for the operations that are its own."""

    async def wrap(call, answer):
        for flaw in flaws:
            if not flaw.operations or call.operation in flaw.operations:
                answer = partial(flaw.steps["wrap"], call, answer)
        return await answer()

    return Flaw("together", steps={"wrap": wrap})


@pytest.mark.parametrize(
    ("spelling", "words"),
    [(rb"\\u", "letters of the body as escapes"), deep(rb"\de\d", "amounts with an exponent")],
)
def test_a_body_that_is_read_in_one_spelling_alone_is_told(spelling, words):
    async def wrap(call, answer):
        if re.search(spelling, await call.request.read()):
            call.inputs = {"": "not read"}
        return await answer()

    flaw = Flaw("", frozenset({"getCrossChainQuote"}), {"wrap": wrap})
    messages = [finding.message for _, _, finding in findings_about(flaw)]
    assert any(f"with {words}: the request is refused" in message for message in messages), messages


def test_a_service_that_refuses_several_types_is_told():
    async def wrap(call, answer):
        if "," in call.request.headers.get("Accept", ""):
            return web.Response(status=406, text="not acceptable")
        return await answer()

    told = findings_about(Flaw("", frozenset({"getPrice"}), {"wrap": wrap}))
    assert [operation for operation, _, _ in told] == ["v2.getPrice"]
    assert "with several types accepted" in told[0][2].message


def cached(*names, seconds=60.0, accepts="", part=lambda text: text):
    """Keep each answer under some inputs alone, or parts of them, for clients that accept this."""

    async def wrap(call, answer):
        if accepts not in call.request.headers.get("Accept-Encoding", ""):
            return await answer()
        inputs = {**call.inputs, "chain header": call.request.headers.get("chain", "")}
        key = ("kept", *sorted(part(str(inputs.get(name, ""))) for name in names))
        response = call.service.memory.setdefault(key, await answer())
        return web.Response(body=response.body, content_type="application/json")

    return wrap


@pytest.mark.parametrize(
    ("operation", "wrap", "words"),
    [
        ("getBridgeQuote", cached("amount", "symbol", "fromChain", "toChain"), "other direction"),
        deep(
            "getAggregateQuote",
            cached("fromAmount", "fromTokenAddress", "toTokenAddress", "fromChain", "toChain"),
            "other direction",
        ),
        deep(
            "getAggregateSwap",
            cached("fromAmount", "fromTokenAddress", "toTokenAddress", "slippage"),
            "other direction",
        ),
        ("getAssetsByChain", cached(accepts="gzip"), "with compression accepted"),
        deep("getSupportTokens", cached("chain", accepts="gzip"), "with compression accepted"),
    ],
)
@pytest.mark.deep(quick=2)
def test_what_a_cache_leaves_out_of_its_key_is_told(operation, wrap, words):
    if operation == "getAssetsByChain":
        assert findings_about(Flaw("", frozenset({operation}), {"wrap": cached("chain")})) == []
    told = findings_about(Flaw("", frozenset({operation}), {"wrap": wrap}))
    assert {name.partition(".")[2] for name, _, _ in told} == {operation}
    assert words in told[0][2].message


def of_bridge(part, *, keeps_refusals=True):
    """A cache of quotes by parts of their inputs, of refusals too or of successes alone."""
    wrap = cached("amount", "symbol", "fromChain", "toChain", part=part)

    async def successes(call, answer):
        kept = call.service.memory.setdefault("successes", {})
        key = part(str(sorted(call.inputs.items())))
        if key not in kept:
            response = await answer()
            if json.loads(response.body)["code"] != 0:
                return response
            kept[key] = response.body
        return web.Response(body=kept[key], content_type="application/json")

    steps = {"wrap": wrap if keeps_refusals else successes}
    return Flaw("", frozenset({"getBridgeQuote"}), steps)


@pytest.mark.parametrize(
    ("flaw", "words"),
    [
        (of_bridge(str.lower), "symbol is refused right behind the same in other letters"),
        (of_bridge(str.lower, keeps_refusals=False), "refused, and taken behind the right one"),
        (of_bridge(str), ""),
        deep(of_bridge(str, keeps_refusals=False), ""),
    ],
)
def test_a_cache_that_takes_other_letters_for_the_same_is_told(flaw, words):
    messages = [finding.message for _, _, finding in findings_about(flaw)]
    of_letters = [message for message in messages if "symbol " in message]
    assert [words in message for message in of_letters] == ([True] if words else [])


def test_a_service_that_takes_any_letters_is_asked_once_and_not_blamed():
    def any_letters(call):
        call.inputs["symbol"] = str(call.inputs.get("symbol", "")).upper()

    both = {"before": any_letters, **of_bridge(str.lower).steps}
    told = findings_about(Flaw("", frozenset({"getBridgeQuote"}), both))
    assert "query.symbol" not in [finding.place for *_, finding in told]


@pytest.mark.deep
def test_swap_quotes_that_are_cached_in_small_letters_are_told_with_edges():
    with service_six(catalogue.flaw("swap-quotes-cached-in-small-letters")) as url:
        result = run(url, only=(RULE, "each-listed-chain-is-served"), edges=True, examples=0)
    told = [each.place for outcome in result.outcomes for each in outcome.findings]
    assert "query.fromTokenAddress" in told


def packed_where(is_packed, body=gzip.compress, coding="gzip"):
    async def wrap(call, answer):
        response = await answer()
        if not is_packed(call.request.headers.get("Accept-Encoding", "").replace(" ", "")):
            return response
        headers = {"Content-Type": "application/json", "Content-Encoding": coding}
        return web.Response(body=body(response.body), status=response.status, headers=headers)

    return Flaw("", frozenset({"getChain", "getBridgeQuote"}), {"wrap": wrap})


def test_what_is_packed_in_a_way_that_is_not_read_here_is_asked_for_otherwise():
    assert findings_about(packed_where(lambda accepted: "br" in accepted, bytes, "br")) == []
    told = findings_about(packed_where(lambda accepted: "br" in accepted, lambda _: b"", "gzip"))
    assert {operation for operation, _, _ in told} == {"v2.getChain", "v2.getBridgeQuote"}


@pytest.mark.parametrize("operation", ["getAggregateSwap", "getTransferToMinterRaw"])
@pytest.mark.deep(quick=1)
def test_call_data_of_another_request_at_the_same_time_is_told(operation):
    async def last_one(call, answer):
        call.service.memory["last"] = (await answer()).body
        await asyncio.sleep(0.02)
        return web.Response(body=call.service.memory["last"], content_type="application/json")

    told = findings_about(Flaw("", frozenset({operation}), {"wrap": last_one}))
    assert {name.partition(".")[2] for name, _, _ in told} == {operation}
    assert "with other requests at the same time" in told[0][2].message


@pytest.mark.parametrize("operation", ["getAggregateSwap", "getTransferToMinterRaw"])
@pytest.mark.deep(quick=1)
def test_call_data_that_is_made_anew_each_time_is_not(operation):
    def anew(call, data):
        name = "raw" if "raw" in data else "data"
        turn = count(call, "turn")
        data[name] = f"{data[name][:-8]}{turn:08x}"

    assert findings_about(Flaw("", frozenset({operation}), {"data": anew})) == []


def tagged(of, operations, moves):
    """Answer with what `of` makes of an answer as its ETag, and 304 to whoever has it."""

    async def wrap(call, answer):
        turn = count(call, "turn")
        body = (await answer()).body
        if moves:
            body = body.replace(b'"msg":"success"', b'"msg":"success %d"' % turn)
        tag = f'"{of(call, body)}"'
        if call.request.headers.get("If-None-Match") == tag:
            return web.Response(status=304, headers={"ETag": tag})
        return web.Response(body=body, headers={"ETag": tag, "Content-Type": "application/json"})

    return Flaw("", frozenset(operations), {"wrap": wrap})


def test_a_tag_changes_with_what_it_is_the_tag_of():
    one = {"getPrice"}
    stays = findings_about(tagged(lambda call, _: call.inputs.get("symbol"), one, moves=True))
    assert {operation for operation, _, _ in stays} == {"v2.getPrice"}
    assert any("for two different answers" in finding.message for _, _, finding in stays)
    by_body = tagged(lambda _, body: hashlib.sha256(body).hexdigest(), one, moves=True)
    assert findings_about(by_body) == []


def test_a_date_that_stays_while_the_answer_changes_is_told():
    async def wrap(call, answer):
        body = (await answer()).body
        turn = count(call, "turn")
        body = body.replace(b'"msg":"success"', b'"msg":"success %d"' % turn)
        since = formatdate(0 if call.operation == "getChain" else None, usegmt=True)
        headers = {"Last-Modified": since, "Content-Type": "application/json"}
        return web.Response(body=body, headers=headers)

    told = findings_about(Flaw("", frozenset({"getChain", "getAssets"}), {"wrap": wrap}))
    assert [operation for operation, _, _ in told] == ["v2.getChain"]
    assert "Last-Modified is Thu, 01 Jan 1970" in told[0][2].message


def test_the_right_tag_is_answered_with_304_or_the_same():
    async def wrap(call, answer):
        response = await answer()
        response.headers["ETag"] = '"right"'
        if call.request.headers.get("If-None-Match") == '"right"':
            return web.Response(body=b"{}", content_type="application/json")
        return response

    told = findings_about(Flaw("", frozenset({"getChain"}), {"wrap": wrap}))
    assert ["with validators of the same answer" in finding.message for *_, finding in told] == [
        True
    ]


@pytest.mark.parametrize("last", [9, 99])
def test_parts_and_conditions_that_are_answered_well_are_not_blamed(last):
    async def wrap(call, answer):
        response = await answer()
        response.headers["ETag"] = '"right"'
        if call.request.method == "POST":
            asked = call.request.headers.get("If-None-Match")
            return web.Response(status=412) if asked in {"*", '"right"'} else response
        response.headers["Accept-Ranges"] = "bytes"
        body = response.body
        if call.request.headers.get("Range") == f"bytes=0-{last}":
            headers = {"Content-Range": f"bytes 0-{last}/{len(body)}"}
            return web.Response(body=body[: last + 1], status=206, headers=headers)
        return response

    flaw = Flaw(
        "", frozenset({"getChain", "getSupportTokens", "getCrossChainQuote"}), {"wrap": wrap}
    )
    assert findings_about(flaw) == []


def test_a_session_of_its_own_cookie_changes_nothing():
    async def wrap(call, answer):
        if "node=3" in call.request.headers.get("Cookie", ""):
            return web.json_response({"code": 7, "msg": "session expired", "data": {}})
        response = await answer()
        response.headers["Set-Cookie"] = "node=3; Path=/; HttpOnly"
        return response

    told = findings_about(Flaw("", frozenset({"getPrice"}), {"wrap": wrap}))
    assert [operation for operation, _, _ in told] == ["v2.getPrice"]
    assert "with cookies: the request is refused" in told[0][2].message


@pytest.mark.parametrize(
    "headers",
    [
        {"Cache-Control": "max-age=600", "Vary": "Accept-Encoding, Chain"},
        {"Cache-Control": "max-age=600", "Vary": "*"},
        {"Cache-Control": "private, max-age=600"},
        {"Age": "600"},
        {"Age": "600", "Cache-Control": "private, max-age=60"},
        {"Age": "600", "Cache-Control": "public, max-age=0"},
        {"Age": "-90000"},
        {"Age": "a day"},
    ],
)
def test_what_may_be_kept_for_each_chain_or_for_minutes_is_not_blamed(headers):
    async def wrap(call, answer):
        response = await answer()
        response.headers.update(headers)
        return response

    assert not findings_about(Flaw("", frozenset({"getSupportTokens"}), {"wrap": wrap}))


def test_who_answers_with_text_json_need_not_know_all_types_of_applications():
    async def wrap(call, answer):
        if call.request.headers.get("Accept") == "application/*":
            return page(406)
        response = await answer()
        response.content_type = "text/json"
        return response

    assert not findings_about(Flaw("", frozenset({"getPrice"}), {"wrap": wrap}))


def test_a_balance_of_an_address_that_is_shortened_alike_is_told():
    # Whether balances are told apart at all shows in that of somebody else.
    with service_six(catalogue.flaw("balances-cached-by-shortened-address")) as url:
        result = run(url, only=(RULE, "balance-is-of-the-token"), edges=False, examples=0)
    ((finding, verdict),) = [
        (finding, outcome.verdict_of(finding))
        for outcome in result.outcomes
        for finding in outcome.findings
    ]
    assert "an address that begins and ends alike has the same balance" in finding.message
    assert verdict is Verdict.VIOLATION


@pytest.mark.parametrize(("units", "paid"), [("0", "0"), ("5000000", "5000000"), ("5", "7")])
def test_a_balance_that_every_address_has_tells_no_addresses_apart(units, paid):
    answered = Counter[str]()

    def same(call, data):
        owner = call.inputs["address"]
        answered[owner] += 1
        # One address alone is paid, once it was looked at.
        is_paid = answered[owner] > 1 and next(iter(answered)) != owner
        data["balance"] = paid if is_paid else units

    with service_six(Flaw("", frozenset({"getBalance"}), {"data": same})) as url:
        result = run(url, only=(RULE, "balance-is-of-the-token"), edges=False, examples=0)
    messages = [finding.message for each in result.outcomes for finding in each.findings]
    assert not [message for message in messages if "begins and ends alike" in message]


def test_a_list_that_comes_and_goes_under_one_version_is_told():
    def flips(call, data):
        turn = count(call, "turn")
        data["list"][0]["delisted"] ^= turn % 4 == 0

    def once(call, data):
        turn = count(call, "turn")
        data["list"][0]["delisted"] ^= 4 <= turn < 8

    told = findings_about(Flaw("", frozenset({"getAssets"}), {"data": flips}))
    assert {operation for operation, _, _ in told} == {"v2.getAssets"}
    assert findings_about(Flaw("", frozenset({"getAssets"}), {"data": once})) == []


def short_after_orders(*, turns=None, for_good=False, **changes):
    """Return a list of tokens that lacks some in the first answer after these orders, or each."""

    def data(call, value):
        memory = call.service.memory
        if call.operation == "submitOrder":
            memory["is short"] = turns is None or count(call, "orders") in turns
        elif memory.get("is short"):
            memory["is short"] = for_good
            value["list"] = value["list"][::2]
            value.update(changes)

    return Flaw("short", frozenset({"submitOrder", "getAssets"}), {"data": data})


def test_a_list_that_is_short_right_after_each_submission_is_told():
    ((operation, _, finding),) = findings_about(short_after_orders(), arm_writes=True)
    assert operation == "v2.getAssets"
    assert "items are missing right after a submission" in finding.message


@pytest.mark.parametrize("changes", [{}, deep({"version": 1000})])
def test_a_list_that_changes_for_good_after_an_order_is_not(changes):
    flaw = short_after_orders(for_good=True, **changes)
    assert findings_about(flaw, arm_writes=True) == []


def test_a_list_that_is_short_after_one_order_alone_is_not():
    with service_six(catalogue.flaw(None)) as url:
        result = run(url, only=RULE, edges=False, examples=0, arm_writes=True, patience="0s")
    orders = [each for each in result.exchanges if each.operation.id == "v2.submitOrder"]
    planned = sum(each.probe.stage != "delivery" for each in orders)
    # Three are submitted at the same time, before the lists are asked for.
    flaw = short_after_orders(turns=range(planned + 1, planned + 4))
    assert findings_about(flaw, arm_writes=True) == []


def out_of_service(when, words="chain BNB is suspended"):
    """Refuse requests that name a chain at some turns of those that do."""

    def before(call):
        names = ("chain", "fromChain", "toChain")
        if "BNB" not in (call.inputs.get(name) for name in names):
            return
        turn = count(call, "turn")
        if when(turn):
            raise RefusalError(words)

    return Flaw("", frozenset({"getPrice", "getBridgeQuote", "getBalance"}), {"before": before})


def test_a_chain_that_is_away_for_a_while_is_not_one_that_is_refused_now_and_then():
    with service_six(catalogue.flaw(None)) as url:
        sent = run(url, only=RULE, edges=False, examples=0).exchanges
    of_chain = [each for each in sent if "BNB" in each.parameters.values()]
    asked = sum(each.operation.id in ("v2.getPrice", "v2.getBridgeQuote") for each in of_chain)
    assert asked > 10
    late = out_of_service(lambda turn: asked // 2 < turn < asked // 2 + 4)
    assert findings_about(late) == []
    assert findings_about(out_of_service(lambda turn: turn > asked // 2)) == []
    assert findings_about(out_of_service(lambda turn: turn % 3 == 0)) != []


@pytest.mark.parametrize(
    ("operation", "submits", "name"),
    [
        ("checkTicket", "submitTicket", "ticketId"),
        deep("checkOrder", "submitOrder", "id"),
        deep("getOrderDetailByHashAndEvmAddress", "submitCrossChain", "hash"),
    ],
)
def test_a_replica_that_lacks_the_newest_is_told(operation, submits, name):
    newest: list[str] = []
    sees: Counter[str] = Counter()

    async def wrap(call, answer):
        response = await answer()
        data = json.loads(response.body)["data"]
        if call.operation == submits and data:
            newest[:] = [str(data.get(name) or call.inputs["certHash"])]
        elif call.operation == operation and [str(call.inputs.get(name))] == newest:
            sees["looks"] += 1
            if sees["looks"] % 3 == 0:
                return web.json_response({"code": 3, "msg": "there is none", "data": {}})
        return response

    with service_six(Flaw("", frozenset({operation, submits}), {"wrap": wrap})) as url:
        result = run(url, only=RULE, edges=False, examples=0, arm_writes=True, patience="0s")
    told = [finding.message for outcome in result.outcomes for finding in outcome.findings]
    assert any("there is none" in message for message in told), told


@pytest.mark.parametrize("operation", ["getPrice", "getAssets", "getBalance", "getAggregateSwap"])
@pytest.mark.deep(quick=1)
def test_equal_requests_at_the_same_time_show(operation):
    async def second_is_empty(call, answer):
        now = call.service.memory.setdefault("now", Counter())
        now[call.request.path_qs] += 1
        try:
            await asyncio.sleep(0.1)  # The other one arrives meanwhile.
            if now[call.request.path_qs] > 1:
                return web.json_response({"code": 0, "msg": "success", "data": {}})
            return await answer()
        finally:
            now[call.request.path_qs] -= 1

    flaw = Flaw("", frozenset({operation}), {"wrap": second_is_empty})
    found = findings_about(flaw)
    assert {name for name, _, _ in found} == {f"v2.{operation}"}
    assert "with other requests at the same time" in found[0][2].message


def page(status):
    return web.Response(status=status, text="<html></html>", content_type="text/html")


def refusing(sends, answered):
    """Return a service that does so to requests in one form."""

    async def wrap(call, answer):
        return answered() if sends(call.request) else await answer()

    return Flaw("", frozenset({"getPrice", "getTransferToMinterRaw"}), {"wrap": wrap})


@pytest.mark.parametrize(
    ("sends", "words"),
    [
        (lambda request: "traceparent" in request.headers, "the mark of a trace"),
        (lambda request: len(request.headers) > 40, "40 further headers"),
        (lambda request: "Expect" in request.headers, "a body that waits for 100"),
        (lambda request: "X-Real-IP" in request.headers, "whom it is forwarded for"),
        (lambda request: "'" in request.path_qs, "further inputs with other characters"),
        (lambda request: "select" in request.path_qs, "further inputs with other characters"),
        (lambda request: request.version.minor == 0, "HTTP/1.0"),
        (
            lambda request: request.raw_path.startswith("http://"),
            "the whole address as its target",
        ),
    ],
)
@pytest.mark.deep(quick=2)
def test_a_firewall_that_stops_right_requests_of_some_clients_is_told_by_what_it_stops(
    sends, words
):
    told = [finding.message for *_, finding in findings_about(refusing(sends, partial(page, 403)))]
    assert told
    assert all(f"with {words}: the body cannot be read" in message for message in told), told


@pytest.mark.parametrize(
    ("sends", "answered"),
    [
        (lambda request: "Range" in request.headers, partial(page, 206)),
        (lambda request: len(request.headers) > 40, partial(page, 431)),
        (lambda request: "Expect" in request.headers, partial(page, 417)),
        (lambda request: request.version.minor == 0, partial(page, 505)),
        (
            lambda request: "Origin" in request.headers,
            lambda: web.json_response({"code": 9, "msg": "not from there", "data": {}}, status=403),
        ),
    ],
)
@pytest.mark.deep(quick=2)
def test_what_http_lets_a_server_refuse_is_not_blamed_and_hides_nothing(sends, answered):
    assert not findings_about(refusing(sends, answered))
    both = refusing(lambda request: "traceparent" in request.headers, partial(page, 403))
    flaw = together(refusing(sends, answered), both)
    told = [finding.message for *_, finding in findings_about(flaw)]
    assert told
    assert all("with the mark of a trace" in message for message in told), told


def test_a_cookie_that_has_ended_is_not_sent_back():
    async def wrap(call, answer):
        if "chain=" in call.request.headers.get("Cookie", ""):
            return page(403)
        response = await answer()
        response.headers["Set-Cookie"] = f"chain={call.inputs.get('chain')}; Path=/; Max-Age=0"
        return response

    assert not findings_about(Flaw("", frozenset({"getPrice"}), {"wrap": wrap}))


def test_heads_tags_and_compression_are_held_against_the_first_answer():
    """Three causes in one run, each at an operation that the others leave alone."""
    lengths = replace(FAULTS["head-length-of-nothing"], operations=frozenset({"getBridgeQuote"}))
    tags = replace(FAULTS["etag-without-query"], operations=frozenset({"getAssetsByChain"}))
    packed = replace(FAULTS["compressed-from-cache"], operations=frozenset({"getChain"}))
    several = together(packed, lengths, tags)
    messages = defaultdict(list)
    for operation, _, finding in findings_about(several):
        messages[operation].append(finding.message)
    assert [text for text in messages["v2.getBridgeQuote"] if "HEAD says that the answer" in text]
    assert [
        text for text in messages["v2.getAssetsByChain"] if "the answer to something else" in text
    ]
    assert [text for text in messages["v2.getChain"] if "which was not requested" in text]


def headed(operations, around=None, **headers):
    """Answer HEAD with these headers in place of those of GET; None leaves one out."""

    async def wrap(call, answer):
        response = await answer()
        if call.request.method != "HEAD":
            return response
        shown = {"Content-Type": "application/json", "Content-Length": str(len(response.body))}
        shown |= {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(headers={name: value for name, value in shown.items() if value})

    return Flaw("", frozenset(operations.split()), {"wrap": wrap}, around)


EVERY_LIST = "getChain getAssets getAssetsByChain getSupportChains getSupportTokens"


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"Content_Type": "text/html"}, "Content-Type is text/html in the answer to HEAD, and "),
        ({"Content_Length": "9"}, "Content-Length is 9 in the answer to HEAD, and "),
    ],
)
def test_head_says_of_each_list_what_get_does(headers, words):
    told = findings_about(headed(EVERY_LIST, **headers))
    assert {operation.partition(".")[2] for operation, *_ in told} == {*EVERY_LIST.split()}
    assert all(finding.message.startswith(words) for *_, finding in told)


def test_head_may_leave_out_what_get_shows_and_each_length_may_be_another():
    assert not findings_about(headed(EVERY_LIST, Content_Length=None))
    assert not findings_about(headed(EVERY_LIST, Content_Type="Application/JSON; charset=utf-8"))
    # Whoever counts requests in each answer has no length that GET always has.
    counts = Flaw(
        "",
        frozenset({"getChain"}),
        {"data": lambda call, data: {**data, "x": "x" * count(call, "n")}},
    )
    assert not findings_about(headed("getChain", counts, Content_Length="9"))


def test_right_tags_and_compression_that_was_accepted_are_not_blamed():
    right = together(VARIATIONS["etags-that-are-right"], VARIATIONS["gzip-where-accepted"])
    assert not findings_about(right)


def test_a_list_that_is_compressed_once_to_who_does_not_ask_is_not_one_that_stays_so():
    async def wrap(call, answer):
        memory, accepted = call.service.memory, call.request.headers.get("Accept-Encoding", "")
        is_packed = "gzip" in accepted or memory.get("was packed", False)
        memory["was packed"] = "gzip" in accepted
        response = await answer()
        if not is_packed:
            return response
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        return web.Response(body=gzip.compress(response.body), headers=headers)

    told = findings_about(Flaw("", frozenset({"getChain"}), {"wrap": wrap}))
    assert not [finding for *_, finding in told if "accepted before" in finding.message]


def test_an_order_is_known_on_each_connection():
    """That of a healthy service is not blamed, as the variations below show."""
    told = findings("orders-known-on-their-connection", arm_writes=True)
    assert {operation for operation, _, _ in told} == {"v2.checkOrder"}
    assert any("is refused on another" in finding.message for _, _, finding in told)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("orders-at-once-share-an-id", "two deposits at the same time are both order"),
        deep("tickets-at-once-share-a-number", "two reports at the same time are both ticket"),
    ],
)
def test_what_is_submitted_beside_something_else_has_its_own_number(fault, words):
    assert any(words in finding.message for _, _, finding in findings(fault, arm_writes=True))


@pytest.mark.parametrize("fault", ["tickets-at-once-lose-the-first", deep("")])
def test_what_is_submitted_beside_something_else_is_known(fault):
    told = told_armed(fault)
    assert any("submitted beside another at the same time is unknown" in each for each in told) is (
        bool(fault)
    )


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        deep("a-deposit-pays-each-who-claims-it", "for another address"),
        deep("deposits-on-ethw-are-those-of-ethereum", "is refused as the second"),
        deep("tickets-known-by-hash-alone", "of one hash on"),
        deep("tickets-move-to-the-latest-reporter", "listed no more for who reported it"),
    ],
)
def test_what_somebody_else_or_another_chain_submits_is_told_apart(fault, words):
    """That of a healthy service is not blamed, as the variations below show."""
    assert any(words in finding.message for _, _, finding in findings(fault, arm_writes=True))


@pytest.mark.parametrize("fault", ["ticket-turns-its-order-back", deep("")])
def test_an_order_that_has_ended_stays_where_a_ticket_is_about_its_deposit(fault):
    told = told_armed(fault, "success-has-a-hash")
    assert any("until a ticket was submitted about its deposit" in each for each in told) is bool(
        fault
    )


@pytest.mark.parametrize("fault", ["order-checks-at-once-shared", deep("")])
def test_orders_that_are_looked_up_at_the_same_time_are_told_apart(fault):
    told = told_armed(fault, "accepted-orders-are-known")
    assert any("this is the answer to another request" in each for each in told) is bool(fault)


@pytest.mark.parametrize("fault", ["v1-details-asked-too-early-stay-unknown", deep("")])
def test_what_is_asked_for_before_it_is_submitted_is_known_later(fault):
    told = told_armed(fault)
    assert any("asked for before it was submitted stays unknown" in each for each in told) is bool(
        fault
    )


def worn_out(status, headers=(), *, is_out=lambda call, turn: turn > 12):
    """Return a service that answers so where it is out, by the turn on a connection."""

    async def wrap(call, answer):
        memory = of_connection(call)
        turn = memory["turn"] = memory.get("turn", 0) + 1
        is_busy = is_out(call, turn)
        return web.Response(status=status, headers=dict(headers)) if is_busy else await answer()

    return Flaw("worn out", steps={"wrap": wrap})


@pytest.mark.parametrize("status", [503, deep(502)])
def test_a_connection_that_is_worn_out_is_told_where_new_ones_are_answered(status):
    ((_, _, finding),) = findings_about(worn_out(status))
    assert f"after 12 requests all it answers is HTTP {status}" in finding.message
    # Signed quotes alone travel that often on one connection.
    of_one = replace(worn_out(status), operations={"getCrossChainQuote"})
    ((operation, _, finding),) = findings_about(of_one)
    assert operation == "v1.getCrossChainQuote"


def busy_from_the_twelfth_on(call, turn):
    """Be busy for everybody, for fifty requests from the first that is late on its connection."""
    late = call.service.memory.get("late", 0) or (turn > 12 and 1)
    call.service.memory["late"] = late and late + 1
    return 0 < late < 50


@pytest.mark.parametrize(
    "busy",
    [
        worn_out(429),
        worn_out(503, {"Retry-After": "0"}),
        worn_out(503, is_out=busy_from_the_twelfth_on),
        worn_out(503, is_out=lambda call, _: count(call, "all") % 3 == 0),
        worn_out(503, is_out=lambda call, _: count(call, "all") % 50 in (0, 1, 2)),
        worn_out(503, is_out=lambda call, _: count(call, "all") > 190),
    ],
)
def test_a_service_that_is_busy_on_every_connection_is_not(busy):
    told = [finding.message for *_, finding in findings_about(busy)]
    assert not [message for message in told if "a connection that is used again" in message]


def test_a_server_may_insist_on_the_length_of_a_body():
    async def wrap(call, answer):
        chunked = "Transfer-Encoding" in call.request.headers
        return web.Response(status=411) if chunked else await answer()

    assert not findings_about(Flaw("lengths", steps={"wrap": wrap}), arm_writes=True)


def test_what_differs_each_time_is_nothing_new():
    def before(call):
        for token in call.service.tokens:
            token["usd"] *= 2

    # By more than prices move: nothing of them can be compared.
    doubling = Flaw("doubling", frozenset(["getSupportTokens"]), {"before": before})
    assert not findings_about(doubling)


def test_an_item_that_a_list_gains_is_told():
    def data(call, value):
        if "gzip" in call.request.headers.get("Accept-Encoding", ""):
            rows = value["tokenVos"]
            rows.append({**rows[0], "symbol": "NEW", "address": "0x" + "9" * 40})

    gaining = Flaw("gaining", frozenset(["getSupportTokens"]), {"data": data})
    messages = [finding.message for _, _, finding in findings_about(gaining)]
    assert any("is there, and was not before" in message for message in messages), messages


def test_what_differs_in_a_secret_is_told_without_it():
    def data(call, value):
        is_packed = "gzip" in call.request.headers.get("Accept-Encoding", "")
        for number, item in enumerate(value["tokenVos"]):
            # A name of an item that says secret does not tell items apart.
            item |= {"pin": f"7779{number}", "amount": 5 if is_packed else 6}
            item |= {key: item.pop(key) for key in [*item][:-2]}
        value["pin"] = 777903 if is_packed else 777904

    differing = Flaw("differing", frozenset(["getSupportTokens"]), {"data": data})
    messages = [finding.message for _, _, finding in findings_about(differing)]
    assert messages
    assert not [message for message in messages if "7779" in message]


def test_the_answer_to_somebody_elses_request_contradicts_the_description():
    verdicts = {verdict for _, verdict, _ in findings("answers-swapped")}
    assert verdicts == {Verdict.VIOLATION}


@pytest.mark.deep
def test_every_second_look_at_a_replica_that_is_behind_shows():
    ((operation, _, finding),) = findings("replica-without-new-orders", arm_writes=True)
    assert operation == "v2.checkOrder"
    ways = ("and is answered as before when asked again", "is refused on another")
    assert any(words in finding.message for words in ways)
    assert len(finding.exchanges) == 2


@pytest.mark.parametrize(
    "variation",
    [
        *("gzip-where-accepted", "prices-move"),
        deep("etags-that-are-right"),
        *map(
            deep,
            (
                "chunked",
                "connection-closes",
                "list-order-changes",
                "version-rises",
                "same-hash-refused",
            ),
        ),
        deep("refusals-with-http-400"),
    ],
)
@pytest.mark.deep(quick=1)
def test_what_is_allowed_is_not_blamed(variation):
    assert not findings("", variation, arm_writes=True)


@pytest.mark.parametrize("dialect", ["documented", "observed"])
def test_further_inputs_are_those_of_no_operation(dialect):
    # Whoever has an input of that name would get it twice, and may refuse that.
    draft = Draft(raw_query="own=1")
    every = forms_of_clients(draft, "", "application/json", takes_further=True)
    changed = applied(draft, *every.values(), *FORMS["as browsers send it"].values())
    names = {part.partition("=")[0] for part in unquote(changed.raw_query or "").split("&")}
    assert {"flag", "utm_source"} < names
    assert not [
        field
        for operation in contract.load(dialect)
        for field in operation.fields
        if field.name in names
    ]


@pytest.mark.parametrize("dialect", ["documented", "observed"])
def test_the_mock_is_answered_alike_in_every_delivery(dialect):
    with running(clock="frozen", refusals="allow", dialect=dialect) as mock:
        result = run(mock.url, only=RULE, edges=False, examples=0, arm_writes=True, dialect=dialect)
    assert {outcome.verdict for outcome in result.outcomes} <= {
        Verdict.HOLDS,
        Verdict.NOT_APPLICABLE,
    }
    assert len([o for o in result.outcomes if o.verdict is Verdict.HOLDS]) >= 12


def test_it_may_be_left_out():
    with service_six(catalogue.flaw("head-fails")) as url:
        result = run(url, delivery=False, edges=False, examples=0, only="v2.getPrice")
    assert not [exchange for exchange in result.exchanges if exchange.request.method == "HEAD"]
