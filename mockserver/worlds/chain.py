"""Transactions on the chains: announced, or sent to a node.

The real service watches the chains. Here there are none, so a client, or the test around it,
announces transactions. What a wallet sends to a node counts as announced.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace

from mockserver.engine.catalog import NATIVE, Chain, Placed
from mockserver.engine.hashes import hash_form, made_up_hash
from mockserver.engine.refusal import Refusal
from mockserver.engine.submission import OrderRequest
from mockserver.errors import CrosschainMockError
from mockserver.jsontext import Json
from mockserver.operations.transactions import (
    ContractCall,
    Reverted,
    moved_by,
    order_in,
    order_of_transfer,
    taken_by_contract,
)
from mockserver.responders.forms import BadControl, check, form
from mockserver.signing import transactions
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.transactions import ChainTransaction

_EVM_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
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
        return tx_json(_taken(hosted, call, lambda: order_in(hosted.world, call)))
    memo = body.get("memo", "").encode("utf-8", "replace")
    call = _call(hosted, chain, body, memo)
    token = body.get("token", NATIVE)
    return tx_json(_taken(hosted, call, lambda: order_of_transfer(hosted.world, call, token)))


def take_raw(
    hosted: HostedWorld, chain: str, raw: str, *, approved: bool = True
) -> ChainTransaction:
    """Take a signed transaction in hex. Raises `BadTransaction` and `SigningUnavailable`.

    For one that is not `approved`, the sender's approvals are checked, as the token would.
    """
    try:
        signed = transactions.decoded(_bytes(raw, "raw"))
    except transactions.NotATransaction as error:
        raise BadTransaction(f"'raw': no signed transaction: {error}") from None
    network = hosted.world.scenario.catalog.chain(chain).network
    if signed.chain_id is not None and str(signed.chain_id) != network:
        raise BadTransaction(
            f"'raw': signed for chain id {signed.chain_id}, but {chain!r} has {network}"
        )
    call = ContractCall(chain, signed.hash, signed.sender, signed.to, signed.value, signed.data)
    if approved:
        return _taken(hosted, call, lambda: order_in(hosted.world, call), signed.nonce)
    return _taken(hosted, call, lambda: approved_order_in(hosted, call), signed.nonce)


def approved_order_in(hosted: HostedWorld, call: ContractCall) -> OrderRequest | None:
    """Return the order that a call carries, as `order_in`, if the token lets the contract have it.

    What the service burns itself needs no approval, by all public material. Raises `Reverted`.
    """
    try:
        request = order_in(hosted.world, call)
    except Refusal:
        _check_allowance(hosted, call)
        raise
    _check_allowance(hosted, call)
    return request


def _check_allowance(hosted: HostedWorld, call: ContractCall) -> None:
    taken = taken_by_contract(call)
    if taken is None:
        return
    token, units = taken
    catalog = hosted.world.scenario.catalog
    source = catalog.placed_at(catalog.chain(call.chain), token, "source token address").contract
    allowed = hosted.transactions.allowance(call.chain, token, call.sender, call.to)
    if not (source.native or source.burnable or allowed >= units):
        raise Reverted(
            f"ERC20: insufficient allowance: {call.to} may take {allowed} of {source.address}, the "
            f"order needs {units}; call 'approve' of the token first"
        )


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


def _taken(
    hosted: HostedWorld,
    call: ContractCall,
    read: Callable[[], OrderRequest | None],
    nonce: int | None = None,
) -> ChainTransaction:
    """Take a transaction: one that carries an order makes it; a known one changes nothing.

    `nonce` is how many its sender had sent before; by default those that are known.
    """
    known = hosted.transactions.get(call.chain, call.hash)
    if known is not None:
        # A world may have been reverted to before the order.
        with suppress(Refusal):
            if known.order_id is not None:
                hosted.world.orders.peek(known.order_id)
            return known
    if full := hosted.transactions.full():
        raise BadTransaction(full)
    evm = hosted.world.scenario.catalog.chain(call.chain).evm
    before = hosted.world.orders.sent_from(call.chain, call.sender)
    order_id, reason, reverted = _outcome(hosted, read, evm=evm)
    tx = ChainTransaction(
        **asdict(call),
        nonce=before if nonce is None else nonce,
        number=len(hosted.transactions) + 1,
        at_ms=hosted.world.now(),
        order_id=order_id,
        reason=reason,
        reverted=reverted,
    )
    paid = _payment(hosted, tx) if evm and not (reverted or order_id) else None
    if paid is not None:
        placed, (payer, _), wanted = paid
        units = hosted.world.balances.movable(placed, tx.hash, payer, wanted)
        tx = replace(tx, moved=units)
    restore(hosted, tx)
    return tx


def restore(hosted: HostedWorld, tx: ChainTransaction) -> None:
    """Note a transaction with what it has moved, as when it came."""
    paid = _payment(hosted, tx) if tx.moved else None
    if paid is not None:
        placed, ends, _ = paid
        hosted.world.balances.transfer(placed, tx.hash, ends, tx.moved, tx.at_ms)
    hosted.world.orders.count_sent(tx.chain, tx.sender, tx.hash)
    hosted.transactions.add(tx)


def _payment(
    hosted: HostedWorld, tx: ChainTransaction
) -> tuple[Placed, tuple[str, str], int] | None:
    """Return the token, both ends and the units that a transaction without an order moves."""
    moved, catalog = moved_by(tx), hosted.world.scenario.catalog
    if moved is None:
        return None
    token, recipient, units = moved
    with suppress(Refusal):
        placed = catalog.placed_at(catalog.chain(tx.chain), token)
        return placed, (tx.sender, recipient), units
    return None


def _outcome(
    hosted: HostedWorld, read: Callable[[], OrderRequest | None], *, evm: bool
) -> tuple[str | None, str, bool]:
    try:
        request = read()
        if request is None:
            return None, _NO_CALL if evm else _NO_MEMO, False
        return hosted.world.orders.submit(request).order.id, "", False
    except Reverted as error:
        return None, str(error), True
    except Refusal as refusal:
        return None, f"{refusal.name}: {refusal.reason}", False


def _contract_call(hosted: HostedWorld, chain: Chain, body: Mapping[str, Json]) -> ContractCall:
    call = _call(hosted, chain, body, _bytes(body.get("data", ""), "data"))
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
        value = -1
    if not 0 <= value < 2**256:
        right = "is no amount; give smallest units, or 0x and hex"
        raise BadTransaction(f"'value': {text[:90]!r} {right}")
    number, seed = str(len(hosted.transactions)), hosted.world.scenario.seed
    tx_hash = body.get("hash") or made_up_hash(
        chain, seed, "told", chain.nickname, number, data.hex()
    )
    return ContractCall(chain.nickname, tx_hash, body["from"], body.get("to", ""), value, data)


def _bytes(text: str, name: str) -> bytes:
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raise BadTransaction(f"{name!r}: expected hex of whole bytes") from None
