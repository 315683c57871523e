"""A node of Solana, asked by JSON-RPC as web3.js does.

Written from the chain's documentation; `libraries/with_solana.mjs` does the same with web3.js and
spl-token.
"""

import base64
import hashlib

import pytest
from Crypto.Signature import eddsa

from tests.node.mock import MockChain
from tests.node.rpc import call as post
from tests.node.rpc import fetch, invoke
from tests.node.submitting import paid_otherwise, submit
from tests.node.test_tron import ALPHABET, RECIPIENT, USDT_BNB

VAULT = "8NBxBnNZydvMbZ9AoTkEnmMnCM2A9FNHr7pkLktpni2R"
USDT = "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB"
TOKENS = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
ASSOCIATED = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"
MEMO = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"
SYSTEM = "1" * 32
#: The account of USDT that wallets derive for the vault (spl-token's own derivation).
VAULT_USDT = "DHcenGEH6JuLDEpPtRte5kDoVm33QBCew1t2oLtL42TN"
SOL, FEE = 10**9, 5_000
ORDER = f"chainge:BNB:{USDT_BNB}:{RECIPIENT}:0:1_24000000000000000000;3_2;4_1;5_BNB"


def decoded(text):
    number = 0
    for char in text:
        number = 58 * number + ALPHABET.index(char)
    body = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return bytes(len(text) - len(text.lstrip("1"))) + body


def encoded(raw):
    number, text = int.from_bytes(raw, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = ALPHABET[digit] + text
    return "1" * (len(raw) - len(raw.lstrip(b"\0"))) + text


def derived(owner, mint=USDT):
    """Return the account of a token of an owner, as wallets derive it."""
    for bump in range(255, -1, -1):
        seeds = decoded(owner) + decoded(TOKENS) + decoded(mint) + bytes([bump])
        raw = hashlib.sha256(seeds + decoded(ASSOCIATED) + b"ProgramDerivedAddress").digest()
        try:
            eddsa.import_public_key(raw)
        except ValueError:
            return encoded(raw)
    raise AssertionError(owner)


def coins(payer, to, lamports):
    return SYSTEM, (payer, to), b"\2\0\0\0" + lamports.to_bytes(8, "little")


def tokens(payer, source, destination, units, decimals=6):
    data = bytes([12]) + units.to_bytes(8, "little") + bytes([decimals])
    return TOKENS, (source, USDT, destination, payer), data


def account_made(payer, owner):
    keys = payer, derived(owner), owner, USDT, SYSTEM, TOKENS
    return ASSOCIATED, keys, b"\1"


def memo(text):
    return MEMO, (), text.encode()


class Wallet:
    def __init__(self, control, seed):
        self.control, self.url = control, f"{control}/chains/SOL"
        self.key = eddsa.import_private_key(bytes([seed]) * 32)
        self.address = encoded(self.key.public_key().export_key(format="raw"))
        self.account = derived(self.address)

    def ask(self, method, *params):
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)}
        return post(self.url, body)

    def rpc(self, method, *params):
        answer = self.ask(method, *params)
        assert "result" in answer, answer
        return answer["result"]

    def value(self, method, *params):
        return self.rpc(method, *params)["value"]

    def signed(self, *instructions, blockhash=None, key=None):
        """Return a legacy transaction of which the wallet is the only signer, in base 64."""
        blockhash = blockhash or self.value("getLatestBlockhash")["blockhash"]
        named = [each for program, keys, _ in instructions for each in (*keys, program)]
        accounts = list(dict.fromkeys([self.address, *named]))
        message = bytes([1, 0, 0, len(accounts)]) + b"".join(map(decoded, accounts))
        message += decoded(blockhash) + bytes([len(instructions)])
        for program, keys, data in instructions:
            message += bytes([accounts.index(program), len(keys)])
            message += bytes(map(accounts.index, keys)) + _count(len(data)) + data
        signature = eddsa.new(key or self.key, "rfc8032").sign(message)
        return base64.b64encode(b"\1" + signature + message).decode()

    def send(self, *instructions, raw=None, **settings):
        raw = raw or self.signed(*instructions)
        return self.ask("sendTransaction", raw, {"encoding": "base64", **settings})

    def lamports(self, address=None):
        return self.value("getBalance", address or self.address)

    def units(self, account=None):
        return int(self.value("getTokenAccountBalance", account or self.account)["amount"])


def _count(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128, number >> 7])


@pytest.fixture
def wallet(server):
    return Wallet(MockChain(server).control, 7)


def test_the_vaults_account_is_where_wallets_derive_it():
    assert derived(VAULT) == VAULT_USDT


