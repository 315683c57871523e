"""Clients with one defect each, in an odd form, that no failure is needed to show.

Written from the words of the wish for lint alone: the subject of each rule, not what it reads.
"""

import json
import math
from decimal import Decimal

from tests.audit.flows.payer import FRIEND, Book, Payer

BOOK: Book[Payer] = Book()
wrong = BOOK.wrong


def begin(payer: Payer) -> None:
    """Read both lists, as the interface asks for."""
    payer.proxy("ARB")
    for chain in ("ARB", "BNB"):
        payer.token("USDT", chain)


def swap(payer: Payer, **changes: str) -> None:
    """Swap 10 USDT on ARB into BNB, with a minimum of 1 % below the quote unless told else."""
    begin(payer)
    expected = payer.swap_quote()
    assert expected is not None
    least = expected * 99 // 100
    body = {"slippage": "100", "extra": f"1_{expected};3_2;4_{least};5_BNB", **changes}
    payer.follow(payer.submit(payer.pay(), bought="BNB", **body))


def swap_data(payer: Payer, **changes: str) -> None:
    """Ask for a swap's call data on ARB, from USDT to ETH, after its quote."""
    payer.proxy("ARB")
    payer.swap_quote(target=("ETH", "ARB"))
    paid, bought = payer.token("USDT", "ARB"), payer.token("ETH", "ARB")
    query = {
        "fromAmount": "10000000",
        "fromTokenAddress": paid["contractAddress"],
        "fromDecimal": str(paid["decimals"]),
        "toTokenAddress": bought["contractAddress"],
        "toDecimal": str(bought["decimals"]),
        "chain": "ARB",
        "sender": payer.me,
        "recipient": payer.me,
        "slippage": "100",
        "allowPartialFill": "false",
        **changes,
    }
    payer.get("/v1/getAggregateSwap", **query)


def units(payer: Payer, quoted: int, ordered: int, chain: str = "ARB", to: str = "BNB") -> None:
    """Quote one number of smallest units and order another."""
    payer.get("/v1/getBridgeQuote", amount=str(quoted), symbol="USDT", fromChain=chain, toChain=to)
    amount = str(Decimal(ordered).scaleb(-payer.token("USDT", chain)["decimals"]))
    payer.follow(payer.submit(payer.pay(amount, chain=chain), amount, source=chain, target=to))


# names of the other generation


@wrong("asks 2.0 for the tokens of BSC", "other-generation-name")
def lists_a_chain_by_its_v1_name(payer: Payer) -> None:
    begin(payer)
    payer.get("/v1/getAssetsByChain", chain="BSC")


@wrong("asks v1 for a quote to POLYGON", "other-generation-name")
def quotes_in_v1_to_a_nickname(payer: Payer) -> None:
    payer.get("/open/v1/base/getSupportChains")
    body = {"fromChain": "ARB", "toChain": "POLYGON", "token": "USDT", "feeLevel": 0}
    payer.post("/open/v1/order/getCrossChainQuote", {"amount": 10, **body}, payer.keys())


@wrong("reports a deposit on MATIC to 2.0", "other-generation-name")
def reports_with_the_v1_name(payer: Payer) -> None:
    begin(payer)
    payer.quote(source="POLYGON")
    paid = payer.pay(chain="POLYGON")
    order = payer.submit(paid, source="POLYGON")
    payer.follow_ticket(payer.ticket(paid, "MATIC"))
    payer.follow(order)


@wrong("says in the certificate that it paid on BSC", "other-generation-name")
def certifies_with_the_v1_name(payer: Payer) -> None:
    begin(payer)
    payer.quote(source="BNB", target="ARB")
    certificate = {
        "fromAmount": "10000000000000000000",
        "fromIndex": "5",
        "fromChain": "BSC",
        "fromAddr": payer.me,
        "certHash": payer.pay(chain="BNB"),
        "fromPublicKey": "",
        "signature": "123456",
    }
    payer.follow(
        payer.submit(
            "0x", source="BNB", target="ARB", sourceCerts=json.dumps(certificate).encode().hex()
        )
    )


# magnitudes


@wrong("takes USDT on Arbitrum to have 18 decimals", "amount-magnitude")
def quotes_ten_trillions(payer: Payer) -> None:
    begin(payer)
    payer.get(
        "/v1/getBridgeQuote",
        amount=str(10 * 10**18),
        symbol="USDT",
        fromChain="ARB",
        toChain="BNB",
    )


