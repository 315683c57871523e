"""Breaks that show beside the request itself: units, signs, filters, and bad input taken."""

import base64
import re
from decimal import Decimal

from mockserver.engine.catalog import Placed
from mockserver.jsontext import Json
from mockserver.responders.breaks.amounts import (
    catalog_of,
    decimals_of,
    hundred_tokens,
    negative,
    on_whole,
    times,
    whole,
)
from mockserver.responders.breaks.answers import Page, change, editing
from mockserver.responders.breaks.operations import (
    AGGREGATE_QUOTE,
    ASSETS,
    ASSETS_BY_CHAIN,
    BALANCE,
    BRIDGE_QUOTE,
    PRICE,
    SUBMIT_ORDER,
    SUBMIT_TICKET,
    SWAP,
    V1_CHAINS,
    V1_DETAIL,
    V1_QUOTE,
    V1_RAW,
    V1_SUBMIT,
    V1_TOKENS,
)
from mockserver.responders.breaks.requests import (
    Value,
    all_of,
    asked_of,
    correcting,
    filling,
)
from mockserver.responders.breaks.values import Act, Break, Layer, Turn, Verdict
from mockserver.responders.delivery import Delivery
from mockserver.responders.responder import Call

_WALLET = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
_SIGNATURE = "ab" * 65
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def now_text(call: Call) -> str:
    """Return the world's time in milliseconds, as a v1 header carries it."""
    return str(call.hosted.world.now())


