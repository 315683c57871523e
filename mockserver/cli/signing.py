"""The command `sign`: the headers of a signed request, for either generation."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from mockserver.cli.files import read_input
from mockserver.cli.option_types import WrongOption
from mockserver.cli.printing import print_json

T = TypeVar("T")


def v1(*, body: str, timestamp: int | None, **settings: Any) -> None:
    """Sign a v1 request; a GET is signed without a body, its query is not signed."""
    from mockserver.clock import wall_ms
    from mockserver.signing import developer_signatures

    sent = wall_ms() if timestamp is None else timestamp
    headers = developer_signatures.DeveloperHeaders(
        settings["app_key"], str(settings["expire_time"]), str(sent)
    )
    text = _text(lambda: developer_signatures.signed_text(_raw(body), headers))
    made = developer_signatures.signature(text, settings["app_secret"])
    _print(headers.signed(made), f"signed: {text}", settings)


def v2(*, key: str, body: str, address: str | None, kaspa: bool, **settings: Any) -> None:
    """Sign a 2.0 submission, an order or a ticket, with a wallet's key."""
    from mockserver.signing import kaspa_messages as kaspa_wallet
    from mockserver.signing import wallet_signatures

    raw = _raw(body)
    if kaspa:
        if address is None:
            raise click.UsageError("--kaspa goes with --address")
        text = _text(
            lambda: wallet_signatures.signed_text(
                raw, address, prefix=wallet_signatures.OTHER_PREFIX
            )
        )
        made, public_key = _with_key(
            lambda: kaspa_wallet.signature(wallet_signatures.digest(text), _key_bytes(key))
        )
        headers = {"Address": address, "PublicKey": public_key, "Chain": "KAS", "Signature": made}
    else:
        sent = address or _with_key(lambda: wallet_signatures.address_of(key))
        text = _text(lambda: wallet_signatures.signed_text(raw, sent))
        made = _with_key(
            lambda: wallet_signatures.signature(text, key, as_bytes=settings["as_bytes"])
        )
        headers = {"EvmAddress": sent, "Signature": made}
    _print(headers, f"signed: {text}\nkeccak-256: {wallet_signatures.digest(text)}", settings)


def _raw(body: str) -> bytes:
    if body == "-" or body.startswith("@"):
        return read_input(body.removeprefix("@"))
    return body.encode("utf-8", "surrogateescape")


def _text(make: Callable[[], str]) -> str:
    from mockserver.jsontext import NotJson

    try:
        return make()
    except NotJson as error:
        raise WrongOption(f"--body: {error}; give the JSON object that is sent") from None


def _with_key(make: Callable[[], T]) -> T:
    try:
        return make()
    except ValueError:
        # What came may be a key with a slip in it, so it is not repeated.
        raise WrongOption("--key: no private key; give 32 bytes as 64 hex digits") from None


def _key_bytes(key: str) -> bytes:
    raw = bytes.fromhex(key.removeprefix("0x"))
    if len(raw) != 32:
        raise ValueError("a private key has 32 bytes")
    return raw


def _print(headers: dict[str, str], signed: str, settings: Mapping[str, Any]) -> None:
    if settings["as_json"]:
        print_json(headers)
    else:
        click.echo("\n".join(f"{name}: {value}" for name, value in headers.items()))
    if settings["show_text"]:
        click.echo(signed, err=True)
