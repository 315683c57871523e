"""What the service knows: chains, tokens, prices, and the arithmetic of quotes."""

import hashlib
from decimal import ROUND_UP, Decimal, getcontext

from tests.blind.service_six.flaws import Data

getcontext().prec = 200  # amounts of 77 digits times a price stay exact

NATIVE = "0x" + "ee" * 20
MINTER = "0x456325f2ac7067234dd71e01bebe032b0255e039"
ROUTER = "0x1111111254eeb25477b68fb85ed929f73a960582"
ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

# nickName, v1 name, full name, network, base coin, decimals, family
CHAINS = [
    line.split()
    for line in """
FSN FSN Fusion 32659 FSN 18 1
ETH ETH Ethereum 1 ETH 18 1
BNB BSC BNB_Chain 56 BNB 18 1
ARB ARB Arbitrum 42161 ETH 18 1
POLYGON MATIC Polygon 137 MATIC 18 1
AVAXC AVAX Avalanche 43114 AVAX 18 1
CRO CRO Cronos 25 CRO 18 1
FTM FTM Fantom 250 FTM 18 1
TELOSEVM - Telos 40 TLOS 18 1
ELA ELA Elastos 20 ELA 18 1
ROLLUX - Rollux 570 SYS 18 1
BASE - Base 8453 ETH 18 1
OP OP Optimism 10 ETH 18 1
ETHW ETHW EthereumPoW 10001 ETHW 18 1
ETC ETC Ethereum_Classic 61 ETC 18 1
HT HECO Huobi_ECO 128 HT 18 1
OKC OKT OKX_Chain 66 OKT 18 1
CUBE CUBE Cube 1818 CUBE 18 1
AURORA AURORA Aurora 1313161554 ETH 18 1
SYSEVM - Syscoin 57 SYS 18 1
LINEA - Linea 59144 ETH 18 1
METIS - Metis 1088 METIS 18 1
KAS - Kaspa KAS KAS 8 6
KOIN - Koinos KOIN KOIN 8 12
SOL - Solana SOL SOL 9 7
TRX - Tron TRX TRX 6 5
APT - Aptos APT APT 8 8
BTC - Bitcoin BTC BTC 8 2
""".strip().splitlines()
]
V1_NAMES = {row[1]: row[0] for row in CHAINS if row[1] != "-"}

# index, symbol, name, price in USD, and the chains with their decimals
TOKENS = [
    (1, "XCHNG", "Chainge", "0.13", "FSN:18 ETH:18 ARB:18"),
    (2, "FSN", "Fusion", "0.07", "FSN:18n ETH:18"),
    (3, "BTC", "Bitcoin", "97000", "BTC:8n ETH:8 BNB:18 FSN:8 KAS:8"),
    (
        4,
        "ETH",
        "Éther",
        "2650",
        "ETH:18n ARB:18n OP:18n BASE:18n AURORA:18n LINEA:18n BNB:18 FSN:18",
    ),
    (
        5,
        "USDT",
        "Tether USD",
        "1",
        "BNB:18 ETH:6 ARB:6 FSN:6 SOL:6 KAS:8 KOIN:8 TRX:6 POLYGON:6 AVAXC:6 OP:6 FTM:6 CRO:6",
    ),
    (
        6,
        "USDC",
        "USD Coin",
        "1",
        "BNB:18 ETH:6 ARB:6 FSN:6 SOL:6 POLYGON:6 AVAXC:6 BASE:6 OP:6 KAS:8 ETHW:6 AURORA:6",
    ),
    (7, "DAI", "Dai", "1", "ETH:18 ARB:18 POLYGON:18 FSN:18"),
    (8, "BNB", "BNB", "592", "BNB:18n FSN:18"),
    (18, "KAS", "Kaspa", "0.12", "KAS:8n BASE:8"),
    (46, "KOIN", "Koinos", "0.05", "KOIN:8n FSN:8"),
    (50, "MATIC", "Polygon", "0.4", "POLYGON:18n ETH:18"),
    (51, "SOL", "Solana", "190", "SOL:9n BNB:18"),
    (52, "CRO", "Cronos", "0.09", "CRO:18n ETH:8"),
    (53, "AVAX", "Avalanche", "35", "AVAXC:18n BNB:18"),
    (54, "TRX", "Tron", "0.2", "TRX:6n BNB:6 ETH:6"),
    (75, "ELA", "Elastos", "1.6", "ELA:18n ETH:18"),
]
KNOWN = {
    ("USDT", "BNB"): "0x55d398326f99059ff775485246999027b3197955",
    ("USDT", "ETH"): "0xdac17f958d2ee523a2206206994597c13d831ec7",
    ("USDT", "ARB"): "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9",
    ("USDT", "SOL"): "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB",
}


