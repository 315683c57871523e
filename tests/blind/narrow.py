"""Faults in narrow regions, where two inputs have to meet, and how many generated requests find.

``python -m tests.blind.narrow`` prints how many are found with and without feedback from answers.
"""

import argparse
import sys
from collections.abc import Sequence
from decimal import Decimal

from mockserver import contract as contracts
from mockserver.conformance.generation.explore import explore
from mockserver.conformance.options import Options
from mockserver.conformance.requests.all_probes import probes_of
from mockserver.conformance.requests.probe import Stage
from mockserver.conformance.runs.planner import at_edges
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.permit import Permit
from mockserver.conformance.session.session import Session
from mockserver.conformance.session.target import Target
from mockserver.conformance.session.transport import Transport
from mockserver.conformance.verdict import Inconclusive, NotRun
from tests.blind.edits import Test, boom, when
from tests.blind.regions import above, all_of, coin, digits, equals, evm, with_decimals
from tests.blind.rows import Row
from tests.blind.serve import blind_service
from tests.blind.wire import Call

BRIDGE, AGGREGATE, SWAP = "v2.getBridgeQuote", "v2.getAggregateQuote", "v2.getAggregateSwap"
V1_QUOTE, BALANCE, V1_RAW = (
    "v1.getCrossChainQuote",
    "v2.getBalance",
    "v1.getTransferToMinterRaw",
)


def _narrow(name: str, operation: str, *tests: Test) -> Row:
    sentence = "500 where two inputs meet, each of which is served alone"
    return Row(name, (operation,), sentence, "common sense", after=when(all_of(*tests), boom))


def _slippage_above(bound: int) -> Test:
    return lambda call: call.text("slippage").isdigit() and call.number("slippage") > bound


def _upper(name: str) -> Test:
    return lambda call: call.text(name)[2:] != call.text(name)[2:].lower()


def _other(one: str, other: str) -> Test:
    return lambda call: call.text(one) != call.text(other)


def _whole_above(bound: int) -> Test:
    def test(call: Call) -> bool:
        whole = call.text("amount").partition(".")[0]
        return whole.isdigit() and int(whole) > bound

    return test


_ROWS = (
    _narrow("bridge-long-abroad", BRIDGE, digits("amount", 24), evm("toChain", False)),
    _narrow("bridge-longer-from-abroad", BRIDGE, digits("amount", 31), evm("fromChain", False)),
    _narrow("bridge-tiny-to-base", BRIDGE, digits("amount", 1, 3), equals("toChain", "BASE")),
    _narrow("bridge-wide-usdc", BRIDGE, digits("amount", 38), equals("symbol", "USDC")),
    _narrow("aggregate-long-coin", AGGREGATE, digits("fromAmount", 31), coin("fromTokenAddress")),
    _narrow(
        "aggregate-long-8-decimals",
        AGGREGATE,
        digits("fromAmount", 24),
        with_decimals("fromChain", "fromTokenAddress", 8),
    ),
    _narrow(
        "aggregate-tiny-to-6-decimals",
        AGGREGATE,
        digits("fromAmount", 1, 3),
        with_decimals("toChain", "toTokenAddress", 6),
    ),
    _narrow(
        "swap-slippage-for-another", SWAP, _slippage_above(1000), _other("sender", "recipient")
    ),
    _narrow("swap-long-with-slippage", SWAP, digits("fromAmount", 24), _slippage_above(1000)),
    _narrow("swap-upper-case-with-slippage", SWAP, _upper("recipient"), _slippage_above(500)),
    _narrow("v1-fee-level-and-amount", V1_QUOTE, above("feeLevel", 4), _whole_above(50_000)),
    _narrow("v1-fee-level-to-base", V1_QUOTE, above("feeLevel", 4), equals("toChain", "BASE")),
    _narrow("v1-large-from-bsc", V1_QUOTE, _whole_above(50_000), equals("fromChain", "BSC")),
    _narrow("balance-upper-case-abroad", BALANCE, _upper("address"), equals("chain", "AVAXC")),
    _narrow("v1-raw-upper-case-large", V1_RAW, _upper("evmAddress"), _whole_above(50_000)),
)
NARROW = {row.name: row for row in _ROWS}


def is_found(row: Row, *, examples: int, seed: int, feedback: bool) -> bool:
    """Whether generated requests find a fault, after the plan and the edges of its operation."""
    [operation_id] = row.operations
    contract = contracts.load()
    options = Options(
        seed=seed,
        budget=5_000,
        rate=Decimal(100_000),
        edges=True,
        examples=examples,
        generated_for=(operation_id,),
    )
    with blind_service(rows=[row]) as url:
        target = Target(url, url)
        permit, limits = Permit(contract, target), options.limits(target)
        with Transport(target, permit, limits) as transport:
            session = Session(transport, RunContext(contract, seed=seed))
            _read(session)
            for probe, draft in at_edges(session, options, 0, (operation_id,)):
                session.ask(probe, draft)
            [outcome] = explore(session, options, feedback=feedback)
    return any(finding.cause == "server error" for finding in outcome.findings)


def _read(session: Session) -> None:
    for probe in probes_of(session.context.contract):
        if probe.stage in (Stage.LISTS, Stage.READS):
            try:
                session.ask(probe.name, probe.build(session.context))
            except (NotRun, Inconclusive):
                continue


def found(
    names: Sequence[str], seeds: Sequence[int], *, examples: int, feedback: bool
) -> list[str]:
    """Return the names that are found, once for each seed that finds them."""
    return [
        name
        for name in names
        for seed in seeds
        if is_found(NARROW[name], examples=examples, seed=seed, feedback=feedback)
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Count with and without feedback, and print both."""
    parser = argparse.ArgumentParser(prog="python -m tests.blind.narrow", description=__doc__)
    parser.add_argument("--examples", type=int, default=16)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args(arguments)
    seeds = range(1, options.seeds + 1)
    for feedback in (False, True):
        hits = found(list(NARROW), seeds, examples=options.examples, feedback=feedback)
        told = ", ".join(f"{name} {hits.count(name)}" for name in NARROW)
        how = "with" if feedback else "without"
        sys.stdout.write(
            f"{how} feedback: {len(hits)} of {len(NARROW) * len(seeds)} found ({told})\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
