"""The two generations of one service against each other: chains, tokens, quotes, transactions."""

import html
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from urllib.parse import unquote

from mockserver import jsontext
from mockserver.conformance.checks import required_members
from mockserver.conformance.checks.answered_quotes import (
    AnsweredQuote,
    echoed,
    out_of,
    v1_quotes,
)
from mockserver.conformance.checks.check_decorators import answers_to, counting, each
from mockserver.conformance.checks.quotes_compared import grows_with_input, steady_quotes
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements, RulePack
from mockserver.conformance.checks.shared_probes import (
    LISTS,
    LISTS_OF_BOTH,
    V1_QUOTES,
    probe,
    probes,
)
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.inventory import (
    ListedChain,
    ListedToken,
    inventories,
    inventory_of,
    requested_chain,
    tokens_in,
    twins_of,
)
from mockserver.conformance.discovery.member_roles import folded, scalar
from mockserver.conformance.discovery.token_routes import price_of, v1_tokens
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, cached
from mockserver.conformance.session.probe_names import plain_probe
from mockserver.conformance.verdict import Inconclusive, Vacuous
from mockserver.contract import Layer, Operation, fact_basis, ids, shipped_facts
from mockserver.engine.abi import APPROVE, GAS_OF_ALL, TRANSFER
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import texts_in
from mockserver.signing import rlp

# Hex of the unsigned transaction, then its signature (OAE).
_SIGNED = re.compile("[0-9a-f]{40,}_[0-9a-f]+")
# Where a chain id stands, signatures from before EIP-155 have 27 or 28.
_NO_CHAIN_IDS = ("0", "27", "28")
# Of each byte of data, a zero and another (EIP-2028; before it, other bytes cost more).
_GAS_OF_ZERO, _GAS_OF_BYTE = 4, 16
# Where a transaction has its nonce, the price and the limit of its gas, and its value.
_NUMBERS = (0, 1, 2, 4)
_TOKENS = "data.tokenVos[]"
_NO_EVM = frozenset(shipped_facts().names["words"]["not-evm"])
_ECHOED = {"amountIn": "amount", "tokenIn": "token"}
# Prices move between two reads, and fees differ: within a quarter.
_PRICE_FACTOR = Decimal("1.25")
# A transfer creates no money; two percent allow for rounding and prices that move.
_LARGEST_OUTPUT_SHARE = Decimal("1.02")

_PACK = RulePack(
    Layer.GENERATION,
    operations=(ids.V1_QUOTE,),
    needs=(*probes(ids.V1_CHAINS, "usual"), *probes(ids.CHAINS, "usual")),
)


@_PACK.major("generations.chains", ids.V1_CHAINS)
def v1_chains_are_chains_of_the_service(context: RunContext, _: Operation) -> Findings:
    """Every chain that v1 offers is in the list of 2.0."""
    exchange, inventory = context.require_success(plain_probe(ids.V1_CHAINS)), inventory_of(context)
    lists = [value for value in exchange.data.values() if isinstance(value, list)]
    evm = [chain for chain in inventory.offered if chain.evm]
    if lists and not any(lists) and evm:
        lists_of_2 = f"2.0 lists {evm[0].name} and {len(evm) - 1} more EVM chains"
        message, basis = f"v1 lists no chain, {lists_of_2}", fact_basis("v1-chains.some")
        exchanges = (context.require(plain_probe(ids.CHAINS)), exchange)
        yield Finding(message, exchanges, "data.chains[]", basis, cause="no chain")
        return
    chains = _v1_chains(context)
    if not inventory.chains:
        context.require_success(plain_probe(ids.CHAINS))
        raise Vacuous("2.0 lists no chain")
    unmatched = [chain for chain in chains if inventory.twin(chain) is None]
    # Each generation has its own names, so a name alone does not identify a chain.
    known = [chain for chain in unmatched if chain.network]
    if len(unmatched) * 2 > len(chains) or (unmatched and not known):
        raise Inconclusive("chains of v1 have other names than in 2.0, and no network id")
    for chain in known:
        message = f"v1 lists {chain.name} with network {chain.network}, which 2.0 does not list"
        exchanges = (context.require(plain_probe(ids.CHAINS)), exchange)
        yield Finding(message, exchanges, "data.chains[]", cause="unknown chain")


