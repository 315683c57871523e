"""Faults of the lists of chains and tokens of 2.0."""

from typing import Any

from tests.blind.edits import (
    as_text,
    at,
    drop,
    known_chain,
    mend,
    no,
    pretend,
    put,
    when,
    with_call,
)
from tests.blind.operations import V2
from tests.blind.rows import fault
from tests.blind.wire import After, Answer, Call, Verbatim
from tests.blind.world import NATIVE, Chain, World, address_on


def _ghost(world: World) -> None:
    world.chains.append(Chain(99, "GHOST", "Ghost", "GHOST", "999", True, "GHO", 18))


def _ghost_only_named(call: Call, old: list[Any]) -> list[Any]:
    return [*old, {**old[0], "nickName": "GHOST", "fullName": "Ghost", "chainIndex": 99}]


def _wrong_first(call: Call, old: list[Any]) -> list[Any]:
    return [{**old[0], "nickName": 1}, *old[1:]]


def _bare_chain(item: dict[str, Any]) -> dict[str, Any]:
    return {"chainIndex": item["chainIndex"], "nickName": item["nickName"]}


def _no_second_generation_of(nick: str) -> After:
    return at("data.list", lambda old: [item for item in old if item["nickName"] != nick])


def _all_tokens(call: Call, answer: Answer) -> None:
    if answer.good:
        return
    world = call.world
    answer.body = {
        "code": 0,
        "msg": "success",
        "data": {
            "version": world.version,
            "list": [
                {
                    "index": token.index,
                    "symbol": token.symbol,
                    "decimals": token.decimals,
                    "contractAddress": token.address,
                }
                for token in world.tokens
            ],
        },
    }


def _foreign_token(call: Call, old: list[Any]) -> list[Any]:
    other = "SOL" if call.text("chain") != "SOL" else "ETH"
    token = call.world.by_symbol(other, "USDC")
    assert token is not None
    return [
        *old,
        {
            "index": token.index,
            "symbol": "USDC.x",
            "decimals": token.decimals,
            "contractAddress": token.address,
        },
    ]


def _first_other(name: str, value: Any) -> After:
    return at("data.list", lambda old: [{**old[0], name: value}, *old[1:]] if old else old)


def _last_other(name: str, value: Any) -> After:
    return at("data.list", lambda old: [*old[:-1], {**old[-1], name: value}] if old else old)


def _first_lacks(name: str) -> After:
    def lacking(old: list[Any]) -> list[Any]:
        return [{k: v for k, v in old[0].items() if k != name}, *old[1:]] if old else old

    return at("data.list", lacking)


def _usdt_decimals(call: Call, old: list[Any]) -> list[Any]:
    return [{**i, "decimals": i["decimals"] + 2} if i["symbol"] == "USDT" else i for i in old]


def _other_address(call: Call, old: list[Any]) -> list[Any]:
    other = address_on("ETH", "somewhere else")
    return [{**i, "contractAddress": other} if i["symbol"] == "USDT" else i for i in old]


def _other_index(call: Call, old: list[Any]) -> list[Any]:
    return [{**item, "index": item["index"] + 100} for item in old]


def _without_usdc(old: list[Any]) -> list[Any]:
    return [item for item in old if item["symbol"] != "USDC"]


def _unknown_contract_chain(old: list[Any]) -> list[Any]:
    place = {"MOON": {"address": address_on("ETH", "moon"), "decimals": 18}}
    first = {**old[0], "contracts": {**old[0]["contracts"], **place}}
    return [first, *old[1:]]


def _shared_index(old: list[Any]) -> list[Any]:
    return [{**item, "index": 5 if item["symbol"] == "USDC" else item["index"]} for item in old]


def _unusable_token(world: World) -> None:
    """Left for the lists alone: every operation takes it for unknown."""
    world.prices["DUD"] = 1_000_000


def _with_dud(call: Call, old: list[Any]) -> list[Any]:
    address = address_on("ETH", f"dud {call.text('chain')}")
    return [*old, {"index": 500, "symbol": "DUD", "decimals": 18, "contractAddress": address}]


