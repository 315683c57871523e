"""Recorded lists: what they lack as lasting outages, what the catalog lacks as additions to it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from mockserver.contract import ids
from mockserver.documents import Document, item_checks, part_of
from mockserver.engine.catalog import EVM_FAMILY, NATIVE, Catalog, Chain, address_key
from mockserver.jsontext import Json, camel
from mockserver.learning.seeding.reading import Success, items_of
from mockserver.operations.lists import CHAIN_MEMBERS
from mockserver.scenarios import load_catalog
from mockserver.values import dataclass

Lists = Mapping[tuple[str, str], Sequence[Mapping[str, Any]]]


def last_lists(successes: Iterable[Success]) -> Lists:
    """Return the items of the last lists, by operation, those of one chain by its name too."""
    last: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for one in successes:
        of_a_chain = one.operation in (ids.OF_CHAIN, ids.V1_TOKENS)
        place = str(one.inputs.get("chain")) if of_a_chain else ""
        last[one.operation, place] = list(items_of(one.data))
    return last


def closed_by(last: Lists, catalog: Catalog) -> tuple[list[Json], set[str]]:
    """Return windows for what the last lists lack or show as out, and names nobody knows here."""
    found = [*_chains(last, catalog), *_tokens(last, catalog)]
    return found, set(_unknown(last, catalog))


def _chains(last: Lists, catalog: Catalog) -> Iterator[Json]:
    listed = _by_name(last.get((ids.CHAINS, ""), ()), "nickName")
    listed_v1 = _by_name(last.get((ids.V1_CHAINS, ""), ()), "name")
    for chain in catalog.chains:
        if chain.delisted or chain.disabled:
            continue
        if listed:
            item: Mapping[str, Any] | None = listed.get(chain.nickname)
        elif listed_v1 and chain.v1_name is not None:
            item = listed_v1.get(chain.v1_name)
        else:
            continue
        mode = _mode(item)
        if mode:
            yield _window(mode, chain=chain.nickname)


def _tokens(last: Lists, catalog: Catalog) -> Iterator[Json]:
    listed = _by_name(last.get((ids.ASSETS, ""), ()), "symbol")
    for token in catalog.tokens:
        if token.delisted or not token.listed or not token.visible:
            continue
        if listed and _mode(listed.get(token.symbol)):
            yield _window("delisted", token=token.symbol)
            continue
        contracts = listed.get(token.symbol, {}).get("contracts")
        for nickname in token.contracts:
            on_chain = _by_name(last.get((ids.OF_CHAIN, nickname), ()), "symbol")
            if isinstance(contracts, dict):
                item = contracts.get(nickname)
            elif on_chain:
                item = on_chain.get(token.symbol)
            else:
                continue
            if _mode(item if isinstance(item, dict) else None):
                yield _window("delisted", chain=nickname, token=token.symbol)


def _unknown(last: Lists, catalog: Catalog) -> Iterator[str]:
    chains = {name for chain in catalog.chains for name in (chain.nickname, chain.v1_name)}
    tokens = {token.symbol for token in catalog.tokens}
    for (operation, _), items in last.items():
        if operation in (ids.CHAINS, ids.V1_CHAINS):
            named = _by_name(items, "nickName" if operation == ids.CHAINS else "name")
            yield from (name for name in named if name not in chains)
        elif operation in (ids.ASSETS, ids.OF_CHAIN):
            yield from (name for name in _by_name(items, "symbol") if name not in tokens)


def _by_name(items: Iterable[Mapping[str, Any]], key: str) -> dict[str, Mapping[str, Any]]:
    return {item[key]: item for item in items if isinstance(item.get(key), str)}


def _mode(item: Mapping[str, Any] | None) -> str:
    """Return how something is out that a list shows so, or does not show; empty where it is not."""
    if item is None or item.get("delisted") is True:
        return "delisted"
    return "disabled" if item.get("disabled") is True or item.get("isActive") is False else ""


def _window(mode: str, **subject: str) -> Json:
    reason = "as in the recorded list"
    return {**subject, "mode": mode, "at": "+0s", "in_flight": "none", "reason": reason}


Item = Mapping[str, Any]

_TOKEN_MEMBERS = ("index", "name", "cmcid", "visible", "delisted")
_CONTRACT_MEMBERS = {
    name: camel(name)
    for name in ("address", "decimals", "burnable", "disable_bridge", "krc20_tradeable")
}
_SOURCE = "recorded"


@dataclass(slots=True)
class Additions:
    """Chains and tokens for the catalog of a scenario, and sentences on what is not as recorded.

    `symbols` are those of new tokens; `remarks` name what was assumed, and what was left out.
    """

    chains: list[dict[str, Any]] = field(default_factory=list)
    assets: list[dict[str, Any]] = field(default_factory=list)
    symbols: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def text(self) -> dict[str, Json]:
        """Return what stands in a scenario for it."""
        both: dict[str, Json] = {"chains": list(self.chains), "assets": list(self.assets)}
        given = {name: items for name, items in both.items() if items}
        return {"catalog": given} if given else {}

    def catalog(self) -> Catalog:
        """Return the shipped catalog with what is added."""
        given: Any = self.text().get("catalog")
        if given is None:
            return load_catalog()
        whole = Document(Path("recordings"), "scenario", {"catalog": given}, {})
        return load_catalog(added=part_of(whole, "catalog", given, ("catalog",)))


def additions_of(last: Lists, catalog: Catalog) -> Additions:
    """Return the chains, tokens and contracts of the last lists that the catalog lacks.

    What was recorded stands as it was, where it has the form of a catalog; the rest is assumed as
    the simulation assumes it, and named.
    """
    found = Additions()
    _add_chains(found, last, catalog)
    _add_tokens(found, last, found.catalog() if found.chains else catalog)
    return found


def _add_chains(found: Additions, last: Lists, catalog: Catalog) -> None:
    checks = item_checks("catalog", "chains")
    # Endpoints are somebody's own, with a key in them perhaps.
    own = ("nickname", "public_endpoint", "private_endpoint")
    members = {name: member for name, member in CHAIN_MEMBERS.items() if name not in own}
    known = {chain.nickname for chain in catalog.chains}
    networks = {chain.network for chain in catalog.chains}
    indexes = {chain.index for chain in catalog.chains}
    v1_names = {chain.v1_name for chain in catalog.chains}
    v1_ids = {chain.v1_id for chain in catalog.chains}
    v1 = {one["name"]: one for one in last.get((ids.V1_CHAINS, ""), ()) if _named(one, "name")}
    v1 = {name: one for name, one in v1.items() if name not in v1_names}
    listed = {
        one["nickName"]: one for one in last.get((ids.CHAINS, ""), ()) if _named(one, "nickName")
    }
    listed |= {
        name: _of_v1(one)
        for name, one in v1.items()
        if name not in listed and not _same_network(one, listed)
    }
    for name, item in listed.items():
        if name in known:
            continue
        if not checks["nickname"].accepts(name):
            found.remarks.append(f"left out: {name[:40]!r} is no nickname that a catalog takes")
            continue
        one = _fields(item, members, checks)
        if one.get("network") in networks:
            text = f"network {one['network']!r} is that of another chain of the catalog"
            found.remarks.append(f"left out: chain {name!r}, its {text}")
            continue
        assumed = {"full_name": name, "index": _index(found, "chain", name, one, indexes)}
        assumed |= {"network": name, "base_coin": name}
        if one.get("family", EVM_FAMILY) != EVM_FAMILY:
            assumed["vault"] = f"mock-vault-of-{name}"
        chain = {"nickname": name, **assumed, **one}
        v1_name = name if name in v1 else _same_network(item, v1, "chainId")
        if v1_name and checks["v1"].accepts({"name": v1_name, "id": v1[v1_name].get("id")}):
            if v1[v1_name]["id"] in v1_ids:
                _changed(found, f"v1 id of chain {name!r}", v1[v1_name]["id"], None)
            else:
                chain["v1"] = {"name": v1_name, "id": v1[v1_name]["id"]}
                v1_ids.add(v1[v1_name]["id"])
        networks.add(chain["network"])
        _close(found, "chain", name, chain, [key for key in assumed if key not in one])
        found.chains.append(chain)


def _add_tokens(found: Additions, last: Lists, catalog: Catalog) -> None:
    checks = item_checks("catalog", "assets")
    chains = {chain.nickname: chain for chain in catalog.chains}
    nicknames = {chain.v1_name: chain.nickname for chain in catalog.v1_chains()}
    known = {token.symbol: token for token in catalog.tokens}
    indexes = {token.index for token in catalog.tokens}
    owned = {
        (nickname, address_key(chains[nickname], contract.address))
        for token in catalog.tokens
        for nickname, contract in token.contracts.items()
    }
    for symbol, (item, contracts) in _listed_tokens(last, nicknames).items():
        if not checks["symbol"].accepts(symbol):
            found.remarks.append(f"left out: {symbol[:40]!r} is no symbol that a catalog takes")
            continue
        there = known.get(symbol)
        taken: dict[str, Json] = {}
        for nickname, one in contracts.items():
            if nickname in chains and (there is None or nickname not in there.contracts):
                contract = _fields(one, _CONTRACT_MEMBERS, checks, nickname)
                why = _refused(symbol, chains[nickname], contract, owned)
                if why:
                    found.remarks.append(f"left out: {symbol!r} on {nickname!r}, {why}")
                else:
                    taken[nickname] = contract
        if there is not None:
            if taken:
                one = {"symbol": symbol, "name": there.name, "index": there.index}
                found.assets.append({**one, "contracts": taken, **_basis([])})
                found.remarks.append(f"added to token {symbol!r}: {', '.join(taken)}")
            continue
        one = _fields(item, {name: name for name in _TOKEN_MEMBERS}, checks)
        assumed = {"name": symbol, "index": _index(found, "token", symbol, one, indexes)}
        asset: dict[str, Any] = {"symbol": symbol, **assumed, **one}
        if not taken:
            asset["listed"] = False
        asset["contracts"] = taken
        _close(found, "token", symbol, asset, [key for key in assumed if key not in one])
        found.assets.append(asset)
        found.symbols.append(symbol)


def _refused(
    symbol: str, chain: Chain, contract: Mapping[str, Any], owned: set[tuple[str, str]]
) -> str:
    """Note whose an address is; return why the catalog cannot have a contract, empty if it can."""
    if not {"address", "decimals"} <= contract.keys():
        return "no recorded list shows its address and decimals there"
    address, coin = str(contract["address"]), (chain.base_coin, chain.decimals)
    if address.lower() == NATIVE and (symbol, contract["decimals"]) != coin:
        return f"the chain's own coin is {coin[0]!r} of {coin[1]} decimals"
    key = chain.nickname, address_key(chain, address)
    if key in owned:
        return f"{address} is the address of another token there"
    owned.add(key)
    return ""


def _listed_tokens(
    last: Lists, nicknames: Mapping[str | None, str]
) -> dict[str, tuple[dict[str, Any], dict[str, Item]]]:
    """Return tokens by symbol: their own members, and those of each contract by nickname."""
    found: dict[str, tuple[dict[str, Any], dict[str, Item]]] = {}
    for symbol, item, contracts in _items(last, nicknames):
        own, places = found.setdefault(symbol, ({}, {}))
        for name in _TOKEN_MEMBERS:
            if name in item:
                own.setdefault(name, item[name])
        for nickname, contract in contracts.items():
            places.setdefault(nickname, contract)
    return found


def _items(
    last: Lists, nicknames: Mapping[str | None, str]
) -> Iterator[tuple[str, Item, dict[str, Item]]]:
    for wanted in (ids.ASSETS, ids.OF_CHAIN, ids.V1_TOKENS):
        for (operation, place), items in last.items():
            if operation != wanted:
                continue
            for item in items:
                if not _named(item, "symbol"):
                    continue
                if operation == ids.ASSETS:
                    given = item.get("contracts")
                    contracts = given.items() if isinstance(given, dict) else ()
                    placed: dict[str, Item] = {
                        name: one for name, one in contracts if isinstance(one, dict)
                    }
                    yield item["symbol"], item, placed
                elif operation == ids.OF_CHAIN:
                    # The flags of such an item are those of its contract.
                    own = {name: item[name] for name in ("index", "name", "cmcid") if name in item}
                    flat = {**item, "address": item.get("contractAddress")}
                    yield item["symbol"], own, {place: flat}
                else:
                    nickname = nicknames.get(str(item.get("chain", place)))
                    own = {"name": item["name"]} if "name" in item else {}
                    yield item["symbol"], own, {} if nickname is None else {nickname: item}


def _fields(
    item: Item, members: Mapping[str, str], checks: Mapping[str, Any], nickname: str = ""
) -> dict[str, Any]:
    """Return the members of an item that have the form of a catalog, by their names there."""
    given = {name: item[member] for name, member in members.items() if member in item}
    if not nickname:
        return {name: value for name, value in given.items() if checks[name].accepts(value)}
    whole = {"address": "0x", "decimals": 0}
    return {
        name: value
        for name, value in given.items()
        if checks["contracts"].accepts({nickname: {**whole, name: value}})
    }


def _of_v1(item: Item) -> Item:
    """Return a chain of v1's list with the members of the 2.0 list that say the same."""
    return {
        "nickName": item["name"],
        "fullName": item.get("fullName"),
        "network": str(item.get("chainId", "")),
        "disabled": item.get("isActive") is False,
    }


