"""Who calls: the accounts and keys that requests are made with."""

from dataclasses import dataclass, field

from mockserver import jsontext
from mockserver.conformance.session.draft import Draft
from mockserver.jsontext import Json
from mockserver.signing import developer
from mockserver.signing.keyring import DEMO_APP_KEY, DEMO_APP_SECRET

EXAMPLE_ADDRESS = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
EXAMPLE_TIME_MS = 1_767_225_600_000
MOST_TICKETS = 4
"""How many of the tickets that a list shows are looked up."""
SECRET_HEADERS = ("appKey", "signature")
"""The headers that no report may show (interface.md 5); `Signature` of 2.0 is among them."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A developer account and a wallet.

    `own_keys` tells that the account was given by a user, and is not the example. `timestamp_ms` is
    what requests are stamped with: a fixed time makes runs equal byte for byte; where a service
    refuses it, the wall clock's is taken unless `fixed_time` forbids that. `address` is an
    account that exists on no chain for our purposes; `wallet_signature` is what 2.0 submissions
    carry. `orders` and `tickets` are ids of 2.0, and `hashes` transactions of v1 orders, with
    the v1 name of their chain and a colon before them, that the account has from before.
    """

    app_key: str = DEMO_APP_KEY
    app_secret: str = field(default=DEMO_APP_SECRET, repr=False)
    own_keys: bool = False
    timestamp_ms: int = EXAMPLE_TIME_MS
    fixed_time: bool = False
    expire_ms: int = 15_000
    address: str = EXAMPLE_ADDRESS
    wallet_signature: str = field(default="0x" + "1b" * 65, repr=False)
    orders: tuple[str, ...] = ()
    tickets: tuple[str, ...] = ()
    hashes: tuple[str, ...] = ()

    @property
    def names(self) -> int:
        """How many orders, tickets and transactions are named, and the account itself."""
        whose = self.address != EXAMPLE_ADDRESS
        return len(self.orders) + len(self.tickets) + len(self.hashes) + whose * MOST_TICKETS

    def sign_v1(self, draft: Draft) -> Draft:
        """Return a v1 request with its four headers, signed over the body as it stands."""
        named = developer.DeveloperHeaders(
            self.app_key, str(self.expire_ms), str(self.timestamp_ms)
        )
        text = developer.signed_text(_body(draft), named)
        headers: dict[str, Json] = {
            **draft.headers,
            "appKey": named.app_key,
            "expireTime": named.expire_time,
            "timestamp": named.timestamp,
            "signature": developer.signature(text, self.app_secret),
        }
        return Draft(headers=headers, query=draft.query, body=draft.body)


def _body(draft: Draft) -> bytes:
    return b"" if draft.body is None else jsontext.encode(draft.body)
