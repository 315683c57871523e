"""Flows in odd surroundings, written from the interface description before the audit was read.

Servers end and come back, worlds are forked, loaded and reverted, tokens have no decimals or 24,
generations are mixed, and payments come from chains of other kinds. Wrong ones first.
"""

from tests.audit.flows.payer import DAY, FRIEND, HOUR, STRANGER, Book, Payer
from tests.audit.flows.surroundings import KASPA, SOLANA, TRON, Foreigner, Mover, Signer
from tests.audit.flows.wrong import DOUBLED, FORGOTTEN, LOST, MISDIRECTED, QUOTE

BOOK: Book[Mover] = Book()
wrong, right = BOOK.wrong, BOOK.right

_TRON_USER = "TKwr6NEz1bVLHfSBeBqQPpyqjzqRXsxGmB"
_TRON_STRANGER = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
_SOLANA_USER = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"
_SOLANA_STRANGER = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
_KASPA_USER = "kaspa:qqkqkzjvr7zwxxmjxjkmxxdwju9kjs6e9u82uh59z07vgaks6gg62v8707g73"
_KASPA_STRANGER = "kaspa:qpauqsvk7yf9unexwmxsnmg547mhyga37csh0kj53q6xxgl24ydxjsgzthw5j"


# what is wrong, of a server that ends and comes back, and worlds that are others


@wrong("the answer is lost, the server restarts, and it pays again", *DOUBLED)
def pays_again_after_the_server_came_back(payer: Mover) -> None:
    payer.quote()
    payer.fault("reset-before-headers", does="done")
    payer.submit(payer.pay())
    payer.restart()
    payer.quote()
    payer.follow(payer.submit(payer.pay()))


@wrong("refused before the restart, and never submitted after it", *LOST)
def forgets_its_deposit_over_a_restart_of_the_server(payer: Mover) -> None:
    payer.quote()
    paid = payer.pay()
    payer.fault("refusal", refusal="chain-suspended")
    payer.submit(paid)
    payer.restart()
    payer.wait(HOUR)
    payer.quote()


@wrong("quoted before a restart that took two hours, paid after it", *QUOTE)
def pays_on_a_quote_of_before_the_restart(payer: Mover) -> None:
    payer.quote()
    payer.restart()
    payer.wait("2h")
    payer.follow(payer.submit(payer.pay()))


@wrong("a restart of the server during the payout, and nobody sees the refund", *FORGOTTEN)
def never_asks_again_after_the_restart(payer: Mover) -> None:
    payer.quote()
    order = payer.submit(payer.pay())
    payer.look(order)
    payer.course(order, "refund")
    payer.restart()
    payer.wait(DAY)
    payer.quote("3")


@wrong("in a fork the deposit goes to a stranger", *MISDIRECTED)
def pays_a_stranger_in_a_fork(payer: Mover) -> None:
    payer.quote()
    payer.follow(payer.submit(payer.pay()))
    payer.fork()
    payer.quote("20")
    payer.follow(payer.submit(payer.pay("20", to=STRANGER), "20"))


@wrong("after a revert it pays twice on one quote", *DOUBLED)
def pays_twice_after_a_revert(payer: Mover) -> None:
    payer.snapshot()
    payer.quote()
    payer.submit(payer.pay())
    payer.revert()
    payer.quote()
    for order in (payer.submit(payer.pay()), payer.submit(payer.pay())):
        payer.follow(order)


@wrong("after a load the client sees its order stand still, and pays again", *DOUBLED)
def pays_again_what_stands_still_after_a_load(payer: Mover) -> None:
    payer.get("/v1/getChain")
    payer.load()
    payer.quote()
    payer.outage("BNB", "accept-stall", inFlight="stall", **{"for": "6h"})
    first = payer.submit(payer.pay())
    payer.wait("30m")
    payer.look(first)
    payer.quote()
    payer.follow(payer.submit(payer.pay()))


# what is wrong, of decimals