def test_a_transfer_with_a_memo_makes_an_order(wallet):
    known = [account_made(wallet.address, wallet.address)]
    assert "result" in wallet.send(*known)
    before, vault, lamports = wallet.units(), wallet.units(VAULT_USDT), wallet.lamports()
    paid = tokens(wallet.address, wallet.account, VAULT_USDT, 25_000_000)
    sent = wallet.send(paid, memo(ORDER))["result"]
    [order] = fetch(f"{wallet.control}/orders")["orders"]
    assert order["certHash"] == sent
    assert wallet.units() == before - 25_000_000
    assert wallet.units(VAULT_USDT) == vault + 25_000_000
    assert wallet.lamports() == lamports - FEE


def test_what_was_signed_comes_back_with_what_it_moved(wallet):
    before = wallet.lamports()
    sent = wallet.send(coins(wallet.address, VAULT, SOL))["result"]
    shown = wallet.rpc("getTransaction", sent, {"encoding": "json"})
    assert shown["transaction"]["signatures"] == [sent]
    assert (shown["meta"]["err"], shown["meta"]["fee"]) == (None, FEE)
    assert shown["meta"]["preBalances"][0] == before
    assert shown["meta"]["postBalances"][0] == before - SOL - FEE == wallet.lamports()
    read = wallet.rpc("getTransaction", sent, {"encoding": "jsonParsed"})
    [moved] = read["transaction"]["message"]["instructions"]
    info = {"source": wallet.address, "destination": VAULT, "lamports": SOL}
    assert moved["parsed"] == {"type": "transfer", "info": info}


def test_confirmations_come_with_blocks(wallet):
    sent = wallet.send(coins(wallet.address, VAULT, 1))["result"]
    unknown = encoded(b"\7" * 64)
    first, nothing = wallet.value("getSignatureStatuses", [sent, unknown])
    assert (first["err"], first["status"], nothing) == (None, {"Ok": None}, None)
    post(f"{wallet.control}/chains/SOL/blocks", {"mine": 32})
    [last] = wallet.value("getSignatureStatuses", [sent])
    assert (last["confirmations"], last["confirmationStatus"]) == (None, "finalized")
    assert last["slot"] == first["slot"]


def test_a_payout_is_a_transaction_of_the_node(server):
    chain = MockChain(server)
    wallet = Wallet(chain.control, 8)
    text = f"chainge:SOL:{USDT}:{wallet.address}:0:1_24000000;3_2;4_1;5_SOL".encode()
    data = invoke("vaultOut(address,uint256,bool,bytes)", USDT_BNB, 25 * 10**18, False, text)
    call = {"chain": "BNB", "from": RECIPIENT, "to": chain.proxy, "data": data}
    assert post(f"{chain.control}/transactions", call)["order"]
    post(f"{chain.control}/clock", {"advance": "1h"})
    [order] = fetch(f"{chain.control}/orders")["orders"]
    shown = wallet.rpc("getTransaction", order["execHash"], {"encoding": "jsonParsed"})
    [moved] = shown["transaction"]["message"]["instructions"]
    assert moved["parsed"]["info"]["destination"] == wallet.account
    assert moved["parsed"]["info"]["amount"] == order["amountOut"]
    held = shown["meta"]["postTokenBalances"]
    mine = next(each for each in held if each["owner"] == wallet.address)
    assert int(mine["uiTokenAmount"]["amount"]) == wallet.units()
    listed = wallet.rpc("getSignaturesForAddress", wallet.account)
    assert [each["signature"] for each in listed] == [order["execHash"]]


def _no(answer):
    return answer["error"]["code"], answer["error"]["message"]


def test_another_key_signs_for_nobody(wallet):
    stranger = Wallet(wallet.control, 9)
    raw = wallet.signed(coins(wallet.address, VAULT, 1), key=stranger.key)
    assert _no(wallet.send(raw=raw)) == (-32003, "Transaction signature verification failure")


def test_money_of_somebody_who_has_not_signed_stays(wallet):
    stranger = Wallet(wallet.control, 9)
    code, words = _no(wallet.send(coins(stranger.address, VAULT, 1)))
    assert (code, "missing required signature" in words) == (-32002, True)
    assert (
        "custom program error: 0x4"
        in _no(
            wallet.send(
                account_made(wallet.address, stranger.address),
                tokens(wallet.address, stranger.account, VAULT_USDT, 1),
            )
        )[1]
    )


def test_a_transaction_is_taken_once(wallet):
    raw = wallet.signed(coins(wallet.address, VAULT, 1))
    assert "result" in wallet.send(raw=raw)
    assert _no(wallet.send(raw=raw)) == (
        -32002,
        "Transaction simulation failed: This transaction has already been processed",
    )


def test_a_blockhash_lasts_for_150_blocks(wallet):
    blockhash = wallet.value("getLatestBlockhash")["blockhash"]
    raw = wallet.signed(coins(wallet.address, VAULT, 1), blockhash=blockhash)
    assert wallet.value("isBlockhashValid", blockhash) is True
    post(f"{wallet.control}/chains/SOL/blocks", {"mine": 151})
    assert wallet.value("isBlockhashValid", blockhash) is False
    answer = wallet.send(raw=raw)
    assert _no(answer) == (-32002, "Transaction simulation failed: Blockhash not found")
    assert answer["error"]["data"]["err"] == "BlockhashNotFound"
    # Nobody tells who leaves out the preflight, and the order of such a deposit is one of nothing.
    dropped = wallet.send(raw=raw, skipPreflight=True)["result"]
    submit(wallet.control, "SOL", wallet.address, dropped, units=25_000_000)
    assert paid_otherwise(wallet.control, ["in no block of SOL: it was refused by its node"])


