"""A file with an error is refused with its place, what came and what would be right."""

# ruff: noqa: E501 - a case stands on one line, so that cases can be compared

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mockserver import resources
from mockserver.engine.scenario import Scenario
from mockserver.errors import InvalidFile, Problem
from mockserver.scenarios import load_calendar, load_catalog, load_scenario

HEAD = "format: crosschain-mock/scenario@1\ntitle: mine\nextends: frozen\n"
CALENDAR = "format: crosschain-mock/calendar@1\ntitle: mine\nwindows:\n"
CATALOG = "format: crosschain-mock/catalog@1\n"
FUSION = (
    "  - {nickname: FSN, full_name: Fusion, index: 1, network: '32659', base_coin: FSN,\n"
    "     v1: {name: FSN, id: 1}, basis: observed, source: DEMO}\n"
)
KNOWN = (
    "orders:\n  known:\n"
    "    - {id: '1', kind: bridge, from: {chain: %s, token: USDT}, to: {chain: BNB, token: USDT}, amount: '5',"
    " out: '4', sender: a, recipient: b, hash: c, ago: 1m, steps: [%s]}\n"
)
ARB = ("ARB", "{status: Pending, after: 0s}")
DEFAULT = yaml.safe_load((resources.fixtures() / "scenarios" / "default.yaml").read_text("utf-8"))


