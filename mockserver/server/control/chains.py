"""Control of keys and of the chains behind the service: what wallets sign and broadcast."""

from mockserver.jsontext import Json
from mockserver.responders import broadcasting, chainnode, keys
from mockserver.server.control.row import Asked


def listing(asked: Asked) -> Json:
    """Return the chains of a world with their tokens, whatever clients are shown of them now."""
    catalog = asked.hosted.world.scenario.catalog
    return {
        "chains": [
            {
                "chain": chain.nickname,
                "name": chain.full_name,
                "v1Name": chain.v1_name,
                "evm": chain.evm,
                "tokens": [
                    {
                        "token": placed.symbol,
                        "address": placed.contract.address,
                        "decimals": placed.decimals,
                    }
                    for placed in catalog.tokens_on(chain)
                ],
            }
            for chain in catalog.chains
        ]
    }


def show(asked: Asked) -> Json:
    """Return the keys of a world; a secret is never shown."""
    return keys.described(asked.hosted)


def register(asked: Asked) -> Json:
    """Register a developer key, or switch the verification of wallets."""
    return keys.register(asked.hosted, asked.body)


def forget(asked: Asked) -> Json:
    """Forget every developer key and take signatures by their presence."""
    return keys.forget(asked.hosted)


def announce(asked: Asked) -> Json:
    """Tell the world of a transaction on one of its chains."""
    return broadcasting.announce(asked.hosted, asked.body)


def seen(asked: Asked) -> Json:
    """Return the transactions a world has seen."""
    return {"transactions": [broadcasting.shown(one) for one in asked.hosted.transactions.values()]}


def call(asked: Asked) -> Json:
    """Answer JSON-RPC as a node of a chain would."""
    return chainnode.answer(asked.hosted, asked.place["chain"], asked.body)
