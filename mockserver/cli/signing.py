"""The command `sign`: the headers of a signed request, for either generation."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from mockserver.cli.files import read_input
from mockserver.cli.printing import print_json
from mockserver.cli.shared_options import JSON
from mockserver.errors import CrosschainMockError

T = TypeVar("T")
_Signing = TypeVar("_Signing", bound=Callable[..., None])

_BODY = click.option(
    "--body",
    default="",
    metavar="JSON|@FILE|-",
    help="The JSON body exactly as it is sent: its text, a file, or - for stdin.",
)
_SHOW = click.option("--show-text", is_flag=True, help="Tell on stderr what is signed.")


class CannotSign(CrosschainMockError):
    """A request that cannot be signed as it was given."""


def _secret(name: str, variable: str, does: str) -> Callable[[_Signing], _Signing]:
    """Return an option that has to be given, on the command line or by a variable."""
    variable = f"CROSSCHAIN_MOCK_{variable}"
    return click.option(name, envvar=variable, show_envvar=True, required=True, help=does)


@click.group()
def sign() -> None:
    """Print the headers that sign a request, for either generation.

    They are what a world with registered keys, and the real service, expect.
    """


@sign.command()
@_secret("--app-key", "APP_KEY", "The developer key.")
@_secret("--app-secret", "APP_SECRET", "Its secret; better given by the environment.")
@_BODY
@click.option("--timestamp", type=int, help="Milliseconds since 1970.  [default: now]")
@click.option("--expire-time", type=int, default=15000, show_default=True, help="Milliseconds.")
@JSON
@_SHOW
def v1(*, body: str, timestamp: int | None, **given: Any) -> None:
    """Sign a v1 request; a GET is signed without a body, its query is not signed."""
    from mockserver.clock import wall_ms
    from mockserver.signing import developer

    sent = wall_ms() if timestamp is None else timestamp
    headers = developer.DeveloperHeaders(given["app_key"], str(given["expire_time"]), str(sent))
    text = _text(lambda: developer.signed_text(_raw(body), headers))
    made = {
        "appKey": given["app_key"],
        "expireTime": headers.expire_time,
        "timestamp": headers.timestamp,
        "signature": developer.signature(text, given["app_secret"]),
    }
    _print(made, f"signed: {text}", given)


@sign.command()
@_secret("--key", "WALLET_KEY", "The wallet's private key in hex; better given by the environment.")
@_BODY
@click.option("--address", help="The address as it is sent.  [default: that of the key]")
@click.option("--as-bytes", is_flag=True, help="Sign the 32 bytes of the hash, not its text.")
@click.option("--kaspa", is_flag=True, help="Sign as a Kaspa wallet does; --address is needed.")
@JSON
@_SHOW
def v2(*, key: str, body: str, address: str | None, kaspa: bool, **given: Any) -> None:
    """Sign a 2.0 submission, an order or a ticket, with a wallet's key."""
    from mockserver.signing import kaspa as kaspa_wallet
    from mockserver.signing import wallet

    raw = _raw(body)
    if kaspa:
        if address is None:
            raise click.UsageError("--kaspa goes with --address")
        text = _text(lambda: wallet.signed_text(raw, address, prefix=wallet.OTHER_PREFIX))
        made, public_key = _with_key(
            lambda: kaspa_wallet.signature(wallet.digest(text), _key_bytes(key))
        )
        headers = {"Address": address, "PublicKey": public_key, "Chain": "KAS", "Signature": made}
    else:
        sent = address or _with_key(lambda: wallet.address_of(key))
        text = _text(lambda: wallet.signed_text(raw, sent))
        made = _with_key(lambda: wallet.signature(text, key, as_bytes=given["as_bytes"]))
        headers = {"EvmAddress": sent, "Signature": made}
    _print(headers, f"signed: {text}\nkeccak-256: {wallet.digest(text)}", given)


def _raw(body: str) -> bytes:
    if body == "-" or body.startswith("@"):
        return read_input(body.removeprefix("@"))
    return body.encode("utf-8", "surrogateescape")


def _text(make: Callable[[], str]) -> str:
    from mockserver.jsontext import NotJson

    try:
        return make()
    except NotJson as error:
        raise CannotSign(f"--body: {error}; give the JSON object that is sent") from None


def _with_key(make: Callable[[], T]) -> T:
    try:
        return make()
    except ValueError:
        # What came may be a key with a slip in it, so it is not repeated.
        raise CannotSign("--key: no private key; give 32 bytes as 64 hex digits") from None


def _key_bytes(key: str) -> bytes:
    raw = bytes.fromhex(key.removeprefix("0x"))
    if len(raw) != 32:
        raise ValueError("a private key has 32 bytes")
    return raw


def _print(headers: dict[str, str], signed: str, given: Mapping[str, Any]) -> None:
    if given["as_json"]:
        print_json(headers)
    else:
        click.echo("\n".join(f"{name}: {value}" for name, value in headers.items()))
    if given["show_text"]:
        click.echo(signed, err=True)