@_PACK.major("service.v1-evm-only", ids.V1_CHAINS)
def v1_chains_are_evm_chains(context: RunContext, _: Operation) -> Findings:
    """Every chain that v1 offers is an EVM chain."""
    for chain in _v1_chains(context):
        twin = inventory_of(context).twin(chain)
        evm = chain.evm if chain.evm is not None or twin is None else twin.evm
        named_otherwise = evm is None and {folded(name) for name in chain.names} & _NO_EVM
        if evm is False or named_otherwise:
            message = f"v1 lists {chain.name}, which is no EVM chain"
            exchanges = (context.require(plain_probe(ids.V1_CHAINS)),)
            yield Finding(message, exchanges, "data.chains[]", cause="no EVM chain")


@_PACK.critical("v1-chains.network", ids.V1_CHAINS, name="v1-chains-have-the-networks-of-2.0")
@counting(not_shown="too few chains of one name have the number of their network in both lists")
def v1_chains_have_the_networks_of_2(context: RunContext, _: Operation) -> Judgements:
    """A chain has the same network id in both lists of chains."""
    by_name = {folded(chain.name): chain for chain in inventory_of(context).chains}
    pairs = [
        (chain, second_chain)
        for chain in _v1_chains(context)
        if (second_chain := by_name.get(folded(chain.name)))
        and chain.network
        and second_chain.network
    ]
    apart = [pair for pair in pairs if pair[0].network != pair[1].network]
    # Where most ids differ they are another kind of number, such as an index of the list.
    if len(apart) * 2 >= len(pairs):
        return
    yield JUDGED
    for chain, second_chain in apart:
        message = f"{chain.name} is network {chain.network} in v1, {second_chain.network} in 2.0"
        exchanges = (
            context.require(plain_probe(ids.CHAINS)),
            context.require(plain_probe(ids.V1_CHAINS)),
        )
        yield Finding(message, exchanges, "data.chains[]", cause="network")


@_PACK.critical(
    "v1-tokens.members", ids.V1_TOKENS, name="v1-tokens-are-as-in-2.0", needs=LISTS_OF_BOTH
)
@counting(once=True, vacuous="v1 and 2.0 list no token of one chain in common")
def v1_tokens_are_as_in_2(context: RunContext, _: Operation) -> Judgements:
    """A token of v1 has the address, decimals and symbol that 2.0 shows on the same chain."""
    v2 = inventory_of(context)
    twins = {chain.name: twin.name for chain, twin in twins_of(context)}
    looks = context.successes(ids.V1_TOKENS)
    tokens = dict.fromkeys(token for exchange in looks for token in tokens_in(context, exchange))
    pairs = [(token, v2.on(twins[token.chain])) for token in tokens if token.chain in twins]
    for token, others in pairs:
        same = [each for each in others if folded(each.symbol) == folded(token.symbol)]
        if len(same) != 1:
            continue
        yield JUDGED
        facts = (
            ("decimals", token.decimals, same[0].decimals),
            ("address", token.address.lower(), same[0].address.lower()),
        )
        for role, here, there in facts:
            if here not in (None, "") and there not in (None, "") and here != there:
                has = f"{role} {here} in v1, {there} in 2.0"
                message, place = f"{token.symbol} on {token.chain} has {has}", f"{_TOKENS}.{role}"
                yield Finding(message, _lists_with(context, token), place)
    yield from _named_otherwise(context, pairs)


def _named_otherwise(
    context: RunContext, pairs: Iterable[tuple[ListedToken, Collection[ListedToken]]]
) -> Findings:
    """Yield a finding where v1 calls few tokens otherwise than 2.0, by their addresses."""
    at_one_address = [
        (token, second_token)
        for token, others in pairs
        for second_token in others
        if token.address and token.address.lower() == second_token.address.lower()
        if token.offered and not (token.is_native or second_token.is_native)
    ]
    apart = [
        (token, second_token)
        for token, second_token in at_one_address
        if folded(token.symbol) != folded(second_token.symbol)
    ]
    # Of one address that several tokens have, nothing tells which is meant.
    listed = {(token.chain, token.address, token.symbol) for token, _ in at_one_address}
    for token, second_token in apart if len(apart) * 3 < len(at_one_address) else ():
        if (token.chain, token.address, second_token.symbol) not in listed:
            message = f"{token.address} on {token.chain} is {token.symbol} in v1"
            exchanges = _lists_with(context, token)
            yield Finding(
                f"{message}, {second_token.symbol} in 2.0", exchanges, f"{_TOKENS}.symbol"
            )


