"""What a node takes of signed transactions, and what waits until it can be put into a block.

The words and the order of the checks are those of geth's pool (core/txpool/validation.go), since
libraries go by them.
"""

from contextlib import suppress

from mockserver import limits
from mockserver.engine.catalog import Chain
from mockserver.errors import CrosschainMockError
from mockserver.operations.deposit_transactions import gas_price
from mockserver.signing import evm_transactions
from mockserver.signing.evm_transactions import SignedTransaction
from mockserver.worlds.announced_transactions import SentTransaction, mine
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.node_state import Waiting
from mockserver.worlds.smart_contracts import coins_of, intrinsic_gas, least_gas
from mockserver.worlds.transaction_store import ChainTransaction

BLOCK_GAS = 30_000_000
"""The gas that a block has room for."""

# What geth's pool takes at most: bytes of a transaction, those of the code that makes a contract
# (EIP-3860), and the nonce that has none behind it (EIP-2681).
_MOST_BYTES, _MOST_CODE, _LAST_NONCE = 131_072, 49_152, 2**64 - 1
# A replacement pays at least so many percent of what it replaces, as geth asks by default.
_BUMP = 110


class Rejected(CrosschainMockError):
    """A transaction that a node refuses, in the words of the chain's own."""


def fees(hosted: HostedWorld, chain: Chain) -> tuple[int, int]:
    """Return the base fee of blocks and the tip that is proposed; a legacy chain has no base fee.

    The base fee is two thirds of what gas cost when the chain was first used, and then stays: a
    block keeps its fee, and a price that is not too old is enough.
    """
    price = gas_price(hosted.world, chain)
    if chain.evm_is_legacy:
        return 0, price
    # Set once and kept: what a client signed for the base fee must stay payable.
    base = hosted.node.fees.setdefault(chain.nickname, max(1, 2 * price // 3))
    return base, max(1, price - base)


def next_nonce(hosted: HostedWorld, chain: str, sender: str) -> int:
    """Return the nonce behind all that is in blocks.

    An order counts as a transaction of its sender: one of a deposit that is in no block does not.
    """
    node, orders = hosted.node, hosted.world.orders
    unmined = {waiting.hash for waiting in node.pool.values() if waiting.chain == chain}
    unmined |= {tx for on, tx in node.refused if on == chain}
    paid = [orders.paid_by((chain, tx)) for tx in unmined if not hosted.transactions.get(chain, tx)]
    senders = [orders.peek(order_id).order.sender for order_id in paid if order_id is not None]
    return orders.sent_from(chain, sender) - [each.lower() for each in senders].count(sender)


def why_waiting(hosted: HostedWorld, waiting: Waiting) -> str:
    """Return why a transaction of the pool is in no block, as a predicate."""
    after = next_nonce(hosted, waiting.chain, waiting.sender)
    if waiting.nonce > after:
        return f"has nonce {waiting.nonce} and waits for one with nonce {after}"
    return "waits: it pays less for gas than blocks take, or more than its sender has"


def pending_nonce(hosted: HostedWorld, chain: str, sender: str) -> int:
    """Return the nonce behind all that is in blocks or can follow at once."""
    nonce, waiting = next_nonce(hosted, chain, sender), hosted.node.waiting_of(chain, sender)
    while nonce in waiting:
        nonce += 1
    return nonce


def send(hosted: HostedWorld, chain: Chain, raw: bytes) -> str:
    """Take a signed transaction and return its hash; it is put into a block if it can be.

    Raises `Rejected`, `BadTransaction` for what does not fit into a world, and
    `SigningUnavailable`.
    """
    signed = _signed(raw)
    known = hosted.transactions.get(chain.nickname, signed.hash)
    if known is not None and not (known.raw and _strict(hosted)):
        # A test has announced it before its client sent it.
        return known.hash
    node, name = hosted.node, chain.nickname
    try:
        _check_form(chain, signed)
        if not _strict(hosted):
            return mine(hosted, chain, signed, SentTransaction(signed.nonce, raw)).hash
        waiting = _checked(hosted, chain, signed, raw)
    except Rejected as error:
        node.refuse(name, signed.hash, error)
        raise
    if (before := node.pool.get(waiting.key)) is not None:
        node.drop(name, before.hash, f"was replaced by {waiting.hash}")
    node.pool[waiting.key] = waiting
    counted = hosted.world.orders.sent_from(name, waiting.sender)
    if _ordered(hosted, waiting) and waiting.nonce <= counted:
        # Its order was submitted before the deposit was sent, and has counted its nonce.
        del node.pool[waiting.key]
        _mine(hosted, chain, waiting)
    settle(hosted, chain, waiting.sender)
    return waiting.hash


def wait_again(hosted: HostedWorld, chain: Chain, tx: ChainTransaction) -> None:
    """Have a transaction that was in a block wait for another one, where it is still good."""
    with suppress(Rejected):
        waiting = _checked(hosted, chain, _signed(tx.raw), tx.raw)
        hosted.node.pool[waiting.key] = waiting


def settle_all(hosted: HostedWorld, chain: Chain) -> None:
    """Put into blocks what waits on a chain and can follow now."""
    senders = {waiting.sender for waiting in hosted.node.pool.values()}
    # In a fixed order, since blocks get their numbers by it.
    for sender in sorted(senders):
        settle(hosted, chain, sender)


def settle(hosted: HostedWorld, chain: Chain, sender: str) -> None:
    """Put into blocks what waits of a sender and can follow now."""
    while True:
        key = chain.nickname, sender, next_nonce(hosted, chain.nickname, sender)
        waiting = hosted.node.pool.get(key)
        if waiting is None or not _payable(hosted, chain, waiting):
            return
        del hosted.node.pool[key]
        _mine(hosted, chain, waiting)


def _strict(hosted: HostedWorld) -> bool:
    return not hosted.node.lenient


def _signed(raw: bytes) -> SignedTransaction:
    if not raw:
        raise Rejected("typed transaction too short")
    if raw[0] < 0x80 and raw[0] not in (1, 2):
        raise Rejected(f"transaction type not supported: there are 0, 1 and 2 here, not {raw[0]}")
    try:
        return evm_transactions.decoded(raw)
    except evm_transactions.BadSignature as error:
        raise Rejected(f"invalid sender: {error}") from None
    except evm_transactions.NotATransaction as error:
        raise Rejected(f"rlp: no signed transaction: {error}") from None


def _check_form(chain: Chain, signed: SignedTransaction) -> None:
    # The same bytes would be valid on every chain otherwise.
    have, want = signed.chain_id, chain.chain_id
    if have is None:
        raise Rejected("only replay-protected (EIP-155) transactions allowed over RPC")
    if have != want:
        raise Rejected(f"invalid sender: invalid chain id for signer: have {have} want {want}")


def _checked(hosted: HostedWorld, chain: Chain, signed: SignedTransaction, raw: bytes) -> Waiting:
    name, node = chain.nickname, hosted.node
    if node.waiting_by_hash(name, signed.hash) is not None:
        raise Rejected("already known")
    if len(raw) > _MOST_BYTES:
        raise Rejected(f"oversized data: transaction size {len(raw)}, limit {_MOST_BYTES}")
    if not signed.to and len(signed.data) > _MOST_CODE:
        size = len(signed.data)
        raise Rejected(f"max initcode size exceeded: code size {size}, limit {_MOST_CODE}")
    if signed.nonce == _LAST_NONCE:
        raise Rejected("nonce has max value")
    if signed.gas > BLOCK_GAS:
        raise Rejected(f"exceeds block gas limit: {signed.gas} of {BLOCK_GAS}")
    if signed.max_fee < signed.tip:
        raise Rejected(
            "max priority fee per gas higher than max fee per gas: maxPriorityFeePerGas: "
            f"{signed.tip}, maxFeePerGas: {signed.max_fee}"
        )
    least = intrinsic_gas(signed.data, creation=not signed.to, access=signed.access_list)
    if signed.gas < least:
        raise Rejected(f"intrinsic gas too low: gas {signed.gas}, minimum needed {least}")
    if signed.gas < (floor := least_gas(signed.data)):
        raise Rejected(
            f"insufficient gas for floor data gas cost: gas {signed.gas}, minimum needed {floor}"
        )
    if signed.tip < 1:
        raise Rejected(f"transaction underpriced: gas tip cap {signed.tip}, minimum needed 1")
    waiting = Waiting(
        chain=name,
        sender=signed.sender,
        nonce=signed.nonce,
        hash=signed.hash,
        raw=raw,
        price=signed.max_fee,
        tip=signed.tip,
        cost=signed.gas * signed.max_fee + signed.value,
        at_ms=hosted.world.now(),
    )
    after = next_nonce(hosted, name, signed.sender)
    if signed.nonce < after and not _ordered(hosted, waiting):
        raise Rejected(f"nonce too low: next nonce {after}, tx nonce {signed.nonce}")
    _check_funds(hosted, chain, waiting)
    # Of the same nonce: only one of both can ever be in a block.
    before = node.pool.get(waiting.key)
    if before is not None and (
        100 * waiting.price < _BUMP * before.price or 100 * waiting.tip < _BUMP * before.tip
    ):
        raise Rejected("replacement transaction underpriced")
    if before is None and len(node.pool) >= limits.WAITING.most:
        raise Rejected("txpool is full")
    return waiting


def _ordered(hosted: HostedWorld, waiting: Waiting) -> bool:
    return hosted.world.orders.paid_by((waiting.chain, waiting.hash)) is not None


def _check_funds(hosted: HostedWorld, chain: Chain, waiting: Waiting) -> None:
    balance = coins_of(hosted, chain, waiting.sender)
    name = "insufficient funds for gas * price + value"
    if balance < waiting.cost:
        raise Rejected(
            f"{name}: balance {balance}, tx cost {waiting.cost}, overshot {waiting.cost - balance}"
        )
    others = hosted.node.waiting_of(chain.nickname, waiting.sender)
    # Without the one that it replaces.
    queued = sum([each.cost for nonce, each in others.items() if nonce != waiting.nonce])
    if balance < queued + waiting.cost:
        raise Rejected(
            f"{name}: balance {balance}, queued cost {queued}, tx cost {waiting.cost}, overshot "
            f"{queued + waiting.cost - balance}"
        )


def _payable(hosted: HostedWorld, chain: Chain, waiting: Waiting) -> bool:
    enough = waiting.price >= fees(hosted, chain)[0]
    return enough and coins_of(hosted, chain, waiting.sender) >= waiting.cost


def _mine(hosted: HostedWorld, chain: Chain, waiting: Waiting) -> None:
    signed = evm_transactions.decoded(waiting.raw)
    price = min(signed.max_fee, fees(hosted, chain)[0] + signed.tip)
    sent = SentTransaction(signed.nonce, waiting.raw, signed.gas, price, strict=True)
    mine(hosted, chain, signed, sent)
