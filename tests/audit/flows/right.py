"""Flows in which no money is lost, doubled, misdirected or forgotten."""

from tests.audit.flows.payer import DAY, FRIEND, HOUR, MINUTE, Book, Payer
from tests.conftest import WALLET

BOOK: Book[Payer] = Book()
right = BOOK.right


@right
def nothing_at_all(payer: Payer) -> None:
    pass


@right
def reads_lists(payer: Payer) -> None:
    payer.get("/v1/getChain")
    payer.get("/v1/getAssets")


@right
def only_quotes(payer: Payer) -> None:
    payer.quote()
    payer.swap_quote()
    payer.v1_quote()


@right
def transfer(payer: Payer) -> None:
    payer.quote()
    payer.follow(payer.submit(payer.hash()))


@right
def transfer_with_its_transaction(payer: Payer) -> None:
    payer.quote()
    payer.follow(payer.submit(payer.pay()))


@right
def transfer_of_18_decimals(payer: Payer) -> None:
    payer.quote("12.345678901234567891", source="BNB", target="ETH")
    paid = payer.pay("12.345678901234567891", chain="BNB")
    payer.follow(payer.submit(paid, "12.345678901234567891", source="BNB", target="ETH"))


@right
def transfer_of_a_coin(payer: Payer) -> None:
    payer.quote("1", symbol="ETH", target="ETH")
    paid = payer.pay("1", symbol="ETH")
    payer.follow(payer.submit(paid, "1", symbol="ETH", target="ETH"))


@right
def transfer_from_polygon(payer: Payer) -> None:
    payer.quote(source="POLYGON", target="ARB")
    paid = payer.pay(chain="POLYGON")
    payer.follow(payer.submit(paid, source="POLYGON", target="ARB"))


@right
def swap(payer: Payer) -> None:
    payer.swap_quote()
    payer.follow(payer.submit(payer.pay(), bought="BNB"))


@right
def swap_with_its_rules(payer: Payer) -> None:
    comes = payer.swap_quote() or 0
    extra = f"1_{comes};4_{comes * 99 // 100}"
    payer.follow(payer.submit(payer.pay(), bought="BNB", extra=extra))


@right
def transfer_with_its_rules(payer: Payer) -> None:
    comes = payer.quote()
    payer.follow(payer.submit(payer.pay(), extra=f"1_{comes};4_{comes}"))


@right
def v1_transfer(payer: Payer) -> None:
    payer.v1_quote()
    paid = payer.v1_pay()
    payer.v1_submit(paid)
    payer.wait(DAY)
    payer.v1_look(paid)


@right
def v1_transfer_with_its_transaction(payer: Payer) -> None:
    payer.v1_quote()
    paid = payer.pay()
    payer.v1_submit(paid)
    payer.wait(DAY)
    payer.v1_look(paid)


@right
def v1_order_followed_in_v2(payer: Payer) -> None:
    payer.v1_quote()
    paid = payer.v1_pay()
    payer.v1_submit(paid)
    for _ in range(5):
        payer.wait(HOUR)
        payer.v1_look(paid)


# interrupted and done rightly


