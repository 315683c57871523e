"""The lists: looked at first, since everything is made of them, and once more at the end."""

from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.inventory import asked_chain
from mockserver.conformance.discovery.routes import v1_chain_pair
from mockserver.conformance.requests.probe import Build, Probe, Stage
from mockserver.conformance.requests.valid import filled, first_chains, valid_request
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.session.looks import FIRST_LOOK, LAST_LOOK
from mockserver.conformance.verdict import NotRun

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
        _probe("v2.getAssetsByChain", _RENAMED, _renamed, both, conditional=True),
        _probe("v2.getAssetsByChain", _SECOND, _second_chain, both),
        _probe("v1.getSupportChains", _USUAL, _plain("v1.getSupportChains")),
        _probe("v1.getSupportTokens", _USUAL, _plain("v1.getSupportTokens"), every),
        _probe("v1.getSupportTokens", _RENAMED, _renamed_v1, every, conditional=True),
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
    operation_id: str,
    name: str,
    build: Build,
    after: tuple[str, ...] = (),
    *,
    conditional: bool = False,
) -> Probe:
    return Probe(f"{operation_id}/{name}", build, Stage.LISTS, after, conditional=conditional)


def _plain(operation_id: str) -> Build:
    return lambda context: valid_request(context, operation_id)


def _again(operation_id: str) -> Build:
    """Ask for the same list as in the first look."""

    def build(context: RunContext) -> Draft:
        first = context.require(f"{operation_id}/{_USUAL}")
        other = context.get(f"{operation_id}/{_RENAMED}")
        chain = asked_chain(other if other is not None and other.succeeded else first)
        return filled(context, operation_id, {"chain": chain} if chain else {})

    return build


def _second_chain(context: RunContext) -> Draft:
    chains = first_chains(context)
    if len(chains) < 2:
        raise NotRun("getChain shows one chain only")
    return filled(
        context, "v2.getAssetsByChain", {"chain": inventory_of(context).asked_as(chains[1])}
    )


def _second_v1_chain(context: RunContext) -> Draft:
    return filled(context, "v1.getSupportTokens", {"chain": v1_chain_pair(context)[1].name})


def _renamed(context: RunContext) -> Draft:
    """Call a chain by its other name, where the service did not take its nickName."""
    _only_where_refused(context, "v2.getAssetsByChain")
    chain = inventory_of(context).chain(first_chains(context)[0])
    if chain is None or not chain.aliases:
        raise NotRun("the chain has no other name")
    return filled(context, "v2.getAssetsByChain", {"chain": chain.aliases[0]})


def _renamed_v1(context: RunContext) -> Draft:
    _only_where_refused(context, "v1.getSupportTokens")
    chain = v1_chain_pair(context)[0]
    if not chain.aliases:
        raise NotRun("the chain has no other name")
    return filled(context, "v1.getSupportTokens", {"chain": chain.aliases[0]})


def _only_where_refused(context: RunContext, operation_id: str) -> None:
    if not context.require(f"{operation_id}/{_USUAL}").refused:
        raise NotRun(f"not needed, {operation_id}/{_USUAL} was taken")
