"""Transactions of Solana in JSON: what was signed, and what the service did."""

import re
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from mockserver.jsontext import Json
from mockserver.signing import solana_transactions
from mockserver.signing.base58 import base58, from_base58
from mockserver.signing.solana_transactions import Instruction, SolanaTransaction
from mockserver.worlds.blocks import Block
from mockserver.worlds.node import past_balances
from mockserver.worlds.node.json_rpc_calls import BAD_PARAMS, RpcCall, RpcError
from mockserver.worlds.node.solana.accounts import ACCOUNT_BYTES, amount_json, rent_of
from mockserver.worlds.node.solana.programs import (
    FINAL,
    LAMPORTS,
    NAMES,
    PROGRAMS,
    SYSTEM,
    SYSTEM_TRANSFER,
    TOKEN,
    TRANSFER,
    TRANSFER_CHECKED,
    bytes_in,
    key_at,
    mint_at,
    raw_key,
    settings_at,
    token_account,
    with_context,
)
from mockserver.worlds.smart_contracts import base_coin
from mockserver.worlds.token_movements import vault_of

_MOST_LISTED = 1_000


def signature_of(block: Block) -> str:
    """Return the hash of a block's transaction as it was written."""
    if block.tx is not None:
        return block.tx.hash
    return "" if block.payout is None else block.payout.hash


def error_of(block: Block) -> Json:
    """Return why a transaction failed, in JSON; None where it did not."""
    if block.tx is None or not block.tx.reverted:
        return None
    code = re.search(r"Instruction (\d+): custom program error: 0x([0-9a-f]+)", block.tx.reason)
    if code is None:
        return {"InstructionError": [0, "InvalidAccountData"]}
    return {"InstructionError": [int(code[1]), {"Custom": int(code[2], 16)}]}


def _standing(call: RpcCall, block: Block) -> tuple[int | None, str]:
    """Return how many blocks came since, None once it is final, and the word for that."""
    since = call.blocks.head - block.number
    if since > FINAL:
        return None, "finalized"
    return since, "confirmed" if since else "processed"


def statuses(call: RpcCall) -> Json:
    asked = call.parameter(0)
    if not isinstance(asked, list) or len(asked) > 256:
        raise RpcError(BAD_PARAMS, "Invalid params: expected at most 256 signatures")
    call.blocks.poll()
    blocks = [_block_of(call, each) for each in asked]
    return with_context(call, [each and _status_json(call, each) for each in blocks])


def _block_of(call: RpcCall, signature: Json) -> Block | None:
    """Return the block of a transaction. Raises `RpcError` for what can be no signature."""
    block = call.blocks.of_transaction(signature) if isinstance(signature, str) else None
    if block is None:
        # What a test has announced may have a name of another form.
        bytes_in(signature, solana_transactions.SIGNATURE)
    return block


def _status_json(call: RpcCall, block: Block) -> Json:
    confirmations, word = _standing(call, block)
    err = error_of(block)
    return {
        "slot": block.number,
        "confirmations": confirmations,
        "err": err,
        "status": {"Ok": None} if err is None else {"Err": err},
        "confirmationStatus": word,
    }


def transaction(call: RpcCall) -> Json:
    block = _block_of(call, call.parameter(0))
    if block is None:
        return None
    return {
        **transaction_json(call, block, str(settings_at(call, 1).get("encoding", "json"))),
        "slot": block.number,
        "blockTime": block.at_ms // 1000,
    }


def transaction_json(call: RpcCall, block: Block, encoding: str = "json") -> dict[str, Json]:
    signed = _read(call, block)
    version = "legacy" if signed.version is None else signed.version
    return {
        "transaction": _encoded(call, signed, signature_of(block), encoding),
        "meta": _meta(call, block, signed),
        "version": version,
    }


def _read(call: RpcCall, block: Block) -> SolanaTransaction:
    tx = block.tx
    return (
        solana_transactions.decoded(tx.raw)
        if tx is not None and tx.raw
        else _of_the_service(call, block)
    )


def _of_the_service(call: RpcCall, block: Block) -> SolanaTransaction:
    """Return what a payout did, or a transaction that was announced: nobody here signed it."""
    catalog, tx, payout = call.hosted.world.scenario.catalog, block.tx, block.payout
    if payout is not None:
        placed = catalog.token_on(payout.chain, payout.token)
        payer, to, units = vault_of(call.chain), payout.recipient, payout.units
    else:
        assert tx is not None  # noqa: S101 - an empty block has no transaction to show
        payer, to, units = tx.sender, tx.to, tx.value
        placed = catalog.token_at(call.chain, tx.token) or base_coin(call.hosted, call.chain)
    owner, receiver = raw_key(payer), raw_key(to)
    if placed.contract.native:
        data = SYSTEM_TRANSFER.to_bytes(4, "little") + (units % 2**64).to_bytes(8, "little")
        moved = Instruction(SYSTEM, (owner, receiver), data)
    else:
        mint = raw_key(placed.contract.address)
        ends = token_account(owner, mint), mint, token_account(receiver, mint), owner
        packed = (units % 2**64).to_bytes(8, "little") + bytes([placed.decimals])
        moved = Instruction(TOKEN, ends, bytes([TRANSFER_CHECKED]) + packed)
    signature = bytes(solana_transactions.SIGNATURE)
    with suppress(ValueError):
        signature = from_base58(signature_of(block)).rjust(solana_transactions.SIGNATURE, b"\0")[
            :64
        ]
    return solana_transactions.unchecked(signature, owner, moved)


