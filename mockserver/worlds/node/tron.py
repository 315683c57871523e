"""A node of Tron, as TronWeb calls it over HTTP (java-tron's `/wallet/…`).

Signatures, expiry, the block a transaction refers to and what its sender owns are checked; calls of
contracts burn energy (A-511). Blocks, money and orders are those of every other chain here.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType

from mockserver.engine import abi
from mockserver.engine.catalog import NATIVE
from mockserver.engine.refusal import Refusal
from mockserver.engine.submission import OrderRequest
from mockserver.http_messages import Response
from mockserver.jsontext import Json
from mockserver.operations.deposit_transactions import ContractCall, Reverted
from mockserver.signing import keccak, tron_transactions
from mockserver.signing.base58 import base58_checked, from_base58_checked
from mockserver.signing.evm_transactions import NotATransaction
from mockserver.signing.tron_transactions import TronTransaction
from mockserver.worlds.announced_transactions import GAS_OF_A_CHECK, SentTransaction, take
from mockserver.worlds.blocks import Block
from mockserver.worlds.node.contract_logs import hex_address, logs_of
from mockserver.worlds.node.eth_call import token_output
from mockserver.worlds.node.rest_calls import RestCall, refusal
from mockserver.worlds.smart_contracts import (
    coins_of,
    execution_gas,
    has_code,
    holding,
    order_carried,
    token_at,
)
from mockserver.worlds.token_movements import vault_of

ENERGY_SUN = 420
"""What a unit of energy costs in sun (A-511)."""

# What a node adds to the time of its newest block, in ms: java-tron's default.
_LIFE_MS = 60_000
_MOST_LIFE_MS = 24 * 3_600_000
_OUT_OF_ENERGY = "out of energy"
_NO_CONTRACT = "Smart contract is not exist."
_ERROR = bytes.fromhex("08c379a0")

TronMethod = Callable[[RestCall], Json]


class TronRefusal(Exception):
    """What a node says of a transaction that it does not take: its code, and words."""

    def __init__(self, code: str, words: str) -> None:
        super().__init__(words)
        self.code = code


def answer(call: RestCall) -> Json | Response:
    """Return what a node of Tron answers at `/wallet/…` and `/walletsolidity/…`."""
    area, name = (*call.path, "", "")[:2]
    method = METHODS.get(name) if area in ("wallet", "walletsolidity") else None
    if method is None or len(call.path) != 2:
        return refusal(404, {"Error": f"a node of Tron has nothing at '/{'/'.join(call.path)}'"})
    try:
        return method(call)
    except TronRefusal as error:
        return {"Error": f"class org.tron.core.exception.ContractValidateException : {error}"}


def _address(call: RestCall, name: str) -> str:
    """Return an address in base 58, given so or in hex. Raises `TronRefusal`."""
    text = call.text(name)
    with suppress(ValueError):
        raw = bytes.fromhex(text) if text[:2] == "41" else from_base58_checked(text)
        if len(raw) == 21 and raw[:1] == tron_transactions.PREFIX:
            return base58_checked(raw)
    raise TronRefusal("OTHER_ERROR", f"Invalid {name}: {text[:60]!r}")


def _shown(call: RestCall, address: str) -> str:
    """Return an address as it was asked for: in base 58 where `visible`, else in hex."""
    return address if call.flag("visible") else f"41{hex_address(address)[2:]}"


# --- blocks ---


def _block_id(call: RestCall, number: int) -> str:
    return f"{number:016x}{call.blocks.hash_of(number)[18:]}"


def _block(call: RestCall, number: int, *, detail: bool = True) -> Json:
    block = call.blocks.numbered(number)
    if block is None:
        return {}
    raw = {
        "number": number,
        "txTrieRoot": f"{0:064x}",
        "witness_address": _shown(call, vault_of(call.chain)),
        "parentHash": _block_id(call, number - 1) if number else f"{0:064x}",
        "version": 31,
        "timestamp": block.at_ms,
    }
    shown: dict[str, Json] = {
        "blockID": _block_id(call, number),
        "block_header": {"raw_data": raw, "witness_signature": ""},
    }
    if detail and block.tx_hash:
        shown["transactions"] = [_transaction_json(call, block)]
    return shown


def _now_block(call: RestCall) -> Json:
    return _block(call, call.blocks.poll())


def _any_block(call: RestCall) -> Json:
    named, detail = call.members.get("id_or_num"), call.flag("detail")
    if named is None:
        return _block(call, call.blocks.poll(), detail=detail)
    text = str(named)
    return _block(call, _number_of(call, text), detail=detail)


def _number_of(call: RestCall, text: str) -> int:
    """Return the number of a block by number or id; -1 for none."""
    if len(text) == 64:
        with suppress(ValueError):
            number = int(text[:16], 16)
            if number <= call.blocks.head and _block_id(call, number) == text.lower():
                return number
        return -1
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else -1


def _block_by_number(call: RestCall) -> Json:
    return _block(call, call.number("num"))


def _block_by_id(call: RestCall) -> Json:
    return _block(call, _number_of(call, call.text("value")))


# --- accounts ---


def _account(call: RestCall) -> Json:
    address = _address(call, "address")
    balance = coins_of(call.hosted, call.chain, address)
    if not balance and not has_code(call.hosted, call.chain, address):
        return {}
    shown: dict[str, Json] = {"address": _shown(call, address), "balance": balance}
    if has_code(call.hosted, call.chain, address):
        shown["type"] = "Contract"
    return shown


def _resource(call: RestCall) -> Json:
    _address(call, "address")
    return {"freeNetLimit": 600, "TotalNetLimit": 43_200_000_000, "TotalEnergyLimit": 180 * 10**9}


def _contract(call: RestCall) -> Json:
    address = _address(call, "value")
    if not has_code(call.hosted, call.chain, address):
        return {}
    placed = token_at(call.hosted, call.chain, address)
    return {
        "contract_address": _shown(call, address),
        "origin_address": _shown(call, vault_of(call.chain)),
        "name": placed.token.name if placed else "MinterProxyV2",
        "bytecode": "60806040",
        "abi": {},
    }


def _parameters(_: RestCall) -> Json:
    fees = {"getEnergyFee": ENERGY_SUN, "getTransactionFee": 1_000, "getMaxFeeLimit": 15 * 10**9}
    return {"chainParameter": [{"key": key, "value": value} for key, value in fees.items()]}


# --- making transactions ---


def _made(call: RestCall, kind: str, to: str, amount: int, data: bytes = b"") -> TronTransaction:
    head = call.blocks.head
    block, block_id = call.blocks.numbered(head), _block_id(call, head)
    now_ms = block.at_ms if block is not None else 0
    return TronTransaction(
        kind=kind,
        owner=from_base58_checked(_address(call, "owner_address")),
        to=from_base58_checked(to),
        amount=amount,
        data=data,
        memo=_from_hex(call.text("extra_data")),
        ref_bytes=bytes.fromhex(block_id[12:16]),
        ref_hash=bytes.fromhex(block_id[16:32]),
        expiration=now_ms + _LIFE_MS,
        timestamp=now_ms,
        fee_limit=call.number("fee_limit"),
    )


def _from_hex(text: str) -> bytes:
    """Return the bytes that hex stands for, none for any other text."""
    with suppress(ValueError):
        return bytes.fromhex(text.removeprefix("0x"))
    return b""


def _create(call: RestCall) -> Json:
    to, amount = _address(call, "to_address"), call.number("amount")
    made = _made(call, tron_transactions.TRANSFER, to, amount)
    _check_transfer(call, _as_call(call, made, ""))
    return _unsigned(call, made)


def _trigger(call: RestCall) -> Json:
    contract = _address(call, "contract_address")
    if not has_code(call.hosted, call.chain, contract):
        words = "No contract or not a valid smart contract"
        return {"result": {"code": "CONTRACT_VALIDATE_ERROR", "message": words.encode().hex()}}
    made = _made(
        call, tron_transactions.TRIGGER, contract, call.number("call_value"), _call_data(call)
    )
    return {"result": {"result": True}, "transaction": _unsigned(call, made)}


def _call_data(call: RestCall) -> bytes:
    """Return the data of a call that a body describes: as such, or a signature and arguments."""
    if call.text("data"):
        return _from_hex(call.text("data"))
    signature = call.text("function_selector")
    return keccak.keccak256(signature.encode())[:4] + _from_hex(call.text("parameter"))


def _constant(call: RestCall) -> Json:
    """Try a call without sending it: what it returns, or the reason with which it reverts."""
    tried, output, reason = _tried(call)
    made = _made(call, tron_transactions.TRIGGER, tried.to, tried.value, tried.data)
    ret: Json = [{}] if reason is None else [{"ret": "FAILED"}]
    result: dict[str, Json] = {"result": True}
    if reason is not None:
        result["message"] = b"REVERT opcode executed".hex()
    return {
        "result": result,
        "energy_used": execution_gas(call.hosted, call.chain, tried) or 1_000,
        "constant_result": [output.hex()],
        "transaction": {**_unsigned(call, made), "ret": ret},
    }


def _estimate(call: RestCall) -> Json:
    tried, _, reason = _tried(call)
    if reason is not None:
        words = f"REVERT opcode executed: {reason}" if reason else "REVERT opcode executed"
        return {"result": {"code": "CONTRACT_EXE_ERROR", "message": words.encode().hex()}}
    energy = execution_gas(call.hosted, call.chain, tried) or 1_000
    return {"result": {"result": True}, "energy_required": energy}


def _tried(call: RestCall) -> tuple[ContractCall, bytes, str | None]:
    """Return a described call, what it returns, and the reason where it reverts, else None."""
    contract = _address(call, "contract_address")
    if not has_code(call.hosted, call.chain, contract):
        raise TronRefusal("CONTRACT_VALIDATE_ERROR", _NO_CONTRACT)
    sender, data = _address(call, "owner_address"), _call_data(call)
    value = call.number("call_value")
    tried = ContractCall(call.chain.nickname, "", sender, contract, value, data)
    hosted = call.hosted
    try:
        with suppress(Refusal):
            order_carried(hosted, call.chain, tried)
        placed = token_at(hosted, call.chain, contract)
        if placed is None:
            return tried, b"", None
        owned = token_output(hosted, placed, tried, lambda owner: holding(hosted, placed, owner))
        return tried, owned, None
    except Reverted as error:
        return tried, _reason(error.reason), error.reason


def _reason(reason: str) -> bytes:
    return _ERROR + abi.packed(("bytes",), (reason.encode(),)) if reason else b""


# --- sending ---


def _broadcast(call: RestCall) -> Json:
    named = call.members.get("signature")
    texts = [each for each in named if isinstance(each, str)] if isinstance(named, list) else []
    return _sent(call, _from_hex(call.text("raw_data_hex")), [_from_hex(each) for each in texts])


def _broadcast_hex(call: RestCall) -> Json:
    try:
        raw, signatures = tron_transactions.parts_of(_from_hex(call.text("transaction")))
    except NotATransaction as error:
        return _error("", TronRefusal("OTHER_ERROR", f"Transaction cannot be read: {error}"))
    return _sent(call, raw, signatures)


def _sent(call: RestCall, raw: bytes, signatures: list[bytes]) -> Json:
    tx_id = tron_transactions.id_of(raw)
    try:
        try:
            signed = tron_transactions.decoded(raw)
        except NotATransaction as error:
            raise TronRefusal("OTHER_ERROR", f"Transaction cannot be read: {error}") from None
        _check_envelope(call, signed, tx_id)
        _check_signatures(raw, signed, signatures)
        _carry_out(
            call, signed, _as_call(call, signed, tx_id), tron_transactions.joined(raw, signatures)
        )
    except TronRefusal as error:
        call.hosted.node.refuse(call.chain.nickname, tx_id, error)
        return _error(tx_id, error)
    return {"result": True, "txid": tx_id}


def _error(tx_id: str, error: TronRefusal) -> Json:
    return {"code": error.code, "txid": tx_id, "message": str(error).encode().hex()}


def _check_envelope(call: RestCall, signed: TronTransaction, tx_id: str) -> None:
    """Check what java-tron checks before it reads a contract: twice, too late, another chain."""
    known = call.hosted.transactions.get(call.chain.nickname, tx_id)
    # One that was announced without its bytes may still be sent: it is the same transaction.
    if known is not None and known.raw:
        raise TronRefusal("DUP_TRANSACTION_ERROR", "Dup transaction.")
    now_ms, head = call.hosted.world.now(), call.blocks.head
    if not now_ms < signed.expiration <= now_ms + _MOST_LIFE_MS:
        raise TronRefusal(
            "TRANSACTION_EXPIRATION_ERROR",
            f"Transaction expiration, transaction expiration time is {signed.expiration}, "
            f"but headBlockTime is {now_ms}",
        )
    # A transaction names the last two bytes of a number: the newest block that has them is meant.
    low = int.from_bytes(signed.ref_bytes)
    number = head - (head - low) % 65_536
    if number < 0 or bytes.fromhex(_block_id(call, number)[16:32]) != signed.ref_hash:
        raise TronRefusal(
            "TAPOS_ERROR",
            f"Tapos failed, different block hash, {signed.ref_bytes.hex()} , "
            f"{signed.ref_hash.hex()} , recent block {max(0, number)}, head block {head}",
        )


def _check_signatures(raw: bytes, signed: TronTransaction, signatures: list[bytes]) -> None:
    if not signatures:
        # In java-tron's words and codes, as clients compare them.
        raise TronRefusal("SIGERROR", "Validate signature error: miss sig or contract")
    signers = [tron_transactions.signer_of(raw, signature) for signature in signatures]
    if None in signers:
        raise TronRefusal("SIGERROR", "Validate signature error: Header is out of range")
    if signers != [signed.owner]:
        by = ", ".join(base58_checked(signer) for signer in signers if signer)
        raise TronRefusal(
            "SIGERROR",
            f"Validate signature error: {by} is signed but is not contained of permission.",
        )


def _as_call(call: RestCall, signed: TronTransaction, tx_id: str) -> ContractCall:
    transfer = signed.kind == tron_transactions.TRANSFER
    made = ContractCall(
        call.chain.nickname,
        tx_id,
        base58_checked(signed.owner),
        base58_checked(signed.to),
        signed.amount,
        signed.memo if transfer else signed.data,
    )
    return replace(made, token=NATIVE) if transfer else made


def _check_transfer(call: RestCall, transfer: ContractCall) -> None:
    """Check a transfer of TRX as java-tron's `TransferActuator` does."""
    before = "Contract validate error : Validate TransferContract error,"
    if transfer.sender == transfer.to:
        raise TronRefusal(
            "CONTRACT_VALIDATE_ERROR", "Contract validate error : Cannot transfer TRX to yourself."
        )
    if not 0 < transfer.value < 2**63:
        raise TronRefusal(
            "CONTRACT_VALIDATE_ERROR", "Contract validate error : Amount must be greater than 0."
        )
    if has_code(call.hosted, call.chain, transfer.to):
        raise TronRefusal(
            "CONTRACT_VALIDATE_ERROR",
            "Contract validate error : Cannot transfer TRX to a smartContract.",
        )
    owned = coins_of(call.hosted, call.chain, transfer.sender)
    if owned < transfer.value and not call.hosted.node.lenient:
        raise TronRefusal("CONTRACT_VALIDATE_ERROR", f"{before} balance is not sufficient.")


