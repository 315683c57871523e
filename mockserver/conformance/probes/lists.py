"""The lists: looked at first, since everything is made of them, and once more at the end."""

from typing import TYPE_CHECKING

from mockserver.conformance.draft import Draft
from mockserver.conformance.known import FIRST_LOOK, LAST_LOOK, asked_chain
from mockserver.conformance.probe import Build, Probe, Stage
from mockserver.conformance.routes import v1_chain_pair
from mockserver.conformance.usual import filled, first_chains, usual
from mockserver.conformance.verdict import NotRun

if TYPE_CHECKING:
    from mockserver.conformance.seen import Seen

_USUAL, _SECOND, _RENAMED = FIRST_LOOK


def list_probes() -> tuple[Probe, ...]:
    """Return the probes of the first look and of the last one."""
    return (*_first_look(), *_last_look())


def _first_look() -> tuple[Probe, ...]:
    chains, v1_chains = f"v2.getChain/{_USUAL}", f"v1.getSupportChains/{_USUAL}"
    both = (chains, f"v2.getAssets/{_USUAL}")
    every = (*both, v1_chains)
    return (
        _probe("v2.getChain", _USUAL, _plain("v2.getChain")),
        _probe("v2.getAssets", _USUAL, _plain("v2.getAssets")),
        _probe("v2.getAssetsByChain", _USUAL, _plain("v2.getAssetsByChain"), both),
        _probe("v2.getAssetsByChain", _RENAMED, _renamed, both, spare=True),
        _probe("v2.getAssetsByChain", _SECOND, _second_chain, both),
        _probe("v1.getSupportChains", _USUAL, _plain("v1.getSupportChains")),
        _probe("v1.getSupportTokens", _USUAL, _plain("v1.getSupportTokens"), every),
        _probe("v1.getSupportTokens", _RENAMED, _renamed_v1, every, spare=True),
        _probe("v1.getSupportTokens", _SECOND, _second_v1_chain, every),
    )


def _last_look() -> tuple[Probe, ...]:
    return tuple(
        Probe(
            f"{operation_id}/{LAST_LOOK}",
            _again(operation_id),
            Stage.LAST_LOOK,
            (f"{operation_id}/{_USUAL}",),
        )
        for operation_id in (
            "v2.getChain",
            "v2.getAssets",
            "v2.getAssetsByChain",
            "v1.getSupportChains",
            "v1.getSupportTokens",
        )
    )


def _probe(
    operation_id: str, name: str, build: Build, after: tuple[str, ...] = (), *, spare: bool = False
) -> Probe:
    return Probe(f"{operation_id}/{name}", build, Stage.LISTS, after, spare=spare)


def _plain(operation_id: str) -> Build:
    return lambda seen: usual(seen, operation_id)


def _again(operation_id: str) -> Build:
    """Ask for the same list as in the first look."""

    def build(seen: "Seen") -> Draft:
        first = seen.exchange(f"{operation_id}/{_USUAL}")
        other = seen.maybe(f"{operation_id}/{_RENAMED}")
        chain = asked_chain(other if other is not None and other.succeeded else first)
        return filled(seen, operation_id, {"chain": chain} if chain else {})

    return build


def _second_chain(seen: "Seen") -> Draft:
    chains = first_chains(seen)
    if len(chains) < 2:
        raise NotRun("getChain shows one chain only")
    return filled(seen, "v2.getAssetsByChain", {"chain": seen.known.asked_as(chains[1])})


def _second_v1_chain(seen: "Seen") -> Draft:
    return filled(seen, "v1.getSupportTokens", {"chain": v1_chain_pair(seen)[1].name})


def _renamed(seen: "Seen") -> Draft:
    """Call a chain by its other name, where the service did not take its nickName."""
    _only_where_refused(seen, "v2.getAssetsByChain")
    chain = seen.known.chain(first_chains(seen)[0])
    if chain is None or not chain.aliases:
        raise NotRun("the chain has no other name")
    return filled(seen, "v2.getAssetsByChain", {"chain": chain.aliases[0]})


def _renamed_v1(seen: "Seen") -> Draft:
    _only_where_refused(seen, "v1.getSupportTokens")
    chain = v1_chain_pair(seen)[0]
    if not chain.aliases:
        raise NotRun("the chain has no other name")
    return filled(seen, "v1.getSupportTokens", {"chain": chain.aliases[0]})


def _only_where_refused(seen: "Seen", operation_id: str) -> None:
    if not seen.exchange(f"{operation_id}/{_USUAL}").refused:
        raise NotRun(f"not needed, {operation_id}/{_USUAL} was taken")
