"""Recorded lists: missing chains become lasting outages, new ones additions to the catalog."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from mockserver.contract import ids
from mockserver.engine.catalog import EVM_FAMILY, NATIVE, Catalog, Chain, address_key
from mockserver.fast_dataclass import dataclass
from mockserver.file_formats import Document, item_checks, part_of
from mockserver.jsontext import Json, camel
from mockserver.learning.seeding.recorded_successes import Success, items_of
from mockserver.operations.token_lists import CHAIN_MEMBERS
from mockserver.scenarios import load_catalog
from mockserver.scenarios.catalog_files import stored_address

RecordedItem = Mapping[str, Any]
RecordedLists = Mapping[tuple[str, str], Sequence[RecordedItem]]

# The lists, with the member that names an item.
_NAME_MEMBERS = {
    ids.CHAINS: "nickName",
    ids.V1_CHAINS: "name",
    ids.ASSETS: "symbol",
    ids.OF_CHAIN: "symbol",
    ids.V1_TOKENS: "symbol",
}


def last_lists(successes: Iterable[Success]) -> RecordedLists:
    """Return the items of the last lists, by operation, those of one chain by its name too."""
    last: dict[tuple[str, str], list[RecordedItem]] = {}
    for success in successes:
        if success.operation in _NAME_MEMBERS:
            of_a_chain = success.operation in (ids.OF_CHAIN, ids.V1_TOKENS)
            place = str(success.inputs.get("chain")) if of_a_chain else ""
            last[success.operation, place] = list(_in_our_words(success, place))
    return last


# What services call the members of a list that a catalog needs, ours first.
_WORDS = {
    "nickName": ("nickName", "nickname", "name", "chain"),
    "fullName": ("fullName", "chainName", "name", "chain"),
    "symbol": ("symbol", "token", "name"),
    "address": ("address", "contract", "contractAddress", "tokenAddress"),
    "decimals": ("decimals", "decimal", "precision", "digits"),
    "name": ("name", "chain", "nickName", "nickname"),
}
_CHAIN_WORDS = ("chain", "chainName", "nickName")
_MEMBERS = {
    ids.CHAINS: ("nickName", "fullName"),
    ids.V1_CHAINS: ("name",),
    ids.ASSETS: ("symbol",),
    ids.OF_CHAIN: ("symbol", "address", "decimals"),
    ids.V1_TOKENS: ("symbol", "address", "decimals"),
}


def _in_our_words(success: Success, place: str) -> Iterator[RecordedItem]:
    """Yield the items of a list by the names that our lists have for their members.

    A list of all tokens may have a row for each chain; they become one token with its contracts.
    """
    wanted = _MEMBERS[success.operation]
    rows = [dict(item) | _translated(item, wanted) for item in items_of(success.data)]
    if success.operation != ids.ASSETS or any("contracts" in row for row in rows):
        yield from rows
        return
    tokens: dict[str, dict[str, Any]] = {}
    for row in rows:
        chain = next((row[word] for word in _CHAIN_WORDS if isinstance(row.get(word), str)), None)
        token = tokens.setdefault(str(row.get("symbol")), row)
        if chain is not None:
            contract = _translated(row, ("address", "decimals"))
            token.setdefault("contracts", {})[chain] = contract
    yield from tokens.values()


def _translated(item: RecordedItem, wanted: Sequence[str]) -> dict[str, Any]:
    translated = {}
    for member in wanted:
        values = [item[word] for word in _WORDS[member] if item.get(word) is not None]
        # Services show a name for people beside the one that requests use.
        short = [value for value in values if isinstance(value, str) and " " not in value]
        value = next(iter(short if member == "name" and short else values), None)
        if value is not None:
            is_count = member == "decimals" and str(value).isdecimal()
            translated[member] = int(value) if is_count else value
    return translated


def _named(
    last: RecordedLists, operation: str, place: str = ""
) -> Iterator[tuple[str, RecordedItem]]:
    member = _NAME_MEMBERS[operation]
    for item in last.get((operation, place), ()):
        if isinstance(item.get(member), str) and item[member]:
            yield item[member], item


def _by_name(last: RecordedLists, operation: str, place: str = "") -> dict[str, RecordedItem]:
    return dict(_named(last, operation, place))


def closed_by(last: RecordedLists, catalog: Catalog) -> tuple[list[Json], set[str]]:
    """Return windows for what the last lists lack or show as out, and unknown names."""
    names = ((chain.nickname, chain.v1_name) for chain in catalog.chains)
    chains = {name for both in names for name in both if name}
    tokens = {token.symbol for token in catalog.tokens}
    known = {ids.CHAINS: chains, ids.V1_CHAINS: chains, ids.ASSETS: tokens, ids.OF_CHAIN: tokens}
    unknown: set[str] = set()
    for operation, place in last:
        if operation in known:
            unknown |= _by_name(last, operation, place).keys() - known[operation]
    listed = _by_name(last, ids.CHAINS)
    networks = {str(item.get("network")) for item in listed.values()}
    # The service has a chain of this network, and calls it otherwise.
    renamed = {
        chain.nickname
        for chain in catalog.chains
        if chain.nickname not in listed and chain.network in networks
    }
    closed = *_closed_chains(last, catalog), *_closed_tokens(last, catalog)
    return [window for window in closed if window.get("chain") not in renamed], unknown


def _closed_chains(last: RecordedLists, catalog: Catalog) -> Iterator[dict[str, Json]]:
    listed, listed_v1 = _by_name(last, ids.CHAINS), _by_name(last, ids.V1_CHAINS)
    for chain in catalog.chains:
        # The list of v1 counts where none of 2.0 was recorded.
        items, name = (listed, chain.nickname) if listed else (listed_v1, chain.v1_name)
        if chain.delisted or chain.disabled or not items or name is None:
            continue
        if mode := _mode(items.get(name)):
            yield _window(mode, chain=chain.nickname)


def _closed_tokens(last: RecordedLists, catalog: Catalog) -> Iterator[dict[str, Json]]:
    listed = _by_name(last, ids.ASSETS)
    for token in catalog.tokens:
        if token.delisted or not token.listed or not token.visible:
            continue
        if listed and _mode(listed.get(token.symbol)):
            yield _window("delisted", token=token.symbol)
            continue
        contracts = listed.get(token.symbol, {}).get("contracts")
        for nickname in token.contracts:
            if isinstance(contracts, dict):
                item = contracts.get(nickname)
            # The list of the chain where that of all tokens shows no contracts.
            elif on_chain := _by_name(last, ids.OF_CHAIN, nickname):
                item = on_chain.get(token.symbol)
            else:
                continue
            if _mode(item):
                yield _window("delisted", chain=nickname, token=token.symbol)


def _mode(item: object) -> str:
    """Return the mode of the outage of an item, also of a missing one; empty without an outage."""
    if not isinstance(item, Mapping) or item.get("delisted") is True:
        return "delisted"
    return "disabled" if item.get("disabled") is True or item.get("isActive") is False else ""


def _window(mode: str, **subject: str) -> dict[str, Json]:
    reason = "as in the recorded list"
    return {**subject, "mode": mode, "at": "+0s", "in_flight": "none", "reason": reason}


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

    def leave_out(self, what: str) -> None:
        """Note what is not added, and why."""
        self.remarks.append(f"left out: {what}")

    def add(
        self,
        kind: str,
        name: str,
        recorded: RecordedItem,
        assumed: Mapping[str, Json],
        **rest: Json,
    ) -> None:
        """Add a chain or a token: what was recorded, the rest as it is assumed."""
        rows, key = (self.chains, "nickname") if kind == "chain" else (self.assets, "symbol")
        missing = [member for member in assumed if member not in recorded]
        rows.append({key: name, **assumed, **recorded, **rest, **_basis(missing)})
        text = f"; assumed: {', '.join(missing)}" if missing else ""
        self.remarks.append(f"added {kind} {name!r}{text}")

    def index(self, kind: str, name: str, item: dict[str, Any], taken: set[int]) -> int:
        """Take the index of an item: as recorded, else one that nothing else has."""
        recorded, index = item.get("index"), max(taken, default=0) + 1
        if isinstance(recorded, int) and recorded not in taken:
            index = recorded
        # Two of one index could not be told apart by clients that name tokens so.
        elif recorded in taken:
            del item["index"]
            self.change(f"index of {kind} {name!r}", recorded, f"{index} stands for it")
        taken.add(index)
        return index

    def change(self, what: str, recorded: Json, instead: str) -> None:
        """Note what cannot stand as it was recorded, and what becomes of it."""
        self.remarks.append(
            f"the {what} was recorded as {recorded}, which the catalog has given; {instead}"
        )

    def text(self) -> dict[str, Json]:
        both: dict[str, Json] = {"chains": list(self.chains), "assets": list(self.assets)}
        catalog = {name: items for name, items in both.items() if items}
        return {"catalog": catalog} if catalog else {}

    def catalog(self) -> Catalog:
        catalog: Any = self.text().get("catalog")
        if catalog is None:
            return load_catalog()
        document = Document(Path("recordings"), "scenario", {"catalog": catalog}, dict)
        return load_catalog(added=part_of(document, "catalog", catalog, ("catalog",)))


def additions_of(last: RecordedLists, catalog: Catalog) -> Additions:
    """Return the chains, tokens and contracts of the last lists that the catalog lacks.

    What was recorded is taken over where it has the form of a catalog. The rest is assumed as
    the simulation assumes it, and listed in the remarks.
    """
    additions = Additions()
    _add_chains(additions, last, catalog)
    _add_tokens(additions, last, additions.catalog() if additions.chains else catalog)
    return additions


def _add_chains(additions: Additions, last: RecordedLists, catalog: Catalog) -> None:
    checks = item_checks("catalog", "chains")
    # Endpoints may be private, with a key in them.
    own = ("nickname", "public_endpoint", "private_endpoint")
    members = {name: member for name, member in CHAIN_MEMBERS.items() if name not in own}
    known = {chain.nickname for chain in catalog.chains}
    networks = {chain.network for chain in catalog.chains}
    indexes = {chain.index for chain in catalog.chains}
    v1_names = {chain.v1_name for chain in catalog.chains}
    v1_ids = {chain.v1_id for chain in catalog.chains}
    coins = _native_coins(last)
    listed, v1 = _by_name(last, ids.CHAINS), _by_name(last, ids.V1_CHAINS)
    # What v1 calls a chain that the list of 2.0 has not is free for what the service calls so.
    free: dict[str, RecordedItem] = {
        chain.v1_name: {"id": chain.v1_id}
        for chain in catalog.v1_chains()
        if chain.v1_name and listed and chain.nickname not in listed
    }
    listed |= {
        name: _of_v1(chain)
        for name, chain in v1.items()
        if name not in v1_names | listed.keys() and not _same_network(chain, listed)
    }
    v1 = {
        name: {**free.get(name, {}), **chain}
        for name, chain in (v1 or free).items()
        if name in free or name not in v1_names
    }
    for name, item in listed.items():
        if name in known:
            continue
        if not checks["nickname"].accepts(name):
            additions.leave_out(f"{name[:40]!r} is no nickname that a catalog takes")
            continue
        fields = _fields(item, members, checks)
        if fields.get("network") in networks:
            network = f"network {fields['network']!r} is that of another chain of the catalog"
            additions.leave_out(f"chain {name!r}, its {network}")
            continue
        index = additions.index("chain", name, fields, indexes)
        assumed: dict[str, Json] = {
            "full_name": name,
            "index": index,
            "network": name,
            "base_coin": name,
        }
        coin, decimals = coins.get(name, ("", 0))
        if coin and fields.get("base_coin", coin) == coin:
            assumed |= {"base_coin": coin, "decimals": decimals}
        if fields.get("family", EVM_FAMILY) != EVM_FAMILY:
            assumed["vault"] = f"mock-vault-of-{name}"
        networks.add(fields.get("network", name))
        rest: dict[str, Json] = {}
        v1_name = name if name in v1 else _same_network(item, v1, "chainId")
        if v1_name and checks["v1"].accepts({"name": v1_name, "id": v1[v1_name].get("id")}):
            v1_id = v1[v1_name]["id"]
            if v1_id in v1_ids and v1_id != free.get(v1_name, {}).get("id"):
                additions.change(f"v1 id of chain {name!r}", v1_id, "it is left away")
            else:
                rest["v1"] = {"name": v1_name, "id": v1_id}
                v1_ids.add(v1_id)
        additions.add("chain", name, fields, assumed, **rest)


def _native_coins(last: RecordedLists) -> dict[str, tuple[str, int]]:
    """Return the symbol and decimals of the coin that a chain's tokens call its native one."""
    coins: dict[str, tuple[str, int]] = {}
    for symbol, (_, contracts) in _listed_tokens(last, {}).items():
        for nickname, contract in contracts.items():
            decimals = contract.get("decimals")
            if _is_native(contract.get("address")) and isinstance(decimals, int):
                coins.setdefault(nickname, (symbol, decimals))
    return coins


