"""Clients that do odd things, none of which can cost money or is impolite.

Written from the words of the wish for lint alone, as the wrong ones beside it.
"""

import json
from decimal import Decimal

from tests.audit.flows.payer import FRIEND, Book, Payer
from tests.lint.flows.wrong import begin, swap, swap_data, units

BOOK: Book[Payer] = Book()
right = BOOK.right


def transfer(payer: Payer, amount: str = "10", **route: str) -> None:
    """Quote, pay, submit and follow."""
    payer.quote(amount, **route)
    payer.follow(payer.submit(payer.pay(amount, chain=route.get("source", "ARB")), amount, **route))


@right
def reads_one_list_of_all_tokens(payer: Payer) -> None:
    payer.proxy("ARB")
    payer.get("/v1/getAssets")
    transfer(payer)


@right
def moves_an_amount_with_all_its_digits(payer: Payer) -> None:
    begin(payer)
    transfer(payer, "12.345677")


@right
def moves_all_that_it_has_but_the_last_unit(payer: Payer) -> None:
    begin(payer)
    usdt = payer.token("USDT", "ARB")["contractAddress"]
    data = payer.get("/v1/getBalance", chain="ARB", contractAddress=usdt, address=payer.me)
    amount = int(data["balance"]) - 123_457
    units(payer, amount, amount)


@right
def moves_a_price_that_ends_in_99(payer: Payer) -> None:
    begin(payer)
    transfer(payer, "19.99")


@right
def compares_three_amounts_and_pays_the_first(payer: Payer) -> None:
    begin(payer)
    for amount in ("10", "20", "30"):
        payer.quote(amount)
        payer.wait("5s")
    payer.follow(payer.submit(payer.pay()))


@right
def compares_routes_and_pays_nothing(payer: Payer) -> None:
    begin(payer)
    for symbol in ("USDT", "USDC", "DAI"):
        for target in ("BNB", "POLYGON"):
            payer.quote("25", symbol=symbol, target=target)


@right
def asks_with_growing_pauses(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    order = payer.submit(payer.pay())
    for exponent in range(12):
        payer.wait(f"{2**exponent}s")
        payer.look(order)


@right
def asks_for_two_orders_in_turn(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    payer.quote("11")
    orders = [payer.submit(payer.pay()), payer.submit(payer.pay("11"), "11")]
    for _ in range(60):
        for order in orders:
            payer.look(order)
        payer.wait("2s")
    for order in orders:
        payer.follow(order)


@right
def submits_the_same_again_after_a_lost_answer(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    paid = payer.pay()
    payer.fault("reset-before-headers", does="done")
    payer.submit(paid)
    payer.wait("2s")
    payer.follow(payer.submit(paid))


@right
def submits_the_same_in_another_order_of_members(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    paid = payer.pay()
    certificate = {
        "signature": "123456",
        "fromPublicKey": "",
        "certHash": paid,
        "fromAddr": payer.me,
        "fromChain": "ARB",
        "fromIndex": "5",
        "fromAmount": "10000000",
    }
    payer.submit(paid)
    payer.follow(payer.submit(paid, sourceCerts=json.dumps(certificate).encode().hex()))


@right
def submits_what_is_refused_with_growing_pauses(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    paid = payer.pay()
    payer.fault("refusal", refusal="chain-suspended", first=6)
    for exponent in range(6):
        payer.submit(paid)
        payer.wait(f"{2**exponent}s")
    payer.follow(payer.submit(paid))


@right
def swaps_with_half_a_percent(payer: Payer) -> None:
    swap(payer, slippage="50")


@right
def asks_for_call_data_with_a_tenth_of_a_percent(payer: Payer) -> None:
    swap_data(payer, slippage="10")


@right
def uses_v1_with_its_own_names(payer: Payer) -> None:
    payer.get("/open/v1/base/getSupportChains")
    payer.v1_quote(source="POLYGON", target="BNB")
    paid = payer.v1_pay(source="POLYGON")
    payer.v1_submit(paid, source="POLYGON", target="BNB")
    for _ in range(10):
        payer.wait("10m")
        payer.v1_look(paid, "POLYGON")


@right
def reads_with_both_generations(payer: Payer) -> None:
    begin(payer)
    payer.get("/open/v1/base/getSupportChains")
    payer.v1_quote("10", "ARB", "BNB")
    transfer(payer, target="BNB")


@right
def moves_a_token_that_is_named_as_a_chain(payer: Payer) -> None:
    begin(payer)
    payer.token("MATIC", "POLYGON")
    payer.quote("20", symbol="MATIC", source="POLYGON", target="BNB")
    paid = payer.pay("20", symbol="MATIC", chain="POLYGON")
    payer.follow(payer.submit(paid, "20", "MATIC", "POLYGON", "BNB"))


@right
def moves_a_thousandth_of_a_bitcoin(payer: Payer) -> None:
    begin(payer)
    payer.quote("0.001", symbol="BTC", source="ETH", target="BNB")
    paid = payer.pay("0.001", symbol="BTC", chain="ETH")
    payer.follow(payer.submit(paid, "0.001", "BTC", "ETH", "BNB"))


@right
def reads_the_lists_each_time_for_hours(payer: Payer) -> None:
    for _ in range(6):
        payer.lists = {}
        begin(payer)
        transfer(payer)
        payer.wait("40m")


@right
def quotes_again_when_the_quote_is_old(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    payer.wait("5m")
    transfer(payer)


@right
def reports_a_deposit_and_follows_the_ticket(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    paid = payer.pay()
    order = payer.submit(paid)
    payer.course(order, "dropped")
    payer.follow(order)
    payer.follow_ticket(payer.ticket(paid))


@right
def pays_the_same_amount_twice_by_intent(payer: Payer) -> None:
    begin(payer)
    for _ in range(2):
        transfer(payer)
        payer.lists = {}
        begin(payer)


@right
def pays_a_friend(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    payer.follow(payer.submit(payer.pay(), toAddr=FRIEND))


@right
def looks_at_balances_and_prices(payer: Payer) -> None:
    begin(payer)
    usdt = payer.token("USDT", "ARB")["contractAddress"]
    for _ in range(40):
        payer.get("/v1/getBalance", chain="ARB", contractAddress=usdt, address=payer.me)
        payer.get("/v1/getPrice", chain="ARB", contractAddress=usdt, symbol="USDT")
        payer.wait("15s")


@right
def sleeps_for_three_hours_and_asks_once(payer: Payer) -> None:
    begin(payer)
    payer.quote()
    order = payer.submit(payer.pay())
    payer.wait("3h")
    payer.look(order)


@right
def moves_most_of_its_balance(payer: Payer) -> None:
    begin(payer)
    amount = int(Decimal("900.5").scaleb(6))
    units(payer, amount, amount)