@wrong("of a token without decimals a tenth of what is ordered is paid", *MISDIRECTED)
def pays_a_tenth_of_points(payer: Mover) -> None:
    payer.quote("50", symbol="POINT")
    paid = payer.pay("5", symbol="POINT")
    payer.follow(payer.submit(paid, "50", symbol="POINT"))


@wrong("of a token of 24 decimals one unit less than was ordered is paid", *MISDIRECTED)
def pays_a_unit_less_of_24_decimals(payer: Mover) -> None:
    payer.quote("30", symbol="YOCTO")
    paid = payer.pay("29.999999999999999999999999", symbol="YOCTO")
    payer.follow(payer.submit(paid, "30", symbol="YOCTO"))


@wrong("rule 1 has the decimals of the source, six, where the target has eighteen", "short", *QUOTE)
def expects_by_the_decimals_of_the_source(payer: Mover) -> None:
    comes = payer.quote() or 0
    payer.follow(payer.submit(payer.pay(), extra=f"1_{comes // 10**12}"))


# what is wrong, of in one generation, and in the other


@wrong("a v1 order is looked up in 2.0 by its hash, and its refund is not seen", *FORGOTTEN)
def looks_for_a_v1_order_by_its_hash(payer: Mover) -> None:
    payer.v1_quote()
    paid = payer.v1_pay()
    payer.v1_submit(paid)
    found = payer.client.control("GET", "/orders")["orders"][0]["id"]
    payer.course(found, "refund")
    for _ in range(3):
        payer.wait(HOUR)
        payer.look(paid)


@wrong("paid in v1, then the same hash is ordered in 2.0 for somebody else", *MISDIRECTED, *DOUBLED)
def orders_a_v1_deposit_for_a_friend(payer: Mover) -> None:
    payer.v1_quote()
    paid = payer.v1_pay()
    payer.v1_submit(paid)
    payer.quote()
    payer.submit(paid, toAddr=FRIEND)
    payer.wait(DAY)
    payer.v1_look(paid)


@wrong("three are paid where two were expected, one of them in v1", "not-as-expected")
def pays_three_of_two_in_both_generations(payer: Mover) -> None:
    payer.expects(amount="10 USDT", to=payer.me, times=2)
    for _ in range(2):
        payer.quote()
        payer.follow(payer.submit(payer.pay()))
    payer.v1_quote()
    paid = payer.pay()
    payer.v1_submit(paid)
    payer.wait(DAY)
    payer.v1_look(paid)


# what is wrong, of payments of other kinds


@wrong("an approval is ordered in place of a payment", *MISDIRECTED)
def orders_an_approval(payer: Mover) -> None:
    payer.quote()
    address = payer.token("USDT", "ARB")["contractAddress"]
    data = f"0x095ea7b3{int(payer.proxy('ARB'), 16):064x}{10**7:064x}"
    payer.follow(payer.submit(payer.transaction("ARB", address, data)))


@wrong("ten are paid in two halves, and only the first is ordered, as ten", *MISDIRECTED, *LOST)
def orders_the_first_of_two_halves(payer: Mover) -> None:
    payer.quote()
    paid = payer.pay("5")
    payer.pay("5")
    payer.follow(payer.submit(paid))


@wrong("on Tron the token goes to a stranger", *MISDIRECTED)
def pays_a_stranger_on_tron(payer: Mover) -> None:
    wallet = Foreigner(payer, TRON, _TRON_USER)
    wallet.quote("25")
    payer.follow(wallet.order(wallet.pay("25", _TRON_STRANGER), "25"))


@wrong("on Solana half of what is ordered is paid", *MISDIRECTED)
def pays_half_on_solana(payer: Mover) -> None:
    wallet = Foreigner(payer, SOLANA, _SOLANA_USER)
    wallet.quote("2")
    payer.follow(wallet.order(wallet.pay("1", wallet.vault()), "2"))


@wrong("on Kaspa a stranger is paid, and nobody orders what is paid", *MISDIRECTED, *LOST)
def pays_a_stranger_on_kaspa(payer: Mover) -> None:
    wallet = Foreigner(payer, KASPA, _KASPA_USER)
    wallet.quote("500")
    payer.follow(wallet.order(wallet.pay("500", _KASPA_STRANGER), "500"))


