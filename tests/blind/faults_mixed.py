"""Faults of classes that the other files lack: state that leaks, loose matching, half-read inputs.

Written from the description alone, after the others, and before a rule was looked at.
"""

from collections.abc import Callable
from typing import Any

from tests.blind.edits import (
    at,
    http,
    no,
    payload,
    times,
    when,
    with_call,
)
from tests.blind.rows import fault
from tests.blind.second_generation import ticket_state
from tests.blind.wire import After, Answer, Before, Call, Verbatim, write
from tests.blind.world import NATIVE, address_on

_BRIDGE = "v2.getBridgeQuote"
_AGGREGATE = "v2.getAggregateQuote"
_SWAP = "v2.getAggregateSwap"
_BALANCE = "v2.getBalance"
_PRICE = "v2.getPrice"
_CHAINS = "v2.getChain"
_ASSETS = "v2.getAssets"
_TOKENS = "v2.getAssetsByChain"
_ORDER = "v2.submitOrder"
_CHECK = "v2.checkOrder"
_TICKET = "v2.submitTicket"
_TICKETS = "v2.getAllTicketByAddress"
_ONE_TICKET = "v2.checkTicket"
_V1_CHAINS = "v1.getSupportChains"
_V1_TOKENS = "v1.getSupportTokens"
_V1_QUOTE = "v1.getCrossChainQuote"
_V1_DETAIL = "v1.getOrderDetail"


def remembered(*names: str) -> Before:
    """Inputs of the call before, where there was one: an answer comes one call too late."""

    def before(call: Call) -> None:
        key = f"before {call.operation}"
        given = {name: call.inputs[name] for name in names if name in call.inputs}
        call.inputs.update(call.world.memory.get(key, given))
        call.world.memory[key] = given

    return before


def cached_by(*names: str) -> After:
    """A cache whose key lacks an input: what came first for the others comes again."""

    def after(call: Call, answer: Answer) -> None:
        if answer.good:
            key = f"cache {call.operation} {[call.text(name) for name in names]}"
            answer.body = call.world.memory.setdefault(key, answer.body)

    return after


def needs_header(name: str) -> After:
    """A refusal where a header is missing that no operation of its kind is said to need."""
    return when(lambda call: not call.headers.get(name), no)


def found_by_part(name: str, keys: Callable[[Call], list[str]], digits: int = 3) -> Before:
    """What is asked for need only begin as a known one does."""

    def before(call: Call) -> None:
        wanted = str(call.inputs.get(name, ""))
        if len(wanted) >= digits and wanted not in keys(call):
            near = [key for key in keys(call) if key.startswith(wanted) or wanted.startswith(key)]
            call.inputs[name] = near[0] if near else wanted

    return before


def _every_second(call: Call) -> bool:
    return call.nth % 2 == 1


def _of_another_chain(call: Call) -> None:
    """A token that some other chain has is taken for one of this chain."""
    symbol = str(call.inputs.get("symbol"))
    for name in ("fromChain", "toChain"):
        nick = str(call.inputs.get(name))
        if call.world.chain(nick) and not call.world.by_symbol(nick, symbol):
            homes = [token.chain for token in call.world.tokens if token.symbol == symbol]
            call.inputs[name] = homes[0] if homes else nick


def _address_of_another_chain(chain: str, contract: str) -> Before:
    def before(call: Call) -> None:
        world, wanted = call.world, str(call.inputs.get(contract))
        nick = str(call.inputs.get(chain))
        if not world.chain(nick) or world.by_address(nick, wanted):
            return
        homes = [token.chain for token in world.tokens if token.address == wanted]
        call.inputs[chain] = homes[0] if homes else nick

    return before


def _suspended_as(chain: str, other: str) -> Before:
    def before(call: Call) -> None:
        if call.inputs.get(chain) == "FTM":
            call.inputs[chain] = other

    return before


def _slippage_in_percent(call: Call) -> None:
    slippage = str(call.inputs.get("slippage", ""))
    if slippage.isdigit():
        call.inputs["slippage"] = str(min(int(slippage) * 100, 10_000))


def _another_amount(call: Call, old: str) -> str:
    return old.replace(
        f"{call.number('fromAmount'):064x}", f"{call.number('fromAmount') // 2:064x}"
    )


def _another_token(call: Call, old: str) -> str:
    token = call.text("fromTokenAddress")[2:].lower()
    return old.replace(token, address_on("ETH", "other")[2:], 1)


def _stale(call: Call, old: str) -> str:
    return str(int(old[:4]) - 3) + old[4:]


def _ahead(call: Call, old: str) -> str:
    return str(int(old[:4]) + 3) + old[4:]


def _now(call: Call, old: int) -> int:
    return int(call.world.clock()) - 60 + call.seen * 7


