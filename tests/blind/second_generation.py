"""The thirteen operations of 2.0."""

import hashlib
import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from tests.blind.rates import Deal, deal, micro
from tests.blind.refusals import Refused, digits, evm_address, hex_text, whole_number
from tests.blind.wire import Call
from tests.blind.world import (
    NATIVE,
    Chain,
    Order,
    Ticket,
    Token,
    World,
    address_on,
)

Data = dict[str, Any]


def need_chain(world: World, nick: Any) -> Chain:
    """A chain that is listed now."""
    chain = world.chain(str(nick))
    if chain is None:
        raise Refused("chain", "chain is not supported")
    return chain


def need_token(world: World, chain: Chain, address: Any) -> Token:
    """A token of the chain by its address."""
    token = world.by_address(chain.nick, str(address))
    if token is None:
        raise Refused("token", "token is not supported on this chain")
    return token


def get_chain(call: Call) -> Data:
    """Row 1."""
    world = call.world
    if world.choices.suspend_after and call.nth == world.choices.suspend_after:
        world.chains[6].listed = False
    listed = [_chain_item(chain) for chain in world.listed_chains()]
    return {"version": world.version, "list": listed}


def _chain_item(chain: Chain) -> Data:
    return {
        "chainIndex": chain.index,
        "fullName": chain.full,
        "nickName": chain.nick,
        "baseCoin": chain.coin,
        "decimals": chain.decimals,
        "network": chain.network,
        "family": 1 if chain.evm else 6,
        "disabled": False,
    }


def get_assets(call: Call) -> Data:
    """Row 2."""
    world = call.world
    usable = {chain.nick for chain in world.listed_chains()}
    tokens = [token for token in world.tokens if token.chain in usable]
    if world.choices.flat_assets:
        listed = [{**_token_item(token), "chain": token.chain} for token in tokens]
        return {"version": world.version, "list": listed}
    items: dict[int, Data] = {}
    for token in tokens:
        item = items.setdefault(
            token.index, {"index": token.index, "symbol": token.symbol, "contracts": {}}
        )
        item["contracts"][token.chain] = {"address": token.address, "decimals": token.decimals}
    return {"version": world.version, "list": list(items.values())}


def _token_item(token: Token) -> Data:
    return {
        "index": token.index,
        "symbol": token.symbol,
        "decimals": token.decimals,
        "contractAddress": token.address,
    }


def get_assets_by_chain(call: Call) -> Data:
    """Row 3."""
    chain = need_chain(call.world, call.inputs["chain"])
    listed = [_token_item(token) for token in call.world.tokens_on(chain.nick)]
    return {"version": call.world.version, "list": listed}


def _within_bounds(world: World, amount: int, token: Token) -> None:
    choices = world.choices
    if choices.most_units and amount > choices.most_units * 10**token.decimals:
        raise Refused("amount", "amount is above the maximum")
    if amount * world.price(token.symbol) < choices.least_micro * 10**token.decimals:
        raise Refused("amount", "amount is too low")


def _fees(terms: Deal) -> Data:
    return {"serviceFee": str(terms.service_fee), "gasFee": str(terms.gas_fee)}


def get_bridge_quote(call: Call) -> Data:
    """Row 4."""
    world, given = call.world, call.inputs
    amount = digits(given["amount"], "amount")
    start, end = need_chain(world, given["fromChain"]), need_chain(world, given["toChain"])
    source = world.by_symbol(start.nick, str(given["symbol"]))
    target = world.by_symbol(end.nick, str(given["symbol"]))
    if source is None or target is None:
        raise Refused("token", "token is not on both chains")
    if start.nick == end.nick:
        raise Refused("chain", "nothing to bridge within one chain")
    _within_bounds(world, amount, source)
    terms = deal(world, amount, source, target, crosses=True)
    if terms.out == 0:
        raise Refused("amount", "amount is too low")
    return {
        "price": micro(world.price(target.symbol)),
        "outAmount": str(terms.out),
        "outAmountUsd": terms.usd,
        **_fees(terms),
    }