def _of_json(text: str) -> str:
    with suppress(ValueError):
        return str(jsontext.decode(f'"{text}"'.encode()))
    return text


# What is undone by a reader of another format, which JSON is not.
_ESCAPES: Mapping[str, Callable[[str], str]] = {
    "entities of HTML": html.unescape,
    "percent signs": unquote,
    "escapes of JSON in a text": _of_json,
}


@cached
def _texts_of(exchange: Exchange) -> tuple[str, ...]:
    """Return the texts of a list, each once."""
    # Addresses of pictures have escapes of their own.
    return tuple(dict.fromkeys(text for text in texts_in(exchange.body) if "://" not in text))


@cached
def _listed_texts(context: RunContext) -> dict[str, Exchange]:
    """Return each text of the lists with an answer that has it."""
    return {
        text: exchange
        for operation_id in ids.LISTS
        for exchange in context.successes(operation_id)
        for text in _texts_of(exchange)
    }


@_PACK.minor("generations.tokens", *LISTS, needs=LISTS_OF_BOTH)
@counting(vacuous="no list was answered")
def lists_have_no_escapes_of_other_formats(context: RunContext, operation: Operation) -> Judgements:
    """No text of a list has escapes of another format where the lists also have it without."""
    texts = _listed_texts(context)
    for exchange in context.successes(operation):
        yield JUDGED
        for text in _texts_of(exchange):
            for how, undo in _ESCAPES.items():
                once = undo(text)
                if once != text and once in texts:
                    message = f"{text[:60]!r} is {once[:60]!r} with {how}"
                    yield Finding(message, (texts[once], exchange), cause=how)
                    return


@_PACK.minor(
    "generations.tokens", ids.V1_TOKENS, name="v1-lists-the-tokens-of-2.0", needs=LISTS_OF_BOTH
)
@counting(vacuous="v1 and 2.0 list tokens of no chain in common")
def v1_lists_the_tokens_of_2(context: RunContext, _: Operation) -> Judgements:
    """v1 and 2.0 list the same tokens on a chain."""
    v2, v1 = inventories(context)
    for chain, twin in twins_of(context):
        here, there = v1.on(chain.name), v2.on(twin.name)
        empty = _empty_list(context, chain)
        if not there or not (here or empty):
            continue
        yield JUDGED
        if empty is not None:
            message = f"v1 lists no token on {chain.name}, 2.0 has {len(there)}"
            yield Finding(message, (empty,), _TOKENS, cause="missing in v1")
            continue
        for tokens, others, where in ((here, there, "2.0"), (there, here, "v1")):
            known = {token.symbol.upper() for token in others}
            offered = {token.symbol for token in tokens if token.offered}
            missing = sorted(symbol for symbol in offered if symbol.upper() not in known)
            if missing:
                message = f"{where} does not list {', '.join(missing[:5])} on {chain.name}"
                cause, exchanges = f"missing in {where}", _lists_with(context, here[0])
                yield Finding(message, exchanges, _TOKENS, cause=cause)


@_PACK.major(
    "v1-tokens.members",
    ids.V1_TOKENS,
    needs=(*LISTS_OF_BOTH, *probes(ids.PRICE, "usual", "swap target")),
    reads=(ids.PRICE,),
)
@counting(not_shown="no token has a price in v1 and in 2.0")
def v1_prices_are_in_usd(context: RunContext, _: Operation) -> Judgements:
    """The price of a token in the v1 list is the one that 2.0 gives."""
    for token in inventory_of(context, "v1").tokens:
        bare = ListedToken(token.symbol, token.chain, token.address)
        listed, quoted = amounts.number(token.price), price_of(context, bare)
        if listed is None or quoted is None:
            continue
        yield JUDGED
        if not amounts.within(listed, quoted, _PRICE_FACTOR):
            prices = f"{listed} in the list of v1, {quoted} in getPrice"
            message = f"price of {token.symbol} is {prices}"
            yield Finding(message, _lists_with(context, token), f"{_TOKENS}.price")
            return