def _moved_index(call: Call, old: int) -> int:
    return old + call.nth


def _whole_tokens(call: Call) -> None:
    try:
        call.inputs["amount"] = int(call.inputs["amount"])
    except (KeyError, TypeError, ValueError):
        return


def _under_pending_too(call: Call, answer: Answer) -> None:
    if not answer.good or call.text("filter") != "Pending":
        return
    world = call.world
    answer.body["data"]["list"] += [
        {
            "ticketId": ticket.key,
            "address": ticket.address,
            "chain": ticket.chain,
            "hash": ticket.hash,
            "succeeded": True,
            "solution": world.choices.solution,
        }
        for ticket in world.tickets
        if ticket.address.lower() == call.text("address").lower()
        and ticket_state(world, ticket) == "Succeeded"
    ]


def _other_solution(call: Call, old: str) -> str:
    return "Retry" if old else old


def _neighbour(call: Call) -> None:
    wanted = str(call.inputs.get("ticketId", ""))
    keys = [str(ticket.key) for ticket in call.world.tickets]
    if wanted in keys:
        call.inputs["ticketId"] = keys[(keys.index(wanted) + 2) % len(keys)]


def _lower_case_alone(call: Call) -> bool:
    return call.text("address") != call.text("address").lower()


def _cut_hash(call: Call, answer: Answer) -> None:
    if answer.good:
        ticket = call.world.tickets[-1]
        ticket.hash = ticket.hash[:42]


def _always_on_eth(call: Call, answer: Answer) -> None:
    if answer.good:
        call.world.tickets[-1].chain = "ETH"


def _blank_behind(call: Call, answer: Answer) -> None:
    at("data.id", lambda old: f"{old} ")(call, answer)


def _one_hash(call: Call, old: str) -> str:
    return "0x" + "5e" * 32 if old else old


def _pays_more(call: Call, old: str) -> str:
    return str(int(old) * 1000)


def _parts_of(name: str, length: int) -> Before:
    """Only the first digits of a hash are compared."""

    def before(call: Call) -> None:
        wanted = str(call.inputs.get(name, ""))[:length]
        known = [key[1] for key in call.world.v1_orders if key[1].startswith(wanted)]
        if len(wanted) == length and known:
            call.inputs[name] = known[0]

    return before


def _any_listed_chain(call: Call) -> None:
    if call.world.v1_chain(str(call.inputs.get("chain"))):
        call.inputs["chain"] = "ETH"


def _first_three(old: list[Any]) -> list[Any]:
    return old[:3]


def _two_of_a_name(old: list[Any]) -> list[Any]:
    return [*old[:1], {**old[1], "name": old[0]["name"]}, *old[2:]]


def _query_alone(call: Call) -> None:
    if "chain" in call.headers:
        call.inputs.pop("chain", None)


def _surrogate(text: bytes) -> bytes:
    return text.replace(b"CoinGecko", b"Coin\\ud83dGecko")


def _doubled(call: Call, old: list[Any]) -> list[Any]:
    first = write(old[0])
    return [Verbatim(first[:-1] + ',"nickName":"KAS"}'), *old[1:]]