# what is wrong, of reports and claims


@wrong("the request for a ticket is lost, and it is never sent again", "drop-not-reported")
def loses_its_ticket(payer: Mover) -> None:
    payer.quote()
    paid = payer.pay()
    order = payer.submit(paid)
    payer.course(order, "dropped")
    payer.follow(order)
    payer.fault("reset-before-headers", "submitTicket")
    payer.ticket(paid)
    payer.wait(DAY)
    payer.look(order)


@wrong("the client was killed before it read its answer, and pays again", *DOUBLED)
def is_killed_and_pays_again(payer: Mover) -> None:
    payer.quote()
    payer.submit(payer.pay())
    payer.claim(died=True)
    payer.wait("2m")
    payer.quote()
    payer.follow(payer.submit(payer.pay()))


@wrong("believes that what was paid has arrived, without the fees", "not-as-claimed")
def believes_in_units_of_the_source(payer: Mover) -> None:
    payer.quote()
    order = payer.submit(payer.pay())
    payer.follow(order)
    payer.believes(order=order, state="arrived", amount="10000000 units")


# what is right, of a server that ends and comes back, and worlds that are others


@right
def submits_again_after_the_server_came_back(payer: Mover) -> None:
    payer.quote()
    paid = payer.pay()
    payer.fault("reset-before-headers", does="done")
    payer.submit(paid)
    payer.restart()
    payer.follow(payer.submit(paid))


@right
def follows_over_two_restarts_and_in_both_generations(payer: Mover) -> None:
    payer.quote()
    paid = payer.pay()
    order = payer.submit(paid)
    payer.look(order)
    payer.restart()
    payer.wait("10m")
    payer.v1_look(paid)
    payer.restart()
    payer.follow(order)


@right
def pays_before_and_orders_after_a_restart(payer: Mover) -> None:
    payer.quote()
    paid = payer.pay()
    payer.restart()
    payer.follow(payer.submit(paid))


@right
def goes_on_in_a_fork(payer: Mover) -> None:
    payer.quote()
    paid = payer.pay()
    payer.submit(paid)
    payer.fork()
    order = payer.submit(paid)
    payer.follow(order)
    payer.quote()
    payer.follow(payer.submit(payer.pay()))


@right
def quotes_and_is_forked_and_pays(payer: Mover) -> None:
    payer.quote()
    payer.fork()
    payer.follow(payer.submit(payer.pay()))


@right
def goes_on_where_it_was_loaded(payer: Mover) -> None:
    payer.quote()
    paid = payer.pay()
    order = payer.submit(paid)
    payer.load()
    payer.follow(order)
    payer.quote("20")
    payer.follow(payer.submit(payer.pay("20"), "20"))


@right
def begins_again_after_a_revert(payer: Mover) -> None:
    payer.snapshot()
    payer.quote()
    payer.submit(payer.pay())
    payer.revert()
    payer.quote()
    payer.follow(payer.submit(payer.pay()))


@right
def pays_after_a_revert_on_the_quote_it_has(payer: Mover) -> None:
    payer.snapshot()
    payer.quote()
    payer.submit(payer.pay())
    payer.revert()
    payer.follow(payer.submit(payer.pay()))


@right
def pays_the_same_deposit_again_after_a_revert_and_another(payer: Mover) -> None:
    payer.snapshot()
    payer.quote()
    paid = payer.hash()
    payer.submit(paid)
    payer.revert()
    payer.quote()
    for order in (payer.submit(paid), payer.submit(payer.pay())):
        payer.follow(order)


@right
def loses_the_journal_between_quote_and_payment(payer: Mover) -> None:
    payer.quote()
    payer.forget()
    payer.follow(payer.submit(payer.pay()))


@right
def loses_the_journal_after_its_refund_was_seen(payer: Mover) -> None:
    payer.quote()
    order = payer.submit(payer.pay())
    payer.course(order, "refund")
    payer.follow(order)
    payer.forget()
    payer.quote()
    payer.follow(payer.submit(payer.pay()))


