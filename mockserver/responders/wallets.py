"""Verifies the signatures of wallets on 2.0 submissions, EVM and Kaspa (facts §3.2)."""

from collections.abc import Iterator

from mockserver import jsontext
from mockserver.contract import Inputs
from mockserver.jsontext import NotJson
from mockserver.responders.refusing import Denial
from mockserver.signing import javascript, kaspa, wallet

_KASPA = "KAS"
_AS_PUBLISHED = {"chain": "chan"}
"""The published ticket vector signs `chan` where the body says `chain` (GB2-ticket, E-12)."""


def denial(inputs: Inputs, body: bytes) -> Denial | None:
    """Return why the signature of a submission is not taken, or None.

    Signatures of chains other than EVM chains and Kaspa are taken by their presence (A-073). Raises
    `SigningUnavailable` where the libraries are missing.
    """
    if inputs.has("userAddress"):
        return _evm(inputs, body)
    return _kaspa(inputs, body) if inputs.text("signerChain") == _KASPA else None


def _evm(inputs: Inputs, body: bytes) -> Denial | None:
    address, came = inputs.text("userAddress"), inputs.text("signature")
    texts = list(_texts(body, address, wallet.EVM_PREFIX))
    recovered = [signer for text in texts for signer in wallet.signers(text, came)]
    if address.lower() in map(str.lower, recovered):
        return None
    return Denial("bad-signature", f"{_told(inputs, recovered)}; {_wanted(texts[0])}")


def _kaspa(inputs: Inputs, body: bytes) -> Denial | None:
    address, key = inputs.text("signerAddress"), inputs.text("publicKey")
    try:
        own = kaspa.key_of_address(address) == kaspa.x_only(key)
    except ValueError as error:
        return Denial("bad-header", f"{inputs.wire_name('publicKey')}: {error}")
    if not own:
        return Denial(
            "bad-signature",
            f"{inputs.wire_name('signerAddress')}: {address[:100]!r} is not the address of "
            f"{inputs.wire_name('publicKey')} {key!r}",
        )
    text = wallet.signed_text(body, address, prefix=wallet.OTHER_PREFIX)
    came = inputs.text("signature")
    messages = [wallet.digest(text), *_plain(body)]
    if any(kaspa.verifies(message, key, came) for message in messages):
        return None
    place = inputs.wire_name("signature")
    return Denial("bad-signature", f"{place}: not by that public key; {_wanted(text)}")


def _texts(body: bytes, address: str, prefix: str) -> Iterator[str]:
    yield wallet.signed_text(body, address, prefix=prefix)
    if "chain" in javascript.members(body):
        yield wallet.signed_text(body, address, prefix=prefix, renamed=_AS_PUBLISHED)


def _plain(body: bytes) -> Iterator[str]:
    """Yield the short text that one client signs instead: the deposit and where it goes (DEMO)."""
    order = javascript.members(body)
    try:
        deposit = jsontext.decode(bytes.fromhex(str(order.get("sourceCerts")).removeprefix("0x")))
    except (ValueError, NotJson):
        return
    rules = dict(part.partition("_")[::2] for part in str(order.get("extra")).split(";"))
    if not isinstance(deposit, dict) or "1" not in rules:
        return
    names = ("certHash", "fromChain", "fromIndex", "fromAmount")
    parts = [str(deposit.get(name, "")) for name in names]
    parts += [str(order.get("toChain", "")), str(order.get("toIndex", "")), rules["1"]]
    yield "_".join([*parts, str(order.get("toAddr", ""))])


def _told(inputs: Inputs, recovered: list[str]) -> str:
    place, address = inputs.wire_name("signature"), inputs.text("userAddress")
    if not wallet.well_formed(inputs.text("signature")):
        return f"{place}: expected 65 bytes as 130 hex digits"
    if not recovered:
        return f"{place}: fits no key"
    return f"{place}: by {recovered[0]}, not by {inputs.wire_name('userAddress')} {address}"


def _wanted(text: str) -> str:
    return f"to be signed is the personal message {wallet.digest(text)}, the keccak-256 of {text!r}"