def _is_native(address: object) -> bool:
    return stored_address(str(address).lower()) == NATIVE


def _add_tokens(additions: Additions, last: RecordedLists, catalog: Catalog) -> None:
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
            additions.leave_out(f"{symbol[:40]!r} is no symbol that a catalog takes")
            continue
        there = known.get(symbol)
        taken: dict[str, Json] = {}
        for nickname, contract_item in contracts.items():
            if nickname in chains and (there is None or nickname not in there.contracts):
                contract = _fields(contract_item, _CONTRACT_MEMBERS, checks, nickname)
                why = _refused(symbol, chains[nickname], contract, owned)
                if why:
                    additions.leave_out(f"{symbol!r} on {nickname!r}, {why}")
                else:
                    taken[nickname] = contract
        if there is not None:
            if taken:
                contract_item = {"symbol": symbol, "name": there.name, "index": there.index}
                additions.assets.append({**contract_item, "contracts": taken, **_basis([])})
                additions.remarks.append(f"added to token {symbol!r}: {', '.join(taken)}")
            continue
        contract_item = _fields(item, {name: name for name in _TOKEN_MEMBERS}, checks)
        assumed = {
            "name": symbol,
            "index": additions.index("token", symbol, contract_item, indexes),
        }
        # A listed token needs a contract, and none of this one could be taken.
        unlisted: dict[str, Json] = {} if taken else {"listed": False}
        additions.add("token", symbol, contract_item, assumed, **unlisted, contracts=taken)
        additions.symbols.append(symbol)