@_PACK.major("v1-quotes.sum", each=("usual", "tenfold", "again"))
@each(
    v1_quotes,
    "data.crossChain.amountIn",
    not_shown="no v1 quote shows the amount or the token it is for",
)
def v1_quote_echoes_the_request(_: RunContext, quote: AnsweredQuote) -> Findings:
    """A v1 quote has the amount and the token of its request."""
    echoes = list(echoed(quote.exchange, quote.exchange.members, _ECHOED))
    required_members.skip_unless(echoes)
    for name, answered, sent, same in echoes:
        is_address = name == "token" and answered.lower() == quote.route.source.address.lower()
        if not same and not is_address:
            place = f"data.crossChain.{name}In"
            yield Finding(f"the quote is of {answered!r}, requested was {sent!r}", place=place)


@_PACK.critical("v1-quotes.sum", each=("usual", "tenfold", "again"))
@each(v1_quotes, "data.crossChain.amountOut", not_shown="no v1 quote shows what it pays")
def v1_quote_adds_up(_: RunContext, quote: AnsweredQuote) -> Findings:
    """A v1 quote pays the amount minus fee and gas, in whole tokens, and never more."""
    put, got = quote.put, required_members.value(quote.got)
    members = {role: scalar(quote.exchange.member("data"), role) for role in ("fee", "gas")}
    costs = {role: amounts.number(value) for role, value in members.items()}
    for role, cost in costs.items():
        if cost is not None and cost < 0:
            yield Finding(f"{role} is {cost}", place=f"data.crossChain.{role}")
    reported_costs = [cost for cost in costs.values() if cost is not None]
    total = sum(reported_costs, Decimal(0))
    off = abs(put - total - got)
    # Fixed costs leave little of a small amount; where they are shown, they explain that.
    explained = total > 0 and off <= put / 1000
    if not Decimal(0) < got <= put * _LARGEST_OUTPUT_SHARE or (got * 2 < put and not explained):
        yield Finding(f"{put} whole tokens pay {got}")
        return
    # Each number may be off by its last digit, and all of them by those of a double.
    digits = sum(
        Decimal(1).scaleb(int(amount.as_tuple().exponent)) for amount in (got, *reported_costs)
    )
    if len(reported_costs) == len(costs) and off > min(
        max(put / 1000, total / 100), max(digits, put * amounts.DOUBLE * 100)
    ):
        left = f"{put} less fee and gas of {total} is {put - total}"
        yield Finding(f"amountOut is {got}, while {left}")


@_PACK.critical("v1-quotes.sum", each=("usual", "tenfold", "again"))
def v1_output_grows_with_input(context: RunContext, operation: Operation) -> Findings:
    """Ten times the amount pays out more in v1, and about ten times as much."""
    return grows_with_input(context, operation)


@_PACK.critical(
    "generations.quotes",
    name="v1-quote-is-like-that-of-2.0",
    needs=(*V1_QUOTES, *probes(ids.BRIDGE, "as v1")),
)
def v1_quote_is_like_that_of_2(context: RunContext, operation: Operation) -> Findings:
    """v1 and 2.0 give about the same quote for the same transfer."""
    first, in_2, repeated = steady_quotes(context, operation, probe(ids.BRIDGE, "as v1"))
    if not amounts.within(first.put, in_2.put, Decimal("1.001")):
        raise Inconclusive("the two generations were requested with other amounts")
    if not amounts.within(out_of(first), out_of(in_2), _PRICE_FACTOR):
        pays = f"{out_of(first)} in v1 and {out_of(in_2):.6g} in 2.0"
        message = f"{first.put} {in_2.route.source.symbol} pay {pays}"
        exchanges = (first.exchange, in_2.exchange, repeated.exchange)
        yield Finding(message, exchanges, first.place)


