"""A node of Kaspa behind its REST interface, as wallets that sign for themselves ask it.

Signatures and what an output holds are checked. A transaction is one payment, with change and a
payload (A-513). What an address owns is shown as outputs that can be spent; they follow from the
blocks, and add up to what the books say.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType

from mockserver import jsontext
from mockserver.engine.catalog import NATIVE
from mockserver.engine.hashes import derived_int
from mockserver.http_messages import Response
from mockserver.jsontext import Json
from mockserver.operations.deposit_transactions import ContractCall, order_of_transfer
from mockserver.signing import kaspa_transactions as kaspa
from mockserver.signing.evm_transactions import NotATransaction
from mockserver.signing.kaspa_messages import key_of_address
from mockserver.signing.kaspa_transactions import KaspaOutput, KaspaTransaction, Outpoint
from mockserver.worlds.announced_transactions import SentTransaction, take
from mockserver.worlds.blocks import Block
from mockserver.worlds.mempool import Rejected
from mockserver.worlds.node.rest_calls import RestCall, refusal
from mockserver.worlds.smart_contracts import base_coin, coins_of

_MOST_LISTED = 500
# Places of what nobody's transaction made: what an address began with, and what came otherwise.
_OPENING, _OTHERWISE = 0, 1

Purse = dict[Outpoint, tuple[int, int]]
"""Outputs that an address can spend: their sompi, and the number of their block."""


def answer(call: RestCall) -> Json | Response:
    """Return what the REST interface of a node of Kaspa answers."""
    for pattern, method in METHODS.items():
        if len(pattern) == len(call.path) and all(
            part in ("*", asked) for part, asked in zip(pattern, call.path, strict=True)
        ):
            return method(call)
    return refusal(404, {"detail": "Not Found"})


# --- what can be spent ---


@lru_cache(maxsize=4_096)
def _read(raw: bytes) -> KaspaTransaction:
    return kaspa.decoded(jsontext.decode(raw))


def _purse(call: RestCall, address: str) -> Purse:
    """Return what an address can spend now."""
    coin = base_coin(call.hosted, call.chain)
    catalog = call.hosted.world.scenario.catalog
    opening = call.hosted.world.balances.opening(coin, address)
    purse: Purse = {_unmade(call, address, _OPENING): (opening, 0)} if opening else {}
    for block in call.blocks.between(0, call.blocks.head):
        tx = block.tx
        if tx is not None and tx.raw:
            signed = _read(tx.raw)
            for spent in signed.inputs:
                purse.pop(spent.outpoint, None)
            for place, output in enumerate(signed.outputs):
                if output.address == address:
                    purse[Outpoint(tx.hash, place)] = output.units, block.number
            continue
        for token, payer, receiver, units in block.movements(catalog):
            if token == NATIVE and payer == address:
                _spend(purse, units, Outpoint(block.tx_hash, _OTHERWISE), block.number)
            if token == NATIVE and receiver == address:
                purse[Outpoint(block.tx_hash, _OPENING)] = units, block.number
    # Orders that were only submitted have moved money without a transaction.
    owned = coins_of(call.hosted, call.chain, address)
    held = sum([units for units, _ in purse.values()])
    if owned > held:
        purse[_unmade(call, address, _OTHERWISE)] = owned - held, 0
    elif owned < held:
        _spend(purse, held - owned, _unmade(call, address, _OTHERWISE), 0)
    return purse


def _spend(purse: Purse, units: int, change: Outpoint, number: int) -> None:
    """Take sompi from the oldest outputs; what is left of the last one is change."""
    while units > 0 and purse:
        held, _ = purse.pop(next(iter(purse)))
        if held > units:
            purse[change] = held - units, number
        units -= held


def _mask(call: RestCall) -> int:
    return derived_int(call.hosted.world.scenario.seed, "outputs", call.chain.nickname)


def _unmade(call: RestCall, address: str, place: int) -> Outpoint:
    """Return an output that no transaction made; its id hides the key that it pays."""
    # Money of an address that is of a script can be seen, and not be spent.
    key = key_of_address(address) or sha256(address.encode()).digest()
    return Outpoint(f"{int.from_bytes(key) ^ _mask(call):064x}", place)


def _owner_of(call: RestCall, outpoint: Outpoint) -> str:
    """Return the address that an output pays, if there is one; empty for a script."""
    block = call.blocks.of_transaction(outpoint.tx_id)
    if block is None:
        key = int(outpoint.tx_id, 16) ^ _mask(call)
        return kaspa.encoded(0, key.to_bytes(32))
    if block.tx is not None and block.tx.raw:
        outputs = _read(block.tx.raw).outputs
        return outputs[outpoint.index].address if outpoint.index < len(outputs) else ""
    moves = list(block.movements(call.hosted.world.scenario.catalog))
    _, payer, receiver, _ = moves[-1] if moves else ("", "", "", 0)
    return payer if outpoint.index == _OTHERWISE else receiver


def _script_json(address: str) -> Json:
    key = key_of_address(address)
    return {"version": 0, "scriptPublicKey": kaspa.script_of(key).hex() if key else ""}


def _utxos_of(call: RestCall, address: str) -> list[Json]:
    return [
        {
            "address": address,
            "outpoint": {"transactionId": outpoint.tx_id, "index": outpoint.index},
            "utxoEntry": {
                "amount": str(units),
                "scriptPublicKey": _script_json(address),
                "blockDaaScore": str(number),
                "isCoinbase": False,
            },
        }
        for outpoint, (units, number) in _purse(call, address).items()
    ]


def _utxos(call: RestCall) -> Json | Response:
    return _of_address(call, lambda address: _utxos_of(call, address))


def _balance(call: RestCall) -> Json | Response:
    return _of_address(call, lambda address: _balance_json(call, address))


def _balance_json(call: RestCall, address: str) -> Json:
    return {"address": address, "balance": coins_of(call.hosted, call.chain, address)}


def _of_address(call: RestCall, shown: Callable[[str], Json]) -> Json | Response:
    address = call.path[1]
    if not kaspa.is_address(address):
        return refusal(400, {"detail": f"Invalid address: {address[:100]}"})
    return shown(address)


def _named(call: RestCall) -> list[str]:
    named = call.members.get("addresses")
    return [each for each in named if isinstance(each, str)] if isinstance(named, list) else []


def _utxos_of_all(call: RestCall) -> Json:
    return [each for address in _named(call)[:100] for each in _utxos_of(call, address)]


def _balances(call: RestCall) -> Json:
    return [_balance_json(call, address) for address in _named(call)]


# --- sending ---


def _submit(call: RestCall) -> Json | Response:
    try:
        sent = kaspa.decoded(call.members.get("transaction"))
    except NotATransaction as error:
        return refusal(422, {"detail": [{"loc": ["body", "transaction"], "msg": str(error)}]})
    try:
        _carry_out(call, sent)
    except Rejected as error:
        call.hosted.node.refuse(call.chain.nickname, sent.id, error)
        return refusal(400, {"error": f"Rejected transaction {sent.id}: {error}"})
    return {"transactionId": sent.id}


def _carry_out(call: RestCall, sent: KaspaTransaction) -> None:
    hosted, strict = call.hosted, not call.hosted.node.lenient
    known = hosted.transactions.get(call.chain.nickname, sent.id)
    if known is not None and known.raw:
        raise Rejected(f"transaction {sent.id} is already accepted by the consensus")
    payer, spent = _spent(call, sent)
    fee = spent - sum([output.units for output in sent.outputs])
    if fee < 0:
        raise Rejected(
            f"transaction tries to spend {spent - fee} while its total inputs amount is {spent}"
        )
    payees = {output.address for output in sent.outputs} - {payer}
    if len(payees) > 1 or "" in payees:
        raise Rejected("a node here carries out one payment to an address a transaction")
    units = sum([output.units for output in sent.outputs if output.address != payer])
    transfer = ContractCall(
        call.chain.nickname, sent.id, payer, next(iter(payees), payer), units, sent.payload, NATIVE
    )
    raw = jsontext.encode(call.members["transaction"])
    made = SentTransaction(None, raw, 1, fee if strict else 0, strict)
    take(
        hosted,
        transfer,
        lambda: order_of_transfer(hosted.world, transfer, NATIVE),
        made,
        lambda: 1,
    )


def _spent(call: RestCall, sent: KaspaTransaction) -> tuple[str, int]:
    """Return whose outputs a transaction spends, and how much they hold. Raises `Rejected`."""
    owners = {_owner_of(call, spent.outpoint) for spent in sent.inputs}
    if len(owners) > 1:
        raise Rejected("a node here spends outputs of one address a transaction")
    [payer] = owners
    purse = _purse(call, payer)
    outpoints = [spent.outpoint for spent in sent.inputs]
    key = key_of_address(payer)
    for place, outpoint in enumerate(outpoints):
        if outpoint not in purse or outpoints.count(outpoint) > 1:
            raise Rejected(
                f"transaction {sent.id} is an orphan where orphan is disallowed: no output "
                f"({outpoint.tx_id}, {outpoint.index}) to spend"
            )
        output = KaspaOutput(purse[outpoint][0], 0, kaspa.script_of(key or b""))
        if not sent.is_signed(place, output):
            raise Rejected("failed to verify the signature script")
    return payer, sum([purse[outpoint][0] for outpoint in outpoints])


# --- reading transactions ---


def _transaction(call: RestCall) -> Json | Response:
    block = call.blocks.of_transaction(call.path[1])
    if block is None:
        return refusal(404, {"detail": "Transaction not found"})
    return _transaction_json(call, block)


def _transaction_json(call: RestCall, block: Block) -> Json:
    tx, tx_id = block.tx, block.tx_hash
    digest = call.blocks.hash_of(block.number)[2:]
    inputs: list[Json] = []
    moves = list(block.movements(call.hosted.world.scenario.catalog))
    outputs = [(receiver, units) for _, _, receiver, units in moves[-1:]]
    if tx is not None and tx.raw:
        signed = _read(tx.raw)
        outputs = [(output.address, output.units) for output in signed.outputs]
        inputs = [
            {
                "transaction_id": tx_id,
                "index": place,
                "previous_outpoint_hash": spent.outpoint.tx_id,
                "previous_outpoint_index": str(spent.outpoint.index),
                "previous_outpoint_address": tx.sender,
                "signature_script": spent.script.hex(),
                "sig_op_count": str(spent.sig_ops),
            }
            for place, spent in enumerate(signed.inputs)
        ]
    return {
        "subnetwork_id": "00" * 20,
        "transaction_id": tx_id,
        "hash": tx_id,
        "payload": tx.data.hex() if tx is not None and tx.data else None,
        "block_hash": [digest],
        "block_time": block.at_ms,
        "is_accepted": True,
        "accepting_block_hash": digest,
        "accepting_block_blue_score": block.number,
        "inputs": inputs,
        "outputs": [
            {
                "transaction_id": tx_id,
                "index": place,
                "amount": units,
                "script_public_key": _script_json(address)["scriptPublicKey"],
                "script_public_key_address": address,
                "script_public_key_type": "pubkey",
            }
            for place, (address, units) in enumerate(outputs)
        ],
    }


def _transactions_of(call: RestCall) -> Json | Response:
    """Return what an address sent or got, the newest first."""
    return _of_address(call, lambda address: _listed(call, address))


def _listed(call: RestCall, address: str) -> Json:
    catalog = call.hosted.world.scenario.catalog
    skipped, most = call.number("offset"), min(call.number("limit") or 50, _MOST_LISTED)
    blocks = [
        block
        for block in call.blocks.newest_first()
        if any(address in ends for _, *ends, _ in block.movements(catalog))
    ]
    return [_transaction_json(call, block) for block in blocks[skipped : skipped + most]]


def _dag(call: RestCall) -> Json:
    head = call.blocks.poll()
    digest = call.blocks.hash_of(head)[2:]
    block = call.blocks.numbered(head)
    return {
        "networkName": "kaspa-mainnet",
        "blockCount": str(head),
        "headerCount": str(head),
        "tipHashes": [digest],
        "difficulty": 1,
        "pastMedianTime": str(0 if block is None else block.at_ms),
        "virtualParentHashes": [digest],
        "pruningPointHash": call.blocks.hash_of(0)[2:],
        "virtualDaaScore": str(head),
        "sink": digest,
    }


def _score(call: RestCall) -> Json:
    return {"blueScore": call.blocks.poll()}


def _fees(_: RestCall) -> Json:
    bucket = {"feerate": 1, "estimatedSeconds": 1}
    return {"priorityBucket": bucket, "normalBuckets": [bucket], "lowBuckets": [bucket]}


METHODS: Mapping[tuple[str, ...], Callable[[RestCall], Json | Response]] = MappingProxyType(
    {
        ("addresses", "*", "balance"): _balance,
        ("addresses", "*", "utxos"): _utxos,
        ("addresses", "*", "full-transactions"): _transactions_of,
        ("addresses", "utxos"): _utxos_of_all,
        ("addresses", "balances"): _balances,
        ("transactions",): _submit,
        ("transactions", "*"): _transaction,
        ("info", "blockdag"): _dag,
        ("info", "network"): _dag,
        ("info", "virtual-chain-blue-score"): _score,
        ("info", "fee-estimate"): _fees,
    }
)
"""What a node of Kaspa answers, by the parts of the path; `*` stands for any."""

CHANGING = frozenset({"transactions"})