def _carry_out(call: RestCall, signed: TronTransaction, made: ContractCall, raw: bytes) -> None:
    hosted, chain = call.hosted, call.chain
    strict = not hosted.node.lenient
    sent = SentTransaction(None, raw, signed.fee_limit, ENERGY_SUN if strict else 0, strict)
    if signed.kind == tron_transactions.TRANSFER:
        _check_transfer(call, made)
        # A transfer of TRX has free bandwidth.
        take(hosted, made, lambda: None, replace(sent, price=0))
        return
    if not has_code(hosted, chain, made.to):
        raise TronRefusal("CONTRACT_VALIDATE_ERROR", f"Contract validate error : {_NO_CONTRACT}")
    owned = coins_of(hosted, chain, made.sender)
    if strict and owned < made.value:
        raise TronRefusal(
            "CONTRACT_VALIDATE_ERROR",
            "Contract validate error : Validate InternalTransfer error, balance is not sufficient.",
        )
    needed = execution_gas(hosted, chain, made)
    payable = min(signed.fee_limit, max(0, owned - made.value)) // ENERGY_SUN
    used = min(needed, payable) if strict else 0

    def read() -> OrderRequest | None:
        nonlocal used
        if strict and needed > payable:
            raise Reverted(f"{_OUT_OF_ENERGY}: it needs {needed}, it can pay for {payable}", "")
        try:
            request = order_carried(hosted, chain, made)
        except Reverted:
            used = min(used, GAS_OF_A_CHECK)
            raise
        return None if request is None else replace(request, covered=strict)

    take(hosted, made, read, sent, lambda: used)