@_PACK.critical(
    "v1-raw.deposit",
    ids.V1_RAW,
    needs=(
        *probes(ids.V1_RAW, "usual", "tenfold", "of the coin"),
        *probes(ids.V1_TOKENS, "usual"),
        *probes(ids.CHAINS, "usual"),
        *probes(ids.ASSETS, "usual"),
    ),
)
@each(
    RunContext.successes,
    "data.raw",
    not_shown="the raw transaction has another form than the observed one",
    requires=probes(ids.V1_RAW, "usual"),
)
def raw_moves_the_amount(context: RunContext, exchange: Exchange) -> Findings:
    """The raw transaction moves the requested amount of the requested token on its chain, and not
    to its user, with gas enough to be sent.
    """
    body = exchange.members
    tokens = [token for token in v1_tokens(context) if token.chain == body.get("chain")]
    named = (token for token in tokens if token.symbol == body.get("token"))
    token, raw = required_members.value(next(named, None)), _raw(exchange)
    if _SIGNED.fullmatch(raw) and _rlp_items(raw) is None:
        yield Finding(f"no transaction can be read from {raw[:40]!r}", cause="no transaction")
        return
    numbers = [item for place, item in enumerate(_rlp_items(raw) or ()) if place in _NUMBERS]
    if any(isinstance(number, bytes) and number.startswith(b"\0") for number in numbers):
        message = "a number of the transaction begins with zeros, which nodes do not take"
        yield Finding(message, cause="padded")
    movement, other_chain = _movement(exchange), _other_chain(context, exchange)
    if other_chain:
        message = f"the transaction is for chain {other_chain}, requested was {body.get('chain')}"
        yield Finding(message, cause="chain", basis=fact_basis("v1-raw.chain"))
    if 0 < movement.gas < movement.least_gas:
        message = f"the gas limit is {movement.gas}, and nodes take no such transaction with less"
        yield Finding(f"{message} than {movement.least_gas}", cause="gas")
    put = required_members.value(amounts.number(body.get("amount")))
    decimals = required_members.value(token.decimals)
    required_members.skip_unless(put > 0)
    wanted = amounts.units_of(put, decimals)
    if movement.units != wanted:
        moves = f"{movement.units} smallest units, requested were {wanted}"
        yield Finding(f"the transaction moves {moves}")
    if movement.contract and not token.is_native and movement.contract != token.address.lower():
        at = f"{token.symbol} is at {token.address}"
        yield Finding(f"the transaction calls {movement.contract}, {at}")
    # Only a coin that is listed, at its published address, can be distinguished from a token.
    coins = [listed for listed in tokens if listed.is_native and listed.address]
    if movement.contract and token in coins:
        is_coin = f"{token.symbol} is the chain's coin"
        yield Finding(
            f"the transaction calls {movement.contract}, {is_coin}", cause="coin as a token"
        )
    if not movement.contract and coins and not token.is_native:
        message = f"the transaction moves the chain's coin, {token.symbol} is at {token.address}"
        yield Finding(message, cause="token as a coin")
    if movement.coins:
        sent = f"{movement.coins} of the chain's coin are sent along with a token"
        yield Finding(sent, cause="coins")
    users = {str(body.get(name)).lower() for name in ("evmAddress", "fromAddress")}
    contracts = {listed.address.lower() for listed in tokens if not listed.is_native}
    if not int(movement.payee, 16):
        yield Finding(f"the transaction pays {movement.payee}, which is nobody", cause="nobody")
    elif movement.payee in users | contracts:
        whose = "the user" if movement.payee in users else "the contract of a token"
        yield Finding(f"the transaction pays {movement.payee}, {whose}", cause="payee")


@_PACK.critical("v1-raw.deposit", ids.V1_RAW, each=("usual", "tenfold"))
@each(
    answers_to("usual", "tenfold"),
    "data.raw",
    not_shown="the raw transaction is not shown under a name that is known",
)
def raw_depends_on_the_amount(_: RunContext, pair: tuple[Exchange, Exchange]) -> Findings:
    """Another amount gives another raw transaction, with another signature."""
    first, second = pair
    texts = [scalar(exchange.member("data"), "raw") for exchange in (first, second)]
    required_members.skip_unless(all(isinstance(text, str) and text for text in texts))
    if texts[0] == texts[1]:
        yield Finding("ten times the amount makes the same transaction")
    elif (signed := str(texts[0]).partition("_")[2]) and str(texts[1]).endswith(f"_{signed}"):
        yield Finding("two transactions have the same signature", cause="signature")


