"""What a node of Solana takes of signed transactions: one transfer each, with a memo (A-512)."""

from base64 import b64decode
from contextlib import suppress
from dataclasses import replace

from mockserver.engine.catalog import NATIVE, Placed
from mockserver.engine.submission import OrderRequest
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.operations.deposit_transactions import ContractCall, Reverted, order_of_transfer
from mockserver.signing import solana_transactions
from mockserver.signing.base58 import base58, from_base58
from mockserver.signing.evm_transactions import NotATransaction
from mockserver.signing.solana_transactions import SolanaTransaction
from mockserver.violations import excerpt
from mockserver.worlds.announced_transactions import SentTransaction, pour, take
from mockserver.worlds.node.json_rpc_calls import BAD_PARAMS, RpcCall, RpcError
from mockserver.worlds.node.solana.programs import (
    ASSOCIATED,
    BUDGET,
    LAMPORTS,
    MEMOS,
    SYSTEM,
    SYSTEM_TRANSFER,
    TOKEN,
    TRANSFER,
    TRANSFER_CHECKED,
    created_in,
    holder_of,
    is_usable,
    key_at,
    settings_at,
    with_context,
)
from mockserver.worlds.smart_contracts import base_coin, coins_of, holding

# Codes of what a node refuses: what it has tried, and a wrong signature.
_SIMULATED, _BAD_SIGNATURE = -32002, -32003


@dataclass(frozen=True, slots=True)
class SolanaTransfer:
    """What a transaction moves, as far as it is read: between owners, not accounts of tokens.

    `payer` owns what moves; `problem` says why it would fail, as the chain does, `err` in JSON.
    """

    payer: str
    to: str
    token: str
    units: int
    memo: bytes
    problem: str = ""
    err: Json = None


def _decoded(call: RpcCall, place: int, default: str) -> SolanaTransaction:
    text, encoding = call.parameter(place), settings_at(call, place + 1).get("encoding", default)
    if encoding not in ("base58", "base64"):
        text = f"unsupported encoding: {excerpt(encoding)}. Supported encodings: base58, base64"
        raise RpcError(BAD_PARAMS, text)
    raw = b""
    with suppress(ValueError):
        if isinstance(text, str):
            raw = b64decode(text, validate=True) if encoding == "base64" else from_base58(text)
    if not raw:
        raise RpcError(BAD_PARAMS, f"invalid {encoding} encoding: expected a transaction")
    try:
        return solana_transactions.decoded(raw)
    except NotATransaction as error:
        raise RpcError(
            BAD_PARAMS,
            "failed to deserialize solana_transaction::versioned::VersionedTransaction: "
            f"io error: {error}",
        ) from None


def _transfer_of(call: RpcCall, signed: SolanaTransaction) -> SolanaTransfer:
    """Return what a transaction moves. Raises `RpcError` for what no node here carries out."""
    payer, memo = base58(signed.signers[0]), b""
    moved: SolanaTransfer | None = None
    for place, instruction in enumerate(signed.instructions):
        program = instruction.program
        if program in MEMOS:
            memo = instruction.data
        elif program in (SYSTEM, TOKEN):
            if moved is not None:
                raise RpcError(BAD_PARAMS, "a node here carries out one transfer a transaction")
            moved = _moved_by(call, signed, place)
        elif program not in (ASSOCIATED, BUDGET):
            text = "Attempt to load a program that does not exist"
            return SolanaTransfer(payer, "", NATIVE, 0, memo, text, "ProgramAccountNotFound")
    if moved is None:
        return SolanaTransfer(payer, "", NATIVE, 0, memo)
    return replace(moved, memo=memo)