# --- reading transactions ---


def _unsigned(call: RestCall, made: TronTransaction) -> dict[str, Json]:
    """Return a transaction as nodes show it before it is signed."""
    value: dict[str, Json] = {"owner_address": _shown(call, base58_checked(made.owner))}
    to = _shown(call, base58_checked(made.to))
    if made.kind == tron_transactions.TRANSFER:
        value |= {"to_address": to, "amount": made.amount}
    else:
        value |= {"data": made.data.hex(), "contract_address": to}
        if made.amount:
            value["call_value"] = made.amount
    parameter = {"value": value, "type_url": made.type_url}
    raw_data: dict[str, Json] = {
        "contract": [{"parameter": parameter, "type": made.kind}],
        "ref_block_bytes": made.ref_bytes.hex(),
        "ref_block_hash": made.ref_hash.hex(),
        "expiration": made.expiration,
        "timestamp": made.timestamp,
    }
    if made.memo:
        raw_data["data"] = made.memo.hex()
    if made.fee_limit:
        raw_data["fee_limit"] = made.fee_limit
    return {
        "visible": call.flag("visible"),
        "txID": tron_transactions.id_of(made.raw),
        "raw_data": raw_data,
        "raw_data_hex": made.raw.hex(),
    }


def _asked(call: RestCall) -> Block | None:
    return call.blocks.of_transaction(call.text("value").removeprefix("0x"))


