"""What a sixth service says is held against what it said before, and told where it is wrong."""

from decimal import Decimal

import pytest

from mockserver.conformance import run
from tests.blind.service_six import catalogue
from tests.blind.service_six.counting import service_six
from tests.blind.service_six.flaws import Flaw
from tests.blind.service_six.infrastructure import count


def least_of_swaps(call, data):
    """Pay of each swap what its slippage leaves of the quote."""
    ordered = call.service.orders[call.inputs["id"]]["body"]
    if data["status"] == "Succeeded" and ordered["orderType"] == "2":
        left = int(data["amountOut"]) * (10_000 - int(ordered["slippage"])) // 10_000
        data["amountOut"] = str(left)


def as_of_level_zero(call, data):
    """Pay v1 orders of each fee level as those of the lowest."""
    order = data["order"]
    if order["status"] == 2:
        back = Decimal(order["fromAmount"]) * 5 * int(order["feeLevel"]) / 10_000
        order["toAmount"] = str(Decimal(order["toAmount"]) + back)


def one_identity(call, data):
    data["list"][5]["chainIndex"] = data["list"][6]["chainIndex"]


def one_network(call, data):
    data["list"][5]["network"] = data["list"][6]["network"]


def one_contract(call, data):
    tokens = {token["symbol"]: token["contracts"] for token in data["list"]}
    tokens["USDC"]["BNB"] = tokens["USDT"]["BNB"]


def refuses_now_and_then(call):
    """Refuse a call with an aggregator every second time, as a busy service may."""
    if call.inputs.get("aggregator") and count(call, "calls") % 2:
        catalogue.flaw("swap-refuses-the-aggregator-of-its-quote").apply("before", call)


DETAIL = "getOrderDetailByHashAndEvmAddress"
OWN = {
    name: Flaw(name, frozenset([operation]), {step: function})
    for name, function, step, operation in (
        ("least of swaps", least_of_swaps, "data", "checkOrder"),
        ("level zero", as_of_level_zero, "data", DETAIL),
        ("one identity", one_identity, "data", "getChain"),
        ("one network", one_network, "data", "getChain"),
        ("one contract", one_contract, "data", "getAssets"),
        ("now and then", refuses_now_and_then, "before", "getAggregateSwap"),
    )
}


@pytest.mark.parametrize(
    ("name", "rule", "is_told", "armed"),
    [
        ("one network", "each-network-is-one-chain", True, False),
        ("one identity", "each-item-is-listed-once", True, False),
        ("one contract", "one-token-has-one-form", True, False),
        ("swap-output-already-less-slippage", "call-pays-what-was-quoted", True, False),
        ("native-swaps-send-a-fee-on-top", "coins-are-sent-without-more", True, False),
        (
            "swap-refuses-the-aggregator-of-its-quote",
            "calls-take-the-aggregators-of-quotes",
            True,
            False,
        ),
        ("now and then", "calls-take-the-aggregators-of-quotes", False, False),
        ("swap-usd-is-that-of-the-input", "values-are-those-of-outputs", True, False),
        ("least of swaps", "swap-orders-pay-what-was-quoted", True, True),
        ("level zero", "v1-order-settles-its-amount", True, True),
        ("v1-orders-pay-as-at-the-highest-level", "v1-order-settles-its-amount", True, True),
        ("bridge-orders-lose-a-percent", "each-order-pays-about-its-worth", True, True),
        ("order-sent-again-begins-anew", "final-statuses-stay", True, True),
        ("tickets-without-signature", "refuses-missing-input", True, True),
    ],
)
@pytest.mark.deep(quick=2)
def test_a_wrong_meaning_is_told(name, rule, is_told, armed):
    with service_six(OWN.get(name) or catalogue.flaw(name)) as url:
        result = run(url, seed=1, arm_writes=armed, examples=0, edges=True, delivery=False)
    told = {outcome.rule.name for outcome in result.outcomes if outcome.findings}
    assert (rule in told) is is_told
