"""Control of keys and of the chains behind the service: what wallets sign and broadcast."""

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace

from mockserver import jsontext, limits
from mockserver.errors import CrosschainMockError
from mockserver.http_messages import Response
from mockserver.jsontext import Json
from mockserver.responders.refusal_answers import JSON_TYPE
from mockserver.server.control.route import ControlRequest
from mockserver.signing import v1_deposit_transactions, wallet_libraries
from mockserver.signing.keyring import Keyring
from mockserver.worlds import announced_transactions, node, reorganisations
from mockserver.worlds.hosted import HostedWorld


class BadKeys(CrosschainMockError):
    """Keys that cannot be registered; nothing has changed."""


def listing(request: ControlRequest) -> Json:
    """Return the chains of a world with their tokens, also those that lists hide now."""
    catalog = request.hosted.world.scenario.catalog
    return {
        "chains": [
            {
                "chain": listed.nickname,
                "name": listed.full_name,
                "v1Name": listed.v1_name,
                "evm": listed.evm,
                "tokens": [
                    {
                        "token": placed.symbol,
                        "address": placed.contract.address,
                        "decimals": placed.decimals,
                    }
                    for placed in catalog.tokens_on(listed)
                ],
            }
            for listed in catalog.chains
        ]
    }


def show(request: ControlRequest) -> Json:
    """Return the public half of the world's own key, and which strategies are on; no secret."""
    keys = request.hosted.keys
    return {
        "raw": {
            "algorithm": "SHA256withRSA",
            "modulus": f"{v1_deposit_transactions.MODULUS:x}",
            "exponent": v1_deposit_transactions.EXPONENT,
            "spki": b64encode(v1_deposit_transactions.public_key()).decode("ascii"),
            "pem": v1_deposit_transactions.public_pem(),
        },
        "developers": list(keys.developers),
        "verifySignatures": bool(keys.developers),
        "verifyWallets": keys.wallets,
        "hostedSigner": keys.hosted_signer[0],
    }


def register(request: ControlRequest) -> Json:
    """Register a developer key, or switch the verification of wallets.

    Raises `BadKeys` where there are too many keys, and `SigningUnavailable` where wallets cannot be
    verified.
    """
    body, keys = request.body, request.hosted.keys
    if "verifyWallets" in body:
        if body["verifyWallets"]:
            wallet_libraries.require()
        keys = replace(keys, wallets=body["verifyWallets"])
    if "appKey" in body:
        if body["appKey"] not in keys.developers and len(keys.developers) >= limits.KEYS.most:
            raise BadKeys(f"there are {limits.KEYS} already; forget them first")
        keys = keys.with_developer(body["appKey"], body["appSecret"])
    request.hosted.keys = keys
    return show(request)


def forget(request: ControlRequest) -> Json:
    """Forget every developer key and take signatures by their presence."""
    request.hosted.keys = Keyring(clock=request.hosted.keys.clock)
    return show(request)


def announce(request: ControlRequest) -> Json:
    return announced_transactions.announce(request.hosted, request.body)


def transactions(request: ControlRequest) -> Json:
    return {
        "transactions": [
            announced_transactions.tx_json(chain_transaction)
            for chain_transaction in request.hosted.transactions.values()
        ]
    }


def give(request: ControlRequest) -> Json:
    return announced_transactions.give(request.hosted, request.body)


def blocks(request: ControlRequest) -> Json:
    return reorganisations.change(request.hosted, request.place["chain"], request.body)


def call(request: ControlRequest) -> Json | Response | Iterator[bytes]:
    """Answer JSON-RPC as a node of a chain would; once blocks of many orders are worked out."""
    hosted, chain, body = request.hosted, request.place["chain"], request.body
    # What changes something is kept on the disk when this returns, so that it is done at once.
    if node.changes(body) or not hosted.blocks.behind(hosted):
        answer = node.answer(hosted, chain, body)
        # Nothing at all is what a notification gets.
        return Response(200, (JSON_TYPE,), b"") if answer is None else answer
    return _answered_later(hosted, chain, body)


def rest(request: ControlRequest) -> Json | Response | Iterator[bytes | Response]:
    """Answer as a node does that is asked at paths; see `call`."""
    hosted, place = request.hosted, dict(request.place)
    chain = hosted.world.scenario.catalog.chain(place.pop("chain"))
    asked = node.RestCall(hosted, chain, tuple(place.values()), {**request.query, **request.body})
    if node.changes_at(asked) or not hosted.blocks.behind(hosted):
        return node.rest(asked)
    return _rest_later(asked)


def _rest_later(asked: node.RestCall) -> Iterator[bytes | Response]:
    while asked.hosted.blocks.behind(asked.hosted):
        yield b""
    answer = node.rest(asked)
    yield answer if isinstance(answer, Response) else jsontext.encode(answer)


def _answered_later(hosted: HostedWorld, chain: str, body: Json) -> Iterator[bytes]:
    while hosted.blocks.behind(hosted):
        yield b""
    if (answer := node.answer(hosted, chain, body)) is not None:
        yield jsontext.encode(answer)