def _legs(call: Call, start: Chain, end: Chain) -> tuple[int, Token, Token]:
    given = call.inputs
    amount = digits(given["fromAmount"], "fromAmount")
    source = need_token(call.world, start, given["fromTokenAddress"])
    target = need_token(call.world, end, given["toTokenAddress"])
    for token, name in ((source, "fromDecimal"), (target, "toDecimal")):
        if whole_number(given[name], name, 78) != token.decimals:
            raise Refused("token", f"{name} is not that of the token")
    if start.nick == end.nick and source.address == target.address:
        raise Refused("token", "the two tokens are the same")
    _within_bounds(call.world, amount, source)
    return amount, source, target


def _aggregator(chain: Chain) -> str:
    if not chain.evm:
        return "ChaingeDex"
    return ("1inch", "Kyber", "OpenOcean")[chain.index % 3]


def get_aggregate_quote(call: Call) -> Data:
    """Row 5."""
    world, given = call.world, call.inputs
    start, end = need_chain(world, given["fromChain"]), need_chain(world, given["toChain"])
    amount, source, target = _legs(call, start, end)
    terms = deal(world, amount, source, target, crosses=start.nick != end.nick)
    if terms.out == 0:
        raise Refused("amount", "amount is too low")
    data = {
        "chain": end.network,
        "chainDecimal": target.decimals,
        "aggregator": _aggregator(end),
        "outAmount": str(terms.out),
        "outAmountUsd": terms.usd,
        "minOutAmount": "",
        **_fees(terms),
        "priceImpact": "-0.02",
    }
    if world.choices.route_summary is not None:
        data["routeSummary"] = world.choices.route_summary
    return data


def get_aggregate_swap(call: Call) -> Data:
    """Row 6."""
    world, given = call.world, call.inputs
    chain = need_chain(world, given["chain"])
    if not (chain.evm or world.choices.swaps_everywhere):
        raise Refused("chain", "no swaps on this chain")
    amount, source, target = _legs(call, chain, chain)
    slippage = whole_number(given["slippage"], "slippage", world.choices.most_slippage)
    partial = str(given["allowPartialFill"])
    if partial not in {"true", "false"}:
        raise Refused("malformed", "allowPartialFill is no boolean")
    sender, recipient = str(given["sender"]), str(given["recipient"])
    if chain.evm:
        evm_address(sender, "sender")
        evm_address(recipient, "recipient")
    wanted = str(given.get("aggregator") or _aggregator(chain)).lower()
    if wanted not in {"1inch", "kyber", "openocean", "chaingedex"}:
        raise Refused("malformed", "aggregator is not known")
    terms = deal(world, amount, source, target, crosses=False)
    if terms.out == 0:
        raise Refused("amount", "amount is too low")
    least = terms.out * (10_000 - slippage) // 10_000
    words = [_word(amount), _word(least), _party(source.address), _party(target.address)]
    words += [_party(sender), _party(recipient), _word(int(partial == "true"))]
    if world.choices.deadline:
        words.append(_word(int(world.clock()) + 1200))
    selector = hashlib.sha256(wanted.encode()).hexdigest()[:8]
    return {
        "amountOut": str(terms.out),
        "from": sender,
        "to": address_on("ETH", f"router {wanted} {chain.nick}"),
        "gas": "0",
        "value": str(amount) if source.address == NATIVE else "0",
        "data": "0x" + selector + "".join(words),
    }


def _word(value: int) -> str:
    return f"{value:064x}" if value < 2**256 else f"{value:0128x}"


def _party(address: str) -> str:
    if address.startswith("0x"):
        return address[2:].lower().zfill(64)
    return address.encode().hex().zfill(64)


