"""Reads a catalog: a folder of files that list chains and tokens."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

from mockserver import resources
from mockserver.engine.catalog import (
    EVM_FAMILY,
    NATIVE,
    Catalog,
    Chain,
    Token,
    TokenContract,
    address_key,
)
from mockserver.errors import InvalidFile, Problem
from mockserver.file_formats import Document, read, value_of
from mockserver.jsontext import FieldPath
from mockserver.suggestions import did_you_mean

_NATIVE_WORD = "native"
_Item = tuple[Document, FieldPath, Mapping[str, Any]]


def load_catalog(folder: str | Path | None = None, added: Document | None = None) -> Catalog:
    """Return the catalog of a folder's YAML files; the shipped one without a folder.

    `added` has more chains and tokens; one of a symbol that is there adds its contracts, and a
    chain takes the v1 name of one that is there. Raises `InvalidFile` with every problem of the
    files.
    """
    place = resources.fixtures() / "catalog" if folder is None else Path(folder)
    files = sorted(place.glob("*.yaml"))
    if not files:
        raise InvalidFile([Problem(place, None, "", "holds no catalog; a folder of '*.yaml' does")])
    documents = _read(files)
    chains = list(_items(documents, "chains"))
    assets = list(_items(documents, "assets"))
    problems = [
        documents[0].problem((), f"no file of the catalog has {key!r}; give at least one")
        for key, items in (("chains", chains), ("assets", assets))
        if not items
    ]
    more: list[_Item] = []
    if added is not None:
        defaults: dict[str, Any] = {}
        for document in (*documents, added):
            defaults |= document.value.get("chain_defaults", {})
        added = replace(added, value={**added.value, "chain_defaults": defaults})
        more_chains = list(_items([added], "chains"))
        # A v1 name goes to the added chain: two chains of one name cannot be told apart.
        renamed = {item["v1"]["name"] for _, _, item in more_chains if "v1" in item}
        chains = [_without_v1(chain, renamed) for chain in chains] + more_chains
        known = {item["symbol"]: item for _, _, item in assets}
        for asset in _items([added], "assets"):
            # An asset that is there gets contracts on more chains, and keeps all else.
            (more if asset[2]["symbol"] in known else assets).append(asset)
        problems += _renamings(more, known)
    for keys in (("nickname",), ("index",), ("network",), ("v1", "name"), ("v1", "id")):
        problems += _twice(chains, keys)
    problems += _asset_problems(chains, assets, more)
    # All at once, since whoever writes a catalog mends them in one go.
    if problems:
        raise InvalidFile(problems)
    contracts: dict[str, dict[str, TokenContract]] = {}
    for _, _, item in (*assets, *more):
        contracts.setdefault(item["symbol"], {}).update(
            (
                nickname,
                TokenContract(**{**contract, "address": stored_address(contract["address"])}),
            )
            for nickname, contract in item["contracts"].items()
        )
    return Catalog(
        tuple(_chain(document, item) for document, _, item in chains),
        tuple(value_of(Token, item, contracts=contracts[item["symbol"]]) for _, _, item in assets),
    )


def _read(files: Sequence[Path]) -> list[Document]:
    documents: list[Document] = []
    problems: list[Problem] = []
    for file in files:
        try:
            documents.append(read(file, "catalog"))
        except InvalidFile as error:
            problems += error.problems
    if problems:
        raise InvalidFile(problems)
    return documents


def _items(documents: Sequence[Document], key: str) -> Iterator[_Item]:
    for document in documents:
        for number, item in enumerate(document.value.get(key, ())):
            yield document, (key, number), item


def _without_v1(chain: _Item, renamed: Set[str]) -> _Item:
    document, path, item = chain
    if item.get("v1", {}).get("name") not in renamed:
        return chain
    return document, path, {name: value for name, value in item.items() if name != "v1"}


def _chain(document: Document, item: Mapping[str, Any]) -> Chain:
    v1 = {f"v1_{name}": value for name, value in item.get("v1", {}).items()}
    return value_of(Chain, {**_defaults(document, item), **item, **v1})


def _defaults(document: Document, item: Mapping[str, Any]) -> Mapping[str, Any]:
    defaults: Mapping[str, Any] = document.value.get("chain_defaults", {})
    # The minter of v1 is an address of EVM chains, and of those v1 offers; proxies are contracts.
    unfit = set() if "v1" in item else {"minter"}
    if item.get("family", EVM_FAMILY) != EVM_FAMILY:
        unfit |= {"minter_proxy_v2", "swap_proxy"}
    return {name: value for name, value in defaults.items() if name not in unfit}


def stored_address(text: str) -> str:
    """Return an address as a catalog keeps it, where a word may stand for the native coin."""
    return NATIVE if text == _NATIVE_WORD else text


def _renamings(more: Sequence[_Item], known: Mapping[str, Mapping[str, Any]]) -> Iterator[Problem]:
    for document, path, item in more:
        there = known[item["symbol"]]
        for name in sorted(item.keys() - {"contracts", "basis", "source", "assumed"}):
            if item[name] != there.get(name):
                text = f"the catalog's {item['symbol']!r} has {there.get(name)!r}; only contracts"
                yield document.problem((*path, name), f"{text} can be added to it")
        for nickname in item["contracts"]:
            if nickname in there["contracts"]:
                text = f"the catalog's {item['symbol']!r} is on {nickname!r} already"
                yield document.problem((*path, "contracts", nickname), f"{text}; leave this out")
    yield from _twice(more, ("symbol",))


def _asset_problems(
    chains: Sequence[_Item], assets: Sequence[_Item], more: Sequence[_Item]
) -> Iterator[Problem]:
    yield from _twice(assets, ("symbol",))
    yield from _twice(assets, ("index",))
    known = {item["nickname"]: _chain(document, item) for document, _, item in chains}
    owners: dict[tuple[str, str], str] = {}
    for document, path, item in (*assets, *more):
        if not item["contracts"] and item.get("listed", True):
            text = "a listed token has a contract on a chain; give one, or 'listed: false'"
            yield document.problem((*path, "contracts"), text)
        for nickname, contract in item["contracts"].items():
            place = (*path, "contracts", nickname)
            chain = known.get(nickname)
            if chain is None:
                near = did_you_mean(nickname, list(known)).removesuffix("?")
                yield document.problem(place, f"{nickname!r} is no chain of the catalog{near}")
                continue
            key = (nickname, address_key(chain, stored_address(contract["address"])))
            if key in owners:
                text = f"{contract['address']!r} is the address of {owners[key]!r} on {nickname!r}"
                yield document.problem((*place, "address"), f"{text} already; give another one")
            # The first owner stays: each further one is told of it.
            owners.setdefault(key, item["symbol"])
            yield from _native_problems(document, place, item["symbol"], contract, chain)


def _native_problems(
    document: Document, place: FieldPath, symbol: str, contract: Mapping[str, Any], chain: Chain
) -> Iterator[Problem]:
    if stored_address(contract["address"]).lower() != NATIVE:
        return
    if symbol != chain.base_coin:
        text = f"the native coin of {chain.nickname!r} is {chain.base_coin!r}, not {symbol!r}"
        yield document.problem((*place, "address"), text)
    elif contract["decimals"] != chain.decimals:
        text = f"{chain.nickname!r} says {chain.decimals}, not {contract['decimals']}"
        yield document.problem((*place, "decimals"), f"its chain {text}")


def _twice(items: Sequence[_Item], keys: tuple[str, ...]) -> Iterator[Problem]:
    seen: dict[str | int, FieldPath] = {}
    for document, path, item in items:
        value: Any = item
        for key in keys:
            value = value.get(key, {})
        # Left out in the file: nothing to be unique.
        if value == {}:
            continue
        if value in seen:
            text = f"{value!r} is taken by {seen[value][0]}[{seen[value][1]}]; give another one"
            yield document.problem((*path, *keys), text)
        seen.setdefault(value, path)