def _refused(
    symbol: str, chain: Chain, contract: Mapping[str, Any], owned: set[tuple[str, str]]
) -> str:
    """Note whose an address is; return why the catalog cannot have a contract, empty if it can."""
    if not {"address", "decimals"} <= contract.keys():
        return "no recorded list shows its address and decimals there"
    address, coin = str(contract["address"]), (chain.base_coin, chain.decimals)
    if _is_native(address) and (symbol, contract["decimals"]) != coin:
        return f"the chain's own coin is {coin[0]!r} of {coin[1]} decimals"
    key = chain.nickname, address_key(chain, address)
    if key in owned:
        return f"{address} is the address of another token there"
    # Only now: an address that was refused belongs to nobody.
    owned.add(key)
    return ""


def _listed_tokens(
    last: RecordedLists, nicknames: Mapping[str | None, str]
) -> dict[str, tuple[dict[str, Any], dict[str, RecordedItem]]]:
    """Return tokens by symbol: their own members, and those of each contract by nickname."""
    listed: dict[str, tuple[dict[str, Any], dict[str, RecordedItem]]] = {}
    for wanted in ids.TOKEN_LISTS:
        for operation, place in last:
            if operation != wanted:
                continue
            for symbol, item in _named(last, operation, place):
                own, places = listed.setdefault(symbol, ({}, {}))
                names, contracts = _token_of(item, operation, place, nicknames)
                # Of several lists the first one counts.
                for name in names:
                    if name in item:
                        own.setdefault(name, item[name])
                for nickname, contract in contracts.items():
                    places.setdefault(nickname, contract)
    return listed


