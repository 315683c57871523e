"""Transactions of Kaspa: their ids, what their inputs sign, and addresses of output scripts.

All hashes are BLAKE2b of 256 bits, keyed by what they are for (rusty-kaspa, `consensus/core`).
Needs the extra `signing` to check signatures.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import chain

from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.signing import secp256k1
from mockserver.signing.evm_transactions import NotATransaction

_ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_PREFIX = "kaspa"
_NATIVE = bytes(20)
_SIGHASH_ALL = 1
_MOST_UNITS = 2**63
# The generator of the checksum: that of Bitcoin Cash's addresses.
_GENERATOR = (0x98F2BC8E61, 0x79B76D99E2, 0xF33E5FB3C4, 0xAE2EABE2A8, 0x1E4F43E470)


@dataclass(frozen=True, slots=True)
class Outpoint:
    """An output of an earlier transaction, by that one's id and its place there."""

    tx_id: str
    index: int


@dataclass(frozen=True, slots=True)
class KaspaInput:
    """What a transaction spends, with the script that allows it."""

    outpoint: Outpoint
    script: bytes
    sequence: int
    sig_ops: int


@dataclass(frozen=True, slots=True)
class KaspaOutput:
    """Whom a transaction pays how many sompi, by a script and its version."""

    units: int
    version: int
    script: bytes

    @property
    def address(self) -> str:
        """The address that the script pays; empty for one of another form."""
        return address_of(self.script)


@dataclass(frozen=True, slots=True)
class KaspaTransaction:
    """A transaction as it is submitted in JSON."""

    version: int
    inputs: tuple[KaspaInput, ...]
    outputs: tuple[KaspaOutput, ...]
    lock_time: int
    subnetwork: bytes
    gas: int
    payload: bytes

    @property
    def id(self) -> str:
        """The id, which signatures do not change."""
        raw = self.version.to_bytes(2, "little") + _long(len(self.inputs))
        for spent in self.inputs:
            # An empty script: the id must not change with the signatures.
            raw += _outpoint(spent) + _long(0) + _long(spent.sequence)
        raw += _long(len(self.outputs)) + b"".join(map(_output, self.outputs))
        raw += _long(self.lock_time) + self.subnetwork + _long(self.gas)
        return _hash(b"TransactionID", raw + _sized(self.payload)).hex()

    def digest(self, place: int, spent: KaspaOutput) -> bytes:
        """Return what the input at a place signs, which spends that output (SIGHASH_ALL)."""
        spending = self.inputs[place]
        payload = bytes(32)
        # Only then: native transactions without payload sign zeros in its place.
        if self.subnetwork != _NATIVE or self.payload:
            payload = _signing(_sized(self.payload))
        raw = [
            self.version.to_bytes(2, "little"),
            _signing(b"".join(map(_outpoint, self.inputs))),
            _signing(b"".join([_long(each.sequence) for each in self.inputs])),
            _signing(bytes([each.sig_ops for each in self.inputs])),
            _outpoint(spending),
            spent.version.to_bytes(2, "little"),
            _sized(spent.script),
            _long(spent.units),
            _long(spending.sequence),
            bytes([spending.sig_ops]),
            _signing(b"".join(map(_output, self.outputs))),
            _long(self.lock_time),
            self.subnetwork,
            _long(self.gas),
            payload,
            bytes([_SIGHASH_ALL]),
        ]
        return _signing(b"".join(raw))

    def is_signed(self, place: int, spent: KaspaOutput) -> bool:
        """Tell whether the owner of an output has signed the input that spends it.

        Only outputs that pay a key (Schnorr) can be spent. Raises `SigningUnavailable`.
        """
        script, key = self.inputs[place].script, key_of(spent.script)
        if key is None or len(script) != 66 or script[0] != 65 or script[65] != _SIGHASH_ALL:
            return False
        return secp256k1.schnorr_verifies(self.digest(place, spent), key, script[1:65])


def _hash(key: bytes, raw: bytes) -> bytes:
    return blake2b(raw, digest_size=32, key=key).digest()


def _signing(raw: bytes) -> bytes:
    return _hash(b"TransactionSigningHash", raw)


def _long(number: int) -> bytes:
    return number.to_bytes(8, "little")


def _sized(raw: bytes) -> bytes:
    return _long(len(raw)) + raw


def _outpoint(spent: KaspaInput) -> bytes:
    outpoint = spent.outpoint
    return bytes.fromhex(outpoint.tx_id) + outpoint.index.to_bytes(4, "little")


def _output(output: KaspaOutput) -> bytes:
    return _long(output.units) + output.version.to_bytes(2, "little") + _sized(output.script)


# --- JSON ---


def decoded(plain: Json) -> KaspaTransaction:
    """Return a transaction of the members of its JSON. Raises `NotATransaction`."""
    members = _object(plain, "transaction")
    return KaspaTransaction(
        version=_number(members, "version", 2**16),
        inputs=tuple([_input(each) for each in _list(members, "inputs")]),
        outputs=tuple([_paid(each) for each in _list(members, "outputs")]),
        lock_time=_number(members, "lockTime"),
        subnetwork=_hex(members, "subnetworkId", 20) or _NATIVE,
        gas=_number(members, "gas"),
        payload=_hex(members, "payload"),
    )


