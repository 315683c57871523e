"""Raw transactions as v1 hands them out: RLP of a legacy transaction, signed by the service.

Form and signature are observed (OAE; facts §3.3 and §7): `<RLP hex>_<RSA signature hex>`, SHA256
with RSA (PKCS#1 v1.5) over the ASCII text of the hex. The key is the mock's own and no secret.
"""

from base64 import b64encode
from hashlib import sha256

from mockserver.fast_dataclass import dataclass
from mockserver.signing import rlp

MODULUS = int(
    "adb45c059ae2ca06b9e244486d571d3bcbbc7a314e78a7df18dd1e07b268338c"
    "8c419e83e904144187476054dc85fbe8b86e726934c9bc36c1fbdf13973adfb2"
    "b436c2849e395c1d61bd388e7df0bd03b561909cd71581014c2800a8e6a58873"
    "2078a33eeb04c51b82137669f202446bd05cea028440eaba951b7de23ed3ac57",
    16,
)
EXPONENT = 65537
_P = int(
    "e088f0916b0ae808080221e091aaee67cd90d14ec837ae345cd15f9b62af35e3"
    "6ef4fd2518433ba5f48b8a092b4f36a7619f3491b7f85174898dac5931744d7b",
    16,
)
_Q = MODULUS // _P
# Two powers of half the length take a third of the time (RFC 8017, 5.2.1).
_DP, _DQ = pow(EXPONENT, -1, _P - 1), pow(EXPONENT, -1, _Q - 1)
_Q_INVERSE = pow(_Q, -1, _P)
_BYTES = 128
_SPKI_HEAD = bytes.fromhex("30819f300d06092a864886f70d010101050003818d0030818902818100")
_SHA256_INFO = bytes.fromhex("3031300d060960864801650304020105000420")


@dataclass(frozen=True, slots=True)
class LegacyTransaction:
    """A transaction before EIP-2718: prices and values in the base coin's smallest units."""

    nonce: int
    gas_price: int
    gas_limit: int
    to: str
    value: int
    data: bytes

    def rlp(self) -> bytes:
        """Return it unsigned, with empty `v`, `r` and `s`."""
        items = [
            rlp.number(self.nonce),
            rlp.number(self.gas_price),
            rlp.number(self.gas_limit),
            bytes.fromhex(self.to[2:]),
            rlp.number(self.value),
            self.data,
            b"",
            b"",
            b"",
        ]
        return rlp.encoded(items)


def signed_raw(transaction: LegacyTransaction) -> str:
    """Return the text of `raw`: the transaction's hex, an underscore, the signature's hex."""
    text = transaction.rlp().hex()
    return f"{text}_{signature(text).hex()}"


def signature(text: str) -> bytes:
    """Return the mock's RSA signature of an ASCII text, 128 bytes."""
    padded = int.from_bytes(_padded(text), "big")
    by_p, by_q = pow(padded, _DP, _P), pow(padded, _DQ, _Q)
    return (by_q + (by_p - by_q) * _Q_INVERSE % _P * _Q).to_bytes(_BYTES, "big")


def public_key() -> bytes:
    """Return the public half of the key as a DER SubjectPublicKeyInfo, as clients embed it."""
    number = MODULUS.to_bytes(_BYTES, "big")
    return _SPKI_HEAD + number + bytes.fromhex("0203") + EXPONENT.to_bytes(3, "big")


def public_pem() -> str:
    text = b64encode(public_key()).decode("ascii")
    lines = [text[start : start + 64] for start in range(0, len(text), 64)]
    return "\n".join(["-----BEGIN PUBLIC KEY-----", *lines, "-----END PUBLIC KEY-----", ""])


def _padded(text: str) -> bytes:
    digest = _SHA256_INFO + sha256(text.encode("ascii")).digest()
    filler = b"\xff" * (_BYTES - len(digest) - 3)
    return b"\x00\x01" + filler + b"\x00" + digest
