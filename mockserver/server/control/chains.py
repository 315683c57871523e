"""Control of keys and of the chains behind the service: what wallets sign and broadcast."""

from mockserver.jsontext import Json
from mockserver.responders import broadcasting, chainnode, keys
from mockserver.responders.forms import TEXT, described, members
from mockserver.server.control.row import Asked, Row, listed, told, with_members

_LONG = {"type": "string", "maxLength": 500_000, "x-expects": "a text"}
_TRANSACTION = members(
    {
        "chain": described(TEXT, "a chain by its nickname"),
        "raw": described(_LONG, "a signed transaction in hex, in place of its parts"),
        "from": described(TEXT, "who sent it"),
        "to": described(TEXT, "where it went"),
        "value": described(TEXT, "smallest units, or 0x and hex"),
        "data": described(_LONG, "call data in hex"),
        "hash": described(TEXT, "its hash; one is made up without it"),
        "token": described(TEXT, "contract address on a chain without contract calls"),
        "memo": described(TEXT, "the order, on a chain without contract calls"),
    },
    "chain",
)
_TOKEN = told(**dict.fromkeys(("token", "address"), "string"), decimals="integer")
_KEYS = {"type": "object", "required": ["raw", "developers", "verifySignatures", "verifyWallets"]}


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


ROWS = (
    Row(
        "GET",
        "/chains",
        "List the chains of a world and their tokens",
        listing,
        with_members(
            told(chains="array"),
            chains=listed(
                with_members(
                    told(
                        chain="string",
                        name="string",
                        v1Name="string?",
                        evm="boolean",
                        tokens="array",
                    ),
                    tokens=listed(_TOKEN),
                )
            ),
        ),
    ),
    Row("GET", "/keys", "Show the keys of a world", show, _KEYS),
    Row("POST", "/keys", "Register a key", register, _KEYS, keys.REGISTRATION_SCHEMA),
    Row("DELETE", "/keys", "Forget the keys", forget, _KEYS),
    Row("GET", "/transactions", "List seen transactions", seen, told(transactions="array")),
    Row(
        "POST",
        "/transactions",
        "Tell of a transaction on a chain",
        announce,
        {"type": "object"},
        _TRANSACTION,
        adds=True,
    ),
    Row(
        "POST",
        "/chains/{chain}",
        "Answer JSON-RPC as a node of the chain",
        call,
        {"type": ["object", "array"]},
        {"description": "a JSON-RPC call, or a batch of them"},
        adds=True,
    ),
)
