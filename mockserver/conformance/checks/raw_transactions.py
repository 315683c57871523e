"""The raw transaction of v1, read in its observed form: RLP in hex, then a signature (OAE)."""

from mockserver.conformance.discovery.v1_data import scalar
from mockserver.conformance.session.exchange import Exchange
from mockserver.signing import rlp
from mockserver.values import dataclass

_TRANSFER = bytes.fromhex("a9059cbb")


@dataclass(frozen=True, slots=True)
class Moved:
    """What a transaction moves, and to whom: smallest units, of a token or of the chain's coin."""

    units: int
    payee: str
    contract: str = ""
    coins: int = 0
    """What is sent along of the chain's coin where a token is moved."""


def moved(exchange: Exchange) -> Moved | None:
    """Return what the raw transaction of an answer moves; None where it has another form."""
    text = scalar(exchange.member("data"), "raw")
    if not isinstance(text, str) or len(text) > 100_000:
        return None
    try:
        items = rlp.decoded(bytes.fromhex(text.partition("_")[0].removeprefix("0x")))
    except (ValueError, rlp.NotRlp):
        return None
    if not isinstance(items, list) or len(items) not in (6, 9):
        return None
    to, value, data = items[3:6]
    if not (isinstance(to, bytes) and isinstance(value, bytes) and isinstance(data, bytes)):
        return None
    if not data:
        return Moved(int.from_bytes(value, "big"), f"0x{to.hex()}")
    if data[:4] != _TRANSFER or len(data) != 68:
        return None
    return Moved(
        int.from_bytes(data[36:], "big"),
        f"0x{data[16:36].hex()}",
        f"0x{to.hex()}",
        int.from_bytes(value, "big"),
    )