LISTS = (
    fault("version-missing", "v2.getChain", "2.3", "no version", after=drop("data.version")),
    fault("version-is-text", "v2.getAssets", "9", "in text", after=as_text("data.version")),
    fault(
        "version-is-a-fraction",
        "v2.getAssetsByChain",
        "9",
        "version is 1.5",
        after=put("data.version", Verbatim("1.5")),
    ),
    fault("version-null", "v2.getChain", "9", "version is null", after=put("data.version", None)),
    fault("version-true", "v2.getAssets", "9", "is a boolean", after=put("data.version", True)),
    fault("chains-missing", "v2.getChain", "2.3", "there is no list", after=drop("data.list")),
    fault(
        "chains-are-an-object",
        "v2.getChain",
        "2.3",
        "the list is an object by nickName",
        after=at("data.list", lambda old: {item["nickName"]: item for item in old}),
    ),
    fault("chains-empty", "v2.getChain", "1", "the list is empty", after=put("data.list", [])),
    fault(
        "chains-lack-nick-names",
        "v2.getChain",
        "2.3",
        "no chain has a nickName",
        after=drop("data.list.*.nickName"),
    ),
    fault(
        "first-chain-lacks-nick-name",
        "v2.getChain",
        "2.3",
        "the first chain has no nickName",
        after=_first_lacks("nickName"),
    ),
    fault(
        "last-chain-lacks-nick-name",
        "v2.getChain",
        "2.3",
        "the last chain has no nickName",
        after=drop("data.list.-1.nickName"),
    ),
    fault(
        "chains-lack-names",
        "v2.getChain",
        "2.3",
        "no chain has a name beside its nickName",
        after=at(
            "data.list.*",
            lambda item: {"chainIndex": item["chainIndex"], "nickName": item["nickName"]},
        ),
    ),
    fault(
        "nick-name-is-a-number",
        "v2.getChain",
        "2.3",
        "the nickName of the first chain is a number",
        after=with_call("data.list", _wrong_first),
    ),
    fault(
        "nick-name-empty",
        "v2.getChain",
        "2.3",
        "the nickName of the last chain is empty",
        after=put("data.list.-1.nickName", ""),
    ),
    fault(
        "nick-names-alike",
        "v2.getChain",
        "2.3",
        "two chains have one nickName",
        after=put("data.list.2.nickName", "ETH"),
    ),
    fault(
        "nick-names-in-another-case",
        "v2.getChain",
        "2.3",
        "listed nickNames are taken by no operation, since their case is another",
        after=at("data.list.*.nickName", str.lower),
    ),
    fault(
        "chain-item-is-null",
        "v2.getChain",
        "2.3",
        "an item of the list is null",
        after=at("data.list", lambda old: [*old, None]),
    ),
    fault(
        "chain-items-are-text",
        "v2.getChain",
        "2.3",
        "items are names, not chains with nickName and name",
        after=at("data.list.*", lambda item: item["nickName"]),
    ),
    fault(
        "chain-listed-but-unusable",
        "v2.getChain",
        "1",
        "a chain is listed that every operation refuses",
        after=with_call("data.list", _ghost_only_named),
    ),
    fault(
        "chain-listed-without-tokens",
        V2,
        "common sense",
        "a chain is listed and has no token at all",
        setup=_ghost,
    ),
    fault(
        "no-chains-but-evm",
        "v2.getChain",
        "1",
        "2.0 lists no chain that is not EVM",
        after=at("data.list", lambda old: [item for item in old if item["family"] == 1]),
    ),
    fault(
        "chain-usable-but-unlisted",
        "v2.getChain",
        "1",
        "a chain that is not listed is quoted and has tokens",
        after=_no_second_generation_of("POLYGON"),
    ),
    fault(
        "chain-drops-out-and-is-quoted",
        "v2.getChain",
        "1",
        "after some calls a chain is suspended in the list and quoted as before",
        after=when(lambda call: call.nth >= 3, _no_second_generation_of("BNB")),
    ),
    fault(
        "chains-change-with-every-call",
        "v2.getChain",
        "1",
        "each look at the list shows another half of the chains",
        after=with_call("data.list", lambda call, old: old[call.nth % 2 :: 2]),
    ),
    fault("assets-empty", "v2.getAssets", "2.3", "the list is empty", after=put("data.list", [])),
    fault("assets-null", "v2.getAssets", "2.3", "the list is null", after=put("data.list", None)),
    fault(
        "assets-lack-symbols", "v2.getAssets", "2.3", "no symbols", after=drop("data.list.*.symbol")
    ),
    fault(
        "first-asset-lacks-symbol",
        "v2.getAssets",
        "2.3",
        "the first token has no symbol",
        after=_first_lacks("symbol"),
    ),
    fault("assets-lack-index", "v2.getAssets", "2.3", "no index", after=drop("data.list.*.index")),
    fault(
        "last-asset-lacks-index",
        "v2.getAssets",
        "2.3",
        "the last token has no index",
        after=drop("data.list.-1.index"),
    ),
    fault(
        "asset-index-is-text",
        "v2.getAssets",
        "2.3",
        "the last index is text where the others are numbers",
        after=as_text("data.list.-1.index"),
    ),
    fault(
        "assets-share-an-index",
        "v2.getAssets",
        "4.2",
        "two tokens share an index, by which orders name them",
        after=at("data.list", _shared_index),
    ),
    fault(
        "assets-lack-addresses",
        "v2.getAssets",
        "2.3",
        "no token has a contract address",
        after=drop("data.list.*.contracts.*.address"),
    ),
    fault(
        "assets-lack-decimals",
        "v2.getAssets",
        "2.3",
        "no token has decimals",
        after=drop("data.list.*.contracts.*.decimals"),
    ),
    fault(
        "assets-decimals-in-text",
        "v2.getAssets",
        "2.3",
        "the decimal count of each contract is not a count but text with a unit",
        after=at("data.list.*.contracts.*.decimals", lambda old: f"1e{old}"),
    ),
    fault(
        "assets-decimals-negative",
        "v2.getAssets",
        "2.3",
        "decimal counts are negative",
        after=at("data.list.*.contracts.*.decimals", lambda old: -old),
    ),
    fault(
        "assets-on-unknown-chain",
        "v2.getAssets",
        "2.3",
        "a token is said to be on a chain that is not listed",
        after=at("data.list", _unknown_contract_chain),
    ),
    fault(
        "assets-lack-a-token",
        "v2.getAssets",
        "4.2",
        "a token of the lists by chain is missing in the list of all",
        after=at("data.list", _without_usdc),
    ),
    fault(
        "assets-decimals-differ",
        "v2.getAssets",
        "4.2",
        "decimals are others than in the list by chain",
        after=at("data.list.*.contracts.*.decimals", lambda old: 18 if old == 6 else old),
    ),
    fault(
        "assets-addresses-differ",
        "v2.getAssets",
        "4.2",
        "addresses are others than in the list by chain",
        after=at(
            "data.list.*.contracts.*.address",
            lambda old: old if old == NATIVE else old[:-1] + ("1" if old[-1] != "1" else "2"),
        ),
    ),
    fault(
        "by-chain-ignores-the-chain",
        "v2.getAssetsByChain",
        "4.2",
        "the tokens of one chain come for every chain",
        before=pretend(chain="ETH"),
    ),
    fault(
        "by-chain-takes-any-name",
        "v2.getAssetsByChain",
        "4.2",
        "an unknown chain has the tokens of Ethereum",
        before=mend("chain", known_chain, "ETH"),
    ),
    fault(
        "by-chain-needs-no-chain",
        "v2.getAssetsByChain",
        "4.2",
        "without its required input it answers with all tokens",
        after=_all_tokens,
    ),
    fault(
        "by-chain-empty",
        "v2.getAssetsByChain",
        "2.3",
        "no chain has a token",
        after=put("data.list", []),
    ),
    fault(
        "by-chain-empty-for-one",
        "v2.getAssetsByChain",
        "2.3",
        "one listed chain has no token, which the list of all says that it has",
        after=when(lambda call: call.text("chain") == "AVAXC", put("data.list", [])),
    ),
    fault(
        "by-chain-all-18",
        "v2.getAssetsByChain",
        "2.3",
        "every token has 18 decimals, and quotes use others",
        after=put("data.list.*.decimals", 18),
    ),
    fault(
        "by-chain-usdt-decimals",
        "v2.getAssetsByChain",
        "2.3",
        "one token has decimals that no quote takes",
        after=with_call("data.list", _usdt_decimals),
    ),
    fault(
        "by-chain-lacks-index",
        "v2.getAssetsByChain",
        "2.3",
        "no index, which orders need",
        after=drop("data.list.*.index"),
    ),
    fault(
        "by-chain-other-index",
        "v2.getAssetsByChain",
        "4.2",
        "indexes are others than in the list of all",
        after=with_call("data.list", _other_index),
    ),
    fault(
        "by-chain-other-address",
        "v2.getAssetsByChain",
        "4.2",
        "one token has an address that no quote takes",
        after=with_call("data.list", _other_address),
    ),
    fault(
        "by-chain-address-empty",
        "v2.getAssetsByChain",
        "2.3",
        "the last token has an empty address",
        after=_last_other("contractAddress", ""),
    ),
    fault(
        "by-chain-address-missing",
        "v2.getAssetsByChain",
        "2.3",
        "the first token has no address",
        after=_first_lacks("contractAddress"),
    ),
    fault(
        "by-chain-symbol-null",
        "v2.getAssetsByChain",
        "2.3",
        "the last symbol is null",
        after=_last_other("symbol", None),
    ),
    fault(
        "by-chain-decimals-of-first-in-words",
        "v2.getAssetsByChain",
        "2.3",
        "the first decimal count is a word",
        after=_first_other("decimals", "eighteen"),
    ),
    fault(
        "by-chain-foreign-token",
        "v2.getAssetsByChain",
        "4.2",
        "a token of another chain is among the tokens",
        after=with_call("data.list", _foreign_token),
    ),
    fault(
        "by-chain-token-unusable",
        "v2.getAssetsByChain",
        "4.2",
        "a token is listed that no other operation knows",
        after=with_call("data.list", _with_dud),
        setup=_unusable_token,
    ),
    fault(
        "by-chain-token-twice",
        "v2.getAssetsByChain",
        "2.3",
        "the first token comes twice, with two decimal counts",
        after=at("data.list", lambda old: [*old, {**old[0], "decimals": old[0]["decimals"] - 1}]),
    ),
    fault(
        "by-chain-refuses-one-listed",
        "v2.getAssetsByChain",
        "4.2",
        "a listed chain is refused",
        after=when(lambda call: call.text("chain") == "POLYGON", no),
    ),
)
