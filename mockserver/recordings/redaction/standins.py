"""Stand-ins: other values of the same form, the same one for a value everywhere in a set."""

import hmac
import re
import secrets
import string
from functools import partial
from hashlib import sha256

from mockserver.recordings.recording import StandIns

KINDS = ("addresses", "hashes", "orders")
MARK = "5afe5afe"
"""What hexadecimal stand-ins begin with, so that people know them and none is replaced again."""

ORDER_MARK = "5050"
"""What stand-ins of long decimal order numbers begin with."""

_ADDRESS = re.compile(r"(?<![0-9A-Za-z])0x[0-9a-fA-F]{40}(?![0-9A-Za-z])")
_ADDRESS_WITHIN = re.compile(r"(?<![0-9A-Za-z])0x[0-9a-fA-F]{40}")
_HASH = re.compile(r"(?<![0-9A-Za-z])(?:0x)?[0-9a-fA-F]{64}(?![0-9A-Za-z])")
_NUMBER = re.compile(r"[1-9][0-9]{,48}")
_LONG_NUMBER = re.compile(r"(?<![0-9A-Za-z.])[0-9]{8,}(?![0-9A-Za-z.])")

ADDRESS_NAMES = frozenset(
    """
    address backaddress evmaddress feetoaddress fromaddr fromaddress recipient sender toaddr
    toaddress useraddress
    """.split()
)
"""Members, parameters and headers that hold the address of an account, in lower case."""

PUBLIC_NAMES = frozenset(
    {"contract", "contractaddress", "fromtokenaddress", "tokenaddress", "totokenaddress"}
)
"""Members that hold the address of a token, which everybody may know."""

ORDER_NAMES = frozenset({"id", "orderid", "ordersn", "sn", "ticketid"})
"""Members that hold the number of an order or a ticket."""

_SHORTEST_ORDER, _LONG_ORDER, _SHORTEST_ADDRESS = 6, 8, 20
_COINS = ("0x" + "e" * 40, "0x" + "0" * 40)


def new_salt() -> str:
    """Return a salt for a set of recordings."""
    return secrets.token_hex(16)


class StandInMaker:
    """Makes the stand-ins of a set, and remembers them."""

    def __init__(self, chosen: StandIns) -> None:
        """Take what is to be replaced, and the salt of the set."""
        self._of = frozenset(chosen.of)
        self._salt = bytes.fromhex(chosen.salt) if chosen.salt else b""
        self._public: set[str] = set(_COINS)
        self._made: dict[str, str] = {}

    @property
    def active(self) -> bool:
        """Whether anything is replaced at all."""
        return bool(self._of)

    def publish(self, address: str) -> None:
        """Take in the address of a token: it stays as it is, everywhere."""
        self._public.add(address.lower())

    def named(self, name: str, value: str) -> str:
        """Return the value of a member with its stand-ins."""
        name = name.lower()
        if name in PUBLIC_NAMES:
            self.publish(value)
            return value
        if "orders" in self._of and name in ORDER_NAMES and len(value) >= _SHORTEST_ORDER:
            return value if _HASH.fullmatch(value) and "hashes" in self._of else self._order(value)
        replaced = self.text(value)
        odd = name in ADDRESS_NAMES and replaced == value and len(value) >= _SHORTEST_ADDRESS
        known = value.lower() in self._public or value.lower().startswith(f"0x{MARK}")
        if odd and not known and "addresses" in self._of:
            if _NUMBER.fullmatch(value) and int(value) < 1 << 160:
                # v1 has a `fromAddress` as a number, which is the same as in hexadecimal.
                return str(int(self._hexadecimal(f"0x{int(value):040x}"), 16))
            return self._same_form(value)
        return replaced

    def text(self, text: str) -> str:
        """Return a text in which every address, hash and known order number is replaced."""
        if "hashes" in self._of:
            text = _HASH.sub(lambda match: self._hexadecimal(match[0]), text)
        if "addresses" in self._of:
            text = _ADDRESS.sub(lambda match: self._hexadecimal(match[0]), text)
            # A message may repeat a known address with what a client wrote behind it by mistake.
            text = _ADDRESS_WITHIN.sub(lambda match: self._made.get(match[0], match[0]), text)
        if "orders" in self._of:
            text = _LONG_NUMBER.sub(lambda match: self._made.get(match[0], match[0]), text)
        return text

    def hexadecimal_run(self, digits: str) -> str:
        """Return hexadecimal digits in which every value that has a stand-in is replaced."""
        for value, made in list(self._made.items()):
            inner = value.lower().removeprefix("0x")
            if len(inner) >= 40 and inner in digits.lower():
                stand_in = made.lower().removeprefix("0x")
                digits = re.sub(inner, partial(_in_case, stand_in), digits, flags=re.IGNORECASE)
        return digits

    def _hexadecimal(self, value: str) -> str:
        prefix = "0x" if value.startswith("0x") else ""
        digits = value.removeprefix("0x")
        lowered = digits.lower()
        if value.lower() in self._public or lowered.startswith(MARK):
            return value
        made = MARK + self._digest(lowered)[: len(digits) - len(MARK)]
        made = made.upper() if digits.isupper() else made
        self._made[value] = prefix + made
        return prefix + made

    def _order(self, value: str) -> str:
        number = value.lstrip(string.ascii_letters)
        kind = value.removesuffix(number) if number else value
        if not number.isdigit() or len(number) < _LONG_ORDER:
            return self._same_form(value)
        if number.startswith(ORDER_MARK):
            return value
        # Letters before the digits tell the kind of an order, and nothing of whose it is.
        made = kind + ORDER_MARK + self._same_form(number)[len(ORDER_MARK) :]
        self._made[value] = made
        return made

    def _same_form(self, value: str) -> str:
        """Return other characters of the same classes; what is before a colon stays."""
        if value in self._made.values():
            return value
        prefix, colon, rest = value.rpartition(":")
        stream = bytes.fromhex(self._digest(value) * (len(rest) // 32 + 1))
        made = prefix + colon + "".join(map(_of_class, rest, stream))
        self._made[value] = made
        return made

    def _digest(self, value: str) -> str:
        return hmac.new(self._salt, value.encode("utf-8", "surrogatepass"), sha256).hexdigest()


def _in_case(stand_in: str, match: re.Match[str]) -> str:
    """Return a stand-in in the case of what it replaces."""
    return stand_in.upper() if match[0].isupper() else stand_in


def _of_class(character: str, number: int) -> str:
    for alphabet in (string.digits, string.ascii_lowercase, string.ascii_uppercase):
        if character in alphabet:
            return alphabet[number % len(alphabet)]
    return character