def test_more_than_there_is_fails_when_it_is_simulated(wallet):
    before = wallet.lamports()
    answer = wallet.send(coins(wallet.address, VAULT, before))
    assert "Instruction 0: custom program error: 0x1" in _no(answer)[1]
    assert answer["error"]["data"]["err"] == {"InstructionError": [0, {"Custom": 1}]}
    assert wallet.lamports() == before


def test_without_preflight_it_fails_in_a_block_and_costs_its_fee(wallet):
    before = wallet.lamports()
    sent = wallet.send(coins(wallet.address, VAULT, before), skipPreflight=True)["result"]
    [status] = wallet.value("getSignatureStatuses", [sent])
    assert status["err"] == {"InstructionError": [0, {"Custom": 1}]}
    assert wallet.lamports() == before - FEE


def test_decimals_that_are_not_the_mints_are_refused(wallet):
    paid = tokens(wallet.address, wallet.account, VAULT_USDT, 1, decimals=9)
    assert "custom program error: 0x12" in _no(wallet.send(paid))[1]


def test_an_account_that_nobody_made_gets_nothing(wallet):
    there = derived(Wallet(wallet.control, 10).address)
    paid = tokens(wallet.address, wallet.account, there, 1)
    assert "invalid account data" in _no(wallet.send(paid))[1]
    assert wallet.value("getAccountInfo", there) is None
    made = account_made(wallet.address, Wallet(wallet.control, 10).address)
    assert "result" in wallet.send(made, paid)
    assert wallet.value("getAccountInfo", there)["owner"] == TOKENS


def test_a_mint_and_an_account_have_their_bytes(wallet):
    mint = base64.b64decode(wallet.value("getAccountInfo", USDT)["data"][0])
    assert (len(mint), mint[44], mint[45]) == (82, 6, 1)
    held = base64.b64decode(wallet.value("getAccountInfo", VAULT_USDT)["data"][0])
    assert (len(held), held[:32], held[32:64]) == (165, decoded(USDT), decoded(VAULT))
    assert int.from_bytes(held[64:72], "little") == wallet.units(VAULT_USDT)


def test_what_no_node_here_does_is_told(wallet):
    assert _no(wallet.ask("getVoteAccounts")) == (-32601, "Method not found")
    two = coins(wallet.address, VAULT, 1), coins(wallet.address, VAULT, 2)
    assert "one transfer" in _no(wallet.send(*two))[1]
    assert "does not exist" in _no(wallet.send((VAULT, (), b"x")))[1]
    assert _no(wallet.ask("getBalance", "0x12")) == (-32602, "Invalid param: Invalid")
    assert _no(wallet.ask("getBalance", "abc")) == (-32602, "Invalid param: WrongSize")
    assert _no(wallet.ask("sendTransaction", "AAAA", {"encoding": "base64"}))[0] == -32602
    assert "Supported enc" in _no(wallet.ask("sendTransaction", "AAAA", {"encoding": "hex"}))[1]
    assert _no(wallet.ask("getMinimumBalanceForRentExemption", -1))[0] == -32602
    assert wallet.rpc("getTransaction", "1" * 64) is None
    assert wallet.value("getSignatureStatuses", ["1" * 64]) == [None]
    assert _no(wallet.ask("getSignatureStatuses", ["1" * 88])) == (
        -32602,
        "Invalid param: WrongSize",
    )


def test_a_fresh_key_is_poor_where_it_was_made_so(wallet):
    nothing = {"chain": "SOL", "address": wallet.address, "units": "0", "set": True}
    post(f"{wallet.control}/faucet", nothing)
    assert "no record of a prior credit" in _no(wallet.send(coins(wallet.address, VAULT, 1)))[1]
    given = wallet.rpc("requestAirdrop", wallet.address, SOL)
    assert wallet.lamports() == SOL
    assert wallet.value("getSignatureStatuses", [given])[0]["err"] is None


@pytest.mark.parametrize(
    ("to", "units", "says"),
    [
        (VAULT, 25_000_000, []),
        (VAULT, 24_000_000, ["pays 24 USDT"]),
        (USDT, 25_000_000, ["which is no address for deposits"]),
    ],
)
def test_the_audit_compares_a_payment_with_its_order(wallet, to, units, says):
    made = account_made(wallet.address, to)
    moved = tokens(wallet.address, wallet.account, derived(to), units)
    sent = wallet.send(made, moved)["result"]
    submit(wallet.control, "SOL", wallet.address, sent, units=25_000_000)
    assert paid_otherwise(wallet.control, says)
