"""Items of the lists of tokens beside each other: each as complete as the rest, none like another.

Which member plays which role is not published, so only lists that show a role are judged by it.
"""

from collections.abc import Iterator

from mockserver.conformance.checks.judging import JUDGED, Said
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.discovery.discovered import tokens_in
from mockserver.conformance.discovery.inventory import Token
from mockserver.conformance.discovery.listing import folded
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.contract import Operation

_ENOUGH = 4
_MOST_LACKING = 0.2
_FEW = 3


def every_token_is_complete(context: RunContext, operation: Operation) -> Iterator[Said]:
    for look, tokens in _lists(context, operation):
        telling = False
        for role in ("decimals", "index"):
            lacking = [token for token in tokens if getattr(token, role) is None]
            if len(tokens) < _ENOUGH or len(lacking) > len(tokens) * _MOST_LACKING:
                continue
            telling = True
            yield JUDGED
            if lacking:
                names = ", ".join(f"{one.symbol} on {one.chain}" for one in lacking[:_FEW])
                yield Finding(
                    f"{len(lacking)} of {len(tokens)} tokens show no {role}: {names}",
                    (look,),
                    f"data.list[].{role}",
                    cause=f"{role} missing",
                )
        if telling:
            return


def one_index_is_one_token(context: RunContext, operation: Operation) -> Iterator[Said]:
    for look, tokens in _lists(context, operation):
        for chain in dict.fromkeys(token.chain for token in tokens):
            here = [one for one in tokens if one.chain == chain and one.index is not None]
            if len({one.index for one in here}) < 2:
                # A number that is the same for all is no index of a token.
                continue
            yield JUDGED
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


def _of_one_index(tokens: list[Token]) -> tuple[Token, Token] | None:
    found: dict[str | None, Token] = {}
    for token in tokens:
        before = found.setdefault(token.index, token)
        same = before.address.lower() == token.address.lower()
        if folded(before.symbol) != folded(token.symbol) and not same:
            return before, token
    return None


def _lists(
    context: RunContext, operation: Operation
) -> Iterator[tuple[Exchange, tuple[Token, ...]]]:
    context.require_success(f"{operation.id}/usual")
    for look in context.of(operation):
        if look.succeeded:
            yield look, tokens_in(context, look)