@right
def is_told_a_stubbed_quote(payer: Mover) -> None:
    answer = {"data": {"price": "1", "outAmount": "9994000000000000000", "outAmountUsd": "10"}}
    answer["data"] |= {"serviceFee": "6000000000000000", "gasFee": "300000000000000000"}
    stub = {"operation": "getBridgeQuote", "response": answer, "times": 1}
    payer.client.control("POST", "/stubs", stub)
    payer.quote()
    payer.follow(payer.submit(payer.pay()))


# what is right, of decimals


@right
def transfers_points_without_decimals(payer: Mover) -> None:
    payer.quote("50", symbol="POINT")
    paid = payer.pay("50", symbol="POINT")
    payer.follow(payer.submit(paid, "50", symbol="POINT"))


@right
def transfers_24_decimals(payer: Mover) -> None:
    amount = "30.000000000000000000000001"
    comes = payer.quote(amount, symbol="YOCTO")
    paid = payer.pay(amount, symbol="YOCTO")
    payer.follow(payer.submit(paid, amount, symbol="YOCTO", extra=f"1_{comes}"))


@right
def transfers_into_24_decimals(payer: Mover) -> None:
    payer.quote("12.345678", source="BNB", target="ARB", symbol="YOCTO")
    paid = payer.pay("12.345678", chain="BNB", symbol="YOCTO")
    payer.follow(
        payer.submit(paid, "12.345678", source="BNB", target="ARB", symbol="YOCTO"),
    )


# what is right, of generations, kinds of chains, reports


@right
def sees_in_the_other_generation_that_it_was_refunded(payer: Mover) -> None:
    payer.quote()
    paid = payer.pay()
    order = payer.submit(paid)
    payer.course(order, "refund")
    payer.wait(DAY)
    payer.v1_look(paid)
    payer.quote()
    payer.follow(payer.submit(payer.pay()))


@right
def pays_on_tron(payer: Mover) -> None:
    wallet = Foreigner(payer, TRON, _TRON_USER)
    wallet.quote("25")
    payer.follow(wallet.order(wallet.pay("25", wallet.vault()), "25"))


@right
def pays_on_solana(payer: Mover) -> None:
    wallet = Foreigner(payer, SOLANA, _SOLANA_USER)
    wallet.quote("2")
    payer.follow(wallet.order(wallet.pay("2", wallet.vault()), "2"))


@right
def pays_on_kaspa_after_an_outage(payer: Mover) -> None:
    wallet = Foreigner(payer, KASPA, _KASPA_USER)
    wallet.quote("500")
    paid = wallet.pay("500", wallet.vault())
    payer.outage("KAS", **{"for": "3h"})
    order = wallet.order(paid, "500")
    while order is None:
        payer.wait(HOUR)
        order = wallet.order(paid, "500")
    payer.follow(order)


@right
def takes_its_approval_back_and_pays_nothing(payer: Mover) -> None:
    payer.quote()
    address = payer.token("USDT", "ARB")["contractAddress"]
    for units in (10**7, 0):
        data = f"0x095ea7b3{int(payer.proxy('ARB'), 16):064x}{units:064x}"
        payer.transaction("ARB", address, data)


@right
def is_killed_and_submits_the_same_deposit(payer: Mover) -> None:
    payer.quote()
    paid = payer.pay()
    payer.submit(paid)
    payer.claim(died=True)
    payer.wait("40m")
    payer.follow(payer.arrives().submit(paid))


@right
def is_held_off_while_it_asks(payer: Mover) -> None:
    payer.quote()
    order = payer.submit(payer.pay())
    payer.fault("http-status", "checkOrder", status=429, first=5)
    for _ in range(6):
        payer.look(order)
        payer.wait("5m")
    payer.follow(order)


@right
def sees_a_part_claims_it_and_reports_it(payer: Mover) -> None:
    payer.swap_quote()
    paid = payer.pay()
    order = payer.submit(paid, bought="BNB")
    payer.course(order, "partial")
    payer.follow(order)
    payer.believes(order=order, state="partly")
    payer.follow_ticket(payer.ticket(paid))


