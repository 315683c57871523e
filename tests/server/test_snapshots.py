"""After a revert every answer is the same again, byte for byte."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from mockserver import jsontext
from mockserver.engine.outages import Mode, Window
from mockserver.http_messages import Headers, Request
from mockserver.server.assembly import build
from tests.conftest import HASH, START_MS, USDT_ARB, WALLET, certificate, frozen, order

SIGNED = Headers((("Evmaddress", WALLET), ("Signature", "ab" * 65)))
SERVICE = build(frozen())
PROBES = [
    ("/v1/getChain", ""),
    ("/v1/getAssets", ""),
    ("/v1/getBridgeQuote", "amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB"),
    ("/v1/getBalance", f"chain=ARB&contractAddress={USDT_ARB}&address={WALLET}"),
    ("/v1/checkOrder", "id=30000000001"),
    ("/v1/checkOrder", "id=30000000002"),
    ("/v1/checkTicket", "ticketId=1"),
    ("/v1/getAllTicketByAddress", f"address={WALLET}&filter=Pending"),
    ("/open/v1/base/getSupportChains", ""),
]
STEPS = st.lists(
    st.sampled_from(["submit", "another", "ticket", "advance", "suspend", "poll"]), max_size=8
)


def answers():
    """Return the bytes of every probe's answer."""
    return [SERVICE.answer(Request("GET", path, query)).response.body for path, query in PROBES]


def step(world, name):
    """Do one thing to the default world, over the interface where it has a way."""
    match name:
        case "submit":
            body = jsontext.encode(order())
            SERVICE.answer(Request("POST", "/v1/submitOrder", "", SIGNED, body))
        case "another":
            body = jsontext.encode(order(sourceCerts=certificate(certHash="0x" + "7" * 64)))
            SERVICE.answer(Request("POST", "/v1/submitOrder", "", SIGNED, body))
        case "ticket":
            headers = Headers((("EvmAddress", WALLET), ("Signature", "ab")))
            body = jsontext.encode({"hash": HASH, "chain": "ARB"})
            SERVICE.answer(Request("POST", "/v1/submitTicket", "", headers, body))
        case "advance":
            world.time.advance(7_000)
        case "suspend" if not world.outages.active():
            world.outages.suspend(Window("BNB", None, START_MS, mode=Mode.DELISTED))
        case "poll":
            SERVICE.answer(Request("GET", "/v1/checkOrder", "id=30000000001"))


@given(before=STEPS, after=STEPS)
def test_reverting_a_snapshot_gives_byte_identical_answers(before, after):
    world = SERVICE.worlds.get("default").world
    world.reset()
    for name in before:
        step(world, name)
    expected = answers()
    snapshot = world.snapshot()
    for name in after:
        step(world, name)
    world.revert(snapshot)
    world.drop(snapshot)
    assert answers() == expected
    assert SERVICE.failures == []


def test_the_probes_would_see_a_difference():
    world = SERVICE.worlds.get("default").world
    world.reset()
    seen = [answers()]
    for name in ("submit", "ticket", "advance", "suspend"):
        step(world, name)
        seen.append(answers())
    assert all(one != two for one, two in pairwise(seen))