def _moved_by(call: RpcCall, signed: SolanaTransaction, place: int) -> SolanaTransfer:
    instruction = signed.instructions[place]
    keys, data = instruction.accounts, instruction.data
    coins = data[:4] == SYSTEM_TRANSFER.to_bytes(4, "little") and len(data) == 12
    if instruction.program == SYSTEM and coins and len(keys) > 1:
        units = int.from_bytes(data[4:], "little")
        made = SolanaTransfer(base58(keys[0]), base58(keys[1]), NATIVE, units, b"")
        return _checked(call, signed, place, made, keys[0], base_coin(call.hosted, call.chain))
    checked = data[:1] == bytes([TRANSFER_CHECKED])
    if instruction.program == TOKEN and (checked or data[:1] == bytes([TRANSFER])):
        ends = [keys[0], *keys[2:4]] if checked else list(keys[:3])
        if len(ends) == 3 and len(data) >= 9:
            return _token_moved(call, signed, place, (ends[0], ends[1], ends[2]))
    raise RpcError(BAD_PARAMS, "a node here carries out transfers of SOL and of tokens alone")


def _token_moved(
    call: RpcCall, signed: SolanaTransaction, place: int, ends: tuple[bytes, bytes, bytes]
) -> SolanaTransfer:
    """Return a transfer of a token between two of its accounts, which an owner signs."""
    instruction = signed.instructions[place]
    source, destination, authority = ends
    owner, named = base58(authority), list(created_in(signed))
    paying = holder_of(call, source, owner, *named)
    paid = holder_of(call, destination, *named)
    units = int.from_bytes(instruction.data[1:9], "little")
    if paying is None or paid is None or paying[1] != paid[1]:
        failed = {"InstructionError": [place, "InvalidAccountData"]}
        text = f"Error processing Instruction {place}: invalid account data for instruction"
        return SolanaTransfer(owner, "", NATIVE, 0, b"", text, failed)
    placed = paying[1]
    made = SolanaTransfer(paying[0], paid[0], placed.contract.address, units, b"")
    if paying[0] != owner:
        return _failed(made, place, 4)
    decimals = instruction.data[9:10] if instruction.data[0] == TRANSFER_CHECKED else b""
    if decimals and decimals[0] != placed.decimals:
        return _failed(made, place, 18)
    return _checked(call, signed, place, made, authority, placed)


def _checked(
    call: RpcCall,
    signed: SolanaTransaction,
    place: int,
    made: SolanaTransfer,
    authority: bytes,
    placed: Placed,
) -> SolanaTransfer:
    """Return a transfer with what is wrong with it: who has not signed it, or cannot pay it."""
    if authority not in signed.signers:
        text = f"Error processing Instruction {place}: missing required signature for instruction"
        err = {"InstructionError": [place, "MissingRequiredSignature"]}
        return replace(made, problem=text, err=err)
    # Where the coin itself moves, its fee has to be left over.
    fee = LAMPORTS * len(signed.signers) if placed.contract.native else 0
    if holding(call.hosted, placed, made.payer) - fee < made.units and not call.hosted.node.lenient:
        return _failed(made, place, 1)
    return made


def _failed(made: SolanaTransfer, place: int, code: int) -> SolanaTransfer:
    """Return a transfer that its program refuses with a code of its own."""
    text = f"Error processing Instruction {place}: custom program error: {code:#x}"
    return replace(made, problem=text, err={"InstructionError": [place, {"Custom": code}]})


class _Unnoticed(RpcError):
    """A refusal of which nobody is told where a transaction is sent without a preflight."""


def send(call: RpcCall) -> Json:
    signed = _decoded(call, 0, "base58")
    preflight = settings_at(call, 1).get("skipPreflight") is not True
    signature = base58(signed.signatures[0])
    try:
        _take(call, signed, signature, preflight=preflight)
    except RpcError as error:
        call.hosted.node.refuse(call.chain.nickname, signature, error)
        if preflight or not isinstance(error, _Unnoticed):
            raise
    return signature


