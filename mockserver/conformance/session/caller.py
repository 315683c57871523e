"""Who calls: the accounts and keys that requests are made with."""

from dataclasses import field, replace

from mockserver.conformance.session.request_draft import Draft
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import NotJson
from mockserver.signing import developer_signatures, wallet_signatures
from mockserver.signing.keyring import (
    DEMO_APP_KEY,
    DEMO_APP_SECRET,
    EXAMPLE_ADDRESS,
    EXAMPLE_WALLET_KEY,
)
from mockserver.signing.wallet_libraries import SigningUnavailable
from mockserver.times_and_durations import EXAMPLE_START_MS

MOST_TICKETS = 4
"""How many of the tickets that a list shows are looked up."""
SECRET_HEADERS = {"appkey": "APP_KEY", "signature": "SIGNATURE"}
"""The headers that no report may show, in lower case, with what is shown in place of their values
(section 5); `Signature` of 2.0 is one of them."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A developer account and a wallet.

    `own_keys` tells that the account was given by a user, and is not the example. `timestamp_ms` is
    what requests are stamped with: a fixed time makes runs equal byte for byte; where a service
    refuses it, the wall clock's is taken unless `fixed_time` forbids that. `address` is an
    account that exists on no chain for our purposes. 2.0 submissions are signed with `wallet_key`,
    its private key; where that is None, or what signs is not installed, they carry
    `wallet_signature`, which has the form of a signature and is none. `orders` and `tickets` are
    ids of 2.0, and `hashes` transactions of v1 orders, with the v1 name of their chain and a colon
    before them, that the account has from before.
    """

    app_key: str = DEMO_APP_KEY
    app_secret: str = field(default=DEMO_APP_SECRET, repr=False)
    own_keys: bool = False
    timestamp_ms: int = EXAMPLE_START_MS
    fixed_time: bool = False
    expire_ms: int = developer_signatures.EXPIRE_MS
    address: str = EXAMPLE_ADDRESS
    wallet_key: str | None = field(default=EXAMPLE_WALLET_KEY, repr=False)
    wallet_signature: str = field(default="0x" + "1b" * 65, repr=False)
    orders: tuple[str, ...] = ()
    tickets: tuple[str, ...] = ()
    hashes: tuple[str, ...] = ()

    @property
    def names(self) -> int:
        """How many orders, tickets and transactions are named, and the account itself."""
        whose = self.address != EXAMPLE_ADDRESS
        return len(self.orders) + len(self.tickets) + len(self.hashes) + whose * MOST_TICKETS

    def sign_v1(self, draft: Draft, *, as_it_stands: bool = False) -> Draft:
        """Return a v1 request with its four headers, signed over the body as it is sent.

        With `as_it_stands`, headers that it has already stay, also wrong ones.
        """
        own = (self.app_key, self.expire_ms, self.timestamp_ms)
        there = draft.headers if as_it_stands else {}
        made_of = zip(developer_signatures.SIGNED, own, strict=True)
        sent = [str(there.get(name, value)) for name, value in made_of]
        named = developer_signatures.DeveloperHeaders(*sent)
        made = named.signed(self.developer_signed(draft.sent_body, named))
        return replace(draft, headers={**draft.headers, **made})

    def sign_v2(self, draft: Draft) -> Draft:
        """Return a 2.0 submission with its signature; one that has a signature is left as it is."""
        users = (value for name, value in draft.headers.items() if name.lower() == "evmaddress")
        user = str(next(users, ""))
        made = {
            name: self.wallet_signed(draft.sent_body, user)
            for name, value in draft.headers.items()
            if value == self.wallet_signature
        }
        return replace(draft, headers={**draft.headers, **made}) if made else draft

    def developer_signed(self, body: bytes, headers: developer_signatures.DeveloperHeaders) -> str:
        """Return the signature of a v1 body under its headers."""
        try:
            text = developer_signatures.signed_text(body, headers)
        except NotJson:
            # How such a body would be signed is not published.
            text = headers.text()
        return developer_signatures.signature(text, self.app_secret)

    def wallet_signed(self, body: bytes, address: str) -> str:
        """Return the signature of a 2.0 body for an address as it is sent (facts 3.2).

        It is `wallet_signature` where nothing can be signed: without a key, without the libraries,
        and for a body that is no JSON object.
        """
        if self.wallet_key is None:
            return self.wallet_signature
        try:
            text = wallet_signatures.signed_text(body, address)
            return wallet_signatures.signature(text, self.wallet_key)
        except (NotJson, SigningUnavailable):
            return self.wallet_signature