def _input(plain: Json) -> KaspaInput:
    members = _object(plain, "inputs")
    outpoint = _object(members.get("previousOutpoint"), "previousOutpoint")
    tx_id = _hex(outpoint, "transactionId", 32)
    if not tx_id:
        raise NotATransaction("'transactionId': expected 64 hex digits")
    return KaspaInput(
        Outpoint(tx_id.hex(), _number(outpoint, "index", 2**32)),
        _hex(members, "signatureScript"),
        _number(members, "sequence"),
        _number(members, "sigOpCount", 256),
    )


def _paid(plain: Json) -> KaspaOutput:
    members = _object(plain, "outputs")
    # REST nests the script beside its version; wallets write it as one text, too.
    script = members.get("scriptPublicKey")
    units = _number(members, "amount", _MOST_UNITS)
    if isinstance(script, str):
        raw = _hex(members, "scriptPublicKey")
        return KaspaOutput(units, int.from_bytes(raw[:2]), raw[2:])
    nested = _object(script, "scriptPublicKey")
    return KaspaOutput(units, _number(nested, "version", 2**16), _hex(nested, "scriptPublicKey"))


def _object(value: Json, name: str) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise NotATransaction(f"{name!r}: expected an object")
    return value


def _list(members: Mapping[str, Json], name: str) -> Sequence[Json]:
    value = members.get(name)
    if not isinstance(value, list) or not 0 < len(value) <= 1_000:
        raise NotATransaction(f"{name!r}: expected an array of 1 to 1000")
    return value


def _number(members: Mapping[str, Json], name: str, most: int = 2**64) -> int:
    value = members.get(name, 0)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 21:
        value = int(value)
    if value is None:
        value = 0
    if type(value) is not int or not 0 <= value < most:
        raise NotATransaction(f"{name!r}: expected a whole number below {most}")
    return value


def _hex(members: Mapping[str, Json], name: str, size: int | None = None) -> bytes:
    value = members.get(name) or ""
    try:
        raw = bytes.fromhex(value) if isinstance(value, str) else None
    except ValueError:
        raw = None
    if raw is None or (raw and size not in (None, len(raw))):
        raise NotATransaction(f"{name!r}: expected hex of {size or 'whole'} bytes")
    return raw


# --- addresses ---


def key_of(script: bytes) -> bytes | None:
    """Return the key that a script pays (Schnorr); None for one of another form."""
    pays_key = len(script) == 34 and script[0] == 32 and script[33] == 0xAC
    return script[1:33] if pays_key else None


def script_of(key: bytes) -> bytes:
    """Return the script that pays a key."""
    return b"\x20" + key + b"\xac"


def address_of(script: bytes) -> str:
    """Return the address that a script pays: of a key or of a script; empty for another form."""
    key = key_of(script)
    if key is not None:
        return encoded(0, key)
    if len(script) == 35 and script[:2] == b"\xaa\x20" and script[34] == 0x87:
        return encoded(8, script[2:34])
    if len(script) == 35 and script[0] == 33 and script[34] == 0xAB:
        return encoded(1, script[1:34])
    return ""


def encoded(version: int, payload: bytes) -> str:
    """Return an address: its version and payload in groups of five bits, and a checksum."""
    groups = list(_groups(bytes([version]) + payload))
    prefix = [ord(char) & 31 for char in _PREFIX]
    checksum = _polymod(chain(prefix, (0,), groups, (0,) * 8))
    groups += [checksum >> 5 * (7 - place) & 31 for place in range(8)]
    return f"{_PREFIX}:{''.join(_ALPHABET[group] for group in groups)}"


def is_address(text: str) -> bool:
    """Tell whether a text is an address with the right checksum."""
    payload = text.removeprefix(f"{_PREFIX}:")
    if payload == text or not 8 < len(payload) <= 80 or set(payload) - set(_ALPHABET):
        return False
    bits = "".join(f"{_ALPHABET.index(char):05b}" for char in payload[:-8])
    size = len(bits) // 8
    raw = int(bits[: 8 * size] or "0", 2).to_bytes(size, "big")
    # Made anew and compared, which checks version, padding and checksum at once.
    return bool(raw) and encoded(raw[0], raw[1:]) == text


def _groups(raw: bytes) -> Iterable[int]:
    bits = "".join(f"{byte:08b}" for byte in raw)
    bits += "0" * (-len(bits) % 5)
    return (int(bits[place : place + 5], 2) for place in range(0, len(bits), 5))


def _polymod(values: Iterable[int]) -> int:
    checksum = 1
    for value in values:
        top = checksum >> 35
        checksum = (checksum & 0x07FFFFFFFF) << 5 ^ value
        for place, generator in enumerate(_GENERATOR):
            if top >> place & 1:
                checksum ^= generator
    return checksum ^ 1
