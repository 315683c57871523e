"""Faults of the lists of chains and tokens of v1."""

from typing import Any

from tests.blind.edits import (
    as_text,
    at,
    boom,
    fill,
    known_v1_chain,
    mend,
    pretend,
    put,
)
from tests.blind.rows import fault
from tests.blind.world import World


def _tron_in_v1(world: World) -> None:
    world.chains[10].v1_name = "TRX"


def _v1_with_tron(old: list[Any]) -> list[Any]:
    return [*old, {**old[0], "id": 11, "name": "TRX", "fullName": "Tron", "chainId": 728126428}]


def _v1_with_solana(old: list[Any]) -> list[Any]:
    return [*old, {**old[0], "id": 10, "name": "SOL", "fullName": "Solana", "chainId": 101}]


def _v1_ghost(old: list[Any]) -> list[Any]:
    return [*old, {**old[0], "id": 99, "name": "GHOST", "fullName": "Ghost", "chainId": 999}]


def _v1_unlisted(old: list[Any]) -> list[Any]:
    return [item for item in old if item["name"] != "BSC"]


FIRST_LISTS = (
    fault("v1-chains-empty", "v1.getSupportChains", "1", "none", after=put("data.chains", [])),
    fault(
        "v1-chains-null", "v1.getSupportChains", "4.1", "no list", after=put("data.chains", None)
    ),
    fault("v1-chains-gone", "v1.getSupportChains", "4.1", "data is empty", after=put("data", {})),
    fault(
        "v1-chain-items-are-numbers",
        "v1.getSupportChains",
        "2.2",
        "chains have no names, only numbers",
        after=at("data.chains.*", lambda item: item["chainId"]),
    ),
    fault(
        "v1-chains-lack-names",
        "v1.getSupportChains",
        "2.2",
        "chains have no name that other operations take",
        after=at("data.chains.*", lambda item: {"id": item["id"], "isActive": True}),
    ),
    fault(
        "v1-lists-solana",
        "v1.getSupportChains",
        "1",
        "a chain that is not EVM is offered, and unusable",
        after=at("data.chains", _v1_with_solana),
    ),
    fault(
        "v1-offers-other-than-evm",
        ("v1.getSupportChains", "v1.getSupportTokens"),
        "1",
        "a chain that is not EVM is offered and works",
        setup=_tron_in_v1,
        after=at("data.chains", _v1_with_tron),
    ),
    fault(
        "v1-chain-unusable",
        "v1.getSupportChains",
        "2.2",
        "a chain is listed that no operation takes",
        after=at("data.chains", _v1_ghost),
    ),
    fault(
        "v1-first-chain-has-another-form",
        "v1.getSupportChains",
        "2.2",
        "the first chain has a number where all others have their name",
        after=put("data.chains.0.name", 7),
    ),
    fault(
        "v1-chain-usable-but-unlisted",
        "v1.getSupportChains",
        "1",
        "a chain that is not listed is quoted",
        after=at("data.chains", _v1_unlisted),
    ),
    fault(
        "v1-tokens-ignore-the-chain",
        "v1.getSupportTokens",
        "4.1",
        "the tokens of Ethereum come for every chain",
        before=pretend(chain="ETH"),
    ),
    fault(
        "v1-tokens-take-any-chain",
        "v1.getSupportTokens",
        "4.1",
        "an unknown chain has tokens",
        before=mend("chain", known_v1_chain, "ETH"),
    ),
    fault(
        "v1-tokens-need-no-chain",
        "v1.getSupportTokens",
        "4.1",
        "a required input is not needed",
        before=fill(chain="ETH"),
    ),
    fault("v1-tokens-empty", "v1.getSupportTokens", "4.1", "none", after=put("data.tokenVos", [])),
    fault(
        "v1-tokens-lack-symbols",
        "v1.getSupportTokens",
        "2.2",
        "no token has the symbol that other operations take",
        after=at("data.tokenVos.*", lambda i: {"address": i["address"], "decimals": i["decimals"]}),
    ),
    fault(
        "v1-tokens-are-dud",
        "v1.getSupportTokens",
        "2.2",
        "listed symbols are taken by no operation",
        after=at("data.tokenVos.*.symbol", lambda old: "w" + old),
    ),
    fault(
        "v1-decimals-contradict-2.0",
        "v1.getSupportTokens",
        "2.3",
        "a token has other decimals than the same address has in 2.0",
        after=at("data.tokenVos.*.decimals", lambda old: 18 if old == 6 else old),
    ),
    fault(
        "v1-prices-contradict-2.0",
        "v1.getSupportTokens",
        "observed",
        "prices are a hundred times those of 2.0",
        after=at("data.tokenVos.*.price", lambda old: str(float(old) * 100)),
    ),
    fault(
        "v1-tokens-of-another-chain",
        "v1.getSupportTokens",
        "4.1",
        "each token says that it is on another chain than was asked for",
        after=put("data.tokenVos.*.chain", "FSN"),
    ),
    fault(
        "v1-decimals-of-the-last-in-text",
        "v1.getSupportTokens",
        "observed",
        "the last decimal count is text where all others are numbers",
        after=as_text("data.tokenVos.-1.decimals"),
    ),
    fault("v1-chains-fail", "v1.getSupportChains", "common sense", "500 always", after=boom),
)
