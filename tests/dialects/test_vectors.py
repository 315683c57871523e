"""Every worked example of a signature in the facts sheet, and the rules behind them."""

import json

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct

from mockserver.jsontext import NotJson
from mockserver.signing import developer_signatures, javascript, kaspa_messages, wallet_signatures
from tests.conftest import HASH, WALLET
from tests.dialects.conftest import KAS_KEY, WALLET_KEY

USER = "0xE8abdABcC14029ee931A5af11361957DaB2F58D6"
CERT = "0x999488c5cc95ad41000dfc2fd14b621e5be984d6f0094feb131d713241303eb0"
HEADERS = developer_signatures.DeveloperHeaders("test-app-key", "15000", "1672531200000")
BODY = json.dumps(
    {
        "toAddress": USER,
        "fromAddress": USER,
        "evmAddress": USER,
        "fromChain": "FSN",
        "toChain": "FSN",
        "fromToken": "CHNG",
        "toToken": "CHNG",
        "fromAmount": 0.0001,
        "feeLevel": 0,
        "certHash": CERT,
    }
).encode()
ORDER = {
    "channel": "chainge",
    "extra": "1_9690000000000000000;2_30;3_2;4_9690000000000000000;5_BNB",
    "orderType": "1",
    "slippage": "0",
    "toChain": "BNB",
    "toIndex": "5",
    "toAddr": WALLET,
    "execStrategy": "",
    "timeout": "0",
    "triggerPrice": "0",
    "sourceCerts": (
        '{"fromAmount":"10000000","fromIndex":"5","fromChain":"FSN",'
        f'"fromAddr":"{WALLET}","certHash":"{HASH}","fromPublicKey":"","signature":"123456"}}'
    )
    .encode()
    .hex(),
}


def test_the_v1_vector():
    text = developer_signatures.signed_text(BODY, HEADERS)
    assert text == (
        f"certHash={CERT}evmAddress={USER}feeLevel=0fromAddress={USER}fromAmount=0.0001"
        f"fromChain=FSNfromToken=CHNGtoAddress={USER}toChain=FSNtoToken=CHNG"
        "appKey=test-app-keyexpireTime=15000timestamp=1672531200000"
    )
    expected = "639a5011a08a9686abc349721534c5099263e61c7649eb984dec0af448ae84c3"
    assert developer_signatures.signature(text, "test-app-secret") == expected
    assert developer_signatures.matches(expected, BODY, HEADERS, "test-app-secret")


def test_the_v1_vector_of_a_get():
    text = developer_signatures.signed_text(b"", HEADERS)
    assert text == "appKey=test-app-keyexpireTime=15000timestamp=1672531200000"
    expected = "a022a3afd25a5f9b6719ff45c27567a6b8a9dc812348f76ff8918512339fc199"
    assert developer_signatures.signature(text, "test-app-secret") == expected


def test_a_signature_is_lower_case_and_of_one_secret():
    good = developer_signatures.signature(
        developer_signatures.signed_text(BODY, HEADERS), "test-app-secret"
    )
    assert not developer_signatures.matches(good.upper(), BODY, HEADERS, "test-app-secret")
    assert not developer_signatures.matches(good, BODY, HEADERS, "another")
    assert not developer_signatures.matches("", BODY, HEADERS, "test-app-secret")
    assert not developer_signatures.matches("é" * 64, BODY, HEADERS, "test-app-secret")


def test_numbers_are_signed_as_they_were_sent_or_as_javascript_reads_them():
    raw = b'{"fromAmount": 10.0}'
    sent, read = developer_signatures.accepted_texts(raw, HEADERS)
    assert sent.startswith("fromAmount=10.0appKey")
    assert read.startswith("fromAmount=10appKey")
    for text in (sent, read):
        assert developer_signatures.matches(
            developer_signatures.signature(text, "s"), raw, HEADERS, "s"
        )
    other = developer_signatures.signature(sent.replace("10.0", "10.00"), "s")
    assert not developer_signatures.matches(other, raw, HEADERS, "s")


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ("0.0001", "0.0001"),
        ("10", "10"),
        ("10.0", "10"),
        ("1.50", "1.5"),
        ("1e3", "1000"),
        ("1E20", "100000000000000000000"),
        ("1e21", "1e+21"),
        ("0.000001", "0.000001"),
        ("0.0000001", "1e-7"),
        ("1.25e-9", "1.25e-9"),
        ("-0", "0"),
        ("-2.5", "-2.5"),
        ("123456789012345678901234", "1.2345678901234569e+23"),
        ("1e400", "Infinity"),
        ("-1e400", "-Infinity"),
    ],
)
def test_numbers_as_javascript_writes_them(literal, text):
    assert javascript.number(literal) == text


def test_values_as_a_template_string_shows_them():
    body = b'{"b":true,"a":null,"Z":"","z":[1,null,"x"],"o":{"p":1},"\\u00e9":"\\ud800"}'
    text = developer_signatures.signed_text(
        body, developer_signatures.DeveloperHeaders("k", "1", "2")
    )
    # Upper case sorts before lower case, and both before other letters.
    shown = "Z=a=nullb=trueo=[object Object]z=1,,xé=\ud800appKey=kexpireTime=1timestamp=2"
    assert text == shown
    assert javascript.utf8("\ud800") == "\ufffd".encode()


@pytest.mark.parametrize("body", [b"[1]", b"nope", b'"x"', b"\xff"])
def test_only_an_object_is_signed(body):
    with pytest.raises(NotJson):
        developer_signatures.signed_text(body, HEADERS)