def wallet(call: Call) -> str:
    """The address in the headers, with a signature beside it."""
    address = call.headers.get("evmaddress", "")
    if not address or not call.headers.get("signature"):
        raise Refused("unauthorized", "address and signature are required")
    return evm_address(address, "Evmaddress")


def submit_order(call: Call) -> Data:
    """Row 7."""
    world, given = call.world, call.inputs
    address = wallet(call)
    if any(not isinstance(value, str) for value in given.values()):
        raise Refused("malformed", "all members of an order are strings")
    if given["orderType"] not in {"1", "2"}:
        raise Refused("malformed", "orderType is 1 or 2")
    slippage = whole_number(given["slippage"], "slippage", 10_000)
    if given["orderType"] == "1" and slippage:
        raise Refused("malformed", "slippage of a cross-chain order is 0")
    hex_text(given["sourceCerts"], "sourceCerts")
    whole_number(given["timeout"], "timeout", 10**18)
    if not given["triggerPrice"].replace(".", "", 1).isdigit():
        raise Refused("malformed", "triggerPrice is no number")
    target = _order_target(world, given)
    key = json.dumps([address.lower(), given], sort_keys=True)
    if key in world.deposits and world.choices.duplicates != "new":
        if world.choices.duplicates == "refused":
            raise Refused("malformed", "this order is known already")
        return {"id": world.deposits[key]}
    order = Order(str(world.next_order), address, world.clock(), _order_out(world, given, target))
    world.next_order += 1
    world.orders[order.key] = order
    world.deposits[key] = order.key
    return {"id": order.key}


def _order_target(world: World, given: Data) -> Token:
    index = whole_number(given["toIndex"], "toIndex", 10**9)
    tokens = [token for token in world.tokens if token.index == index]
    if given.get("toChain"):
        chain = need_chain(world, given["toChain"])
        tokens = [token for token in tokens if token.chain == chain.nick]
    if not tokens:
        raise Refused("token", "toIndex is no token of the list")
    return tokens[0]


def _order_out(world: World, given: Data, target: Token) -> str:
    """What an order will pay out, as far as its certificate can be read."""
    try:
        certificate = json.loads(bytes.fromhex(given["sourceCerts"].removeprefix("0x")))
        chain = need_chain(world, certificate["fromChain"])
        index, amount = int(certificate["fromIndex"]), int(certificate["fromAmount"])
        source = next(t for t in world.tokens_on(chain.nick) if t.index == index)
    except (ValueError, KeyError, TypeError, StopIteration, Refused):
        return str(10**target.decimals)
    terms = deal(world, amount, source, target, crosses=True)
    return str(max(terms.out - terms.service_fee - terms.gas_fee, 1))


def progress(world: World, order: Order) -> tuple[str, int]:
    """The status of an order, and the second in which it got there."""
    course = world.choices.order_course
    age = order.polls * 1.0 if world.choices.by_polls else world.clock() - order.submitted
    steps = [index for index in range(len(course)) if course[index][0] <= age]
    if world.choices.by_polls:
        steps = list(range(min(order.polls, len(course) - 1) + 1))
    after, status = course[steps[-1] if steps else 0]
    return status or order.final, int(order.submitted + after)


def check_order(call: Call) -> Data:
    """Row 8."""
    world = call.world
    order = world.orders.get(str(call.inputs["id"]))
    if order is None:
        raise Refused("order", "order not found")
    status, moment = progress(world, order)
    order.polls += 1
    settled = status == order.final
    digest = hashlib.sha256(order.key.encode()).hexdigest()
    return {
        "status": status,
        "timestamp": moment,
        "execHash": "0x" + digest if settled and status == "Succeeded" else "",
        "reason": order.reason if settled else "",
        "amountOut": order.amount_out if settled else "0",
    }