@right
def two_wallets_of_which_one_is_refunded(payer: Mover) -> None:
    second = Payer(payer.client, FRIEND)
    orders = []
    for wallet in (payer, second):
        wallet.quote()
        orders.append(wallet.submit(wallet.pay()))
    payer.course(orders[1], "refund")
    for order in orders:
        payer.follow(order)


# deposits that are sent to a node and are in no block


@wrong("the node refuses the deposit, and its hash is ordered all the same", *MISDIRECTED)
def takes_a_refusal_of_the_node_for_a_payment(payer: Mover) -> None:
    payer.quote()
    wallet = Signer(payer)
    wallet.give("0")
    payer.follow(payer.submit(wallet.pay()))


@wrong("signed for another chain, refused, and ordered; the server restarts", *MISDIRECTED)
def signs_for_another_chain(payer: Mover) -> None:
    payer.quote()
    paid = Signer(payer).pay(chain_id=56)
    payer.restart().quote()
    payer.follow(payer.submit(paid))


@wrong("a nonce is used twice, and the second hash is ordered as well", *MISDIRECTED)
def uses_a_nonce_twice(payer: Mover) -> None:
    payer.quote()
    wallet = Signer(payer)
    payer.follow(payer.submit(wallet.pay()))
    payer.quote()
    payer.follow(payer.submit(wallet.pay(fee=2)))


@wrong("the deposit waits behind a nonce that never comes", *MISDIRECTED)
def leaves_a_gap_before_its_deposit(payer: Mover) -> None:
    payer.quote()
    payer.follow(payer.submit(Signer(payer).pay(nonce=7)))


@wrong("a deposit is replaced, and the old hash is ordered", *MISDIRECTED)
def orders_the_hash_that_it_replaced(payer: Mover) -> None:
    payer.quote()
    wallet = Signer(payer)
    old = wallet.pay(nonce=1)
    wallet.pay(nonce=1, fee=2)
    payer.follow(payer.submit(old))
    wallet.pay()
    assert wallet.ask("eth_getTransactionCount", payer.me, "latest")["result"] == "0x2"


@right
def fills_a_gap_after_it_has_ordered(payer: Mover) -> None:
    wallet = Signer(payer)
    payer.quote()
    later = payer.submit(wallet.pay(nonce=1))
    payer.wait("2m")
    payer.quote()
    first = payer.submit(wallet.pay())
    assert wallet.ask("eth_getTransactionCount", payer.me, "latest")["result"] == "0x2"
    for order in (first, later):
        payer.follow(order)


@right
def orders_before_it_sends(payer: Mover) -> None:
    payer.quote()
    wallet = Signer(payer)
    raw, paid = wallet.signed()
    order = payer.submit(paid)
    assert wallet.send(raw) == ""
    payer.follow(order)


@right
def is_refused_for_funds_gets_some_and_sends_again(payer: Mover) -> None:
    payer.quote()
    wallet = Signer(payer)
    wallet.give("0")
    raw, paid = wallet.signed()
    assert "insufficient funds" in wallet.send(raw)
    payer.restart()
    wallet.give("1")
    assert wallet.send(raw) == ""
    assert "nonce too low" in wallet.send(raw)
    payer.follow(payer.submit(paid))


@right
def replaces_its_deposit_and_orders_the_new_one(payer: Mover) -> None:
    payer.quote()
    wallet = Signer(payer)
    wallet.pay(nonce=1)
    paid = wallet.pay(nonce=1, fee=2)
    payer.quote()
    first = payer.submit(wallet.pay())
    for order in (first, payer.submit(paid)):
        payer.follow(order)


@wrong("the recipient on Solana is an address of Ethereum, which nobody has there", "short")
def pays_to_where_nobody_is(payer: Mover) -> None:
    payer.quote(target="SOL")
    payer.follow(payer.submit(payer.pay(), target="SOL"))


@right
def pays_to_its_own_account_on_solana(payer: Mover) -> None:
    payer.quote(target="SOL")
    payer.follow(payer.submit(payer.pay(), target="SOL", toAddr=_SOLANA_USER))