@wrong("sends whole tokens where smallest units belong", "amount-magnitude")
def quotes_and_pays_ten_units(payer: Payer) -> None:
    begin(payer)
    units(payer, 10, 10)


@wrong("sends v1 smallest units where whole tokens belong", "amount-magnitude")
def quotes_ten_millions_in_v1(payer: Payer) -> None:
    payer.get("/open/v1/base/getSupportChains")
    payer.v1_quote("10000000")


@wrong("swaps bitcoin on BNB as if it had the 8 decimals of its home", "amount-magnitude")
def swaps_dust_of_a_bitcoin(payer: Payer) -> None:
    begin(payer)
    payer.swap_quote(str(Decimal(2_000_000).scaleb(-18)), ("BTC", "BNB"), ("USDT", "BNB"))


# neighbours of round amounts


@wrong("int(8.2 * 10**6) is one short", "float-amount")
def loses_a_unit_to_a_float(payer: Payer) -> None:
    begin(payer)
    units(payer, int(8.2 * 1e6), int(8.2 * 1e6))


@wrong("math.ceil(4.03 * 10**6) is one more than it should be", "float-amount")
def rounds_a_float_up(payer: Payer) -> None:
    begin(payer)
    units(payer, math.ceil(4.03 * 1e6), math.ceil(4.03 * 1e6))


@wrong("int(4.1 * 10**18) is 512 units short", "float-amount")
def loses_the_last_digits_of_eighteen(payer: Payer) -> None:
    begin(payer)
    units(payer, int(4.1 * 10**18), int(4.1 * 10**18), "BNB", "ARB")


@wrong("adds up tenths for v1: 10.299999999999999", "float-amount")
def sums_floats_for_v1(payer: Payer) -> None:
    payer.get("/open/v1/base/getSupportChains")
    payer.v1_quote(str(10.1 + 0.2))


# quoted other than paid


@wrong("quotes 10 and pays and orders 12", "quoted-other-than-paid")
def orders_more_than_it_quoted(payer: Payer) -> None:
    begin(payer)
    units(payer, 10_000_000, 12_000_000)


@wrong("quotes the way to BNB and orders to POLYGON", "quoted-other-than-paid")
def orders_to_a_chain_without_a_quote(payer: Payer) -> None:
    begin(payer)
    payer.quote(target="BNB")
    payer.follow(payer.submit(payer.pay(), target="POLYGON"))


@wrong("quotes USDT and moves USDC", "quoted-other-than-paid")
def moves_a_token_without_a_quote(payer: Payer) -> None:
    begin(payer)
    payer.quote(symbol="USDT")
    payer.follow(payer.submit(payer.pay(symbol="USDC"), symbol="USDC"))


@wrong("quotes the swap into BNB and buys ETH", "quoted-other-than-paid")
def buys_another_token_than_it_quoted(payer: Payer) -> None:
    begin(payer)
    expected = payer.swap_quote()
    assert expected is not None
    body = {"slippage": "100", "extra": f"1_{expected};3_2;4_{expected * 99 // 100};5_BNB"}
    payer.follow(payer.submit(payer.pay(), bought="ETH", **body))


# decimals other than those of the list


@wrong("quotes a swap into USDT on BNB with the 6 decimals of other chains", "decimals-not-of-list")
def quotes_with_six_decimals_everywhere(payer: Payer) -> None:
    begin(payer)
    paid, bought = payer.token("USDT", "ARB"), payer.token("USDT", "BNB")
    payer.get(
        "/v1/getAggregateQuote",
        fromAmount="10000000",
        fromTokenAddress=paid["contractAddress"],
        fromDecimal=str(paid["decimals"]),
        fromChain="ARB",
        toTokenAddress=bought["contractAddress"],
        toDecimal="6",
        toChain="BNB",
    )


@wrong("asks for call data with 18 decimals of USDT, which has 6", "decimals-not-of-list")
def asks_for_call_data_with_eighteen(payer: Payer) -> None:
    swap_data(payer, fromDecimal="18")


# stale quotes