def base58(seed: str, start: str, length: int) -> str:
    number = int.from_bytes(hashlib.sha512(seed.encode()).digest(), "big")
    text = start
    while len(text) < length:
        number, rest = divmod(number, 58)
        text += ALPHABET[rest]
    return text


def address(symbol: str, chain: str) -> str:
    """Return the contract of a token, in the form of its chain."""
    if chain == "KAS":
        return "C" + symbol
    if chain in {"SOL", "KOIN", "TRX"}:
        start, length = {"SOL": ("", 44), "KOIN": ("1", 34), "TRX": ("T", 34)}[chain]
        return KNOWN.get((symbol, chain)) or base58(symbol + chain, start, length)
    made = "0x" + hashlib.sha256((symbol + chain).encode()).hexdigest()[:40]
    return KNOWN.get((symbol, chain), made)


def tokens() -> list[Data]:
    rows = []
    for index, symbol, name, price, places in TOKENS:
        contracts = {}
        for place in places.split():
            chain, decimals = place.split(":")
            where = NATIVE if decimals.endswith("n") else address(symbol, chain)
            contracts[chain] = {"address": where, "decimals": int(decimals.rstrip("n"))}
        token = {"index": index, "symbol": symbol, "name": name, "contracts": contracts}
        rows.append(token | {"usd": Decimal(price)})
    return rows


def chain_item(number: int, row: list[str]) -> Data:
    nick, _, full, network, coin, decimals, family = row
    return {
        "nickName": nick,
        "chainIndex": number,
        "fullName": full.replace("_", " "),
        "baseCoin": coin,
        "decimals": int(decimals),
        "family": int(family),
        "network": network,
        "confirmations": 3,
        "disabled": False,
        "delisted": False,
    }


def plain(value: Decimal) -> str:
    """Write a decimal without an exponent."""
    return format(value, "f")


def scaled(units: int, decimals: int) -> Decimal:
    """Return smallest units as whole tokens, exactly."""
    return Decimal((units < 0, tuple(map(int, str(abs(units)))), -decimals))


def in_hundredths(units: int, decimals: int) -> int:
    """Round an amount up to whole hundredths of its token."""
    shown = scaled(units, decimals).quantize(Decimal("0.01"), ROUND_UP)
    return int(shown.scaleb(decimals))


def rlp(items: list[bytes]) -> bytes:
    """Encode a list of byte strings."""

    def head(length: int, offset: int) -> bytes:
        if length < 56:
            return bytes([offset + length])
        size = length.to_bytes((length.bit_length() + 7) // 8, "big")
        return bytes([offset + 55 + len(size)]) + size

    body = b""
    for item in items:
        alone = len(item) == 1 and item[0] < 128
        body += item if alone else head(len(item), 128) + item
    return head(len(body), 192) + body


def number(value: int) -> bytes:
    return value.to_bytes((value.bit_length() + 7) // 8, "big")


def word(text: str) -> str:
    """Return an address or any text as one word of call data."""
    clean = text[2:] if text.startswith("0x") else text.encode().hex()
    return clean.lower()[-64:].rjust(64, "0")
