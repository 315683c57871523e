"""Flows in which money is lost, doubled, misdirected, forgotten or believed to be where it is not.

Each names what goes wrong, and the kinds of a finding of which one has to say so.
"""

from tests.audit.flows.payer import DAY, FRIEND, HOUR, STRANGER, Book, Payer

BOOK: Book[Payer] = Book()
wrong = BOOK.wrong

LOST = ("deposit-without-order",)
DOUBLED = ("two-orders",)
MISDIRECTED = ("paid-otherwise",)
FORGOTTEN = ("left-underway", "order-not-followed", "refund-not-noticed", "drop-not-reported")
QUOTE = ("other-quote",)


# paid otherwise than ordered


@wrong("the token goes to a stranger, and its hash is ordered", *MISDIRECTED)
def pays_a_stranger(payer: Payer) -> None:
    payer.quote()
    payer.follow(payer.submit(payer.pay(to=STRANGER)))


@wrong("a tenth is paid of what is ordered", *MISDIRECTED)
def pays_a_tenth(payer: Payer) -> None:
    payer.quote()
    payer.follow(payer.submit(payer.pay("1")))


@wrong("ten times of what is ordered is paid", *MISDIRECTED)
def pays_ten_times(payer: Payer) -> None:
    payer.quote()
    payer.follow(payer.submit(payer.pay("100")))


@wrong("another token is paid", *MISDIRECTED)
def pays_other_token(payer: Payer) -> None:
    payer.quote()
    payer.follow(payer.submit(payer.pay(symbol="USDC")))


@wrong("the chain's coin is paid for a token", *MISDIRECTED)
def pays_coin_for_token(payer: Payer) -> None:
    payer.quote()
    paid = payer.transaction("ARB", payer.proxy("ARB"), value=10**16)
    payer.follow(payer.submit(paid))


@wrong("the token goes to the zero address", *MISDIRECTED)
def pays_the_zero_address(payer: Payer) -> None:
    payer.quote()
    payer.follow(payer.submit(payer.pay(to="0x" + "0" * 40)))


@wrong("the payment is on another chain than the order says", *MISDIRECTED)
def pays_on_other_chain(payer: Payer) -> None:
    payer.quote()
    payer.follow(payer.submit(payer.pay(chain="POLYGON")))


@wrong("the payment failed on its chain, and is submitted as a deposit", *MISDIRECTED)
def orders_a_token_call_without_transfer(payer: Payer) -> None:
    payer.quote()
    address = payer.token("USDT", "ARB")["contractAddress"]
    paid = payer.transaction("ARB", address, "0xdeadbeef")
    payer.follow(payer.submit(paid))


@wrong("only an approval was sent, and is submitted as the deposit", *MISDIRECTED)
def orders_the_approval(payer: Payer) -> None:
    payer.quote()
    address = payer.token("USDT", "ARB")["contractAddress"]
    data = f"0x095ea7b3{int(payer.proxy('ARB'), 16):064x}{10**7:064x}"
    payer.follow(payer.submit(payer.transaction("ARB", address, data)))


@wrong("the coin goes to a stranger", *MISDIRECTED)
def pays_coin_to_a_stranger(payer: Payer) -> None:
    payer.quote("1", symbol="ETH", target="ETH")
    paid = payer.pay("1", symbol="ETH", to=STRANGER)
    payer.follow(payer.submit(paid, "1", symbol="ETH", target="ETH"))


@wrong("a tenth of the coin is paid", *MISDIRECTED)
def pays_a_tenth_of_the_coin(payer: Payer) -> None:
    payer.quote("1", symbol="ETH", target="ETH")
    paid = payer.pay("0.1", symbol="ETH")
    payer.follow(payer.submit(paid, "1", symbol="ETH", target="ETH"))


@wrong("v1: the payment goes to a stranger", *MISDIRECTED)
def v1_pays_a_stranger(payer: Payer) -> None:
    payer.v1_quote()
    paid = payer.pay(to=STRANGER)
    payer.v1_submit(paid)
    payer.wait(DAY)
    payer.v1_look(paid)


@wrong("v1: a tenth of the payment is ordered", *MISDIRECTED, *QUOTE)
def v1_orders_a_tenth(payer: Payer) -> None:
    payer.v1_quote()
    paid = payer.pay()
    payer.v1_submit(paid, "1")
    payer.wait(DAY)
    payer.v1_look(paid)