def _v1_chains(context: RunContext) -> tuple[ListedChain, ...]:
    context.require_success(plain_probe(ids.V1_CHAINS))
    chains = inventory_of(context, "v1").chains
    if not chains:
        raise Vacuous("v1 lists no chain whose name can be read")
    return chains


def _empty_list(context: RunContext, chain: ListedChain) -> Exchange | None:
    """Return the list of tokens of a v1 chain that was given, and has no item."""
    for exchange in context.successes(ids.V1_TOKENS):
        lists = [value for value in exchange.data.values() if isinstance(value, list)]
        if requested_chain(exchange) in chain.names and lists and not any(lists):
            return exchange
    return None


def _lists_with(context: RunContext, token: ListedToken) -> tuple[Exchange, ...]:
    """Return the lists that show a token of v1; any list where it is not known which does."""
    exchanges = context.successes(ids.V1_TOKENS)
    here = [each for each in exchanges if each.request.headers.get("chain") == token.chain]
    return tuple(here or exchanges[:1])


@dataclass(frozen=True, slots=True)
class Movement:
    """What a transaction moves, and to whom: smallest units, of a token or of the chain's coin."""

    units: int
    payee: str
    gas: int
    """Its gas limit; 0 where the wallet is to estimate it."""
    contract: str = ""
    coins: int = 0
    """What is sent of the chain's coin along with a token."""
    data: bytes = b""

    @property
    def least_gas(self) -> int:
        """What a transaction takes before anything is executed, by the cheapest rules so far."""
        zeros = self.data.count(0)
        return GAS_OF_ALL + _GAS_OF_ZERO * zeros + _GAS_OF_BYTE * (len(self.data) - zeros)


def _raw(exchange: Exchange) -> str:
    text = scalar(exchange.member("data"), "raw")
    return text if isinstance(text, str) and len(text) <= 100_000 else ""


def _rlp_items(text: str) -> list[rlp.Item] | None:
    try:
        items = rlp.decoded(bytes.fromhex(text.partition("_")[0].removeprefix("0x")))
    except ValueError:
        return None
    return items if isinstance(items, list) and len(items) in (6, 9) else None


def _other_chain(context: RunContext, exchange: Exchange) -> str:
    """Return the id of the chain that an unsigned transaction is for, where it is another one."""
    requested = str(exchange.members.get("chain"))
    chains = [chain for chain in inventory_of(context, "v1").chains if requested in chain.names]
    end = (_rlp_items(_raw(exchange)) or [])[6:]
    if not chains or len(end) != 3 or not isinstance(end[0], bytes) or end[1:] != [b"", b""]:
        return ""
    number = str(int.from_bytes(end[0], "big"))
    return "" if number in (*_NO_CHAIN_IDS, chains[0].network) or not chains[0].network else number


def _movement(exchange: Exchange) -> Movement:
    """Return what the raw transaction of an answer moves.

    Raises `Missing` where it does not have the observed form: RLP in hex, then a signature (OAE).
    """
    items = required_members.value(_rlp_items(_raw(exchange)))
    limit, to, value, data = items[2:6]
    if not (
        isinstance(limit, bytes)
        and isinstance(to, bytes)
        and isinstance(value, bytes)
        and isinstance(data, bytes)
    ):
        raise required_members.Missing
    gas = int.from_bytes(limit, "big")
    if not data:
        return Movement(int.from_bytes(value, "big"), f"0x{to.hex()}", gas)
    required_members.skip_unless(data[:4] in (TRANSFER, APPROVE) and len(data) == 68)
    return Movement(
        int.from_bytes(data[36:], "big") if data[:4] == TRANSFER else 0,
        f"0x{data[16:36].hex()}",
        gas,
        f"0x{to.hex()}",
        int.from_bytes(value, "big"),
        data,
    )
