"""`crosschain-mock sign` prints the headers of a request, and `serve` verifies them."""

import json
import sys

import pytest
from click.testing import CliRunner

from mockserver import jsontext
from mockserver.cli.command_table import command
from mockserver.errors import CrosschainMockError
from mockserver.server.assembly import Settings, build
from mockserver.signing import kaspa_messages, wallet_signatures
from mockserver.signing.wallet_libraries import SigningUnavailable
from tests.conftest import HASH, WALLET
from tests.dialects.conftest import KAS_KEY, WALLET_KEY

TICKET = json.dumps({"chain": "FSN", "hash": HASH})
SIGNATURE = (
    "6de6769f5c84a0f2c18ce6b9daa44774f249a756aa269ebb9e12eaaee08d5db0"
    "726f01689a2f728e1c705d24b038df6ff30caacb6dfe302cef46da603e4ab2411c"
)


def _sign(*words, stdin=None, env=None):
    return CliRunner().invoke(command("sign"), words, input=stdin, env=env, catch_exceptions=False)


def test_the_headers_of_v1():
    words = ("v1", "--app-key", "test-app-key", "--timestamp", "1672531200000")
    ended = _sign(*words, env={"CROSSCHAIN_MOCK_APP_SECRET": "test-app-secret"})
    assert ended.stdout.splitlines() == [
        "appKey: test-app-key",
        "expireTime: 15000",
        "timestamp: 1672531200000",
        "signature: a022a3afd25a5f9b6719ff45c27567a6b8a9dc812348f76ff8918512339fc199",
    ]


def test_the_text_of_v1_is_shown_and_the_secret_is_not():
    ended = _sign(
        *("v1", "--app-key", "k", "--app-secret", "hush", "--timestamp", "1", "--show-text"),
        *("--body", '{"b":10.0,"a":"x"}', "--json"),
    )
    assert json.loads(ended.stdout)["appKey"] == "k"
    assert "signed: a=xb=10.0appKey=kexpireTime=15000timestamp=1" in ended.stderr
    assert "hush" not in ended.output


def test_without_a_timestamp_it_is_now():
    one, other = (
        json.loads(_sign("v1", "--app-key", "k", "--app-secret", "s", "--json").stdout)
        for _ in range(2)
    )
    assert int(other["timestamp"]) >= int(one["timestamp"]) > 1_700_000_000_000


def test_the_headers_of_2_0():
    ended = _sign("v2", "--key", WALLET_KEY, "--body", TICKET)
    assert ended.stdout.splitlines() == [f"EvmAddress: {WALLET}", f"Signature: {SIGNATURE}"]


def test_a_body_from_a_file_or_stdin(tmp_path, monkeypatch):
    file = tmp_path / "body.json"
    file.write_text(TICKET)
    from_file = _sign("v2", "--key", WALLET_KEY, "--body", f"@{file}")
    assert SIGNATURE in from_file.stdout
    assert SIGNATURE in _sign("v2", "--key", WALLET_KEY, "--body", "-", stdin=TICKET).stdout


def test_the_other_forms_of_2_0():
    as_bytes = json.loads(
        _sign("v2", "--key", WALLET_KEY, "--body", TICKET, "--as-bytes", "--json").stdout
    )
    text = wallet_signatures.signed_text(TICKET.encode(), WALLET)
    assert wallet_signatures.signers(text, as_bytes["Signature"])[1] == WALLET
    words = ("v2", "--key", KAS_KEY.hex(), "--kaspa", "--address", "kaspa:qq", "--body", TICKET)
    headers = json.loads(_sign(*words, "--json").stdout)
    assert (headers["Address"], headers["Chain"]) == ("kaspa:qq", "KAS")
    message = wallet_signatures.digest(
        wallet_signatures.signed_text(TICKET.encode(), "kaspa:qq", prefix="Address")
    )
    assert kaspa_messages.verifies(message, headers["PublicKey"], headers["Signature"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("v1", "--app-key", "k", "--app-secret", "s", "--body", "[1]"), "--body"),
        (("v1", "--app-key", "k", "--app-secret", "s", "--body", "@nowhere"), "cannot be read"),
        (("v2", "--key", "0x11", "--body", TICKET), "no private key"),
        (("v2", "--key", "zz", "--kaspa", "--address", "a", "--body", TICKET), "no private key"),
        (("v2", "--key", WALLET_KEY, "--body", "nope"), "--body"),
    ],
)
def test_what_cannot_be_signed_is_a_sentence_without_the_key(words, says):
    with pytest.raises(CrosschainMockError, match=says) as caught:
        _sign(*words)
    assert WALLET_KEY not in str(caught.value)


def test_kaspa_needs_an_address():
    ended = CliRunner().invoke(command("sign"), ["v2", "--key", WALLET_KEY, "--kaspa"])
    assert ended.exit_code == 2
    assert "--address" in ended.output


def test_serve_takes_keys_in_pairs():
    ended = CliRunner().invoke(command("serve"), ["--app-key", "the-secret"])
    assert ended.exit_code == 2
    assert "KEY:SECRET" in ended.output
    assert "the-secret" not in ended.output


def test_settings_reach_every_world():
    service = build(Settings(app_keys=(("k", "hush"),), verify_wallets=True))
    for key in ("default", "another"):
        keys = service.worlds.get(key).keys
        assert (keys.developers["k"], keys.wallets) == ("hush", True)
        assert "hush" not in repr(keys)
    assert "hush" not in repr(Settings(app_keys=(("k", "hush"),)))


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "coincurve", None)
    for use in (
        lambda: build(Settings(verify_wallets=True)),
        lambda: wallet_signatures.signature("text", WALLET_KEY),
        lambda: wallet_signatures.signers("text", SIGNATURE),
    ):
        with pytest.raises(SigningUnavailable, match=r"crosschain-mock\[signing\]"):
            use()


def test_v1_needs_no_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "coincurve", None)
    assert build(Settings(app_keys=(("k", "s"),))).worlds.get("default").keys.developers
    assert jsontext.encode({"a": 1}) == b'{"a":1}'
