"""Transactions on the chains: announced, or sent to a node.

The real service watches the chains. Here there are none, so a client, or the test around it,
announces transactions. What a wallet sends to a node counts as announced.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from decimal import Decimal
from fractions import Fraction

from mockserver.engine import abi
from mockserver.engine.amounts import whole_tokens
from mockserver.engine.catalog import NATIVE, Chain, Placed
from mockserver.engine.hashes import hash_form, made_up_hash
from mockserver.engine.refusal import Refusal
from mockserver.engine.submission import OrderRequest
from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json, plain
from mockserver.operations.deposit_transactions import (
    ContractCall,
    Reverted,
    moved_by,
    order_in,
    order_of_transfer,
    payer_in,
    taken_by_contract,
)
from mockserver.responders.control_forms import BadControl, check, form
from mockserver.signing import evm_transactions
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.smart_contracts import (
    base_coin,
    check_allowance,
    execution_gas,
    intrinsic_gas,
    least_gas,
    order_carried,
    units_held,
)
from mockserver.worlds.token_movements import ZERO, created_by
from mockserver.worlds.transaction_store import ChainTransaction

_EVM_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
GAS_OF_A_CHECK = 5_000
"""What a contract has cost by the time it finds that it does not take a call."""

_NO_CALL = "calls neither vaultOut nor swap, so it carries no order"
_NO_MEMO = "does not pay the vault with an order in its memo, so it carries no order"


class BadTransaction(CrosschainMockError):
    """A transaction that cannot be announced; nothing has changed."""


def announce(hosted: HostedWorld, body: Mapping[str, Json]) -> Json:
    """Take a transaction, `raw` and signed or in its parts, and return its outcome.

    Raises `BadTransaction` for a body without one, and `SigningUnavailable` where a signed
    one cannot be read.
    """
    try:
        check(form("transaction"), body, "body")
        chain = hosted.world.scenario.catalog.chain(body["chain"])
    except BadControl as error:
        raise BadTransaction(str(error)) from None
    except Refusal as refusal:
        raise BadTransaction(f"'chain': {refusal.reason}") from None
    has_contracts = chain.evm or (chain.carries_orders and "data" in body)
    unfit = ("token", "memo") if has_contracts else ("raw", "data")
    for name in unfit:
        if name in body:
            right = (
                "has contracts; give 'data'" if has_contracts else "has no contracts; give a 'memo'"
            )
            raise BadTransaction(f"{name!r}: {chain.nickname!r} {right}")
    if chain.evm and "raw" in body:
        return tx_json(take_raw(hosted, chain.nickname, body["raw"]))
    if "from" not in body:
        raise BadTransaction("'from': missing; say who sent the transaction")
    if has_contracts:
        call = _contract_call(hosted, chain, body)
        return tx_json(take(hosted, call, lambda: order_in(hosted.world, call)))
    memo = body.get("memo", "").encode("utf-8", "replace")
    token = body.get("token", NATIVE)
    call = replace(_call(hosted, chain, body, memo), token=token)
    return tx_json(take(hosted, call, lambda: order_of_transfer(hosted.world, call, token)))


def take_raw(hosted: HostedWorld, chain: str, raw: str) -> ChainTransaction:
    """Take a signed transaction in hex that is announced: whatever it moves was checked elsewhere.

    Raises `BadTransaction` and `SigningUnavailable`.
    """
    try:
        signed = evm_transactions.decoded(bytes_of(raw, "raw"))
    except evm_transactions.NotATransaction as error:
        raise BadTransaction(f"'raw': no signed transaction: {error}") from None
    network = hosted.world.scenario.catalog.chain(chain).network
    if signed.chain_id is not None and str(signed.chain_id) != network:
        raise BadTransaction(
            f"'raw': signed for chain id {signed.chain_id}, but {chain!r} has {network}"
        )
    call = call_of(chain, signed)
    sent = SentTransaction(signed.nonce, bytes_of(raw, "raw"))
    return take(hosted, call, lambda: order_in(hosted.world, call), sent)


def call_of(chain: str, signed: evm_transactions.SignedTransaction) -> ContractCall:
    return ContractCall(chain, signed.hash, signed.sender, signed.to, signed.value, signed.data)


@dataclass(frozen=True, slots=True)
class SentTransaction:
    """How a transaction came: as `raw` bytes of a nonce; `limit` and `price` are of its gas.

    A `strict` chain has checked that its sender owns what it moves, and charges for gas.
    """

    nonce: int | None = None
    raw: bytes = b""
    limit: int = 0
    price: int = 0
    strict: bool = False


def mine(
    hosted: HostedWorld,
    chain: Chain,
    signed: evm_transactions.SignedTransaction,
    sent: SentTransaction,
) -> ChainTransaction:
    """Put a transaction that was sent to a node into a block, which may revert it."""
    call = call_of(chain.nickname, signed)
    if not sent.strict:
        return take(hosted, call, lambda: approved_order_in(hosted, call), sent)
    gas = intrinsic_gas(call.data, creation=not call.to, access=signed.access_list)
    needed = max(gas + execution_gas(hosted, chain, call), least_gas(call.data))
    # A transaction that runs out of gas has used all that it was allowed.
    used: int = min(needed, sent.limit)

    def read() -> OrderRequest | None:
        nonlocal used
        if needed > sent.limit:
            raise Reverted(f"out of gas: it needs {needed}, its limit is {sent.limit}", "")
        try:
            request = order_carried(hosted, chain, call)
        except Reverted:
            used = min(sent.limit, gas + GAS_OF_A_CHECK)
            raise
        return None if request is None else replace(request, covered=True)

    return take(hosted, call, read, sent, lambda: used)


def approved_order_in(hosted: HostedWorld, call: ContractCall) -> OrderRequest | None:
    """Return the order that a call carries, as `order_in`, if the token lets the contract have it.

    Raises `Reverted`.
    """
    try:
        request = order_in(hosted.world, call)
    except Refusal:
        # A token that does not let the contract have it reverts the call, before the service could
        # refuse the order.
        _check_allowance(hosted, call)
        raise
    _check_allowance(hosted, call)
    return request


def _check_allowance(hosted: HostedWorld, call: ContractCall) -> None:
    taken, catalog = taken_by_contract(call), hosted.world.scenario.catalog
    if taken is not None:
        placed = catalog.placed_at(catalog.chain(call.chain), taken[0], "source token address")
        if not (placed.contract.native or placed.contract.burnable):
            check_allowance(hosted, placed, call)


def tx_json(tx: ChainTransaction) -> Json:
    return {
        "chain": tx.chain,
        "hash": tx.hash,
        "from": tx.sender,
        "to": tx.to,
        "value": str(tx.value),
        "reverted": tx.reverted,
        "order": tx.order_id,
        "reason": tx.reason,
    }


def take(
    hosted: HostedWorld,
    call: ContractCall,
    read: Callable[[], OrderRequest | None],
    sent: SentTransaction | None = None,
    used: Callable[[], int] = lambda: 0,
) -> ChainTransaction:
    """Take a transaction: one that carries an order makes it; a known one changes nothing.

    Without a nonce it gets the next one of its sender. `used` tells its gas once it was read.
    """
    sent = sent or SentTransaction()
    known = hosted.transactions.get(call.chain, call.hash)
    if known is not None:
        # A world may have been reverted to before the order.
        with suppress(Refusal):
            if known.order_id is not None:
                hosted.world.orders.peek(known.order_id)
            return known
    if full := hosted.transactions.full():
        raise BadTransaction(full)
    chain = hosted.world.scenario.catalog.chain(call.chain)
    # Before the order is made, which counts its own transaction.
    before = hosted.world.orders.sent_from(call.chain, call.sender)
    payouts = None
    if hosted.node.began_ms is not None:
        # What was paid out until now has its block before this one.
        hosted.blocks.of(hosted, call.chain)
        payouts = hosted.blocks.paid
    order_id, reason, reverted = _outcome(hosted, read, has_contracts=chain.carries_orders)
    tx = ChainTransaction(
        **asdict(call),
        nonce=before if sent.nonce is None else sent.nonce,
        number=len(hosted.transactions) + 1,
        at_ms=hosted.world.now(),
        order_id=order_id,
        reason=reason,
        reverted=reverted,
        raw=sent.raw,
        gas_used=used(),
        gas_price=sent.price,
        payouts=payouts,
    )
    paid = _payment(hosted, tx) if chain.has_node and not (reverted or order_id) else None
    if paid is not None:
        placed, (payer, _), wanted = paid
        units = hosted.world.balances.movable(placed, tx.hash, payer, wanted, certain=sent.strict)
        tx = replace(tx, moved=units)
    restore(hosted, tx)
    return tx


def _gas_key(tx_hash: str) -> str:
    """Return the name under which the gas of a transaction is booked."""
    return f"{tx_hash} gas"


def lose(hosted: HostedWorld, tx: ChainTransaction) -> None:
    """Have a transaction, and what it moved, not be on its chain any more."""
    noted = hosted.transactions.known(tx)
    if noted is not None and not noted.lost:
        hosted.world.orders.take_back(tx.chain, tx.sender, tx.hash)
        hosted.world.orders.take_back(tx.chain, ZERO, _gas_key(tx.hash))
    hosted.transactions.lose(tx)


def restore(hosted: HostedWorld, tx: ChainTransaction) -> None:
    """Note a transaction with what it has moved, as when it came."""
    if tx.lost:
        lose(hosted, tx)
        return
    balances = hosted.world.balances
    paid = _payment(hosted, tx) if tx.moved else None
    if paid is not None:
        placed, ends, _ = paid
        balances.transfer(placed, tx.hash, ends, tx.moved, tx.at_ms)
    if tx.gas_cost:
        coin = base_coin(hosted, hosted.world.scenario.catalog.chain(tx.chain))
        balances.transfer(coin, _gas_key(tx.hash), (tx.sender, ZERO), tx.gas_cost, tx.at_ms)
    # Nobody signs for the faucet, so that it has no nonces.
    if tx.sender != ZERO:
        hosted.world.orders.count_sent(tx.chain, tx.sender, tx.hash)
    hosted.transactions.add(tx)


def _payment(
    hosted: HostedWorld, tx: ChainTransaction
) -> tuple[Placed, tuple[str, str], int] | None:
    """Return the token, both ends and the units that a transaction without an order moves."""
    moved, catalog = moved_by(tx), hosted.world.scenario.catalog
    if moved is None and tx.value:
        moved = NATIVE, tx.to or created_by(tx), tx.value
    if moved is None:
        return None
    token, recipient, units = moved
    with suppress(Refusal):
        placed = catalog.placed_at(catalog.chain(tx.chain), token)
        return placed, (payer_in(tx), recipient), units
    return None


def give(hosted: HostedWorld, body: Mapping[str, Json]) -> Json:
    """Give an address some of a token, or as much as it shall own. Raises `BadTransaction`."""
    try:
        check(form("faucet"), body, "body")
        catalog = hosted.world.scenario.catalog
        chain = catalog.chain(body["chain"])
        symbol = body.get("token", chain.base_coin)
        placed = catalog.placed(chain, catalog.token(symbol))
    except BadControl as error:
        raise BadTransaction(str(error)) from None
    except Refusal as refusal:
        raise BadTransaction(refusal.reason) from None
    if not chain.has_node:
        raise BadTransaction(f"'chain': {chain.nickname!r} has no node here, so no faucet")
    if chain.evm and not _EVM_ADDRESS.fullmatch(body["address"]):
        raise BadTransaction(f"'address': {body['address'][:60]!r} is not 0x and 40 hex digits")
    units = _units_of(body, placed)
    owned = units_held(hosted, placed, body["address"])
    pour(hosted, placed, body["address"], units - owned if body.get("set") else units)
    return balance_json(hosted, placed, body["address"])


def balance_json(hosted: HostedWorld, placed: Placed, address: str) -> Json:
    units = units_held(hosted, placed, address)
    return {
        "chain": placed.chain.nickname,
        "token": placed.symbol,
        "address": address,
        "units": str(units),
        "amount": plain(whole_tokens(units, placed.decimals)),
    }


def pour(hosted: HostedWorld, placed: Placed, address: str, units: int) -> None:
    """Give an address smallest units of a token, or take them: a transaction of nobody's."""
    if not units:
        return
    ends = (ZERO, address) if units > 0 else (address, ZERO)
    chain, seed, token = placed.chain, hosted.world.scenario.seed, placed.contract.address
    number, count = str(len(hosted.transactions)), abs(units)
    name = chain.nickname
    if chain.evm:
        data = abi.TRANSFER_FROM + b"".join(bytes.fromhex(f"{end[2:]:0>64}") for end in ends)
        data += abi.uint(count)
        tx_hash = made_up_hash(chain, seed, "faucet", name, number, data.hex())
        call = ContractCall(name, tx_hash, ZERO, token, 0, data)
    else:
        tx_hash = made_up_hash(chain, seed, "faucet", name, number, *ends, token, count)
        call = ContractCall(name, tx_hash, ends[0], ends[1], count, b"", token)
    take(hosted, call, lambda: None, SentTransaction(0, strict=True))