def _same_network(item: Item, others: Mapping[str, Item], member: str = "network") -> str:
    """Return the name of the chain whose network has the same number; empty where none has."""
    mine = str(item.get("network" if member == "chainId" else "chainId", ""))
    if not mine.isdigit() or mine == "0":
        return ""
    return next((name for name, one in others.items() if str(one.get(member)) == mine), "")


def _named(item: Item, member: str) -> bool:
    return isinstance(item.get(member), str) and bool(item[member])


def _index(found: Additions, kind: str, name: str, item: dict[str, Any], taken: set[int]) -> int:
    """Return the index of an item and take it: as recorded, else one that nothing else has."""
    recorded: Json = item.get("index")
    if isinstance(recorded, int) and recorded not in taken:
        index = recorded
    else:
        index = max(taken, default=0) + 1
        if recorded in taken:
            del item["index"]
            _changed(found, f"index of {kind} {name!r}", recorded, index)
    taken.add(index)
    return index


def _changed(found: Additions, what: str, came: Json, instead: Json) -> None:
    text = "it is left away" if instead is None else f"{instead} stands for it"
    found.remarks.append(f"the {what} was recorded as {came}, which the catalog has given; {text}")


def _close(
    found: Additions, kind: str, name: str, item: dict[str, Any], assumed: list[str]
) -> None:
    item |= _basis(assumed)
    text = f"; assumed: {', '.join(assumed)}" if assumed else ""
    found.remarks.append(f"added {kind} {name!r}{text}")


def _basis(assumed: list[str]) -> dict[str, Any]:
    return {"basis": "observed", "source": _SOURCE, "assumed": assumed}