@wrong("pays twenty minutes after the quote", "stale-quote")
def pays_when_the_user_comes_back(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    payer.wait("20m")
    payer.follow(payer.submit(payer.pay()))


@wrong("uses one quote for a payment each quarter of an hour", "stale-quote")
def pays_thrice_on_one_quote(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    for _ in range(3):
        payer.follow(payer.submit(payer.pay()), pause="5m")
        payer.wait("9m")
        payer.proxy("ARB")


@wrong("asks v1 for a quote and submits half an hour later", "stale-quote")
def submits_to_v1_on_an_old_quote(payer: Payer) -> None:
    payer.get("/open/v1/base/getSupportChains")
    payer.v1_quote()
    payer.wait("30m")
    paid = payer.v1_pay()
    payer.v1_submit(paid)
    for _ in range(10):
        payer.wait("10m")
        payer.v1_look(paid)


# lists


@wrong("has index and chains in its code", "no-list-before-use")
def knows_everything_by_heart(payer: Payer) -> None:
    amount = {"amount": "10000000", "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
    payer.get("/v1/getBridgeQuote", **amount)
    payer.lists = {
        "ARB": {"USDT": {"index": 5, "decimals": 6}},
        "BNB": {"USDT": {"index": 5, "decimals": 18}},
    }
    payer.follow(payer.submit(payer.hash()))


@wrong("reads the lists when the order is on its way", "no-list-before-use")
def reads_the_lists_too_late(payer: Payer) -> None:
    payer.lists = {
        "ARB": {"USDT": {"index": 5, "decimals": 6}},
        "BNB": {"USDT": {"index": 5, "decimals": 18}},
    }
    payer.quote()
    order = payer.submit(payer.hash())
    payer.lists = {}
    begin(payer)
    payer.follow(order)


@wrong("goes through v1 without its list of chains", "no-list-before-use")
def uses_v1_without_a_list(payer: Payer) -> None:
    payer.v1_quote()
    paid = payer.v1_pay()
    payer.v1_submit(paid)
    for _ in range(10):
        payer.wait("10m")
        payer.v1_look(paid)


@wrong("uses lists of three hours ago", "stale-lists")
def uses_the_lists_of_the_morning(payer: Payer) -> None:
    begin(payer)
    payer.wait("3h")
    payer.quote()
    payer.follow(payer.submit(payer.pay()))


@wrong("reads the chains anew for each payment, and the tokens never again", "stale-lists")
def keeps_the_tokens_and_reads_the_chains(payer: Payer) -> None:
    begin(payer)
    for _ in range(3):
        payer.wait("2h")
        payer.get("/v1/getChain")
        payer.quote()
        payer.follow(payer.submit(payer.pay()))


# slippage and minimum


@wrong("orders a swap with a slippage of 1, meant as a percent", "slippage-in-percent")
def orders_with_one_percent(payer: Payer) -> None:
    swap(payer, slippage="1")


@wrong("asks for call data with a slippage of 0.5", "slippage-in-percent")
def asks_for_call_data_with_half_a_percent(payer: Payer) -> None:
    swap_data(payer, slippage="0.5")


@wrong("asks for call data with a slippage of 3, meant as a percent", "slippage-in-percent")
def asks_for_call_data_with_three_percent(payer: Payer) -> None:
    swap_data(payer, slippage="3")


@wrong("takes whatever arrives: a slippage of 50 %", "no-minimum")
def swaps_at_any_price(payer: Payer) -> None:
    swap(payer, slippage="5000", extra="")


@wrong("orders a swap whose minimum is the smallest there is", "no-minimum")
def swaps_with_a_minimum_of_nothing(payer: Payer) -> None:
    swap(payer, extra="4_1")


@wrong("orders a swap without a minimum, and with a slippage of 0", "no-minimum")
def swaps_without_a_minimum(payer: Payer) -> None:
    swap(payer, slippage="0", extra="")


# storms


@wrong("asks sixty times without a pause", "polls-too-fast")
def asks_as_fast_as_it_can(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    order = payer.submit(payer.pay())
    for _ in range(60):
        payer.look(order)
    payer.follow(order)


@wrong("asks for the tickets of an address five times a second", "polls-too-fast")
def asks_for_tickets_too_often(payer: Payer) -> None:
    begin(payer)
    for _ in range(100):
        payer.get("/v1/getAllTicketByAddress", address=payer.me, filter="Pending")
        payer.wait("200ms")


@wrong("wakes up each ten seconds and asks ten times at once", "polls-too-fast")
def asks_in_bursts(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    order = payer.submit(payer.pay())
    for _ in range(12):
        for _ in range(10):
            payer.look(order)
        payer.wait("10s")
    payer.follow(order)


@wrong("asks again at once for a quote that is refused", "retry-without-backoff")
def asks_again_for_what_is_refused(payer: Payer) -> None:
    begin(payer)
    for _ in range(20):
        payer.get(
            "/v1/getBridgeQuote",
            amount="10000000",
            symbol="PEPE",
            fromChain="ARB",
            toChain="BNB",
        )


@wrong("submits what is refused each second, for a minute", "retry-without-backoff")
def submits_what_is_refused_each_second(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    paid = payer.pay()
    payer.fault("refusal", refusal="chain-suspended", first=60)
    order = None
    while order is None:
        order = payer.submit(paid)
        payer.wait("1s")
    payer.follow(order)


# never followed


@wrong("submits and goes home", "never-followed")
def submits_and_goes_home(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    payer.submit(payer.pay())


@wrong("follows the first of two orders", "never-followed")
def follows_the_first_of_two(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    first = payer.submit(payer.pay())
    payer.quote("11")
    payer.submit(payer.pay("11"), "11")
    payer.follow(first)


@wrong("submits to v1 and never asks for the order", "never-followed")
def submits_to_v1_and_goes_home(payer: Payer) -> None:
    payer.get("/open/v1/base/getSupportChains")
    payer.v1_quote()
    payer.v1_submit(payer.v1_pay())


# numbers that were texts


@wrong("writes numbers into the certificate", "ids-as-numbers")
def certifies_with_numbers(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    certificate = {
        "fromAmount": 10_000_000,
        "fromIndex": 5,
        "fromChain": "ARB",
        "fromAddr": payer.me,
        "certHash": payer.pay(),
        "fromPublicKey": "",
        "signature": "123456",
    }
    payer.follow(payer.submit("0x", sourceCerts=json.dumps(certificate).encode().hex()))


@wrong("reads the id of an order as a float, and asks for 7.0", "ids-as-numbers")
def asks_for_an_order_by_a_float(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    order = payer.submit(payer.pay())
    assert order is not None
    payer.look(str(float(int(order))))
    payer.follow(order)


@wrong("reads the id of an order as a number with seven digits", "ids-as-numbers", "unknown-id")
def asks_for_an_order_by_a_rounded_number(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    order = payer.submit(payer.pay())
    assert order is not None
    payer.look(f"{float(int(order)):.6e}")
    payer.follow(order)


# the same hash with another body


@wrong("submits the same hash for another receiver", "same-hash-other-body")
def submits_again_for_another_receiver(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    paid = payer.pay()
    order = payer.submit(paid)
    payer.submit(paid, toAddr=FRIEND)
    payer.follow(order)


@wrong("after a refusal submits the same hash with another amount", "same-hash-other-body")
def submits_again_with_less(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    paid = payer.pay()
    payer.fault("refusal", refusal="chain-suspended")
    payer.submit(paid)
    payer.wait("20s")
    payer.follow(payer.submit(paid, "9"))


@wrong("submits the same hash in capitals to another chain", "same-hash-other-body")
def submits_the_hash_in_capitals_elsewhere(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    paid = payer.pay()
    order = payer.submit(paid)
    payer.submit(f"0x{paid[2:].upper()}", target="POLYGON")
    payer.follow(order)


@wrong("submits the same hash to v1 for another chain", "same-hash-other-body")
def submits_again_to_v1_for_another_chain(payer: Payer) -> None:
    payer.get("/open/v1/base/getSupportChains")
    payer.v1_quote()
    paid = payer.v1_pay()
    payer.v1_submit(paid)
    payer.v1_submit(paid, target="POLYGON")
    for _ in range(10):
        payer.wait("10m")
        payer.v1_look(paid)


# deprecated


@wrong("reads lists and quotes of 2.0 and submits with v1", "deprecated")
def submits_with_the_older_request(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    paid = payer.pay()
    payer.v1_submit(paid)
    for _ in range(10):
        payer.wait("10m")
        payer.v1_look(paid)