@right
def retries_a_lost_answer(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    payer.fault("reset-before-headers", does="done")
    payer.submit(paid)
    payer.follow(payer.submit(paid))


@right
def retries_a_lost_request(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    payer.fault("reset-before-headers")
    payer.submit(paid)
    payer.wait("5s")
    payer.follow(payer.submit(paid))


@right
def retries_after_503(payer: Payer) -> None:
    payer.quote()
    paid = payer.hash()
    payer.fault("http-status", status=503, first=3)
    for pause in ("5s", "10s", "20s"):
        payer.submit(paid)
        payer.wait(pause)
    payer.follow(payer.submit(paid))


@right
def retries_after_504_that_was_done(payer: Payer) -> None:
    payer.quote()
    paid = payer.hash()
    payer.fault("http-status", status=504, does="done")
    payer.submit(paid)
    payer.follow(payer.submit(paid))


@right
def retries_after_429(payer: Payer) -> None:
    payer.fault("http-status", "getBridgeQuote", status=429, first=2)
    for _ in range(3):
        payer.quote()
        payer.wait("30s")
    payer.follow(payer.submit(payer.hash()))


@right
def retries_after_a_refusal(payer: Payer) -> None:
    payer.quote()
    paid = payer.hash()
    payer.fault("refusal", refusal="chain-suspended")
    payer.submit(paid)
    payer.wait("10m")
    payer.follow(payer.submit(paid))


@right
def retries_a_cut_answer(payer: Payer) -> None:
    payer.quote()
    paid = payer.hash()
    payer.fault("truncated-body")
    payer.submit(paid)
    payer.follow(payer.submit(paid))


@right
def retries_an_unreadable_answer(payer: Payer) -> None:
    payer.fault("broken-json", "getBridgeQuote")
    payer.quote()
    payer.quote()
    paid = payer.hash()
    payer.fault("broken-json")
    payer.submit(paid)
    payer.follow(payer.submit(paid))


@right
def retries_an_unreadable_status(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.hash())
    payer.wait(HOUR)
    payer.fault("broken-json", "checkOrder")
    payer.look(order)
    payer.follow(order)


@right
def v1_retries_a_lost_answer(payer: Payer) -> None:
    payer.v1_quote()
    paid = payer.v1_pay()
    payer.fault("reset-before-headers", "submitCrossChain", does="done")
    payer.v1_submit(paid)
    payer.v1_submit(paid)
    payer.wait(DAY)
    payer.v1_look(paid)


@right
def submits_the_same_deposit_three_times(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    for _ in range(3):
        order = payer.submit(paid)
    payer.follow(order)


@right
def restarts_and_submits_again(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    payer.submit(paid)
    payer.wait("20m")
    later = payer.arrives()
    later.follow(later.submit(paid))


@right
def restarts_before_the_submission(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    payer.wait("40m")
    later = payer.arrives()
    later.follow(later.submit(paid))


@right
def waits_for_the_end_of_an_outage(payer: Payer) -> None:
    payer.outage(**{"for": "9h"})
    while payer.quote() is None:
        payer.wait(HOUR)
    payer.follow(payer.submit(payer.pay()))


@right
def submits_again_during_an_outage(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    payer.outage(**{"for": "3h"})
    order = payer.submit(paid)
    while order is None:
        payer.wait("20m")
        order = payer.submit(paid)
    payer.follow(order)


@right
def is_in_flight_during_an_outage(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.pay())
    payer.outage(mode="accept-stall", inFlight="stall", **{"for": "9h"})
    payer.follow(order)


@right
def is_stalled_by_an_outage_without_end(payer: Payer) -> None:
    # First written as a wrong flow: but an outage ends some day, and the order then arrives.
    payer.quote()
    order = payer.submit(payer.hash())
    payer.outage(mode="accept-stall", inFlight="stall")
    payer.follow(order, times=2)


@right
def is_refunded_by_an_outage(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.pay())
    payer.outage(inFlight="refund", **{"for": "9h"})
    payer.follow(order)


@right
def submits_late(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    payer.wait("3h")
    payer.follow(payer.submit(paid))


@right
def quotes_again_when_old(payer: Payer) -> None:
    payer.quote()
    payer.wait("2h")
    payer.quote()
    payer.follow(payer.submit(payer.pay()))


@right
def quotes_ten_times_and_pays_once(payer: Payer) -> None:
    for amount in range(1, 11):
        payer.quote(str(amount))
        payer.wait("10s")
    payer.follow(payer.submit(payer.hash()))


# more than one


@right
def two_equal_payments(payer: Payer) -> None:
    for _ in range(2):
        payer.quote()
        payer.follow(payer.submit(payer.hash()))


@right
def two_equal_payments_at_once(payer: Payer) -> None:
    payer.quote()
    first = payer.submit(payer.hash())
    payer.quote()
    second = payer.submit(payer.hash())
    payer.follow(first)
    payer.follow(second)


@right
def three_quotes_then_three_sends(payer: Payer) -> None:
    for _ in range(3):
        payer.quote()
    orders = [payer.submit(payer.hash()) for _ in range(3)]
    for order in orders:
        payer.follow(order)


@right
def the_first_is_refused_and_submitted_after_the_second(payer: Payer) -> None:
    payer.quote()
    first = payer.pay()
    payer.fault("refusal", refusal="chain-suspended")
    payer.submit(first)
    payer.quote()
    payer.follow(payer.submit(payer.pay()))
    payer.follow(payer.submit(first))


@right
def the_first_is_lost_and_submitted_after_the_second(payer: Payer) -> None:
    payer.quote()
    first = payer.pay()
    payer.fault("reset-before-headers")
    payer.submit(first)
    payer.quote("20")
    payer.follow(payer.submit(payer.pay("20"), "20"))
    payer.follow(payer.submit(first))


@right
def two_routes(payer: Payer) -> None:
    payer.quote(target="BNB")
    first = payer.submit(payer.hash(), target="BNB")
    payer.quote(target="POLYGON")
    second = payer.submit(payer.hash(), target="POLYGON")
    payer.follow(first)
    payer.follow(second)


@right
def two_sources(payer: Payer) -> None:
    payer.quote(source="ARB", target="BNB")
    payer.follow(payer.submit(payer.hash(), source="ARB"))
    payer.quote(source="POLYGON", target="BNB")
    payer.follow(payer.submit(payer.hash(), source="POLYGON"))


@right
def two_people(payer: Payer) -> None:
    friend = Payer(payer.client, FRIEND)
    payer.quote()
    friend.quote()
    orders = [payer.submit(payer.hash()), friend.submit(friend.hash())]
    for order in orders:
        payer.follow(order)


@right
def two_halves(payer: Payer) -> None:
    for _ in range(2):
        payer.quote("5")
        payer.follow(payer.submit(payer.pay("5"), "5"))


# slow


@right
def polls_slowly(payer: Payer) -> None:
    payer.quote()
    payer.follow(payer.submit(payer.hash()), pause="2h")


@right
def polls_often(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.hash())
    payer.course(order, "slow")
    payer.follow(order, times=200, pause="1m")


@right
def two_poll_one_order(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.hash())
    for _ in range(20):
        payer.look(order)
        payer.look(order)
        payer.wait("10m")


@right
def looks_after_days(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.hash())
    payer.wait("3d")
    payer.look(order)


# not well, and dealt with


@right
def follows_a_ticket_of_a_stuck_order(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    order = payer.submit(paid)
    payer.course(order, "stuck")
    payer.follow(order)
    payer.follow_ticket(payer.ticket(paid))
    payer.follow(order)


@right
def follows_a_ticket_of_a_dropped_order(payer: Payer) -> None:
    payer.quote()
    paid = payer.hash()
    order = payer.submit(paid)
    payer.course(order, "dropped")
    payer.follow(order)
    payer.follow_ticket(payer.ticket(paid))
    payer.follow(order)


@right
def follows_a_ticket_in_the_list(payer: Payer) -> None:
    payer.quote()
    paid = payer.hash()
    order = payer.submit(paid)
    payer.course(order, "dropped")
    payer.follow(order)
    payer.ticket(paid)
    payer.wait("3d")
    payer.get("/v1/getAllTicketByAddress", address=WALLET, filter="Succeeded")
    payer.look(order)


@right
def sees_a_failure(payer: Payer) -> None:
    payer.quote()
    paid = payer.hash()
    order = payer.submit(paid)
    payer.course(order, "fail")
    payer.follow(order)
    payer.follow_ticket(payer.ticket(paid))
    payer.follow(order)


@right
def sees_a_refund(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.hash())
    payer.course(order, "refund")
    payer.follow(order)


@right
def pays_again_after_a_refund(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.hash())
    payer.course(order, "refund")
    payer.follow(order)
    payer.quote()
    payer.follow(payer.submit(payer.hash()))


@right
def pays_again_after_a_dropped_order_was_refunded(payer: Payer) -> None:
    payer.quote()
    paid = payer.hash()
    order = payer.submit(paid)
    payer.course(order, "dropped")
    payer.follow(order)
    payer.follow_ticket(payer.ticket(paid))
    payer.follow(order)
    payer.quote()
    payer.follow(payer.submit(payer.hash()))


@right
def reports_a_deposit_that_is_refused(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    payer.outage()
    payer.submit(paid)
    payer.follow_ticket(payer.ticket(paid))


@right
def receives_a_part_within_the_minimum(payer: Payer) -> None:
    comes = payer.swap_quote() or 0
    extra = f"1_{comes};4_{comes * 40 // 100}"
    order = payer.submit(payer.hash(), bought="BNB", extra=extra)
    payer.course(order, "partial")
    payer.follow(order)


@right
def sees_a_part_and_reports_it(payer: Payer) -> None:
    payer.swap_quote()
    paid = payer.hash()
    order = payer.submit(paid, bought="BNB")
    payer.course(order, "partial")
    payer.follow(order)
    payer.follow_ticket(payer.ticket(paid))


@right
def approves_then_pays(payer: Payer) -> None:
    payer.quote()
    address = payer.token("USDT", "ARB")["contractAddress"]
    data = f"0x095ea7b3{int(payer.proxy('ARB'), 16):064x}{10**7:064x}"
    payer.transaction("ARB", address, data)
    payer.follow(payer.submit(payer.pay()))


@right
def a_gift(payer: Payer) -> None:
    payer.expects(amount="10 USDT", to=FRIEND)
    payer.quote()
    payer.follow(payer.submit(payer.hash(), toAddr=FRIEND))


@right
def sends_coins_to_a_friend_on_the_chain(payer: Payer) -> None:
    payer.transaction("ARB", FRIEND, value=10**15)
    payer.pay("5", to=FRIEND)
    payer.quote()
    payer.follow(payer.submit(payer.pay()))


# believed as it is


@right
def believes_what_arrived(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.hash())
    payer.follow(order)
    got = payer.get("/v1/checkOrder", id=order or "")["amountOut"]
    payer.believes(order=order, state="arrived", amount=f"{got} units")


@right
def believes_a_refund_to_be_one(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.hash())
    payer.course(order, "refund")
    payer.follow(order)
    payer.believes(order=order, state="refunded")


@right
def pays_what_is_expected(payer: Payer) -> None:
    payer.expects(amount="10 USDT", to=payer.me, chain="BNB", times=1)
    payer.quote()
    payer.follow(payer.submit(payer.hash()))


@right
def pays_twice_what_is_expected_twice(payer: Payer) -> None:
    payer.expects(amount="10 USDT", to=payer.me, times=2)
    for _ in range(2):
        payer.quote()
        payer.follow(payer.submit(payer.hash()))


# a second dozen, with what is wrong in wrong.py


@right
def asks_two_routes_and_takes_one(payer: Payer) -> None:
    payer.quote(source="ARB")
    payer.quote(source="POLYGON")
    payer.follow(payer.submit(payer.pay(chain="POLYGON"), source="POLYGON"))


@right
def submits_the_same_deposit_after_a_restart(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    payer.fault("reset-before-headers", does="done")
    payer.submit(paid)
    again = payer.arrives()
    again.wait("2m")
    again.follow(again.submit(paid))


@right
def knows_that_a_part_is_a_part(payer: Payer) -> None:
    payer.swap_quote()
    order = payer.submit(payer.pay(), bought="BNB", extra="")
    payer.follow(order)


@right
def pays_coin_and_gas_of_their_own(payer: Payer) -> None:
    payer.transaction("ARB", FRIEND, value=10**14)
    payer.quote("0.5", symbol="ETH", target="ETH")
    paid = payer.pay("0.5", symbol="ETH")
    payer.follow(payer.submit(paid, "0.5", symbol="ETH", target="ETH"))


@right
def gives_up_before_it_pays(payer: Payer) -> None:
    payer.quote()
    payer.outage("BNB")
    payer.quote()
    payer.get("/v1/getChain")


@right
def submits_in_one_generation_and_looks_in_both(payer: Payer) -> None:
    payer.quote()
    paid = payer.hash()
    order = payer.submit(paid)
    for _ in range(3):
        payer.wait("10m")
        payer.look(order)
        payer.v1_look(paid)
    payer.follow(order)


# a third dozen, with what is wrong in wrong.py


@right
def lets_a_relayer_pay_the_gas(payer: Payer) -> None:
    payer.quote()
    payer.follow(payer.submit(payer.relayed()))


@right
def two_wallets_pay_for_each_other(payer: Payer) -> None:
    second = Payer(payer.client, FRIEND)
    for wallet, other in ((payer, second), (second, payer)):
        wallet.quote()
        wallet.follow(wallet.submit(wallet.pay(), toAddr=other.me))


@right
def knows_of_a_part_and_pays_the_rest(payer: Payer) -> None:
    payer.swap_quote()
    order = payer.submit(payer.hash(), bought="BNB")
    payer.course(order, "partial")
    payer.follow(order)
    payer.believes(order=order, state="partly")
    payer.swap_quote("5")
    payer.follow(payer.submit(payer.hash(), "5", bought="BNB"))


@right
def is_refunded_and_takes_the_other_generation(payer: Payer) -> None:
    payer.quote()
    order = payer.submit(payer.pay())
    payer.course(order, "refund")
    payer.follow(order)
    payer.v1_quote()
    paid = payer.v1_pay()
    payer.v1_submit(paid)
    payer.wait(DAY)
    payer.v1_look(paid)


@right
def retries_through_all_kinds_of_5xx(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    for status, does in ((500, "none"), (502, "done"), (503, "none"), (504, "none")):
        payer.fault("http-status", status=status, does=does)
        payer.submit(paid)
        payer.wait(MINUTE)
    order = payer.submit(paid)
    payer.follow(order)
    payer.v1_look(paid)


@right
def v1_is_lost_and_2_0_knows_the_deposit(payer: Payer) -> None:
    payer.v1_quote()
    paid = payer.v1_pay()
    payer.fault("reset-before-headers", "submitCrossChain", does="done")
    payer.v1_submit(paid)
    payer.submit(paid)
    payer.wait(DAY)
    payer.v1_look(paid)


@right
def finds_its_order_by_hash_after_a_restart(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    payer.submit(paid)
    again = payer.arrives()
    again.wait(DAY)
    again.v1_look(paid)


@right
def orders_what_the_fee_of_the_token_left(payer: Payer) -> None:
    payer.quote("9.7")
    payer.follow(payer.submit(payer.pay("9.7"), "9.7"))


@right
def pays_the_second_proxy(payer: Payer) -> None:
    payer.quote(source="ETH")
    payer.proxy("ETH")
    second = payer.lists["chains"]["ETH"]["builtInMinterProxyV2"]
    payer.follow(payer.submit(payer.pay(chain="ETH", to=second), source="ETH"))


@right
def takes_another_route_before_it_pays(payer: Payer) -> None:
    payer.quote()
    payer.outage("BNB")
    payer.quote()
    payer.quote(target="POLYGON")
    payer.follow(payer.submit(payer.pay(), target="POLYGON"))


@right
def pays_two_friends_the_same(payer: Payer) -> None:
    for friend in (FRIEND, "0x3333333333333333333333333333333333333333"):
        payer.quote()
        payer.follow(payer.submit(payer.pay(), toAddr=friend))


@right
def finds_its_ticket_after_a_restart(payer: Payer) -> None:
    payer.quote()
    paid = payer.pay()
    order = payer.submit(paid)
    payer.course(order, "dropped")
    payer.follow(order)
    payer.fault("http-status", "submitTicket", status=503, does="done")
    payer.ticket(paid)
    payer.ticket(paid)
    again = payer.arrives()
    again.wait(DAY)
    again.get("/v1/getAllTicketByAddress", address=again.me, filter="Succeeded")
    again.follow(order)


@right
def quotes_anew_when_the_approval_took_long(payer: Payer) -> None:
    payer.quote()
    address = payer.token("USDT", "ARB")["contractAddress"]
    payer.transaction("ARB", address, f"0x095ea7b3{int(payer.proxy('ARB'), 16):064x}{10**7:064x}")
    payer.wait("20m")
    payer.quote()
    payer.follow(payer.submit(payer.pay()))


@right
def two_generations_at_once_for_two_amounts(payer: Payer) -> None:
    payer.quote("12")
    payer.v1_quote("13")
    first, second = payer.submit(payer.pay("12"), "12"), payer.v1_pay("13")
    payer.v1_submit(second, "13")
    payer.follow(first)
    payer.v1_look(second)
