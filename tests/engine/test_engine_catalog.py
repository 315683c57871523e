"""Chains and tokens are found by the names of both generations, and by no others."""

import pytest

from mockserver.engine.catalog import NATIVE, checked_address
from mockserver.engine.refusal import Refusal
from tests.engine.samples import CATALOG, USDT, USER


def refusal_of(look_up: object, *arguments: object) -> Refusal:
    assert callable(look_up)
    with pytest.raises(Refusal) as caught:
        look_up(*arguments)
    return caught.value


def test_a_chain_has_a_nickname_and_a_v1_name() -> None:
    assert CATALOG.chain("BNB") is CATALOG.chain_v1("BSC")
    assert [chain.v1_name for chain in CATALOG.v1_chains()] == ["FSN", "ETH", "BSC", "ARB"]


@pytest.mark.parametrize(
    ("name", "nearest"), [("bnb", "BNB"), ("BSC", "BNB"), ("AVAX", "AVAXC"), ("", None)]
)
def test_a_wrong_nickname_is_refused_with_the_nearest(name: str, nearest: str | None) -> None:
    refusal = refusal_of(CATALOG.chain, name, "source chain")
    assert (refusal.name, refusal.about) == ("unknown-chain", "source chain")
    assert (refusal.nearest or (None,))[0] == nearest


@pytest.mark.parametrize(
    ("name", "words"),
    [("BNB", "calls it 'BSC'"), ("KAS", "does not offer it"), ("BCS", "did you mean 'BSC'")],
)
def test_a_nickname_is_no_v1_name(name: str, words: str) -> None:
    assert words in refusal_of(CATALOG.chain_v1, name).reason


def test_tokens_are_found_by_symbol_index_and_address() -> None:
    usdt, arb = CATALOG.token("USDT"), CATALOG.chain("ARB")
    assert CATALOG.token_by_index(5) is usdt
    assert CATALOG.placed(arb, usdt).decimals == 6
    assert CATALOG.placed(CATALOG.chain("BNB"), usdt).decimals == 18
    assert CATALOG.placed_at(arb, USDT["ARB"].lower()).token is usdt
    assert CATALOG.placed_at(arb, "0x" + USDT["ARB"][2:].upper()).token is usdt
    assert CATALOG.placed_at(CATALOG.chain("KAS"), NATIVE).symbol == "KAS"
    assert [placed.symbol for placed in CATALOG.tokens_on(arb)] == ["ETH", "USDT"]


def test_names_of_tokens_are_exact() -> None:
    assert refusal_of(CATALOG.token, "usdt").nearest == ("USDT",)
    assert refusal_of(CATALOG.token_by_index, 7).nearest == ("8", "5", "9")
    assert refusal_of(CATALOG.token_by_index, 10**5000).name == "unknown-token"
    missing = refusal_of(CATALOG.placed, CATALOG.chain("ARB"), CATALOG.token("FSN"))
    assert (missing.name, missing.nearest) == ("token-not-on-chain", ("FSN",))
    kas = CATALOG.chain("KAS")
    assert refusal_of(CATALOG.placed_at, kas, "cusdt").nearest == ("CUSDT",)


def test_addresses_have_the_form_of_their_chain() -> None:
    assert checked_address(CATALOG.chain("ARB"), USER) == USER
    assert checked_address(CATALOG.chain("KAS"), "kaspa:qq") == "kaspa:qq"
    for nickname, address in (("ARB", USER[:-1]), ("ARB", USER + "0"), ("KAS", ""), ("KAS", "a b")):
        refusal = refusal_of(checked_address, CATALOG.chain(nickname), address, "sender")
        assert (refusal.name, refusal.about) == ("bad-address", "sender")