def _transaction(call: RestCall) -> Json:
    block = _asked(call)
    return {} if block is None else _transaction_json(call, block)


def _transaction_json(call: RestCall, block: Block) -> dict[str, Json]:
    tx = block.tx
    failed = tx is not None and tx.reverted
    ret: Json = [{"contractRet": _outcome(block) if failed else "SUCCESS"}]
    if tx is not None and tx.raw:
        raw, signatures = tron_transactions.parts_of(tx.raw)
        shown = _unsigned(call, tron_transactions.decoded(raw))
        # What was signed is shown as it was, whoever wrote it.
        sent = {"txID": tx.hash, "raw_data_hex": raw.hex()}
        return {**shown, **sent, "signature": [each.hex() for each in signatures], "ret": ret}
    made = _of_the_service(call, block)
    return {**_unsigned(call, made), "txID": block.tx_hash, "signature": [], "ret": ret}


def _of_the_service(call: RestCall, block: Block) -> TronTransaction:
    """Return what a payout did, or a transaction that was announced in its parts: unsigned."""
    kind, data, value = tron_transactions.TRIGGER, b"", 0
    tx, payout = block.tx, block.payout
    if payout is not None:
        contract = call.hosted.world.scenario.catalog.token_on(payout.chain, payout.token).contract
        sender, to = vault_of(call.chain), contract.address
        if contract.native:
            kind, to, value = tron_transactions.TRANSFER, payout.recipient, payout.units
        else:
            data = abi.encoded(abi.TRANSFER, hex_address(payout.recipient), payout.units)
    else:
        assert tx is not None  # noqa: S101 - an empty block has no transaction to show
        sender, to, value, data = tx.sender, tx.to, tx.value, tx.data
        if tx.token:
            kind = tron_transactions.TRANSFER
    owner, receiver = (bytes.fromhex(f"41{hex_address(end)[2:]:0>40}"[:42]) for end in (sender, to))
    memo = data if kind == tron_transactions.TRANSFER else b""
    return TronTransaction(
        kind=kind,
        owner=owner,
        to=receiver,
        amount=value,
        data=data,
        memo=memo,
        ref_bytes=b"",
        ref_hash=b"",
        expiration=block.at_ms + _LIFE_MS,
        timestamp=block.at_ms,
        fee_limit=0,
    )


