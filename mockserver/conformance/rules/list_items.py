"""Items of the lists of tokens beside each other: each as complete as the rest, none like another.

Which member plays which role is not published, so only lists that show a role are judged by it.
"""

from collections.abc import Iterator

from mockserver.conformance.exchange import Exchange
from mockserver.conformance.known import Token, tokens_of
from mockserver.conformance.listing import folded
from mockserver.conformance.seen import Seen
from mockserver.conformance.verdict import Finding, Layer, Rule, Severity, Vacuous, documented, rule
from mockserver.contract import Operation

ASSETS, OF_CHAIN = "v2.getAssets", "v2.getAssetsByChain"
_LOOKS = ("usual", "second chain", "sampled")
_PROBES = (f"{ASSETS}/usual", *(f"{OF_CHAIN}/{name}" for name in _LOOKS), "v2.getChain/usual")
_ENOUGH = 4
_MOST_LACKING = 0.2
_FEW = 3


def every_token_is_complete(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """No token lacks the decimals or the index that the other tokens of its list have."""
    judged = False
    for look, tokens in _lists(seen, operation):
        for role in ("decimals", "index"):
            lacking = [token for token in tokens if getattr(token, role) is None]
            if len(tokens) < _ENOUGH or len(lacking) > len(tokens) * _MOST_LACKING:
                continue
            judged = True
            if lacking:
                names = ", ".join(f"{one.symbol} on {one.chain}" for one in lacking[:_FEW])
                yield Finding(
                    f"{len(lacking)} of {len(tokens)} tokens show no {role}: {names}",
                    (look,),
                    f"data.list[].{role}",
                    cause=f"{role} missing",
                )
        if judged:
            return
    if not judged:
        raise Vacuous("too few tokens are listed, or none shows its decimals or its index")


def one_index_is_one_token(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """Two tokens of a chain have different indexes."""
    judged = False
    for look, tokens in _lists(seen, operation):
        for chain in dict.fromkeys(token.chain for token in tokens):
            here = [one for one in tokens if one.chain == chain and one.index is not None]
            if len({one.index for one in here}) < 2:
                # A number that is the same for all is no index of a token.
                continue
            judged = True
            pair = _of_one_index(here)
            if pair is not None:
                one, other = pair
                yield Finding(
                    f"{one.symbol} and {other.symbol} on {chain} both have index {one.index}",
                    (look,),
                    "data.list[].index",
                    cause="index shared",
                )
                return
    if not judged:
        raise Vacuous("no list shows the indexes of two tokens of a chain")


def _of_one_index(tokens: list[Token]) -> tuple[Token, Token] | None:
    found: dict[str | None, Token] = {}
    for token in tokens:
        before = found.setdefault(token.index, token)
        same = before.address.lower() == token.address.lower()
        if folded(before.symbol) != folded(token.symbol) and not same:
            return before, token
    return None


def _lists(seen: Seen, operation: Operation) -> Iterator[tuple[Exchange, tuple[Token, ...]]]:
    seen.success(f"{operation.id}/usual")
    for name in _LOOKS:
        look = seen.maybe(f"{operation.id}/{name}")
        if look is not None and look.succeeded:
            yield look, tokens_of(look, seen.bindings, seen.known.chains)


LIST_ITEMS: tuple[Rule, ...] = (
    rule(
        every_token_is_complete,
        Severity.CRITICAL,
        documented("2.3", "other operations take a decimal count and an index of a token"),
        layer=Layer.EXCHANGE,
        operations=(ASSETS, OF_CHAIN),
        probes=_PROBES,
    ),
    rule(
        one_index_is_one_token,
        Severity.CRITICAL,
        documented("4.2", "toIndex is the index of the token from the token list"),
        layer=Layer.CROSS,
        operations=(ASSETS, OF_CHAIN),
        probes=_PROBES,
    ),
)
"""The rules of the items of lists beside each other."""