@wrong("the decimals of the target are taken for those of the source", *MISDIRECTED)
def pays_in_other_decimals(payer: Payer) -> None:
    payer.quote("10", source="BNB", target="ARB")
    paid = payer.pay("0.00000000001", chain="BNB")
    payer.follow(payer.submit(paid, "10", source="BNB", target="ARB"))


# paid, and no order


@wrong("pays and dies", *LOST)
def never_submits(payer: Payer) -> None:
    payer.quote()
    payer.pay()


@wrong("pays, is answered 503 three times and gives up", *LOST)
def gives_up_in_an_outage(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    payer.fault("http-status", status=503, first=3)
    for _ in range(3):
        payer.submit(paid)
        payer.wait("10s")


@wrong("gives up after 503 with a transaction that the mock was not told of", *LOST)
def gives_up_without_transaction(payer: Payer) -> None:
    payer.quote()
    payer.fault("http-status", status=503, first=1)
    payer.submit(payer.hash())


@wrong("takes a refusal for a success", *LOST)
def ignores_a_refusal(payer: Payer) -> None:
    payer.quote()
    payer.fault("refusal", refusal="chain-suspended")
    payer.submit(payer.pay())


@wrong("the submission is lost on its way and never repeated", *LOST)
def does_not_retry(payer: Payer) -> None:
    payer.quote()
    payer.fault("reset-before-headers")
    payer.submit(payer.pay())


@wrong("the chain is suspended after the payment, and the client forgets it", *LOST)
def forgets_in_a_suspension(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    payer.outage(**{"for": "3h"})
    payer.submit(paid)
    payer.wait(DAY)


@wrong("submits another hash than that of its payment", *LOST)
def orders_other_hash(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    other = paid[:-1] + ("0" if paid[-1] != "0" else "1")
    payer.follow(payer.submit(other))


@wrong("v1: the submission is refused and never repeated", *LOST)
def v1_ignores_a_refusal(payer: Payer) -> None:
    payer.v1_quote()
    payer.fault("refusal", "submitCrossChain", refusal="chain-suspended")
    payer.v1_submit(payer.v1_pay())


@wrong("a refused deposit is reported under a wrong hash", *LOST)
def ticket_for_other_hash(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    payer.fault("refusal", refusal="chain-suspended")
    payer.submit(paid)
    payer.follow_ticket(payer.ticket(payer.hash()))


@wrong("pays twice, the first was refused, and only the second is ever an order", *LOST, *DOUBLED)
def pays_again_after_a_refusal(payer: Payer) -> None:
    payer.quote()
    payer.fault("refusal", refusal="chain-suspended")
    payer.submit(payer.pay())
    payer.follow(payer.submit(payer.pay()))


# paid twice


@wrong("the answer was lost, and it pays anew", *DOUBLED)
def pays_again_after_a_lost_answer(payer: Payer) -> None:
    payer.quote()
    payer.fault("reset-before-headers", does="done")
    payer.submit(payer.pay())
    payer.follow(payer.submit(payer.pay()))


@wrong("the answer was lost, and it quotes and pays anew", *DOUBLED)
def quotes_and_pays_again_after_a_lost_answer(payer: Payer) -> None:
    payer.quote()
    payer.fault("http-status", status=504, does="done")
    payer.submit(payer.hash())
    payer.quote()
    payer.follow(payer.submit(payer.hash()))


@wrong("the answer could not be read, and it pays anew", *DOUBLED)
def pays_again_after_a_cut_answer(payer: Payer) -> None:
    payer.quote()
    payer.fault("truncated-body")
    payer.submit(payer.hash())
    payer.follow(payer.submit(payer.hash()))


@wrong("the first is slow, and it pays anew", *DOUBLED)
def pays_again_when_slow(payer: Payer) -> None:
    payer.quote()
    first = payer.submit(payer.pay())
    payer.course(first, "slow")
    payer.wait("10m")
    payer.look(first)
    second = payer.submit(payer.pay())
    payer.follow(second)
    payer.follow(first)


@wrong("the first is slow, and it quotes and pays anew", *DOUBLED)
def quotes_and_pays_again_when_slow(payer: Payer) -> None:
    payer.quote()
    first = payer.submit(payer.hash())
    payer.course(first, "slow")
    payer.wait("10m")
    payer.look(first)
    payer.quote()
    second = payer.submit(payer.hash())
    payer.follow(second)
    payer.follow(first)


@wrong("the first is slow, and it pays again from another chain", *DOUBLED)
def pays_again_on_another_road(payer: Payer) -> None:
    payer.quote()
    first = payer.submit(payer.hash())
    payer.course(first, "slow")
    payer.wait("10m")
    payer.look(first)
    payer.quote(source="POLYGON")
    second = payer.submit(payer.hash(), source="POLYGON")
    payer.follow(second)
    payer.follow(first)


@wrong("the answer was lost, and it pays again from another chain", *DOUBLED)
def pays_again_on_another_road_after_a_lost_answer(payer: Payer) -> None:
    payer.quote()
    payer.fault("reset-before-headers", does="done")
    payer.submit(payer.hash())
    payer.quote(source="POLYGON")
    payer.follow(payer.submit(payer.hash(), source="POLYGON"))


@wrong("the answer of v1 was lost, and it pays again through 2.0", *DOUBLED)
def pays_again_in_the_other_generation(payer: Payer) -> None:
    payer.v1_quote()
    payer.fault("reset-before-headers", "submitCrossChain", does="done")
    payer.v1_submit(payer.v1_pay())
    payer.quote()
    payer.follow(payer.submit(payer.hash()))


@wrong("v1: the answer was lost, and it pays anew", *DOUBLED)
def v1_pays_again_after_a_lost_answer(payer: Payer) -> None:
    payer.v1_quote()
    payer.fault("reset-before-headers", "submitCrossChain", does="done")
    payer.v1_submit(payer.v1_pay())
    paid = payer.v1_pay()
    payer.v1_submit(paid)
    payer.wait(DAY)
    payer.v1_look(paid)


@wrong("two workers pay on one quote", *DOUBLED)
def two_workers(payer: Payer) -> None:
    payer.quote()
    orders = [payer.submit(payer.hash()), payer.submit(payer.hash())]
    for order in orders:
        payer.follow(order)


@wrong("one hash is ordered twice, for two recipients", *LOST, *MISDIRECTED, *DOUBLED, "same-hash")
def orders_a_hash_for_two_recipients(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    payer.follow(payer.submit(paid))
    payer.follow(payer.submit(paid, toAddr=FRIEND))


# forgotten


@wrong("the order is stuck; it looks three times and gives up", *FORGOTTEN)
def gives_up_a_stuck_order(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.hash())
    payer.course(order, "stuck")
    payer.follow(order, times=3)


@wrong("the order is stuck and nobody ever looks", *FORGOTTEN)
def never_looks_at_a_stuck_order(payer: Payer) -> None:
    payer.quote()
    payer.course(payer.submit(payer.hash()), "stuck")


@wrong("the order fails and nobody ever looks", *FORGOTTEN)
def never_looks_at_a_failed_order(payer: Payer) -> None:
    payer.quote()
    payer.course(payer.submit(payer.hash()), "fail")
    payer.wait(DAY)


@wrong("looks at once, then never again, and the order fails", *FORGOTTEN)
def looks_once_at_an_order_that_fails(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.hash())
    payer.course(order, "fail")
    payer.look(order)


@wrong("looks at once, then never again, and the deposit is refunded", *FORGOTTEN)
def looks_once_at_an_order_that_is_refunded(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.hash())
    payer.course(order, "refund")
    payer.look(order)
    payer.wait(DAY)


@wrong("the order is dropped, the client sees it and does nothing", *FORGOTTEN)
def leaves_a_dropped_order(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.hash())
    payer.course(order, "dropped")
    payer.follow(order)


@wrong("the order is dropped and nobody ever looks", *FORGOTTEN)
def never_looks_at_a_dropped_order(payer: Payer) -> None:
    payer.quote()
    payer.course(payer.submit(payer.hash()), "dropped")


@wrong("a ticket is filed and never looked at again", "ticket-not-followed")
def never_follows_its_ticket(payer: Payer) -> None:
    payer.quote()
    paid = payer.hash()
    order = payer.submit(paid)
    payer.course(order, "dropped")
    payer.follow(order)
    payer.ticket(paid)
    payer.wait(DAY)


@wrong(
    "a ticket for a hash that no chain knows stands for a lost deposit",
    *LOST,
    "ticket-not-followed",
)
def files_an_insoluble_ticket(payer: Payer) -> None:
    payer.quote()
    payer.fault("refusal", refusal="chain-suspended")
    paid = payer.hash()
    payer.submit(paid)
    payer.ticket(paid)


@wrong("looks at an id that no answer had, never at its own", "unknown-id", *FORGOTTEN)
def looks_at_an_unknown_id(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.hash())
    for _ in range(3):
        payer.look(f"9{order}")
        payer.wait(HOUR)


@wrong("reads its id as a number with a float's digits", "unknown-id", *FORGOTTEN)
def rounds_its_id(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.hash())
    payer.course(order, "fail")
    payer.wait(DAY)
    payer.look(f"{int(order or 0) + 1}")


# less than was to come, or something else


@wrong("half of a swap is filled, and taken for a success", "short")
def takes_a_part_for_all(payer: Payer) -> None:
    payer.swap_quote()
    order = payer.submit(payer.hash(), bought="BNB")
    payer.course(order, "partial")
    payer.follow(order)


@wrong("rule 1 says 18 wei where the quote says much", "short", *QUOTE)
def expects_eighteen_wei(payer: Payer) -> None:
    payer.swap_quote()
    payer.follow(payer.submit(payer.hash(), bought="BNB", extra="1_18"))


@wrong("rules 1 and 4 say 18 wei where the quote says much", "short", *QUOTE)
def takes_eighteen_wei_at_least(payer: Payer) -> None:
    payer.quote("2400")
    payer.follow(payer.submit(payer.hash(), "2400", extra="1_18;4_18"))


@wrong("another token is bought than was quoted", *QUOTE, *MISDIRECTED)
def buys_another_token(payer: Payer) -> None:
    payer.swap_quote()
    payer.follow(payer.submit(payer.hash(), bought="BTC"))


@wrong("another chain is paid out than was quoted", *QUOTE, *MISDIRECTED)
def sends_to_another_chain(payer: Payer) -> None:
    payer.quote(target="BNB")
    payer.follow(payer.submit(payer.hash(), target="POLYGON"))


@wrong("the quote is two hours old at the payment", *QUOTE)
def pays_on_an_old_quote(payer: Payer) -> None:
    payer.quote()
    payer.wait("2h")
    payer.follow(payer.submit(payer.pay()))


@wrong("never quoted", *QUOTE)
def pays_without_a_quote(payer: Payer) -> None:
    payer.follow(payer.submit(payer.hash()))


@wrong("only another route was quoted", *QUOTE)
def quotes_another_route(payer: Payer) -> None:
    payer.quote(source="POLYGON", target="ETH")
    payer.follow(payer.submit(payer.hash()))


@wrong("ten were quoted, a thousand are sent", *QUOTE)
def sends_more_than_quoted(payer: Payer) -> None:
    payer.quote("10")
    payer.follow(payer.submit(payer.hash(), "1000"))


@wrong("v1: another target than quoted", *QUOTE)
def v1_sends_to_another_chain(payer: Payer) -> None:
    payer.v1_quote(target="BNB")
    paid = payer.v1_pay()
    payer.v1_submit(paid, target="POLYGON")
    payer.wait(DAY)
    payer.v1_look(paid)


# believed otherwise than it is


@wrong("a failed order is believed to have arrived", "not-as-claimed")
def believes_a_failed_order(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.hash())
    payer.course(order, "fail")
    payer.follow(order)
    payer.believes(order=order, state="arrived")


@wrong("a refund is believed to be a success", "not-as-claimed")
def believes_a_refund(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.hash())
    payer.course(order, "refund")
    payer.follow(order)
    payer.believes(order=order, state="arrived")


@wrong("another amount is believed to have arrived", "not-as-claimed")
def believes_another_amount(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.hash())
    payer.follow(order)
    payer.believes(order=order, state="arrived", amount="10")


@wrong("a tenth of what is expected is paid", "not-as-expected")
def sends_a_tenth_of_what_is_expected(payer: Payer) -> None:
    payer.expects(amount="25 USDT", to=payer.me)
    payer.quote("2.5")
    payer.follow(payer.submit(payer.hash(), "2.5"))


@wrong("another person is paid than expected", "not-as-expected")
def sends_to_another_person(payer: Payer) -> None:
    payer.expects(amount="10 USDT", to=FRIEND)
    payer.quote()
    payer.follow(payer.submit(payer.hash()))


@wrong("the swap pays a stranger", "not-as-expected")
def swaps_to_a_stranger(payer: Payer) -> None:
    payer.expects(amount="10 USDT", to=payer.me)
    payer.swap_quote()
    payer.follow(payer.submit(payer.hash(), bought="BNB", toAddr=STRANGER))


@wrong("expected once and paid twice, each quoted and followed", "not-as-expected")
def pays_twice_what_is_expected_once(payer: Payer) -> None:
    payer.expects(amount="10 USDT", to=payer.me, times=1)
    for _ in range(2):
        payer.quote()
        payer.follow(payer.submit(payer.hash()))


@wrong("expected, and nothing is paid", "not-as-expected")
def never_pays_what_is_expected(payer: Payer) -> None:
    payer.expects(amount="10 USDT", to=payer.me)
    payer.quote()


@wrong("expected on one chain, paid out on another", "not-as-expected")
def pays_out_on_another_chain(payer: Payer) -> None:
    payer.expects(amount="10 USDT", to=payer.me, chain="BNB")
    payer.quote(target="POLYGON")
    payer.follow(payer.submit(payer.hash(), target="POLYGON"))


# a second dozen, with what is right in right.py


@wrong("the first road is slow, so the same transfer is sent from another chain", *DOUBLED)
def takes_a_second_route_for_one_intent(payer: Payer) -> None:
    payer.quote(source="ARB")
    payer.outage("BNB", "accept-stall", **{"for": "2h"})
    first = payer.submit(payer.hash())
    payer.wait("20m")
    payer.look(first)
    payer.quote(source="POLYGON")
    payer.follow(payer.submit(payer.hash(), source="POLYGON"))


@wrong("dies after its answer was sent, and pays again after the restart", *DOUBLED)
def pays_again_after_a_restart(payer: Payer) -> None:
    payer.quote()
    payer.fault("reset-before-headers", does="done")
    payer.submit(payer.hash())
    again = payer.arrives()
    again.wait("2m")
    again.quote()
    again.follow(again.submit(again.hash()))


@wrong("a swap that was filled in part is taken for a whole one", "short", "not-as-claimed")
def takes_a_part_for_the_whole(payer: Payer) -> None:
    payer.swap_quote()
    order = payer.submit(payer.hash(), bought="BNB")
    payer.course(order, "partial")
    payer.follow(order)
    payer.believes(order=order, state="arrived")


@wrong("all of the coin but the gas is ordered, and less is paid", *MISDIRECTED)
def pays_its_coin_less_the_gas(payer: Payer) -> None:
    payer.quote("1", symbol="ETH", target="ETH")
    paid = payer.pay("0.999", symbol="ETH")
    payer.follow(payer.submit(paid, "1", symbol="ETH", target="ETH"))


@wrong("looks at an order that is stuck, twice, and gives it up", "left-underway")
def gives_a_stuck_order_up(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.hash())
    payer.course(order, "stuck")
    for _ in range(2):
        payer.wait("1d")
        payer.look(order)


@wrong("paid through 2.0, slow, and paid again through v1", *DOUBLED)
def mixes_generations_and_pays_twice(payer: Payer) -> None:
    payer.quote()
    payer.outage("BNB", "accept-stall", **{"for": "2h"})
    first = payer.submit(payer.hash())
    payer.wait("30m")
    payer.look(first)
    payer.v1_quote()
    paid = payer.v1_pay()
    payer.v1_submit(paid)
    payer.wait("1d")
    payer.v1_look(paid)


# a third dozen, with what is right in right.py


@wrong("a relayer takes the token from the wallet for itself", *MISDIRECTED)
def lets_a_relayer_take_it(payer: Payer) -> None:
    payer.quote()
    payer.follow(payer.submit(payer.relayed(to=FRIEND)))


@wrong("of two wallets that pay, one never submits", *LOST)
def one_of_two_wallets_forgets(payer: Payer) -> None:
    second = Payer(payer.client, FRIEND)
    for wallet in (payer, second):
        wallet.quote()
    paid, _ = payer.pay(), second.pay()
    payer.follow(payer.submit(paid))


@wrong("after a part has come, all is paid again", *DOUBLED, "short")
def pays_all_again_after_a_part(payer: Payer) -> None:
    for _ in range(2):
        payer.swap_quote()
        order = payer.submit(payer.hash(), bought="BNB")
        payer.course(order, "partial")
        payer.follow(order)


@wrong("v1 refuses while the chain is out, and the deposit is left", *LOST)
def v1_gives_up_while_a_chain_is_out(payer: Payer) -> None:
    payer.v1_quote()
    paid = payer.pay()
    payer.outage("BNB", **{"for": "2h"})
    payer.v1_submit(paid)
    payer.wait(DAY)
    payer.v1_quote()


@wrong("each answer of 500 is followed by a new payment", *DOUBLED)
def pays_anew_after_each_500(payer: Payer) -> None:
    payer.quote()
    payer.fault("http-status", status=500, does="done", first=2)
    orders = [payer.submit(payer.pay()) for _ in range(3)]
    payer.follow(orders[-1])


@wrong("an answer of 502 ends it, and the next transfer begins", *LOST)
def moves_on_after_502(payer: Payer) -> None:
    payer.quote()
    payer.fault("http-status", status=502, does="none")
    payer.submit(payer.pay())
    payer.quote("25")
    payer.follow(payer.submit(payer.pay("25"), "25"))


@wrong("after a restart nobody looks at the order, which is refunded", *FORGOTTEN)
def forgets_its_order_over_a_restart(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.pay())
    payer.course(order, "refund")
    payer.look(order)
    again = payer.arrives()
    again.wait(DAY)
    again.quote("7", target="POLYGON")
    again.follow(again.submit(again.pay("7"), "7", target="POLYGON"))


@wrong("the token takes a fee of each transfer, and all is ordered", *MISDIRECTED)
def orders_what_the_fee_of_the_token_took(payer: Payer) -> None:
    payer.quote()
    payer.follow(payer.submit(payer.pay("9.7")))


@wrong("the deposit goes to a minter of earlier years", *MISDIRECTED)
def pays_an_old_minter(payer: Payer) -> None:
    payer.quote()
    payer.follow(payer.submit(payer.pay(to="0x8a4aa176007196d48d39c89402d3753c39ae64c1")))


@wrong("the deposit goes to the deposit address of another chain", *MISDIRECTED)
def pays_the_proxy_of_another_chain(payer: Payer) -> None:
    payer.quote()
    payer.follow(payer.submit(payer.pay(to="0x1e0cc9b982c7c3fb1ec704c28f48c35e7bed08a1")))


@wrong("a dropped order is reported on the chain of arrival", "drop-not-reported")
def reports_a_drop_on_another_chain(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    order = payer.submit(paid)
    payer.course(order, "dropped")
    payer.follow(order)
    payer.ticket(paid, chain="BNB")


@wrong("quoted to BNB in 2.0, and ordered to POLYGON in v1", *QUOTE)
def quotes_in_one_generation_and_orders_elsewhere_in_the_other(payer: Payer) -> None:
    payer.quote()
    paid = payer.v1_pay()
    payer.v1_submit(paid, target="POLYGON")
    payer.wait(DAY)
    payer.v1_look(paid)


@wrong("the answer is lost, and a second wallet pays what was to be paid once", "not-as-expected")
def a_second_wallet_pays_the_same_again(payer: Payer) -> None:
    payer.expects(amount="10 USDT", to=payer.me, chain="BNB", times=1)
    payer.quote()
    payer.fault("reset-before-headers", does="done")
    payer.submit(payer.pay())
    second = Payer(payer.client, FRIEND)
    second.quote()
    second.follow(second.submit(second.pay(), toAddr=payer.me))


@wrong("a refund is sought under another address, and never seen", *FORGOTTEN, "unknown-id")
def looks_under_another_address(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    order = payer.submit(paid)
    payer.course(order, "refund")
    stranger = Payer(payer.client, FRIEND)
    for _ in range(3):
        payer.wait(HOUR)
        stranger.v1_look(paid)
