"""Evidence in the lists of chains and tokens, and in what is said of what they show."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from mockserver.conformance.discovery import member_roles
from mockserver.contract import ids
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import kind_of
from mockserver.learning.evidence.observation import (
    Observations,
    ServiceCalls,
    confirmed,
    contradicted,
)
from mockserver.learning.evidence.recorded_calls import RecordedCall, grouped

_CHAIN_LISTS = {"v1": ids.V1_CHAINS, "v2": ids.CHAINS}
_NAMES = ("nickName", "name", "chain", "chainName", "shortName", "symbol")
_DECIMALS = ("decimals", "decimal", "tokenDecimals")


@dataclass(frozen=True, slots=True)
class TokenLists:
    """What recorded lists show: names of chains, and decimals by the address of a contract."""

    chains: frozenset[str]
    decimals: dict[str, int]
    symbols: frozenset[str]

    @classmethod
    def of(cls, calls: ServiceCalls, generation: str) -> "TokenLists":
        chains, decimals, symbols = set(), {}, set()
        for call in calls:
            if call.id == _CHAIN_LISTS[generation]:
                chains |= {name for item in call.items for name in _names(item)}
            elif call.id in ids.TOKEN_LISTS and call.generation == generation:
                for contract in (each for item in call.items for each in _contracts(item)):
                    places = member_roles.count(member_roles.member(contract, _DECIMALS))
                    address = member_roles.text(
                        member_roles.member(contract, ("address", "contractAddress"))
                    )
                    if address and places is not None:
                        decimals[address.lower()] = places
                symbols |= {name for item in call.items for name in _names(item)}
        return cls(frozenset(chains), decimals, frozenset(symbols))


def _names(item: Any) -> Iterator[str]:
    yield from (item[name] for name in _NAMES if isinstance(item.get(name), str))


def _contracts(item: Any) -> Iterator[Any]:
    """Yield an item, and the objects in it that may be its contracts."""
    yield item
    for value in item.values():
        inner = value.values() if isinstance(value, dict) else value
        if isinstance(value, dict | list):
            yield from (each for each in inner if isinstance(each, dict))


def items(calls: ServiceCalls) -> Observations:
    """Yield what the items of lists show among each other."""
    for call in (call for call in calls if call.id in ids.LISTS and call.items):
        names = [name for item in call.items for name in _names(item)]
        if any(name != name.strip() for name in names):
            yield contradicted("bare-names", "a name has blanks around it", call)
        elif names:
            yield confirmed("bare-names", call)
        if len(call.items) < 2:
            continue
        key = next((name for name in _NAMES if all(name in item for item in call.items)), "")
        only_chains = call.id in _CHAIN_LISTS.values() and key
        kept = [repr(item[key]) if only_chains else repr(item) for item in call.items]
        if len(set(kept)) < len(kept):
            yield contradicted("duplicates", "an item is there twice", call)
        else:
            yield confirmed("duplicates", call)
        forms = {tuple(sorted((name, kind_of(value)) for name, value in item.items()
                              if value is not None)) for item in call.items}  # fmt: skip
        if len(forms) == 1:
            yield confirmed("item-forms", call)


def versions(calls: ServiceCalls) -> Observations:
    """Yield how the version of a list follows the list."""
    for asked in grouped(calls, *ids.LISTS).values():
        shown = [call for call in asked if call.has_list and type(call.data.get("version")) is int]
        for before, after in pairwise(shown):
            same = before.data["list"] == after.data["list"]
            rise = after.data["version"] - before.data["version"]
            if same and rise == 0:
                yield confirmed("same-list-version", before, after)
            elif same:
                reason = "the version changes, and the list stays"
                fits = int(rise > 0 and _others(calls))
                yield contradicted("same-list-version", reason, before, after, fits=fits)
            elif rise > 0:
                yield confirmed("changed-list-version", before, after)
            else:
                reason = "the list changes, and its version " + ("stays" if rise == 0 else "falls")
                yield contradicted(
                    "changed-list-version", reason, before, after, fits=int(rise == 0)
                )


def _others(calls: ServiceCalls) -> bool:
    """Tell whether versions of several lists are known, so that one may stand for all."""
    lists = {call.id for call in calls if call.id in ids.LISTS}
    return len(lists) > 1 and len({call.data.get("version") for call in calls if call.items}) == 2


def v1_lists(calls: ServiceCalls) -> Observations:
    for call in calls:
        if call.id in (ids.V1_CHAINS, ids.V1_TOKENS) and call.taken and call.has_list:
            if type(call.data.get("version")) is int:
                yield confirmed("v1-list-version", call)
            else:
                yield contradicted("v1-list-version", "a list without version", call, fits=1)


def generations(calls: ServiceCalls) -> Observations:
    """Yield how the lists of both generations agree, where both are recorded."""
    of_v1 = [call for call in calls if call.id == ids.V1_CHAINS and call.has_list]
    of_v2 = [call for call in calls if call.id == ids.CHAINS and call.has_list]
    for first in of_v1[:1]:
        for second in of_v2[:1]:
            listed = TokenLists.of(of_v2, "v2").chains
            left = [item for item in first.items if listed.isdisjoint(_names(item))]
            if left:
                reason = f"2.0 does not list {next(_names(left[0]), 'a chain')}"
                yield contradicted("chains-of-generations", reason, first, second, fits=1)
            elif first.items:
                yield confirmed("chains-of-generations", first, second)
            if first.items and second.items:
                yield confirmed("v1-chains", first, second)
    for call in (call for call in calls if call.id == ids.V1_TOKENS and call.items):
        chain = call.inputs.get("chain") or call.recorded.request.headers.get("chain", "")
        for other in calls:
            if other.id == ids.OF_CHAIN and chain and other.inputs.get("chain") == chain:
                yield from _same_tokens(call, other)


def _same_tokens(first: RecordedCall, second: RecordedCall) -> Observations:
    ours, theirs = ({member_roles.text(member_roles.member(item, ("symbol", "name", "token")))
                     for item in call.items} for call in (first, second))  # fmt: skip
    if ours == theirs:
        yield confirmed("tokens-of-generations", first, second)
    else:
        rest = ", ".join(sorted(ours ^ theirs)[:3])
        reason = f"only one generation lists {rest}"
        yield contradicted("tokens-of-generations", reason, first, second, fits=int(ours < theirs))


def offers(calls: ServiceCalls) -> Observations:
    """Yield what is said of chains and tokens that the lists show."""
    lists = TokenLists.of(calls, "v2")
    for call in calls:
        if call.id == ids.OF_CHAIN and call.inputs.get("chain") in lists.chains:
            if call.items:
                yield confirmed("tokens-of-chains", call)
            elif call.taken and call.has_list:
                yield contradicted("tokens-of-chains", "a listed chain has no tokens", call, fits=1)
        address = str(call.inputs.get("contractAddress", "")).lower()
        if call.id == ids.PRICE and address in lists.decimals and call.sound:
            if call.taken:
                yield confirmed("listed-prices", call)
            elif call.refused and call.inputs.get("chain") in lists.chains:
                yield contradicted("listed-prices", "a listed token has no price", call, fits=1)
        if call.id in (ids.V1_RAW, ids.SWAP_QUOTE, ids.SWAP) and call.taken:
            yield confirmed("accepted-operations", call)