def test_the_published_ticket_vector_says_chan():
    body = json.dumps({"chain": "FSN", "hash": HASH}).encode()
    address = "0x42a6685ef29886Cbcb595Aa903f00dea0d1787d8"
    text = wallet_signatures.signed_text(body, address, renamed={"chain": "chan"})
    assert text == f"EvmAddress={address}&chan=FSN&hash={HASH}"
    assert wallet_signatures.digest(text) == (
        "0x86a444bc2c6104a3aadcf82c00dc6328fea2bd3472298369dedcbdb592ad257d"
    )
    assert wallet_signatures.digest(wallet_signatures.signed_text(body, address)) == (
        "0xbd8b55e6d9d153076ea7ed58824dac0aed331407bc9ed4a4060f99311b3006f3"
    )


def test_the_ticket_vector():
    body = json.dumps({"chain": "FSN", "hash": HASH}).encode()
    text = wallet_signatures.signed_text(body, WALLET)
    assert wallet_signatures.digest(text) == (
        "0x2c5bbf982b0c8dff3cc764271f3414f1d85caaba4a2f666ec0c261349a9846e6"
    )
    made = wallet_signatures.signature(text, WALLET_KEY)
    assert made == (
        "6de6769f5c84a0f2c18ce6b9daa44774f249a756aa269ebb9e12eaaee08d5db0"
        "726f01689a2f728e1c705d24b038df6ff30caacb6dfe302cef46da603e4ab2411c"
    )
    assert wallet_signatures.signers(text, made)[0] == WALLET
    assert wallet_signatures.signers(text, f"0x{made}")[0] == WALLET


def test_the_order_vector_in_both_forms():
    text = wallet_signatures.signed_text(json.dumps(ORDER).encode(), WALLET)
    names = [pair.split("=")[0] for pair in text.split("&")]
    # The empty execStrategy drops out; the text "0" stays.
    assert names == [
        *("EvmAddress", "channel", "extra", "orderType", "slippage", "sourceCerts"),
        *("timeout", "toAddr", "toChain", "toIndex", "triggerPrice"),
    ]
    assert wallet_signatures.digest(text) == (
        "0xe4e8bf9e8c9a2418245b2c5602a1cf767dea973f7a6855b3dfddd8a850f13f22"
    )
    as_text, as_bytes = (
        wallet_signatures.signature(text, WALLET_KEY),
        wallet_signatures.signature(text, WALLET_KEY, as_bytes=True),
    )
    assert as_text == (
        "88536bf6f865f4f0a36b6e4f3a032368e83c76e7cb2b8846dc57432c4a846ec0"
        "03ce1884dab53aa1d9b42bb4e9607b90b14a3a13afed21935251f0c2671781e31c"
    )
    assert as_bytes == (
        "c5fc47d20a3fb92920f98ccd68b17641ca974b7b5062ef226581a25dcefcb164"
        "59ed7fca0a19ba20a00abeb7cfa8ad454ef84fc67a20fe2134fa06e280e8c9c41c"
    )
    assert wallet_signatures.signers(text, as_text)[0] == WALLET
    assert wallet_signatures.signers(text, as_bytes)[1] == WALLET
    assert WALLET not in wallet_signatures.signers(text + "x", as_text)


def test_members_that_javascript_takes_for_false_are_left_out():
    body = b'{"a":"","b":0,"c":0.0,"d":false,"e":null,"f":"0","g":[],"h":true,"i":1.50}'
    assert wallet_signatures.signed_text(body, "A") == "EvmAddress=A&f=0&g=&h=true&i=1.50"


@pytest.mark.parametrize("came", ["", "00", "zz" * 65, "00" * 65, "ff" * 65, "ab" * 64])
def test_what_is_no_signature_has_no_signer(came):
    assert wallet_signatures.signers("text", came) == ()


def test_the_library_of_the_field_signs_the_same():
    text = wallet_signatures.signed_text(b'{"chain":"FSN"}', WALLET)
    signed = Account.sign_message(encode_defunct(text=wallet_signatures.digest(text)), WALLET_KEY)
    assert signed.signature.hex() == wallet_signatures.signature(text, WALLET_KEY)


def test_a_kaspa_wallet_signs_and_is_verified():
    made, public_key = kaspa_messages.signature("Hello Kaspa!", KAS_KEY)
    assert public_key == "dff1d77f2a671c5f36183726db2341be58feae1da2deced843240f7b502ba659"
    assert kaspa_messages.verifies("Hello Kaspa!", public_key, made)
    assert kaspa_messages.verifies("Hello Kaspa!", f"02{public_key}", made)
    assert not kaspa_messages.verifies("Hello Kaspa?", public_key, made)
    assert not kaspa_messages.verifies("Hello Kaspa!", public_key, made[:-2] + "00")
    assert not kaspa_messages.verifies("Hello Kaspa!", "00" * 32, made)
    assert not kaspa_messages.verifies("Hello Kaspa!", "ab" * 31, made)


def test_the_curve_is_that_of_bip_340():
    # Test vector 0 of BIP 340: the key 3 has this point.
    _, public_key = kaspa_messages.signature("anything", (3).to_bytes(32, "big"))
    assert public_key == "f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9"


def test_an_address_of_kaspa_holds_its_key():
    vault = "kaspa:qpgmt2dn8wcqf0436n0kueap7yx82n7raurlj6aqjc3t3wm9y5ssqtg9e4lsm"
    key = bytes.fromhex("51b5a9b33bb004beb1d4df6e67a1f10c754fc3ef07f96ba09622b8bb65252100")
    assert kaspa_messages.key_of_address(vault) == key
    assert kaspa_messages.key_of_address("kaspa:nope!") is None
    assert kaspa_messages.key_of_address(WALLET) is None