def _units_of(body: Mapping[str, Json], placed: Placed) -> int:
    if ("units" in body) == ("amount" in body):
        raise BadTransaction("give either 'amount', in whole tokens, or 'units', the smallest ones")
    if "units" in body:
        return int(body["units"])
    scaled = Fraction(Decimal(body["amount"])) * 10**placed.decimals
    if scaled.denominator != 1:
        raise BadTransaction(f"'amount': {placed.symbol} has {placed.decimals} decimals here")
    return int(scaled)


def _outcome(
    hosted: HostedWorld, read: Callable[[], OrderRequest | None], *, has_contracts: bool
) -> tuple[str | None, str, bool]:
    try:
        request = read()
        if request is None:
            return None, _NO_CALL if has_contracts else _NO_MEMO, False
        return hosted.world.orders.submit(request).order.id, "", False
    except Reverted as error:
        return None, str(error), True
    except Refusal as refusal:
        return None, f"{refusal.name}: {refusal.reason}", False


def _contract_call(hosted: HostedWorld, chain: Chain, body: Mapping[str, Json]) -> ContractCall:
    call = _call(hosted, chain, body, bytes_of(body.get("data", ""), "data"))
    form = hash_form(chain)
    if form.normal(call.hash) is None:
        raise BadTransaction(f"'hash': {call.hash[:80]!r} is not {form.words}")
    if chain.evm and not _EVM_ADDRESS.fullmatch(call.sender):
        raise BadTransaction(f"'from': {call.sender[:60]!r} is not 0x and 40 hex digits")
    return call


def _call(hosted: HostedWorld, chain: Chain, body: Mapping[str, Json], data: bytes) -> ContractCall:
    """Return a transaction of its parts; one announced without a hash gets one."""
    text = body.get("value", "0")
    try:
        value = int(text, 16) if text.startswith("0x") else int(text)
    except ValueError:
        # Neither a number: what follows refuses both in the same words.
        value = -1
    if not 0 <= value < 2**256:
        right = "is no amount; give smallest units, or 0x and hex"
        raise BadTransaction(f"'value': {text[:90]!r} {right}")
    number, seed = str(len(hosted.transactions)), hosted.world.scenario.seed
    tx_hash = body.get("hash") or made_up_hash(
        chain, seed, "told", chain.nickname, number, data.hex()
    )
    return ContractCall(chain.nickname, tx_hash, body["from"], body.get("to", ""), value, data)


def bytes_of(text: str, name: str) -> bytes:
    """Return the bytes of hex. Raises `BadTransaction`, which names the member."""
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raise BadTransaction(f"{name!r}: expected hex of whole bytes") from None
