"""Transactions of Solana: what they say, whether their signatures are right, and new ones.

The wire format is that of the chain's documentation: counts of up to three bytes, signatures, and a
message, which is what is signed (Ed25519). Needs the extra `signing` to check signatures.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256

from mockserver.fast_dataclass import dataclass
from mockserver.signing.evm_transactions import NotATransaction
from mockserver.signing.wallet_libraries import SigningUnavailable

KEY, SIGNATURE = 32, 64
"""Bytes of an address and of a signature."""

_VERSIONED = 0x80
_MOST_BYTES = 1_232
# The field of Curve25519, and the constant of its twisted form (RFC 8032).
_PRIME = 2**255 - 19
_D = -121_665 * pow(121_666, -1, _PRIME) % _PRIME
_DERIVED = b"ProgramDerivedAddress"


@dataclass(frozen=True, slots=True)
class Instruction:
    """A call of a program: who it is, the accounts it works on, and its data."""

    program: bytes
    accounts: tuple[bytes, ...]
    data: bytes


@dataclass(frozen=True, slots=True)
class SolanaTransaction:
    """A transaction: its signatures and its message, of which the first `signers` accounts sign.

    `version` is None of a legacy one.
    """

    signatures: tuple[bytes, ...]
    message: bytes
    version: int | None
    header: tuple[int, int, int]
    accounts: tuple[bytes, ...]
    blockhash: bytes
    instructions: tuple[Instruction, ...]

    @property
    def signers(self) -> tuple[bytes, ...]:
        """The accounts that have to sign; the first one pays the fee."""
        return self.accounts[: self.header[0]]

    def writable(self, place: int) -> bool:
        """Tell whether the transaction may change an account, by its place."""
        required, readonly_signed, readonly_unsigned = self.header
        if place < required:
            return place < required - readonly_signed
        return place < len(self.accounts) - readonly_unsigned


class _Wire:
    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.place = 0

    def take(self, count: int) -> bytes:
        piece = self.raw[self.place : self.place + count]
        if len(piece) != count:
            raise NotATransaction("failed to fill whole buffer")
        self.place += count
        return piece

    def count(self) -> int:
        """Return a number of one to three bytes, seven bits each."""
        number = 0
        for shift in (0, 7, 14):
            byte = self.take(1)[0]
            number |= (byte & 0x7F) << shift
            if not byte & 0x80:
                return number
        raise NotATransaction("a count has more than three bytes")

    def many(self, size: int) -> tuple[bytes, ...]:
        return tuple([self.take(size) for _ in range(self.count())])


def decoded(raw: bytes) -> SolanaTransaction:
    """Return what a transaction says. Raises `NotATransaction`."""
    if len(raw) > _MOST_BYTES:
        raise NotATransaction(f"too large: {len(raw)} bytes (max: {_MOST_BYTES})")
    reader = _Wire(raw)
    signatures = reader.many(SIGNATURE)
    return message_decoded(raw[reader.place :], signatures)


def message_decoded(message: bytes, signatures: tuple[bytes, ...] = ()) -> SolanaTransaction:
    """Return what a message says, with the signatures before it. Raises `NotATransaction`."""
    reader = _Wire(message)
    version = None
    if message and message[0] & _VERSIONED:
        version = reader.take(1)[0] & ~_VERSIONED
        if version:
            raise NotATransaction(f"messages of version {version} are not known")
    required, signed, unsigned = reader.take(3)
    accounts, blockhash = reader.many(KEY), reader.take(KEY)
    if not 0 < required <= len(accounts) or signed >= required:
        raise NotATransaction("its header fits its accounts not")
    instructions = tuple([_instruction(reader, accounts) for _ in range(reader.count())])
    if version is not None and reader.count():
        raise NotATransaction("address lookup tables are not kept here")
    # What lies behind a message would be signed and read by nobody.
    if reader.place != len(message):
        raise NotATransaction("there are bytes behind it")
    header = required, signed, unsigned
    return SolanaTransaction(
        signatures, message, version, header, accounts, blockhash, instructions
    )


def _instruction(reader: _Wire, accounts: Sequence[bytes]) -> Instruction:
    program = reader.take(1)[0]
    named = reader.take(reader.count())
    data = reader.take(reader.count())
    if max((program, *named)) >= len(accounts):
        raise NotATransaction("an instruction names an account that is not there")
    return Instruction(accounts[program], tuple([accounts[place] for place in named]), data)


def unchecked(signature: bytes, payer: bytes, instruction: Instruction) -> SolanaTransaction:
    """Return a legacy transaction of one instruction with a signature that nobody made."""
    # Each account once, the payer first and the program last: an instruction names them by place.
    further = [key for key in dict.fromkeys(instruction.accounts) if key != payer]
    accounts = (payer, *further, instruction.program)
    places = bytes([accounts.index(key) for key in instruction.accounts])
    message = bytes([1, 0, 1]) + _counted(accounts) + bytes(KEY) + b"\1"
    message += bytes([len(accounts) - 1, len(places)]) + places
    message += bytes([len(instruction.data)]) + instruction.data
    return message_decoded(message, (signature,))


def joined(signed: SolanaTransaction) -> bytes:
    """Return a transaction as it is sent: a count, the signatures and the message."""
    return _counted(signed.signatures) + signed.message


def _counted(items: Iterable[bytes]) -> bytes:
    listed = tuple(items)
    return bytes([len(listed)]) + b"".join(listed)


def unsigned_by(signed: SolanaTransaction) -> bytes | None:
    """Return the first account whose signature is missing or wrong; None where all are right.

    Raises `SigningUnavailable`.
    """
    try:
        from Crypto.PublicKey import ECC  # noqa: PLC0415 - of the extra `signing`
        from Crypto.Signature import eddsa  # noqa: PLC0415
    except ImportError:
        raise SigningUnavailable(
            "signatures of Solana need the library 'pycryptodome'; "
            "install the extra: pip install 'crosschain-mock[signing]'"
        ) from None
    # Counted first, or a missing signature would shift those behind it to other signers.
    if len(signed.signatures) != len(signed.signers):
        return signed.signers[0]
    for key, signature in zip(signed.signers, signed.signatures, strict=True):
        try:
            public: ECC.EccKey = eddsa.import_public_key(key)
            eddsa.new(public, "rfc8032").verify(signed.message, signature)
        except ValueError:
            return key
    return None


def derived_address(program: bytes, *seeds: bytes) -> bytes:
    """Return the address of a program that these seeds give: no key has it."""
    # From above, as the chain's libraries do: all have to come to the same address.
    for bump in range(255, -1, -1):
        text = b"".join(seeds) + bytes([bump]) + program + _DERIVED
        address = sha256(text).digest()
        if not is_on_curve(address):
            return address
    raise NotATransaction("no address of a program has these seeds")


def is_on_curve(raw: bytes) -> bool:
    """Tell whether 32 bytes are a point of Curve25519, and so may be a key (RFC 8032, 5.1.3)."""
    y = int.from_bytes(raw, "little") & (2**255 - 1)
    # The sign bit is left out above; a number beyond the field is no point.
    if y >= _PRIME:
        return False
    u, v = (y * y - 1) % _PRIME, (_D * y * y + 1) % _PRIME
    x = u * pow(v, 3, _PRIME) * pow(u * pow(v, 7, _PRIME), (_PRIME - 5) // 8, _PRIME) % _PRIME
    return v * x * x % _PRIME in (u, -u % _PRIME)