def _token_of(
    item: RecordedItem, operation: str, place: str, nicknames: Mapping[str | None, str]
) -> tuple[Sequence[str], Mapping[str, RecordedItem]]:
    """Return which members of an item are of the token itself, and its contracts by nickname."""
    if operation == ids.ASSETS:
        written = item.get("contracts")
        contracts = written if isinstance(written, dict) else {}
        named = {
            name: contract_item
            for name, contract_item in contracts.items()
            if isinstance(contract_item, dict)
        }
        return _TOKEN_MEMBERS, named
    if operation == ids.OF_CHAIN:
        # The flags of such an item are those of its contract.
        contract = {**item, "address": item.get("contractAddress")}
        return ("index", "name", "cmcid"), {place: contract}
    nickname = nicknames.get(str(item.get("chain", place)))
    return ("name",), {} if nickname is None else {nickname: item}


def _fields(
    item: RecordedItem, members: Mapping[str, str], checks: Mapping[str, Any], nickname: str = ""
) -> dict[str, Any]:
    """Return the members of an item that have the form of a catalog, by their names there."""
    fields = {name: item[member] for name, member in members.items() if member in item}
    if not nickname:
        return {name: value for name, value in fields.items() if checks[name].accepts(value)}
    complete = {"address": "0x", "decimals": 0}
    return {
        name: value
        for name, value in fields.items()
        if checks["contracts"].accepts({nickname: {**complete, name: value}})
    }


def _of_v1(item: RecordedItem) -> RecordedItem:
    """Return a chain of v1's list with the members of the 2.0 list that say the same."""
    return {
        "nickName": item["name"],
        "fullName": item.get("fullName"),
        "network": str(item.get("chainId", "")),
        "disabled": item.get("isActive") is False,
    }


def _same_network(
    item: RecordedItem, others: Mapping[str, RecordedItem], member: str = "network"
) -> str:
    """Return the name of the chain whose network has the same number; empty where none has."""
    mine = str(item.get("network" if member == "chainId" else "chainId", ""))
    # Chains without a number show none or 0, which says nothing of them.
    if not mine.isdigit() or mine == "0":
        return ""
    return next((name for name, listed in others.items() if str(listed.get(member)) == mine), "")


def _basis(assumed: list[str]) -> dict[str, Any]:
    return {"basis": "observed", "source": _SOURCE, "assumed": assumed}
