"""One deposit, one order: a transaction has one form by kind of chain, judged before it is kept."""

from dataclasses import replace

import pytest

from mockserver.engine.amounts import MAX_UNITS
from mockserver.engine.orders import OrderKind
from mockserver.engine.refusal import Refusal
from mockserver.engine.submission import OpaqueOrderRequest
from tests.engine.samples import OTHER, USER, bridge, ends, swap, v1_order, world

HEX = "aB" * 32
HASH = f"0x{HEX}"
ODD = [f" {HASH}", f"{HASH} ", f"{HASH}00", HASH.replace("a", "g")]
NO_HASHES = ["", " ", "hello", "0x12", HEX, *ODD]


@pytest.mark.parametrize("text", NO_HASHES)
def test_what_is_no_hash_of_an_evm_chain_makes_nothing(text: str) -> None:
    here = world()
    before = here.dump()
    for attempt in (
        lambda: here.orders.submit(bridge(cert_hash=text)),
        lambda: here.orders.submit(v1_order(cert_hash=text)),
        lambda: here.tickets.submit("ARB", text, USER),
    ):
        with pytest.raises(Refusal) as caught:
            attempt()
        assert (caught.value.name, caught.value.about) == ("bad-hash", "transaction hash")
        assert "'0x' and 64 hexadecimal digits" in caught.value.reason
    assert here.dump() == before


def test_a_hash_without_its_prefix_is_told_the_right_one() -> None:
    with pytest.raises(Refusal) as caught:
        world().orders.submit(bridge(cert_hash=HEX))
    assert caught.value.nearest == (HASH.lower(),)


@pytest.mark.parametrize("text", [HASH, HASH.lower(), "0x" + HEX.upper()])
def test_the_same_hash_in_any_case_is_the_same_order(text: str) -> None:
    here = world()
    first = here.orders.submit(bridge(cert_hash=HASH))
    assert first.order.cert_hash == HASH.lower()
    assert here.orders.submit(bridge(cert_hash=text)).order.id == first.order.id
    assert here.orders.id_of_hash("ARB", text) == first.order.id
    assert here.tickets.submit("ARB", text, USER).ticket.id == 1
    assert len(list(here.orders.all())) == 1


@pytest.mark.parametrize("text", [HEX, HEX.lower(), f"0x{HEX}"])
def test_a_chain_that_writes_hashes_without_prefix_takes_both_as_one(text: str) -> None:
    here = world()
    first = here.orders.submit(bridge(source_chain="KAS", amount=10**9, cert_hash=HEX))
    again = here.orders.submit(bridge(source_chain="KAS", amount=10**9, cert_hash=text))
    assert (again.order.id, again.order.cert_hash) == (first.order.id, HEX.lower())
    assert here.orders.id_of_hash("KAS", text) == first.order.id


@pytest.mark.parametrize("text", ["", "hello", "0x12", f" {HEX}", HEX[:-1]])
def test_what_is_no_hash_of_kaspa_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match="64 hexadecimal digits"):
        world().orders.submit(bridge(source_chain="KAS", amount=10**9, cert_hash=text))


def test_a_recipient_in_another_case_is_the_same_recipient() -> None:
    here = world()
    first = here.orders.submit(bridge(recipient=OTHER))
    again = here.orders.submit(bridge(recipient="0x" + OTHER[2:].lower()))
    assert again.order.id == first.order.id


def test_an_unreadable_deposit_that_is_sent_again_is_the_same_order() -> None:
    here = world()
    request = OpaqueOrderRequest(OrderKind.BRIDGE, USER, 5, OTHER, "12ab", target_chain="BNB")
    first = here.orders.submit_opaque(request)
    assert here.orders.submit_opaque(request) == first
    others = [replace(request, deposit="12ac"), replace(request, recipient=USER)]
    assert len({first.order.id, *(here.orders.submit_opaque(one).order.id for one in others)}) == 3


@pytest.mark.parametrize("units", [MAX_UNITS + 1, 10**77, 2**256 - 1, 2**256])
def test_amounts_beyond_77_digits_are_refused_in_quotes_and_orders_alike(units: int) -> None:
    here = world()
    for attempt in (
        lambda: here.quotes.bridge(units, *ends("USDT", "ARB", "BNB")),
        lambda: here.orders.submit(bridge(amount=units)),
        lambda: here.orders.submit(swap(amount=units)),
    ):
        with pytest.raises(Refusal, match="77 digits") as caught:
            attempt()
        assert caught.value.name == "amount-too-large"
    assert list(here.orders.all()) == []


def test_the_largest_amount_is_taken_in_quotes_and_orders_alike() -> None:
    here = world()
    assert len(str(MAX_UNITS)) == 77
    assert here.quotes.bridge(MAX_UNITS, *ends("USDT", "ARB", "FSN")).gross == MAX_UNITS
    taken = here.orders.submit(bridge(amount=MAX_UNITS, target_chain="FSN"))
    assert taken.order.amount == MAX_UNITS
