"""Faults of envelopes and of HTTP."""

from tests.blind.edits import (
    as_text,
    at,
    boom,
    drop,
    http,
    on_refusal,
    payload,
    put,
    when,
)
from tests.blind.rows import fault
from tests.blind.wire import Answer, Call, Verbatim


def _result_for_data(call: Call, answer: Answer) -> None:
    if answer.good:
        answer.body["result"] = answer.body.pop("data")


def _empty(call: Call, answer: Answer) -> None:
    answer.payload = b""


def _refused_as_success(answer: Answer) -> None:
    answer.body = {**answer.body, "code": 0}


def _page(answer: Answer) -> None:
    answer.status, answer.content_type = 404, "text/html"
    answer.payload = b"<html>Not Found</html>"


def _only_msg(answer: Answer) -> None:
    answer.body = {"msg": answer.body["msg"]}


def _text_code(answer: Answer) -> None:
    answer.body = {**answer.body, "code": "E_REFUSED"}


def _success_text(answer: Answer) -> None:
    answer.body = {**answer.body, "msg": "success"}


ENVELOPES = (
    fault(
        "code-is-text",
        "v2.getChain",
        "2.1",
        "code is text where an integer is written down",
        after=put("code", "0"),
    ),
    fault("code-missing", "v2.getPrice", "2.1", "the envelope has no code", after=drop("code")),
    fault("code-null", "v2.getAssets", "2.1", "code is null", after=put("code", None)),
    fault(
        "code-200-in-2.0",
        "v2.getBalance",
        "2.1",
        "a success of 2.0 has code 200",
        after=put("code", 200),
    ),
    fault(
        "code-is-a-fraction",
        "v2.getBridgeQuote",
        "2.1",
        "code is 0.5",
        after=put("code", Verbatim("0.5")),
    ),
    fault("msg-missing", "v2.getBalance", "2.1", "the envelope has no msg", after=drop("msg")),
    fault("msg-null", "v2.getAggregateQuote", "2.1", "msg is null", after=put("msg", None)),
    fault("msg-is-an-object", "v2.checkOrder", "2.1", "msg is an object", after=put("msg", {})),
    fault(
        "data-missing-in-success",
        "v2.getAggregateSwap",
        "2.1",
        "a success has no data",
        after=drop("data"),
    ),
    fault("data-null", "v2.getBridgeQuote", "2.1", "data is null", after=put("data", None)),
    fault(
        "data-is-json-in-text",
        "v2.getPrice",
        "2.1",
        "data is text with JSON in it",
        after=as_text("data"),
    ),
    fault(
        "data-wrapped-twice",
        "v2.getBalance",
        "2.3",
        "the result is one level too deep",
        after=at("data", lambda old: {"data": old}),
    ),
    fault(
        "result-beside-data",
        "v2.getPrice",
        "2.1",
        "the result is called result",
        after=_result_for_data,
    ),
    fault(
        "refusal-with-code-0",
        "v2.getBridgeQuote",
        "7",
        "a refusal has code 0 and no result",
        after=on_refusal(_refused_as_success),
    ),
    fault(
        "refusal-with-code-0-aggregate",
        "v2.getAggregateQuote",
        "7",
        "a refusal has code 0 and no result",
        after=on_refusal(_refused_as_success),
    ),
    fault(
        "refusal-is-a-page",
        "v2.getPrice",
        "7",
        "refusals are HTML, not an envelope",
        after=on_refusal(_page),
    ),
    fault(
        "refusal-without-code",
        "v2.getAssetsByChain",
        "2.1",
        "refusals have no code",
        after=on_refusal(_only_msg),
    ),
    fault(
        "refusal-code-is-text",
        "v2.getBalance",
        "2.1",
        "refusals have a code in text",
        after=on_refusal(_text_code),
    ),
    fault(
        "refusal-says-success",
        "v2.getPrice",
        "7",
        "msg of a refusal is success",
        after=on_refusal(_success_text),
    ),
    fault(
        "refusal-of-v1-without-status",
        "v1.getCrossChainQuote",
        "2.1",
        "a refusal of v1 has no status",
        after=on_refusal(lambda answer: answer.body.pop("status")),
    ),
    fault(
        "refusal-of-v1-without-msg",
        "v1.getSupportTokens",
        "2.1",
        "a refusal of v1 has no msg",
        after=on_refusal(lambda answer: answer.body.pop("msg")),
    ),
    fault(
        "v1-status-missing",
        "v1.getSupportChains",
        "2.1",
        "the envelope of v1 has no status",
        after=drop("status"),
    ),
    fault(
        "v1-status-is-text",
        "v1.getCrossChainQuote",
        "2.1",
        "status is text",
        after=put("status", "ok"),
    ),
    fault("v1-msg-missing", "v1.getSupportTokens", "2.1", "no msg", after=drop("msg")),
    fault("v1-code-is-text", "v1.getSupportTokens", "2.1", "code in text", after=put("code", "0")),
    fault(
        "v1-data-is-a-list",
        "v1.getSupportChains",
        "2.1",
        "data of v1 is a list",
        after=at("data", lambda old: old["chains"]),
    ),
    fault(
        "v1-data-null", "v1.getTransferToMinterRaw", "2.1", "data is null", after=put("data", None)
    ),
    fault(
        "v1-data-is-text",
        "v1.getTransferToMinterRaw",
        "2.1",
        "data is the raw transaction itself",
        after=at("data", lambda old: old["raw"]),
    ),
    fault("error-500", "v2.getPrice", "common sense", "every answer is a page of 500", after=boom),
    fault("error-500-v1", "v1.getCrossChainQuote", "common sense", "500 always", after=boom),
    fault(
        "success-with-500",
        "v2.getAssetsByChain",
        "common sense",
        "a success is sent with HTTP 500",
        after=http(status=500),
    ),
    fault(
        "success-with-404",
        "v2.getBalance",
        "common sense",
        "a success is sent with HTTP 404",
        after=http(status=404),
    ),
    fault("empty-body", "v2.getAssets", "common sense", "the body is empty", after=_empty),
    fault(
        "cut-json",
        "v2.getAssetsByChain",
        "common sense",
        "the last bytes of the JSON are missing",
        after=payload(lambda old: old[:-7]),
    ),
    fault(
        "cut-body",
        "v2.getChain",
        "common sense",
        "fewer bytes come than Content-Length says",
        after=http(unsent=9),
    ),
    fault(
        "two-documents",
        "v2.getPrice",
        "common sense",
        "the JSON comes twice in one body",
        after=payload(lambda old: old + old),
    ),
    fault(
        "single-quotes",
        "v2.getBalance",
        "common sense",
        "strings stand in single quotes",
        after=payload(lambda old: old.replace(b'"', b"'")),
    ),
    fault(
        "not-a-number",
        "v2.getAggregateQuote",
        "common sense",
        "chainDecimal is NaN",
        after=put("data.chainDecimal", Verbatim("NaN")),
    ),
    fault(
        "not-utf-8",
        "v2.getPrice",
        "common sense",
        "text is sent as latin-1",
        after=payload(lambda old: old.replace(b"CoinGecko", b"Coin\xe9Gecko")),
    ),
    fault(
        "doubled-member",
        "v2.getBridgeQuote",
        "common sense",
        "the member outAmount comes twice with two values",
        after=payload(lambda old: old.replace(b'"serviceFee"', b'"outAmount":"1","serviceFee"')),
    ),
    fault("hang-up", "v2.checkTicket", "common sense", "no answer", after=http(hang_up=True)),
    fault("hang", "v2.getPrice", "common sense", "answers take 12 seconds", after=http(delay=12)),
    fault(
        "wrong-coding-named",
        "v2.getAssetsByChain",
        "common sense",
        "plain bytes are announced as gzip",
        after=http(headers={"Content-Encoding": "gzip"}),
    ),
    fault(
        "content-type-html",
        "v2.getBridgeQuote",
        "4",
        "JSON is announced as HTML",
        after=http(content_type="text/html"),
    ),
    fault(
        "second-call-fails",
        "v2.getAssets",
        "common sense",
        "every second call is answered with 500",
        after=when(lambda call: call.nth % 2 == 1, boom),
    ),
    fault(
        "redirected",
        "v2.getAssetsByChain",
        "4.2",
        "the operation is somewhere else",
        after=http(status=302, headers={"Location": "/v2/getAssetsByChain"}),
    ),
)