def _outcome(block: Block) -> str:
    tx = block.tx
    if tx is None or not tx.reverted:
        return "SUCCESS"
    return "OUT_OF_ENERGY" if tx.reason.startswith(_OUT_OF_ENERGY) else "REVERT"


def _info(call: RestCall) -> Json:
    """Return the receipt of a transaction: its fee, its result and what it logged."""
    block = _asked(call)
    if block is None:
        return {}
    tx, outcome = block.tx, _outcome(block)
    fee = 0 if tx is None else tx.gas_cost
    is_call = tx is None or not tx.token
    shown: dict[str, Json] = {
        "id": block.tx_hash,
        "fee": fee,
        "blockNumber": block.number,
        "blockTimeStamp": block.at_ms,
        "contractResult": [""],
        "receipt": {"net_usage": 268},
    }
    if is_call and tx is not None:
        shown["contract_address"] = f"41{hex_address(tx.to)[2:]}"
        shown["receipt"] |= {
            "energy_fee": fee,
            "energy_usage_total": tx.gas_used,
            "result": outcome,
        }
    if outcome != "SUCCESS" and tx is not None:
        reason = tx.reason.partition(":")
        # Tokens of a chain revert with the words of OpenZeppelin; a receipt has them without our
        # details.
        words = reason[2].strip() if reason[0] == "ERC20" else ""
        shown["result"] = "FAILED"
        shown["resMessage"] = b"REVERT opcode executed".hex()
        shown["contractResult"] = [
            _reason(f"ERC20: {words.partition(':')[0]}" if words else "").hex()
        ]
    logs = [
        {
            "address": hex_address(log.address)[2:],
            "topics": [topic[2:] for topic in log.topics],
            "data": log.data.hex(),
        }
        for log in logs_of(call.hosted, call.chain, block)
    ]
    return {**shown, "log": logs} if logs else shown


def _infos_of_block(call: RestCall) -> Json:
    block = call.blocks.numbered(call.number("num"))
    if block is None or not block.tx_hash:
        return []
    return [_info(replace(call, members={"value": block.tx_hash}))]


METHODS: Mapping[str, TronMethod] = MappingProxyType(
    {
        "getnowblock": _now_block,
        "getblock": _any_block,
        "getblockbynum": _block_by_number,
        "getblockbyid": _block_by_id,
        "getaccount": _account,
        "getaccountresource": _resource,
        "getcontract": _contract,
        "getchainparameters": _parameters,
        "createtransaction": _create,
        "triggersmartcontract": _trigger,
        "triggerconstantcontract": _constant,
        "estimateenergy": _estimate,
        "broadcasttransaction": _broadcast,
        "broadcasthex": _broadcast_hex,
        "gettransactionbyid": _transaction,
        "gettransactioninfobyid": _info,
        "gettransactioninfobyblocknum": _infos_of_block,
    }
)
"""What a node of Tron answers, by the last part of the path."""

CHANGING = frozenset({"broadcasttransaction", "broadcasthex"})