def _encoded(call: RpcCall, signed: SolanaTransaction, signature: str, encoding: str) -> Json:
    if encoding in ("base64", "base58"):
        raw = solana_transactions.joined(signed)
        return [b64encode(raw).decode() if encoding == "base64" else base58(raw), encoding]
    signatures = [signature, *map(base58, signed.signatures[1:])]
    keys = [base58(key) for key in signed.accounts]
    required, readonly_signed, readonly_unsigned = signed.header
    message: dict[str, Json] = {"recentBlockhash": base58(signed.blockhash)}
    if encoding == "jsonParsed":
        message["accountKeys"] = [
            {
                "pubkey": key,
                "signer": place < required,
                "writable": signed.writable(place),
                "source": "transaction",
            }
            for place, key in enumerate(keys)
        ]
        message["instructions"] = [_instruction_parsed(each) for each in signed.instructions]
    else:
        message["accountKeys"] = keys
        message["header"] = {
            "numRequiredSignatures": required,
            "numReadonlySignedAccounts": readonly_signed,
            "numReadonlyUnsignedAccounts": readonly_unsigned,
        }
        message["instructions"] = [
            {
                "programIdIndex": signed.accounts.index(each.program),
                "accounts": [signed.accounts.index(key) for key in each.accounts],
                "data": base58(each.data),
                "stackHeight": None,
            }
            for each in signed.instructions
        ]
        if signed.version is not None:
            message["addressTableLookups"] = []
    return {"signatures": signatures, "message": message}


def _instruction_parsed(instruction: Instruction) -> Json:
    """Return an instruction as explorers read it; one that is not known stays as it is."""
    program = {"programId": base58(instruction.program), "stackHeight": None}
    keys, data = [base58(key) for key in instruction.accounts], instruction.data
    name = NAMES.get(instruction.program, "")
    parsed: Json = None
    if name == "spl-memo":
        parsed = data.decode("utf-8", "replace")
    elif name == "system" and len(data) == 12:
        lamports = int.from_bytes(data[4:], "little")
        info = {"source": keys[0], "destination": keys[1], "lamports": lamports}
        parsed = {"type": "transfer", "info": info}
    elif name == "spl-token" and len(data) >= 9:
        units = str(int.from_bytes(data[1:9], "little"))
        names = ["source", "mint", "destination", "authority"]
        if data[0] == TRANSFER:
            names.remove("mint")
        info = dict(zip(names, keys, strict=False))
        kind = "transfer" if data[0] == TRANSFER else "transferChecked"
        parsed = {"type": kind, "info": {**info, "amount": units}}
    if parsed is None:
        return {**program, "accounts": keys, "data": base58(data)}
    return {**program, "program": name, "parsed": parsed}


def _meta(call: RpcCall, block: Block, signed: SolanaTransaction) -> Json:
    err = error_of(block)
    coin = base_coin(call.hosted, call.chain)
    before, after = block.number - 1, block.number
    fee = LAMPORTS if block.tx is None or not block.tx.raw else block.tx.gas_cost
    meta: dict[str, Json] = {
        "err": err,
        "status": {"Ok": None} if err is None else {"Err": err},
        "fee": fee,
        "innerInstructions": [],
        "logMessages": [],
        "rewards": [],
        "loadedAddresses": {"readonly": [], "writable": []},
        "computeUnitsConsumed": 450,
        "preBalances": [],
        "postBalances": [],
        "preTokenBalances": [],
        "postTokenBalances": [],
    }
    # What was owned long ago is not kept; clients find no balances then.
    with suppress(RpcError):
        for name, number in (("pre", before), ("post", after)):
            held = list(_token_balances(call, block, signed, number))
            kept = dict.fromkeys([each["accountIndex"] for each in held], rent_of(ACCOUNT_BYTES))
            kept |= {place: 1 for place, key in enumerate(signed.accounts) if key in PROGRAMS}
            meta[f"{name}TokenBalances"] = held
            meta[f"{name}Balances"] = [
                kept[place]
                if place in kept
                else past_balances.owned(call, coin, base58(key), number)
                for place, key in enumerate(signed.accounts)
            ]
    return meta


def _token_balances(
    call: RpcCall, block: Block, signed: SolanaTransaction, number: int
) -> Iterator[Json]:
    for token, *ends, _ in block.movements(call.hosted.world.scenario.catalog):
        placed = mint_at(call, raw_key(token))
        for owner in ends if placed is not None else ():
            assert placed is not None  # noqa: S101 - for the type checker
            account = token_account(raw_key(str(owner)), raw_key(token))
            if account in signed.accounts:
                units = past_balances.owned(call, placed, str(owner), number)
                yield {
                    "accountIndex": signed.accounts.index(account),
                    "mint": token,
                    "owner": owner,
                    "programId": base58(TOKEN),
                    "uiTokenAmount": amount_json(units, placed),
                }


def signatures_for(call: RpcCall) -> Json:
    """Return what touched an address, or an account of its tokens, the newest first."""
    key, settings = key_at(call, 0), settings_at(call, 1)
    most = settings.get("limit", _MOST_LISTED)
    listed: list[Json] = []
    for block in islice(call.blocks.newest_first(), _MOST_LISTED):
        if not block.tx_hash or len(listed) == most:
            continue
        tx, signed = block.tx, _read(call, block)
        if key in signed.accounts:
            memo = tx.data.decode("utf-8", "replace") if tx is not None and tx.data else None
            listed.append(
                {
                    "signature": signature_of(block),
                    "slot": block.number,
                    "err": error_of(block),
                    "memo": memo and f"[{len(memo)}] {memo}",
                    "blockTime": block.at_ms // 1000,
                    "confirmationStatus": _standing(call, block)[1],
                }
            )
    return listed
