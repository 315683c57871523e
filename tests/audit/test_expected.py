"""What a run did, held against what another one did or was to do."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from mockserver.worlds.audit import Expected, Finding, expected_of, judge, judge_run
from tests.audit.flows.payer import FRIEND, Payer
from tests.conftest import WALLET, Running

Play = Callable[[Payer], object]


def pays(*amounts: str, **body: str) -> Play:
    """Return a client that sends amounts of USDT from ARB to BNB, each to its end."""

    def play(payer: Payer) -> None:
        for amount in amounts:
            payer.quote(amount)
            payer.follow(payer.submit(payer.hash(), amount, **body))

    return play


def turns(course: str, *, report: bool = False) -> Play:
    """Return a client whose order takes a course."""

    def play(payer: Payer) -> None:
        payer.quote()
        paid = payer.hash()
        order = payer.submit(paid)
        payer.course(order, course)
        payer.follow(order)
        if report:
            payer.ticket(paid)

    return play


def judged(running: Running, play: Play, *meant: Expected) -> list[Finding]:
    """Play, and return what was not as expected."""
    play(Payer(running.client))
    hosted = running.service.worlds.get("default")
    found = judge(hosted, ("two-orders",), meant=meant)
    return [finding for finding in found if finding.kind == "not-as-expected"]


@pytest.fixture
def base(serve: Callable[..., Running]) -> tuple[Expected, ...]:
    """What a run does that sends 10 USDT once."""
    running = serve()
    pays("10")(Payer(running.client))
    return expected_of(judge_run(running.service.worlds.get("default"))[1])


def test_a_base_run_says_what_is_meant(base: tuple[Expected, ...]) -> None:
    [meant] = base
    assert str(meant) == f"10 USDT from ARB to BNB for {WALLET}"
    assert (meant.times, meant.arrives) == (1, Decimal("9.694"))


@pytest.mark.parametrize(
    ("play", "cause", "cost"),
    [
        (pays("10"), None, None),
        (pays(), "missing", []),
        (pays("10", "10"), "times", ["10 USDT"]),
        (pays("1"), "otherwise", ["1 USDT"]),
        (pays("10", toAddr=FRIEND), "otherwise", ["10 USDT"]),
        (pays("10", "7"), "unexpected", ["7 USDT"]),
        (turns("refund"), "returned", []),
        (turns("dropped"), "lost", ["10 USDT"]),
        (turns("stuck"), "lost", ["10 USDT"]),
        (turns("stuck", report=True), "reported", []),
    ],
)
def test_a_run_is_held_against_what_is_meant(
    base: tuple[Expected, ...],
    serve: Callable[..., Running],
    play: Play,
    cause: str | None,
    cost: list[str] | None,
) -> None:
    found = judged(serve(), play, *base)
    assert [finding.cause for finding in found] == ([] if cause is None else [cause])
    assert [list(map(str, finding.costs)) for finding in found] == ([] if cost is None else [cost])


def test_a_power_of_ten_is_named(serve: Callable[..., Running]) -> None:
    [finding] = judged(serve(), pays("0.5"), Expected("USDT", Decimal(500)))
    assert finding.message.endswith("another amount, 10^3 times too little")


def test_less_than_expected_is_named(serve: Callable[..., Running]) -> None:
    [finding] = judged(serve(), pays("10"), Expected("USDT", Decimal(10), arrives=Decimal(11)))
    assert finding.cause == "less"


def test_what_says_more_takes_its_transfer_first(serve: Callable[..., Running]) -> None:
    meant = Expected("USDT"), Expected("USDT", Decimal(10))
    assert judged(serve(), pays("10", "7"), *meant) == []