def _take(call: RpcCall, signed: SolanaTransaction, signature: str, *, preflight: bool) -> None:
    if solana_transactions.unsigned_by(signed) is not None:
        raise RpcError(_BAD_SIGNATURE, "Transaction signature verification failure")
    known = call.hosted.transactions.get(call.chain.nickname, signature)
    if known is not None and known.raw:
        text = "This transaction has already been processed"
        raise _simulated(text, "AlreadyProcessed", _Unnoticed)
    if not is_usable(call, signed.blockhash):
        raise _simulated("Blockhash not found", "BlockhashNotFound", _Unnoticed)
    made = _transfer_of(call, signed)
    problem, err = _fee_problem(call, signed) or (made.problem, made.err)
    # Without a preflight, what fails in a program is sent all the same, and reverts on the chain.
    if problem and (preflight or not made.problem):
        raise _simulated(problem, err)
    _carry_out(call, signed, made)


def _simulated(problem: str, err: Json, kind: type[RpcError] = RpcError) -> RpcError:
    data = {"accounts": None, "err": err, "logs": [], "returnData": None, "unitsConsumed": 0}
    return kind(_SIMULATED, f"Transaction simulation failed: {problem}", data)


def _fee_problem(call: RpcCall, signed: SolanaTransaction) -> tuple[str, Json] | None:
    """Return why the fee cannot be paid, or None."""
    owner = base58(signed.signers[0])
    owned = coins_of(call.hosted, call.chain, owner)
    if owned >= LAMPORTS * len(signed.signers) or call.hosted.node.lenient:
        return None
    if not owned:
        text = "Attempt to debit an account but found no record of a prior credit."
        return text, "AccountNotFound"
    return "Insufficient funds for fee", "InsufficientFundsForFee"


def _carry_out(call: RpcCall, signed: SolanaTransaction, made: SolanaTransfer) -> None:
    hosted, strict = call.hosted, not call.hosted.node.lenient
    # Fee and money are booked as those of one sender.
    if made.units and made.payer != base58(signed.signers[0]):
        raise RpcError(
            BAD_PARAMS, "a node here takes the fee of who pays; let the payer sign first"
        )
    price = LAMPORTS if strict else 0
    sent = SentTransaction(
        None, solana_transactions.joined(signed), len(signed.signers), price, strict
    )
    transfer = ContractCall(
        call.chain.nickname,
        base58(signed.signatures[0]),
        made.payer,
        made.to,
        made.units,
        made.memo,
        made.token,
    )

    def read() -> OrderRequest | None:
        if made.problem:
            raise Reverted(made.problem)
        # The chain has checked that the payer owns it, so that the faucet lends nothing.
        request = order_of_transfer(hosted.world, transfer, made.token)
        return None if request is None else replace(request, covered=strict)

    take(hosted, transfer, read, sent, lambda: len(signed.signers) if strict else 0)


def simulate(call: RpcCall) -> Json:
    signed = _decoded(call, 0, "base58")
    problem, err = _fee_problem(call, signed) or ("", None)
    if not problem:
        made = _transfer_of(call, signed)
        problem, err = made.problem, made.err
    replaced = settings_at(call, 1).get("replaceRecentBlockhash") is True
    if not replaced and not is_usable(call, signed.blockhash):
        err = "BlockhashNotFound"
    value: Json = {
        "err": err,
        "logs": [],
        "accounts": None,
        "unitsConsumed": 450,
        "returnData": None,
    }
    return with_context(call, value)


def fee_for(call: RpcCall) -> Json:
    text = call.parameter(0)
    with suppress(ValueError, NotATransaction):
        message = solana_transactions.message_decoded(b64decode(str(text), validate=True))
        usable = is_usable(call, message.blockhash)
        return with_context(call, LAMPORTS * len(message.signers) if usable else None)
    raise RpcError(BAD_PARAMS, "invalid base64 encoding: expected a message")


def airdrop(call: RpcCall) -> Json:
    """Give an address lamports, as development clusters do."""
    owner, lamports = base58(key_at(call, 0)), call.parameter(1)
    if type(lamports) is not int or not 0 < lamports < 2**63:
        raise RpcError(BAD_PARAMS, "Invalid params: invalid type, expected u64")
    pour(call.hosted, base_coin(call.hosted, call.chain), owner, lamports)
    # An airdrop is the transaction that was added last.
    *_, poured = call.hosted.transactions.since(len(call.hosted.transactions) - 1)
    return poured.hash