def _unsigned(call: Call, value: Json) -> Json:
    if isinstance(value, str):
        return value.removeprefix("-")
    return abs(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else value


def _not_zero(value_if_zero: Json) -> Act:
    def how(call: Call, value: Json) -> Json:
        zero = value == "0" or (value == 0 and not isinstance(value, bool))
        return value_if_zero if zero else value

    return correcting("query", "amount", how)


def _parsed(call: Call, value: Json) -> Json:
    """Read an amount as lenient parsers do: the digits at its front, or else a hundred million."""
    if not isinstance(value, str) or _NUMBER.fullmatch(value):
        return value
    front = re.match(r"[0-9]{1,70}", value)
    return front[0] if front and int(front[0]) else "100000000"


def _as_number(call: Call, value: Json) -> Json:
    """Return the number in a text, as languages that turn texts into numbers do."""
    if isinstance(value, str) and _NUMBER.fullmatch(value) and len(value) < 100:
        return Decimal(value) if "." in value else int(value)
    return value


def known_chain(call: Call, value: Json) -> Json:
    """Return a chain of 2.0 for a name that no chain has."""
    names = [chain.nickname for chain in catalog_of(call).chains]
    return value if value in names else "ETH"


def _known_v1_chain(call: Call, value: Json) -> Json:
    names = [chain.v1_name for chain in catalog_of(call).v1_chains()]
    return value if value in names else "ETH"


def _other_v1_chain(call: Call) -> Json:
    """Return a v1 chain that an order does not start from, since none may end there."""
    return "BSC" if asked_of(call).body.get("fromChain") == "ETH" else "ETH"


def _the_users(call: Call, value: Json) -> Json:
    user = asked_of(call).body.get("evmAddress")
    return user if isinstance(value, str) and isinstance(user, str) else value


def _known_token(call: Call, value: Json) -> Json:
    names = [token.symbol for token in catalog_of(call).tokens]
    return value if value in names else "USDT"


def _placed(call: Call, end: str, address: str) -> Placed | None:
    """Return the token at an address of a request, on the chain that the request names."""
    query = asked_of(call).query
    chain, wanted = query.get("chain") or query.get(f"{end}Chain"), query.get(address, "")
    for one in catalog_of(call).chains:
        if one.nickname == chain:
            found = catalog_of(call).tokens_on(one)
            fits = (placed for placed in found if placed.contract.address.lower() == wanted.lower())
            return next(fits, None)
    return None


def _listed_decimals(end: str) -> Act:
    """Take the listed decimals of a token whatever a request says."""

    def how(call: Call, value: Json) -> Json:
        placed = _placed(call, end, f"{end}TokenAddress")
        return value if placed is None else str(placed.decimals)

    return correcting("query", f"{end}Decimal", how)


def _target_decimals(call: Call) -> Json:
    placed = _placed(call, "to", "toTokenAddress")
    return "18" if placed is None else str(placed.decimals)


def _symbol_there(call: Call) -> Json:
    placed = _placed(call, "", "contractAddress")
    return "USDT" if placed is None else placed.symbol


def _always(location: str, name: str, value: Json) -> Act:
    return correcting(location, name, lambda call, given: value)


def _whole_tokens(page: Page) -> None:
    decimals = decimals_of(
        page, page.asked.query.get("toChain", ""), page.asked.query.get("symbol", "")
    )
    units = whole(page.data.get("outAmount"))
    if units is not None:
        page.data["outAmount"] = str(units // 10**decimals)


def _decimals_of_source(page: Page) -> None:
    """Count the output in the decimals of the source chain."""
    query, units = page.asked.query, whole(page.data.get("outAmount"))
    if units is None:
        return
    symbol = query.get("symbol", "")
    to, source = (decimals_of(page, query.get(f"{end}Chain", ""), symbol) for end in ("to", "from"))
    page.data["outAmount"] = str(units * 10**source // 10**to)


def _minimum_above(page: Page) -> None:
    units = whole(page.data.get("outAmount"))
    if units is not None:
        page.data["minOutAmount"] = str(units + units // 100 + 1)


def _source_decimals(page: Page) -> None:
    told = page.asked.query.get("fromDecimal", "")
    if told.isascii() and told.isdecimal() and len(told) < 4:
        other = 6 if int(told) == page.data.get("chainDecimal") else int(told)
        page.data["chainDecimal"] = other


def _swapped_chains(turn: Turn) -> Delivery:
    asked = asked_of(turn.call)
    source, target = asked.query.get("fromChain"), asked.query.get("toChain")
    if source is None or target is None:
        return turn.answer()
    ends = all_of(_always("query", "toChain", source), _always("query", "fromChain", target))
    return ends(turn)


def _without_0x(value: Json) -> Json:
    return value.removeprefix("0x") if isinstance(value, str) else value


def _odd(value: Json) -> Json:
    return value[:-1] if isinstance(value, str) and value else value


def _base64(value: Json) -> Json:
    try:
        return base64.b64encode(bytes.fromhex(_without_0x(value))).decode("ascii")
    except (TypeError, ValueError):
        return value


def _percent(call: Call, value: Json) -> Json:
    """Read hundredths of a percent as whole percents, up to the half that is taken at most."""
    units = whole(value)
    return value if not units else str(min(units * 100, 5000))


def _recipient_is_sender(turn: Turn) -> Delivery:
    sender = asked_of(turn.call).query.get("sender")
    return turn.answer() if sender is None else _always("query", "recipient", sender)(turn)


def _first_token(turn: Turn) -> Delivery:
    """Ask for the chain's own coin, whichever contract is meant."""
    return _always("query", "contractAddress", "0x" + "e" * 40)(turn)


def _other_token_in(page: Page) -> None:
    quote = page.data.get("crossChain")
    if isinstance(quote, dict):
        quote["tokenIn"] = "USDC" if quote.get("tokenIn") == "USDT" else "USDT"


def _flat_amount(page: Page) -> None:
    quote = page.data.get("crossChain")
    if isinstance(quote, dict):
        quote["amountIn"] = 1


def _demanding(header: str) -> Act:
    """Refuse requests without a header that nobody asks for."""

    def act(turn: Turn) -> Delivery:
        if header in turn.call.request.headers:
            return turn.answer()
        hosted, generation = turn.call.hosted, turn.call.operation.generation
        return Delivery(hosted.refuser.refuse(generation, "missing-header", f"header {header!r}"))

    return act


_LAYER, _VIOLATION, _OBSERVED = Layer.EXCHANGE, Verdict.VIOLATION, Verdict.OBSERVED


def _dashed(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


def _missing(
    operation: str, location: str, name: str, value: Value, section: str, *, writes: bool = False
) -> Break:
    """Return a break that does without something required."""
    generation, _, short = operation.partition(".")
    prefix = "v1-" if generation == "v1" else ""
    kind = {"query": "query parameter", "headers": "header", "body": "body field"}[location]
    return Break(
        f"{prefix}{_dashed(short.partition('ByHash')[0])}-without-{_dashed(name)}",
        _LAYER,
        f"{short} does without its required {kind} {name}",
        section,
        _VIOLATION,
        (operation,),
        filling(location, name, value),
        needs_writes=writes,
    )


BREAKS: tuple[Break, ...] = (
    Break(
        "bridge-whole-tokens",
        _LAYER,
        "outAmount counts whole tokens instead of smallest units",
        "2.3",
        _VIOLATION,
        (BRIDGE_QUOTE,),
        editing(_whole_tokens),
    ),
    Break(
        "bridge-source-decimals",
        _LAYER,
        "outAmount counts in the decimals of the source chain",
        "2.3",
        _VIOLATION,
        (BRIDGE_QUOTE,),
        editing(_decimals_of_source),
    ),
    Break(
        "bridge-chains-swapped",
        _LAYER,
        "fromChain and toChain are taken for each other",
        "4.2 row 4",
        _VIOLATION,
        (BRIDGE_QUOTE,),
        _swapped_chains,
    ),
    Break(
        "bridge-usd-in-cents",
        _LAYER,
        "outAmountUsd counts cents",
        "2.3",
        _VIOLATION,
        (BRIDGE_QUOTE,),
        change("outAmountUsd", times("100")),
    ),
    Break(
        "bridge-negative-gas-fee",
        _LAYER,
        "gasFee is negative",
        "DEMO",
        _OBSERVED,
        (BRIDGE_QUOTE,),
        change("gasFee", negative),
    ),
    Break(
        "bridge-fee-in-percent",
        _LAYER,
        "serviceFee takes its rate for percent instead of hundredths of one",
        "DEMO",
        _OBSERVED,
        (BRIDGE_QUOTE,),
        change("serviceFee", on_whole(lambda units: units * 100)),
    ),
    Break(
        "aggregate-negative-output",
        _LAYER,
        "outAmount of a swap is negative",
        "DEMO",
        Verdict.OBSERVED,
        (AGGREGATE_QUOTE,),
        change("outAmount", negative),
    ),
    Break(
        "aggregate-output-off-by-a-million",
        _LAYER,
        "outAmount of a swap is a million times too small for its USD value and decimals",
        "DEMO",
        Verdict.OBSERVED,
        (AGGREGATE_QUOTE,),
        change("outAmount", on_whole(lambda units: units // 10**6)),
    ),
    Break(
        "aggregate-minimum-above-output",
        _LAYER,
        "minOutAmount is above outAmount",
        "A-265",
        Verdict.ASSUMED,
        (AGGREGATE_QUOTE,),
        editing(_minimum_above),
    ),
    Break(
        "aggregate-source-decimals",
        _LAYER,
        "chainDecimal is not that of the chain on which the swap is made",
        "GB2-quote",
        _OBSERVED,
        (AGGREGATE_QUOTE,),
        editing(_source_decimals),
    ),
    Break(
        "aggregate-impact-with-percent-sign",
        _LAYER,
        "priceImpact ends with a percent sign",
        "2.3",
        _VIOLATION,
        (AGGREGATE_QUOTE,),
        change("priceImpact", lambda value: f"{value}%" if isinstance(value, str) else value),
    ),
    Break(
        "aggregate-other-decimals-taken",
        _LAYER,
        "decimals that are not the token list's are taken",
        "A-211",
        Verdict.ASSUMED,
        (AGGREGATE_QUOTE,),
        all_of(_listed_decimals("from"), _listed_decimals("to")),
    ),
    Break(
        "swap-data-without-0x",
        _LAYER,
        "call data has no 0x before it",
        "SDK2",
        _OBSERVED,
        (SWAP,),
        change("data", _without_0x),
    ),
    Break(
        "swap-data-odd",
        _LAYER,
        "call data lacks its last hex digit",
        "2.3",
        _VIOLATION,
        (SWAP,),
        change("data", _odd),
    ),
    Break(
        "swap-data-base64",
        _LAYER,
        "call data is Base64",
        "2.3",
        _VIOLATION,
        (SWAP,),
        change("data", _base64),
    ),
    Break(
        "swap-slippage-in-percent",
        _LAYER,
        "slippage of 100 is taken for the most there is instead of 1%",
        "4.2 row 6",
        _VIOLATION,
        (SWAP,),
        correcting("query", "slippage", _percent),
    ),
    Break(
        "swap-pays-the-sender",
        _LAYER,
        "the recipient is ignored, the sender is paid",
        "4.2 row 6",
        _VIOLATION,
        (SWAP,),
        _recipient_is_sender,
    ),
    Break(
        "chain-filter-ignored",
        _LAYER,
        "tokens of one chain are listed whichever is asked for",
        "4.2 row 3",
        _VIOLATION,
        (ASSETS_BY_CHAIN,),
        _always("query", "chain", "ETH"),
    ),
    Break(
        "v1-chain-filter-ignored",
        _LAYER,
        "v1 tokens of one chain are listed whichever is asked for",
        "4.1 row 2",
        _VIOLATION,
        (V1_TOKENS,),
        _always("headers", "chain", "ETH"),
    ),
    Break(
        "balance-of-the-coin",
        _LAYER,
        "contractAddress is ignored, the chain's own coin is counted",
        "4.2 row 9",
        _VIOLATION,
        (BALANCE,),
        _first_token,
    ),
    Break(
        "price-off-by-a-million",
        _LAYER,
        "prices count millionths of a USD",
        "GHOST",
        _OBSERVED,
        (PRICE,),
        change("price", times("1000000")),
    ),
    Break(
        "v1-quote-of-another-token",
        _LAYER,
        "tokenIn is not the token asked about",
        "ESS1",
        _OBSERVED,
        (V1_QUOTE,),
        editing(_other_token_in),
    ),
    Break(
        "v1-quote-of-one-token",
        _LAYER,
        "amountIn is 1 whatever the amount",
        "ESS1",
        _OBSERVED,
        (V1_QUOTE,),
        editing(_flat_amount),
    ),
    Break(
        "negative-amount-taken",
        _LAYER,
        "a negative amount is quoted as if it were positive",
        "DEMO",
        _OBSERVED,
        (BRIDGE_QUOTE,),
        correcting("query", "amount", _unsigned),
    ),
    Break(
        "zero-amount-taken",
        _LAYER,
        "an amount of zero is quoted as some default",
        "DEMO",
        _OBSERVED,
        (BRIDGE_QUOTE,),
        _not_zero("100000000"),
    ),
    Break(
        "garbage-amount-taken",
        _LAYER,
        "an amount that is no number is quoted as far as digits go",
        "4.2 row 4",
        _VIOLATION,
        (BRIDGE_QUOTE,),
        correcting("query", "amount", _parsed),
    ),
    Break(
        "v1-negative-amount-taken",
        _LAYER,
        "a negative v1 amount is quoted as if it were positive",
        "A-006",
        Verdict.ASSUMED,
        (V1_QUOTE, V1_RAW),
        correcting("body", "amount", _unsigned),
    ),
    Break(
        "v1-amount-as-text-taken",
        _LAYER,
        "an amount in a text is taken for a float",
        "A-243",
        Verdict.ASSUMED,
        (V1_QUOTE, V1_RAW),
        correcting("body", "amount", _as_number),
    ),
    Break(
        "v1-fee-level-as-text-taken",
        _LAYER,
        "a feeLevel in a text is taken for an integer",
        "A-243",
        Verdict.ASSUMED,
        (V1_QUOTE,),
        correcting("body", "feeLevel", _as_number),
    ),
    Break(
        "unknown-chain-taken",
        _LAYER,
        "a chain that nobody lists is taken for another",
        "4.2 row 4",
        _VIOLATION,
        (BRIDGE_QUOTE,),
        all_of(
            correcting("query", "fromChain", known_chain),
            correcting("query", "toChain", known_chain),
        ),
    ),
    Break(
        "unknown-chain-listed",
        _LAYER,
        "tokens are listed for a chain that does not exist",
        "4.2 row 3",
        _VIOLATION,
        (ASSETS_BY_CHAIN,),
        correcting("query", "chain", known_chain),
    ),
    Break(
        "unknown-token-taken",
        _LAYER,
        "a token that nobody lists is quoted as another",
        "4.2 row 4",
        _VIOLATION,
        (BRIDGE_QUOTE,),
        correcting("query", "symbol", _known_token),
    ),
    Break(
        "v1-unknown-chain-taken",
        _LAYER,
        "a v1 chain that nobody lists is taken for another",
        "2.2",
        _VIOLATION,
        (V1_QUOTE,),
        all_of(
            correcting("body", "fromChain", _known_v1_chain),
            correcting("body", "toChain", _known_v1_chain),
        ),
    ),
    Break(
        "v1-raw-for-any-sender",
        _LAYER,
        "a deposit from an EVM address that is not the user's is made as if it were",
        "2.2",
        Verdict.VIOLATION,
        (V1_RAW,),
        correcting("body", "fromAddress", _the_users),
    ),
    Break(
        "v1-unknown-token-taken",
        _LAYER,
        "a v1 token that nobody lists is taken for another",
        "2.2",
        _VIOLATION,
        (V1_QUOTE, V1_RAW),
        correcting("body", "token", _known_token),
    ),
    Break(
        "bridge-demands-a-key",
        _LAYER,
        "a 2.0 quote is refused without the header appKey",
        "5",
        _VIOLATION,
        (BRIDGE_QUOTE,),
        _demanding("appKey"),
    ),
    Break(
        "assets-demand-a-header",
        _LAYER,
        "the token list is refused without the header channel, which is not published",
        "4.2 row 2",
        _VIOLATION,
        (ASSETS,),
        _demanding("channel"),
    ),
    Break(
        "v1-lists-demand-a-signature",
        _LAYER,
        "the v1 lists are refused without the header signature",
        "5",
        _VIOLATION,
        (V1_CHAINS, V1_TOKENS),
        _demanding("signature"),
    ),
    _missing(BRIDGE_QUOTE, "query", "amount", hundred_tokens, "4.2 row 4"),
    _missing(PRICE, "query", "symbol", _symbol_there, "4.2 row 10"),
    _missing(AGGREGATE_QUOTE, "query", "toDecimal", _target_decimals, "4.2 row 5"),
    _missing(SWAP, "query", "slippage", "100", "4.2 row 6"),
    _missing(BALANCE, "query", "chain", "BNB", "4.2 row 9"),
    _missing(ASSETS_BY_CHAIN, "query", "chain", "ETH", "4.2 row 3"),
    _missing(V1_TOKENS, "headers", "chain", "ETH", "4.1 row 2"),
    _missing(V1_QUOTE, "headers", "signature", _SIGNATURE, "5"),
    _missing(V1_RAW, "headers", "timestamp", now_text, "5"),
    _missing(V1_QUOTE, "headers", "expireTime", "15000", "5"),
    _missing(V1_QUOTE, "body", "feeLevel", 0, "2.2"),
    _missing(V1_RAW, "body", "fromAddress", _WALLET, "2.2"),
    _missing(V1_DETAIL, "query", "evmAddress", _WALLET, "2.2", writes=True),
    _missing(V1_SUBMIT, "body", "toChain", _other_v1_chain, "2.2", writes=True),
    _missing(SUBMIT_ORDER, "headers", "Signature", _SIGNATURE, "5", writes=True),
    _missing(SUBMIT_ORDER, "body", "channel", "default", "4.2 row 7", writes=True),
    _missing(SUBMIT_TICKET, "headers", "EvmAddress", _WALLET, "5", writes=True),
)
"""Exchange breaks."""