def get_balance(call: Call) -> Data:
    """Row 9."""
    world, given = call.world, call.inputs
    chain = need_chain(world, given["chain"])
    token = need_token(world, chain, given["contractAddress"])
    seed = f"{chain.nick}/{token.address}/{str(given['address']).lower()}"
    units = int(hashlib.sha256(seed.encode()).hexdigest()[:16], 16) % (10**token.decimals * 90)
    if world.choices.poor:
        units = 0
    readable = format((Decimal(units) / Decimal(10**token.decimals)).normalize(), "f")
    return {"balance": str(units), "hrpBalance": readable}


def get_price(call: Call) -> Data:
    """Row 10."""
    world, given = call.world, call.inputs
    chain = need_chain(world, given["chain"])
    token = need_token(world, chain, given["contractAddress"])
    if token.symbol != given["symbol"]:
        raise Refused("token", "symbol is not that of the contract")
    moment = datetime.fromtimestamp(int(world.clock()) // 60 * 60, UTC)
    return {
        "price": micro(world.price(token.symbol)),
        "updateTime": moment.strftime("%Y-%m-%d %H:%M:%S"),
        "source": "CoinGecko",
    }


def submit_ticket(call: Call) -> Data:
    """Row 11."""
    world, given = call.world, call.inputs
    address = wallet(call)
    chain = need_chain(world, given["chain"])
    if not isinstance(given["hash"], str) or len(given["hash"]) > 200:
        raise Refused("malformed", "hash is no transaction hash")
    if chain.evm and len(hex_text(given["hash"], "hash").removeprefix("0x")) != 64:
        raise Refused("malformed", "hash is no transaction hash")
    key = max(ticket.key for ticket in world.tickets) + 1
    world.tickets.append(Ticket(key, address, chain.nick, given["hash"], world.clock()))
    return {"ticketId": key}


def ticket_state(world: World, ticket: Ticket) -> str:
    """Under which filter value a ticket is found now."""
    if ticket.held:
        return ticket.held
    age = world.clock() - ticket.submitted
    pending, done = world.choices.ticket_course
    if age >= done:
        return "Succeeded"
    return "Pending" if age >= pending else "Unknown"


def _outcome(world: World, ticket: Ticket) -> Data:
    done = ticket_state(world, ticket) == "Succeeded"
    return {"succeeded": done, "solution": world.choices.solution if done else ""}


def get_all_tickets(call: Call) -> Data:
    """Row 12."""
    world, given = call.world, call.inputs
    wanted = str(given["filter"])
    if wanted not in {"Unknown", "Pending", "Succeeded"}:
        if not world.choices.unknown_filter_is_empty:
            raise Refused("malformed", "filter is no status")
        return {"list": []}
    return {
        "list": [
            {
                "ticketId": ticket.key,
                "address": ticket.address,
                "chain": ticket.chain,
                "hash": ticket.hash,
                **_outcome(world, ticket),
            }
            for ticket in world.tickets
            if ticket.address.lower() == str(given["address"]).lower()
            and ticket_state(world, ticket) == wanted
        ]
    }


def check_ticket(call: Call) -> Data:
    """Row 13."""
    wanted = str(call.inputs["ticketId"])
    ticket = next((t for t in call.world.tickets if str(t.key) == wanted), None)
    if ticket is None:
        raise Refused("ticket", "ticket not found")
    return _outcome(call.world, ticket)


HANDLERS = {
    "v2.getChain": get_chain,
    "v2.getAssets": get_assets,
    "v2.getAssetsByChain": get_assets_by_chain,
    "v2.getBridgeQuote": get_bridge_quote,
    "v2.getAggregateQuote": get_aggregate_quote,
    "v2.getAggregateSwap": get_aggregate_swap,
    "v2.submitOrder": submit_order,
    "v2.checkOrder": check_order,
    "v2.getBalance": get_balance,
    "v2.getPrice": get_price,
    "v2.submitTicket": submit_ticket,
    "v2.getAllTicketByAddress": get_all_tickets,
    "v2.checkTicket": check_ticket,
}
