"""Which chains and tokens recorded lists do not offer, as outages that last."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mockserver.engine.catalog import Catalog
from mockserver.jsontext import Json
from mockserver.learning.seeding.reading import Told, items_of

CHAINS, V1_CHAINS = "v2.getChain", "v1.getSupportChains"
TOKENS, TOKENS_OF, V1_TOKENS = "v2.getAssets", "v2.getAssetsByChain", "v1.getSupportTokens"

Lists = Mapping[tuple[str, str], Sequence[Mapping[str, Any]]]


def last_lists(told: Iterable[Told]) -> Lists:
    """Return the items of the last lists, by operation, those of one chain by its name too."""
    last: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for one in told:
        place = str(one.asked.get("chain")) if one.operation in (TOKENS_OF, V1_TOKENS) else ""
        last[one.operation, place] = list(items_of(one.data))
    return last


def closed_by(last: Lists, catalog: Catalog) -> tuple[list[Json], set[str]]:
    """Return windows for what the last lists lack or show as out, and names nobody knows here."""
    found = [*_chains(last, catalog), *_tokens(last, catalog)]
    return found, set(_unknown(last, catalog))


def _chains(last: Lists, catalog: Catalog) -> Iterator[Json]:
    listed = _by_name(last.get((CHAINS, ""), ()), "nickName")
    listed_v1 = _by_name(last.get((V1_CHAINS, ""), ()), "name")
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
    listed = _by_name(last.get((TOKENS, ""), ()), "symbol")
    for token in catalog.tokens:
        if token.delisted or not token.listed or not token.visible:
            continue
        if listed and _mode(listed.get(token.symbol)):
            yield _window("delisted", token=token.symbol)
            continue
        contracts = listed.get(token.symbol, {}).get("contracts")
        for nickname in token.contracts:
            on_chain = _by_name(last.get((TOKENS_OF, nickname), ()), "symbol")
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
        if operation in (CHAINS, V1_CHAINS):
            named = _by_name(items, "nickName" if operation == CHAINS else "name")
            yield from (name for name in named if name not in chains)
        elif operation in (TOKENS, TOKENS_OF):
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
