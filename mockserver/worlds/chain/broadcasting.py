"""Transactions that a client sent to a chain: how the service learns of orders in contract calls.

The real service watches the chains; here there are none, so a client, or the test around it, tells
of the transaction (docs/decisions/0030).
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict

from mockserver.engine.catalog import NATIVE, Chain
from mockserver.engine.hashes import hash_form, made_up_hash
from mockserver.engine.refusal import Refusal
from mockserver.engine.submission import OrderRequest
from mockserver.errors import CrosschainMockError
from mockserver.jsontext import Json
from mockserver.operations.calls import ContractCall, Reverted, order_in, order_of_transfer
from mockserver.signing import transactions
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.seen import SeenTransaction

_HEX = frozenset("0123456789abcdefABCDEF")
_NO_CALL = "calls neither vaultOut nor swap, so it carries no order"
_NO_MEMO = "does not pay the vault with an order in its memo, so it carries no order"
_MEMBERS = ("chain", "raw", "from", "to", "value", "data", "hash", "token", "memo")


class BadTransaction(CrosschainMockError):
    """A transaction that cannot be told of; nothing has changed."""


def announce(hosted: HostedWorld, body: Mapping[str, Json]) -> Json:
    """Take a transaction, `raw` and signed or in its parts, and return what became of it.

    Raises `BadTransaction` for a body that tells of none, and `SigningUnavailable` where a signed
    one cannot be read.
    """
    odd = [name for name in body if name not in _MEMBERS]
    if odd:
        raise BadTransaction(
            f"unknown member {odd[0][:60]!r}; give 'chain' with 'raw', or with 'from', 'to', "
            "'value', 'hash' and either 'data' or, on a chain without contracts, 'token' and 'memo'"
        )
    chain = _chain(hosted, _text(body, "chain"))
    if not chain.evm and not (chain.carries_orders and "data" in body):
        return shown(_take_transfer(hosted, chain, body))
    if chain.evm and "raw" in body:
        return shown(take_raw(hosted, chain.nickname, _text(body, "raw")))
    call = _call(hosted, chain, body)
    return shown(_taken(hosted, call, lambda: order_in(hosted.world, call)))


def take_raw(hosted: HostedWorld, chain: str, raw: str) -> SeenTransaction:
    """Take a signed transaction in hex. Raises `BadTransaction` and `SigningUnavailable`."""
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
    return _taken(hosted, call, lambda: order_in(hosted.world, call), signed.nonce)


def shown(seen: SeenTransaction) -> Json:
    """Return a transaction as the control API shows it."""
    return {
        "chain": seen.chain,
        "hash": seen.hash,
        "from": seen.sender,
        "to": seen.to,
        "value": str(seen.value),
        "reverted": seen.reverted,
        "order": seen.order_id,
        "reason": seen.reason,
    }


def _take_transfer(hosted: HostedWorld, chain: Chain, body: Mapping[str, Json]) -> SeenTransaction:
    odd = [name for name in ("raw", "data") if name in body]
    if odd:
        raise BadTransaction(f"{odd[0]!r}: {chain.nickname!r} has no contracts; give a 'memo'")
    memo = _text(body, "memo", "").encode("utf-8", "replace")
    call = ContractCall(
        chain.nickname,
        _text(body, "hash", "") or _made_up_hash(hosted, chain, memo),
        _text(body, "from"),
        _text(body, "to", ""),
        _value(body),
        memo,
    )
    token = _text(body, "token", NATIVE)
    return _taken(hosted, call, lambda: order_of_transfer(hosted.world, call, token))


def _taken(
    hosted: HostedWorld,
    call: ContractCall,
    read: Callable[[], OrderRequest | None],
    nonce: int | None = None,
) -> SeenTransaction:
    """Take a transaction: one that carries an order makes it; taken again it changes nothing.

    `nonce` is how many its sender had sent before; by default those that were seen.
    """
    known = hosted.transactions.get(call.chain, call.hash)
    if known is not None and _stands(hosted, known):
        return known
    if full := hosted.transactions.full():
        raise BadTransaction(full)
    evm = hosted.world.scenario.catalog.chain(call.chain).evm
    order_id, reason, reverted = _outcome(hosted, read, evm=evm)
    seen = SeenTransaction(
        **asdict(call),
        nonce=hosted.transactions.count_from(call.chain, call.sender) if nonce is None else nonce,
        number=len(hosted.transactions) + 1,
        at_ms=hosted.world.now(),
        order_id=order_id,
        reason=reason,
        reverted=reverted,
    )
    hosted.transactions.add(seen)
    return seen


def _stands(hosted: HostedWorld, known: SeenTransaction) -> bool:
    """Tell whether what became of a transaction is still so; a world may have been reverted."""
    if known.order_id is None:
        return True
    try:
        hosted.world.orders.look(known.order_id)
    except Refusal:
        return False
    return True


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


def _call(hosted: HostedWorld, chain: Chain, body: Mapping[str, Json]) -> ContractCall:
    odd = [name for name in ("token", "memo") if name in body]
    if odd:
        name = chain.nickname
        raise BadTransaction(f"{odd[0]!r}: orders on {name!r} are contract calls; give 'data'")
    data = _bytes(_text(body, "data", "0x"), "data")
    to, value = _text(body, "to", ""), _value(body)
    told = _text(body, "hash", "") or _made_up_hash(hosted, chain, data)
    form = hash_form(chain)
    if form.normal(told) is None:
        raise BadTransaction(f"'hash': {told[:80]!r} is not {form.words}")
    return ContractCall(chain.nickname, told, _sender(chain, body), to, value, data)


def _made_up_hash(hosted: HostedWorld, chain: Chain, data: bytes) -> str:
    """Return the hash of a transaction that was told without one."""
    number, seed = str(len(hosted.transactions)), hosted.world.scenario.seed
    return made_up_hash(chain, seed, "told", chain.nickname, number, data.hex())


def _sender(chain: Chain, body: Mapping[str, Json]) -> str:
    sender = _text(body, "from")
    if not chain.evm:
        return sender
    if len(sender) != 42 or not sender.startswith("0x") or not _HEX.issuperset(sender[2:]):
        raise BadTransaction(f"'from': {sender[:60]!r} is not 0x and 40 hex digits")
    return sender


def _chain(hosted: HostedWorld, nickname: str) -> Chain:
    try:
        return hosted.world.scenario.catalog.chain(nickname)
    except Refusal as refusal:
        raise BadTransaction(f"'chain': {refusal.reason}") from None


def _text(body: Mapping[str, Json], name: str, default: str | None = None) -> str:
    value = body.get(name, default)
    if isinstance(value, str):
        return value
    raise BadTransaction(f"{name!r}: expected text, got {ascii(value)[:60]}")


def _value(body: Mapping[str, Json]) -> int:
    text = _text(body, "value", "0")
    try:
        value = int(text, 16) if text.startswith("0x") else int(text)
    except ValueError:
        value = -1
    if 0 <= value < 2**256:
        return value
    raise BadTransaction(f"'value': {text[:90]!r} is no amount; give smallest units, or 0x and hex")


def _bytes(text: str, name: str) -> bytes:
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raise BadTransaction(f"{name!r}: expected hex of whole bytes") from None