MIXED = (
    # State of one call that leaks into another.
    fault(
        "bridge-answers-the-symbol-before",
        _BRIDGE,
        "4.2",
        "the quote is of the symbol and the chains that the call before had named",
        before=remembered("symbol", "fromChain", "toChain"),
    ),
    fault(
        "balance-cached-without-the-contract",
        _BALANCE,
        "4.2",
        "the balance of the contract that was asked for first comes for every contract of a chain",
        after=cached_by("chain", "address"),
    ),
    fault(
        "price-cached-without-the-contract",
        _PRICE,
        "4.2",
        "the first price of a chain comes for each of its contracts",
        after=cached_by("chain"),
    ),
    fault(
        "aggregate-cached-without-the-chains",
        _AGGREGATE,
        "4.2",
        "a quote that was made for one pair of chains comes for every pair with such tokens",
        after=cached_by("fromAmount", "fromTokenAddress", "toTokenAddress"),
    ),
    fault(
        "swap-cached-without-the-sender",
        _SWAP,
        "4.2",
        "the call of the first sender comes for every sender",
        after=cached_by("fromAmount", "fromTokenAddress", "toTokenAddress", "chain"),
    ),
    fault(
        "asset-indexes-move",
        _ASSETS,
        "2.3",
        "the index of a token, by which orders name it, is another with every look",
        after=with_call("data.list.*.index", _moved_index),
    ),
    # Refusals of what is in order.
    fault(
        "balance-refuses-every-second",
        _BALANCE,
        "4.2",
        "every second request is refused",
        after=when(_every_second, no),
    ),
    fault(
        "price-needs-a-signature",
        _PRICE,
        "5",
        "a signature is asked for, and none is published for reads",
        after=needs_header("signature"),
    ),
    fault(
        "v1-tokens-need-a-key",
        _V1_TOKENS,
        "5",
        "a developer key is asked for, and none is published for lists",
        after=needs_header("appkey"),
    ),
    fault(
        "v1-tokens-read-no-header",
        _V1_TOKENS,
        "4.1",
        "the chain is published as a header, and only the query is read",
        before=_query_alone,
    ),
    fault(
        "tickets-in-lower-case-alone",
        _TICKETS,
        "4.2",
        "an address with capital letters is refused, and headers and lists show such",
        after=when(_lower_case_alone, no),
    ),
    # Names that are known somewhere, and not where they are used.
    fault(
        "bridge-takes-symbols-of-other-chains",
        _BRIDGE,
        "4.2",
        "a token that a chain does not have is quoted since another chain has it",
        before=_of_another_chain,
    ),
    fault(
        "aggregate-takes-tokens-of-other-chains",
        _AGGREGATE,
        "4.2",
        "the address of a token on another chain is quoted",
        before=_address_of_another_chain("fromChain", "fromTokenAddress"),
    ),
    fault(
        "balance-takes-tokens-of-other-chains",
        _BALANCE,
        "4.2",
        "the address of a token on another chain has a balance",
        before=_address_of_another_chain("chain", "contractAddress"),
    ),
    fault(
        "price-takes-tokens-of-other-chains",
        _PRICE,
        "4.2",
        "the address of a token on another chain has a price",
        before=_address_of_another_chain("chain", "contractAddress"),
    ),
    fault(
        "tokens-of-suspended",
        _TOKENS,
        "1",
        "a chain that is suspended and not listed has tokens",
        before=_suspended_as("chain", "CRO"),
    ),
    fault(
        "balance-on-suspended",
        _BALANCE,
        "1",
        "a chain that is suspended and not listed has balances",
        before=_suspended_as("chain", "CRO"),
    ),
    # Inputs that are read by half, or otherwise than described.
    fault(
        "swap-slippage-in-percent",
        _SWAP,
        "4.2",
        "slippage 1 means 1%, where 100 does",
        before=_slippage_in_percent,
    ),
    fault(
        "swap-moves-half-the-amount",
        _SWAP,
        "4.2",
        "the call data moves half of the amount",
        after=with_call("data.data", _another_amount),
    ),
    fault(
        "swap-moves-another-token",
        _SWAP,
        "4.2",
        "the call data moves another token than the one that is sold",
        after=with_call("data.data", _another_token),
    ),
    fault(
        "swap-coins-twice",
        _SWAP,
        "2.3",
        "twice the coins are sent along",
        after=times("data.value", 2),
    ),
    fault(
        "v1-quote-cuts-fractions",
        _V1_QUOTE,
        "2.2",
        "what is behind the point of an amount is lost",
        before=_whole_tokens,
    ),
    fault(
        "v1-quote-a-tenth",
        _V1_QUOTE,
        "common sense",
        "a tenth of what 2.0 pays arrives, and no fee tells why",
        after=at("data.crossChain.amountOut", lambda old: old / 10),
    ),
    # What is looked up loosely.
    fault(
        "check-by-part-of-an-id",
        _CHECK,
        "4.2",
        "an id that only begins like one that was given is found",
        before=found_by_part("id", lambda call: list(call.world.orders), 6),
        shows="naming",
    ),
    fault(
        "ticket-by-part-of-an-id",
        _ONE_TICKET,
        "4.2",
        "an id that only begins like that of a ticket is found",
        before=found_by_part(
            "ticketId", lambda call: [str(ticket.key) for ticket in call.world.tickets], 2
        ),
        shows="naming",
    ),
    fault(
        "v1-detail-by-part-of-a-hash",
        _V1_DETAIL,
        "4.1",
        "only the first ten characters of a hash are looked at",
        before=_parts_of("hash", 10),
        shows="naming",
    ),
    fault(
        "v1-detail-on-every-chain",
        _V1_DETAIL,
        "4.1",
        "an order is found on every listed chain, whichever was its source",
        before=_any_listed_chain,
        shows="naming",
    ),
    fault(
        "ticket-is-a-neighbour",
        _ONE_TICKET,
        "4.2",
        "an id shows the state of another ticket",
        before=_neighbour,
        shows="naming",
    ),
    fault(
        "ticket-solution-contradicts-the-list",
        _ONE_TICKET,
        "2.3",
        "a ticket has another solution than in the list",
        after=with_call("data.solution", _other_solution),
        shows="naming",
    ),
    fault(
        "tickets-done-and-pending",
        _TICKETS,
        "4.2",
        "tickets that are done are listed under Pending as well",
        after=_under_pending_too,
        shows="naming",
    ),
    fault(
        "last-ticket-number-in-text",
        _TICKETS,
        "2.3",
        "the last ticket has text for its number",
        after=at(
            "data.list",
            lambda old: (
                [*old[:-1], {**old[-1], "ticketId": str(old[-1]["ticketId"])}] if old else old
            ),
        ),
        shows="naming",
    ),
    fault(
        "check-timestamp-follows-the-clock",
        _CHECK,
        "2.3",
        "the timestamp of an order that is over goes on with every look",
        after=with_call("data.timestamp", _now),
        shows="naming",
    ),
    # What is kept of a submission is another.
    fault(
        "ticket-hash-is-cut",
        _TICKET,
        "2.3",
        "the hash of a ticket is kept without its end",
        after=_cut_hash,
        shows="submitting",
    ),
    fault(
        "ticket-always-on-one-chain",
        _TICKET,
        "2.3",
        "a ticket is kept for Ethereum, whatever chain was named",
        after=_always_on_eth,
        shows="submitting",
    ),
    fault(
        "order-id-with-a-blank",
        _ORDER,
        "4.2",
        "the id ends in a blank, and with it no order is found",
        after=_blank_behind,
        shows="submitting",
    ),
    fault(
        "orders-share-a-transaction",
        _CHECK,
        "2.3",
        "all orders have the same execution hash",
        after=with_call("data.execHash", _one_hash),
        shows="submitting",
    ),
    fault(
        "order-pays-a-thousandfold",
        _CHECK,
        "2.3",
        "an order pays a thousand times of what its quote said",
        after=with_call("data.amountOut", _pays_more),
        shows="submitting",
    ),
    # Lists that are not whole, or not unequivocal.
    fault(
        "assets-end-early",
        _ASSETS,
        "2.3",
        "only the first three tokens are listed",
        after=at("data.list", _first_three),
    ),
    fault(
        "by-chain-ends-early",
        _TOKENS,
        "2.3",
        "only the first three tokens of a chain are listed",
        after=at("data.list", _first_three),
    ),
    fault(
        "v1-chains-share-a-name",
        _V1_CHAINS,
        "2.2",
        "two chains have one name",
        after=at("data.chains", _two_of_a_name),
    ),
    fault(
        "v1-addresses-contradict-2.0",
        _V1_TOKENS,
        "observed",
        "every contract has another address than in 2.0",
        after=with_call(
            "data.tokenVos.*.address",
            lambda call, old: address_on("ETH", old) if old != NATIVE else old,
        ),
    ),
    # JSON and HTTP.
    fault(
        "byte-order-mark",
        _CHAINS,
        "common sense",
        "JSON begins with a byte order mark",
        after=payload(lambda old: b"\xef\xbb\xbf" + old),
    ),
    fault(
        "sixteen-bits",
        _PRICE,
        "common sense",
        "JSON is sent in UTF-16",
        after=payload(lambda old: old.decode().encode("utf-16")),
    ),
    fault(
        "comma-at-the-end",
        _BALANCE,
        "common sense",
        "a comma follows the last member",
        after=payload(lambda old: old[:-1] + b",}"),
    ),
    fault(
        "line-break-in-text",
        _PRICE,
        "common sense",
        "a string has a line break as it is",
        after=payload(lambda old: old.replace(b"CoinGecko", b"Coin\nGecko")),
    ),
    fault(
        "half-a-pair",
        _PRICE,
        "common sense",
        "a string has half of a surrogate pair",
        after=payload(_surrogate),
    ),
    fault(
        "chain-doubled-member",
        _CHAINS,
        "common sense",
        "the first chain has two nickNames",
        after=with_call("data.list", _doubled),
    ),
    fault(
        "no-content",
        _TOKENS,
        "common sense",
        "a success is sent with HTTP 204",
        after=http(status=204),
    ),
    fault(
        "zeros-in-front",
        _SWAP,
        "common sense",
        "numbers have zeros in front, which JSON does not know",
        after=payload(lambda old: old.replace(b'"code":0', b'"code":00')),
    ),
    # Time.
    fault(
        "price-of-three-years-ago",
        _PRICE,
        "2.3",
        "updateTime is three years old",
        after=with_call("data.updateTime", _stale),
    ),
    fault(
        "price-of-the-future",
        _PRICE,
        "2.3",
        "updateTime is three years ahead",
        after=with_call("data.updateTime", _ahead),
    ),
    fault(
        "balance-takes-its-time",
        _BALANCE,
        "common sense",
        "takes 0.6 seconds where the other lookups take a millisecond",
        after=http(delay=0.6),
    ),
    fault(
        "tokens-of-one-chain-are-late",
        _TOKENS,
        "common sense",
        "takes 0.8 seconds for one chain",
        after=when(lambda call: call.text("chain") == "ARB", http(delay=0.8)),
    ),
)