def refusal(load: object, file: Path, **known: object) -> str:
    assert callable(load)
    with pytest.raises(InvalidFile) as caught:
        load(file, **known)
    return str(caught.value).replace(f"{file.parent}/", "")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("orders:\n  rules:\n    - {course: fail, source_chain: BNBB}\n", 6, "orders.rules[0].source_chain: 'BNBB' is no nickname of the catalog; did you mean 'BNB'"),
        ("orders:\n  rules:\n    - {course: fail, token: USDX}\n", 6, "orders.rules[0].token: 'USDX' is no symbol of the catalog; did you mean 'USD"),
        ("orders:\n  rules:\n    - {course: sucess}\n", 6, "orders.rules[0].course: 'sucess' is no course; there are 'success', 'slow', 'fail', 'refund', 'dropped', 'stuck', 'partial'; did you mean 'success'"),
        ("orders:\n  course: never\n", 5, "orders.course: 'never' is no course"),
        ("orders:\n  rules:\n    - {course: fail, least_amount: '2', most_amount: '1'}\n", 6, "orders.rules[0].least_amount: is above most_amount"),
        ("orders:\n  rules:\n    - {course: fail, sourcechain: BNB}\n", 6, "orders.rules[0].sourcechain: unknown name; did you mean 'source_chain'?"),
        ("prices:\n  usd:\n    USDTT: '1'\n", 6, "prices.usd.USDTT: 'USDTT' is no symbol of the catalog; did you mean 'USDT'"),
        ("prices:\n  usd:\n    USDT: '0'\n", 6, "prices.usd.USDT: has no price above 0; every token needs one"),
        ("prices:\n  usd:\n    USDT: 1\n", 6, "prices.usd.USDT: expected a string, got an integer, 1"),
        ("fees:\n  gas_usd:\n    BSC: '1'\n", 6, "fees.gas_usd.BSC: 'BSC' is no nickname of the catalog"),
        ("fees:\n  pool_depth_usd: '0'\n", 5, "fees.pool_depth_usd: 0 is no depth; above 0 is right"),
        ("courses:\n  odd:\n    steps:\n      - {status: Succeeded, after: 0s}\n      - {status: Pending, after: 1s}\n", 5, "courses.odd: goes on after"),
        ("courses:\n  odd:\n    steps:\n      - {status: Done, after: 0s}\n", 7, "courses.odd.steps[0].status: expected one of 'Unknown', 'Pending'"),
        ("clock:\n  start: 2026-13-01T00:00:00Z\n", 5, "clock.start: '2026-13-01T00:00:00Z' is no time"),
        ("clock:\n  start: tomorrow\n", 5, "clock.start: expected a time with its offset such as 2026-01-01T00:00:00Z, got 'tomorrow'"),
        ("clock:\n  start: 5138-11-16T09:46:40Z\n", 5, "clock.start: 5138-11-16T09:46:40Z is no time of a world; those are from 1970-01-01T00:00:00Z to 5138-11-16T09:46:39.999Z"),
        ("clock:\n  start: 1969-12-31T23:59:59Z\n", 5, "clock.start: 1969-12-31T23:59:59Z is no time of a world"),
        ((KNOWN % ARB).replace("1m", "36500d"), 6, "orders.known[0].ago: 1926-01-26T00:00:00Z is no time of a world"),
        ("clock:\n  mode: scaled\n  rate: '0'\n", 6, "clock.rate: 0 does not move the clock"),
        ("balances:\n  accounts:\n    - {chain: TRX, address: T1, token: DAI, amount: '5'}\n", 6, "balances.accounts[0].token: 'DAI' is not on 'TRX'"),
        ("calendar:\n  - {chain: BNB, mode: lagging, at: +1h, for: 1h}\n", 5, "calendar[0].lag: missing, it is required"),
        ("calendar:\n  - {chain: BNB, mode: delisted, at: +1h, lag: 4}\n", 5, "calendar[0].lag: expected `lag` only in mode lagging"),
        ("calendar:\n  - {chain: BNB, mode: delisted, at: +1h, for: 2h}\n  - {chain: BNB, mode: disabled, at: +2h}\n", 6, "calendar[1].at: overlaps window 0 of chain BNB"),
        ("calendar:\n  - {chain: BNB, mode: delisted, at: +1h, for: 1h, until: +3h}\n", 5, "either `until` or `for`, not both"),
        ("calendar: weekend-hald\n", 4, "calendar: 'weekend-hald' is no shipped calendar; did you mean 'weekend-halt'"),
        ("quotes:\n  bridge:\n    - {token: USDT, from: FSN, to: MATIC, amount: '5', source: mine, gives: {price: '1', out: '5', out_usd: '5', service_fee: '0', gas_fee: '0', rate_bps: 0}}\n", 6, "quotes.bridge[0].to: chain 'MATIC' is the first generation's name; the 2.0 interface calls it 'POLYGON'"),
        (KNOWN % ("ARBB", "{status: Pending, after: 0s}"), 6, "orders.known[0].from: chain 'ARBB' is not known; did you mean 'ARB'"),
        (KNOWN % ("ARB", "{status: Pending, after: 3s}"), 6, "orders.known[0].steps: begins after 3000 ms; the first step is at 0"),
        (KNOWN % ARB + KNOWN.partition("known:\n")[2] % ARB, 7, "orders.known[1].id: '1' is the id of an earlier order"),
        ("quotes:\n  swaps:\n    - &a {chain: BNB, from: BNB, to: USDT, amount: '5', out: '4', source: mine}\n    - {chain: BNB, from: BNB, to: USDT, amount: '5', out: '3', source: mine}\n", 7, "quotes.swaps[1]: another entry fixes the same request already"),
        ("quotes:\n  swaps:\n    - {chain: BNB, from: KAS, to: USDT, amount: '5', out: '4', source: mine}\n", 6, "quotes.swaps[0].from: token 'KAS' is not on 'BNB'; it is on 'KAS', 'BASE'"),
        ("seed: -1\n", 4, "seed: expected a whole number from 0 to"),
        ("sead: 1\n", 4, "sead: unknown name; did you mean 'seed'?"),
        ("title: twice\n", 4, "title: the key is given twice"),
    ],
)  # fmt: skip
def test_a_scenario_with_an_error_is_refused(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(HEAD + text, "utf-8")
    message = refusal(load_scenario, file)
    assert f"mine.yaml:{line}: " in message
    assert words in message


def test_all_problems_of_a_scenario_come_at_once(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        HEAD + "orders:\n  course: no\n  rules:\n    - {course: maybe, token: X}\n"
        "calendar:\n  - {chain: Y, mode: delisted, at: +2h, until: +1h}\n",
        "utf-8",
    )
    message = refusal(load_scenario, file).splitlines()
    assert [line.split(": ")[1] for line in message] == [
        "calendar[0].chain",
        "calendar[0].until",
        "orders.course",
        "orders.rules[0].course",
        "orders.rules[0].token",
    ]


def test_an_error_in_an_extended_file_is_placed_there(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(HEAD + "orders:\n  course: no\n", "utf-8")
    file = tmp_path / "mine.yaml"
    file.write_text(HEAD.replace("frozen", "./base.yaml"), "utf-8")
    assert "base.yaml:5: orders.course" in refusal(load_scenario, file)
    file.write_text(HEAD.replace("frozen", "./base.yaml") + "orders: {course: fail}\n", "utf-8")
    assert load_scenario(file).default_course == "fail"


def test_a_list_replaces_and_a_map_is_merged(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    rules = "orders:\n  polls: 9\n  rules:\n    - {course: fail}\n"
    file.write_text(HEAD.replace("frozen", "failing-orders") + rules, "utf-8")
    scenario = load_scenario(file)
    assert [rule.course for rule in scenario.order_rules] == ["fail"]
    assert (scenario.default_polls, scenario.default_course) == (9, "success")


def test_a_scenario_that_extends_itself_is_refused(tmp_path: Path) -> None:
    one, other = tmp_path / "one.yaml", tmp_path / "other.yaml"
    one.write_text(HEAD.replace("frozen", "./other.yaml"), "utf-8")
    other.write_text(HEAD.replace("frozen", "./one.yaml"), "utf-8")
    message = refusal(load_scenario, one)
    assert "other.yaml:3: extends: a scenario cannot extend itself" in message
    assert "one.yaml -> other.yaml -> one.yaml" in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("extends: ./none.yaml\n", "extends: there is no file"),
        ('extends: "none\\0.yaml"\n', "extends: there is no file"),
        ("calendar: ./none.yaml\n", "calendar: there is no file"),
        ("calendar: .\n", "calendar: there is no file"),
        ("catalog: ./none\n", "catalog: there is no folder"),
        ("catalog: mine.yaml\n", "catalog: there is no folder"),
        (f"extends: ./{'n' * 300}.yaml\n", "extends: there is no file"),
        (f"calendar: ./{'n' * 300}.yaml\n", "calendar: there is no file"),
        (f"catalog: ./{'n' * 300}\n", "catalog: there is no folder"),
    ],
)
def test_a_file_that_is_named_and_not_there_is_refused_where_it_is_named(
    tmp_path: Path, text: str, words: str
) -> None:
    file = tmp_path / "mine.yaml"
    head = HEAD.replace("extends: frozen\n", "") if "extends" in text else HEAD
    file.write_text(head + text, "utf-8")
    assert f"mine.yaml:{len(head.splitlines()) + 1}: {words}" in refusal(load_scenario, file)


def test_an_unknown_name_to_extend_is_refused_where_it_stands(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(HEAD.replace("frozen", "frozn"), "utf-8")
    message = refusal(load_scenario, file)
    assert "mine.yaml:3: extends: 'frozn' is no shipped scenario; did you mean 'frozen'" in message


@pytest.mark.parametrize("load", [load_scenario, lambda name: load_calendar(name, start_ms=0)])
def test_a_name_that_is_not_shipped_is_refused(load: object) -> None:
    assert callable(load)
    with pytest.raises(InvalidFile, match=r"'nowhere' is no shipped .* \(shipped: "):
        load("nowhere")


def test_a_scenario_without_prices_names_every_token_that_needs_one(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(HEAD.replace("extends: frozen\n", ""), "utf-8")
    message = refusal(load_scenario, file)
    tokens = load_catalog().tokens
    assert message.count("has no price above 0") == len(tokens)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("  - {chain: BNB, mode: dead, at: +1h}\n", 4, "windows[0].mode: expected one of delisted, disabled, listed-dead"),
        ("  - {mode: delisted, at: +1h}\n", 4, "windows[0]: expected at least one of `chain` and `token`"),
        ("  - {chain: BNBB, mode: delisted, at: +1h}\n", 4, "windows[0].chain: 'BNBB' is no nickname of the catalog; did you mean 'BNB'"),
        ("  - {token: USDTT, mode: delisted, at: +1h}\n", 4, "windows[0].token: 'USDTT' is no symbol of the catalog; did you mean 'USDT'"),
        ("  - {chain: BNB, mode: delisted, at: +2h, until: +1h}\n", 4, "windows[0].until: ends before it begins"),
        ("  - {chain: BNB, mode: delisted, at: 2026-01-01}\n", 4, "windows[0].at: expected a time such as"),
        ("  - {chain: BNB, mode: delisted, at: 2026-02-30T00:00:00Z}\n", 4, "windows[0].at: '2026-02-30T00:00:00Z' is no time"),
        ("  - {chain: BNB, mode: delisted, at: +1h, for: 1 hour}\n", 4, "windows[0].for: expected a duration such as 15s"),
        ("  - {chain: BNB, mode: flapping, at: +1h, period: 10ms}\n", 4, "windows[0].period: 10 ms is too short; "),
        ("  - {chain: BNB, mode: flapping, at: +1h}\n", 4, "windows[0].period: missing, it is required"),
        ("  []\nrandom: {mean_between: 1s, mean_length: 1s, at: +0s, for: 1d}\n", 5, "random.mean_between: would draw about 2419200 outages, at most 1000 are right"),
        ("  []\nrandom: {mean_between: 1d, mean_length: 1h, at: +0s, for: 9d, chains: [BSC]}\n", 5, "random.chains[0]: 'BSC' is no nickname of the catalog"),
        ("  []\nrandom: {mean_between: 1d, mean_length: 1h, at: +2h, until: +1h}\n", 5, "random.until: ends before it begins"),
        ("  []\nrandom: {mean_between: 1d, mean_length: 1h, at: +2h}\n", 5, "random: expected either `until` or `for`, exactly one of them"),
    ],
)  # fmt: skip
def test_a_calendar_with_an_error_is_refused(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(CALENDAR + text, "utf-8")
    message = refusal(load_calendar, file, start_ms=0)
    assert f"mine.yaml:{line}: " in message
    assert words in message


def test_a_scenario_names_a_calendar_by_name_or_by_path(tmp_path: Path) -> None:
    file, calendar = tmp_path / "mine.yaml", tmp_path / "own.yaml"
    file.write_text(HEAD + "calendar: short-blip\n", "utf-8")
    assert [window.chain for window in load_scenario(file).calendar] == ["BNB"]
    file.write_text(HEAD + "calendar: own.yaml\n", "utf-8")
    calendar.write_text(CALENDAR + "  - {chain: ETH, mode: delisted, at: +1h}\n", "utf-8")
    assert [window.chain for window in load_scenario(file).calendar] == ["ETH"]
    calendar.write_text(CALENDAR + "  - {chain: EHT, mode: delisted, at: +1h}\n", "utf-8")
    assert "own.yaml:4: windows[0].chain: 'EHT' is no" in refusal(load_scenario, file)


def test_without_a_start_relative_times_count_from_the_reading(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(HEAD.replace("frozen", "default") + "calendar: short-blip\n", "utf-8")
    (window,) = load_scenario(file, wall=lambda: 1_000).calendar
    assert window.from_ms == 3_601_000


@pytest.mark.parametrize(
    ("assets", "line", "words"),
    [
        ("{symbol: FSN, name: F, index: 2, basis: assumed, source: x, contracts: {FSN: {address: native, decimals: 18}}}", 0, ""),
        ("{symbol: FSN, name: F, index: 2, basis: assumed, source: x, contracts: {ETH: {address: native, decimals: 18}}}", 6, "contracts.ETH: 'ETH' is no chain of the catalog"),
        ("{symbol: XY, name: F, index: 2, basis: assumed, source: x, contracts: {FSN: {address: native, decimals: 18}}}", 6, "the native coin of 'FSN' is 'FSN', not 'XY'"),
        ("{symbol: FSN, name: F, index: 2, basis: assumed, source: x, contracts: {FSN: {address: native, decimals: 6}}}", 6, "its chain 'FSN' says 18, not 6"),
        ("{symbol: FSN, name: F, index: 0, basis: guessed, source: x, contracts: {}}", 6, "assets[0].basis: expected one of documented, observed, assumed"),
    ],
)  # fmt: skip
def test_a_catalog_is_checked(tmp_path: Path, assets: str, line: int, words: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(f"{CATALOG}chains:\n{FUSION}assets:\n  - {assets}\n", "utf-8")
    if line == 0:
        assert len(load_catalog(tmp_path).tokens) == 1
        return
    message = refusal(load_catalog, tmp_path)
    assert f"mine.yaml:{line}: " in message
    assert words in message


def test_nothing_is_in_a_catalog_twice(tmp_path: Path) -> None:
    coin = "basis: assumed, source: x, contracts: {FSN: {address: '0xAB', decimals: 1}}"
    lower = coin.replace("0xAB", "0xab")
    (tmp_path / "mine.yaml").write_text(
        f"{CATALOG}chains:\n{FUSION}{FUSION}assets:\n"
        f"  - {{symbol: A, name: A, index: 1, {coin}}}\n"
        f"  - {{symbol: A, name: A, index: 1, {lower}}}\n",
        "utf-8",
    )
    message = refusal(load_catalog, tmp_path)
    for words in (
        "mine.yaml:5: chains[1].nickname: 'FSN' is taken by chains[0]; give another one",
        "chains[1].index: 1 is taken",
        "chains[1].network: '32659' is taken",
        "chains[1].v1.name: 'FSN' is taken",
        "mine.yaml:9: assets[1].symbol: 'A' is taken by assets[0]",
        "assets[1].index: 1 is taken",
        "assets[1].contracts.FSN.address: '0xab' is the address of 'A' on 'FSN' already",
    ):
        assert words in message


@pytest.mark.parametrize(
    ("assets", "words"),
    [
        ("{symbol: NEW, name: N, index: 0, basis: assumed, source: x, contracts: {}}", "day.yaml:6: catalog.assets[0].index: "),
        ("{symbol: NEW, name: N, index: 8888, basis: assumed, source: x, contracts: {NOWHERE: {address: '0x1', decimals: 1}}}", "day.yaml:6: catalog.assets[0].contracts.NOWHERE: 'NOWHERE' is no chain"),
        ("{symbol: FSN, name: F, index: 2, basis: assumed, source: x, contracts: {}}", "day.yaml:6: catalog.assets[0].name: the catalog's 'FSN' has 'Fusion'; only contracts can be added to it"),
        ("{symbol: FSN, name: Fusion, index: 2, basis: assumed, source: x, contracts: {ETH: {address: '0x1', decimals: 1}}}", "the catalog's 'FSN' is on 'ETH' already"),
        ("{symbol: NEW, name: N, index: 8888, listed: false, basis: assumed, source: x, contracts: {}}", "prices.usd"),
    ],
)  # fmt: skip
def test_what_a_scenario_adds_to_the_catalog_is_checked(
    tmp_path: Path, assets: str, words: str
) -> None:
    file = tmp_path / "day.yaml"
    head = "format: crosschain-mock/scenario@1\ntitle: t\nextends: default\ncatalog:\n  assets:\n"
    file.write_text(f"{head}  - {assets}\n", "utf-8")
    assert words in refusal(load_scenario, file)


def test_an_empty_folder_is_no_catalog(tmp_path: Path) -> None:
    assert "holds no catalog" in refusal(load_catalog, tmp_path)
    file = tmp_path / "mine.yaml"
    file.write_text(f"{CATALOG}chains:\n{FUSION}", "utf-8")
    assert "no file of the catalog has 'assets'" in refusal(load_catalog, tmp_path)


def paths(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [path] if path else []
    pairs: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    for key, item in pairs:
        found += paths(item, (*path, key))
    return found


def replaced(value: object, path: tuple[str | int, ...], new: object) -> object:
    if not path:
        return new
    if isinstance(value, dict):
        return {
            key: replaced(item, path[1:], new) if key == path[0] else item
            for key, item in value.items()
        }
    assert isinstance(value, list)
    return [
        replaced(item, path[1:], new) if number == path[0] else item
        for number, item in enumerate(value)
    ]


def loaded_or_refused(file: Path) -> Scenario | tuple[Problem, ...]:
    try:
        return load_scenario(file)
    except InvalidFile as error:
        return error.problems


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**80),
    st.text(max_size=12),
    st.sampled_from(
        ["", "0", "1e999", "NaN", "+1h", "+99999999999999d", "0001-01-01T00:00:00+14:00", "slow"]
    ),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(deadline=None)
@given(where=st.sampled_from(paths(DEFAULT)), new=VALUES)
def test_any_mutation_gives_a_scenario_or_a_refusal(
    tmp_path_factory: pytest.TempPathFactory, where: tuple[str | int, ...], new: object
) -> None:
    file = tmp_path_factory.getbasetemp() / "mutated.yaml"
    file.write_text(yaml.safe_dump(replaced(DEFAULT, where, new)), "utf-8")
    assert loaded_or_refused(file)


@settings(deadline=None)
@given(data=st.data())
def test_any_cut_or_scrambled_text_gives_a_scenario_or_a_refusal(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    text = (resources.fixtures() / "scenarios" / "outage.yaml").read_text("utf-8")
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 40)))
    middle = data.draw(st.text(alphabet=":-[]{}&*!|>%@`'\"#,?\n\t 0a", max_size=12))
    file = tmp_path_factory.getbasetemp() / "scrambled.yaml"
    file.write_text(text[:begin] + middle + text[end:], "utf-8")
    assert loaded_or_refused(file)
