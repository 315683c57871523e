"""The keys a world knows: with none, signatures are taken by their presence alone."""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from types import MappingProxyType

from mockserver.fast_dataclass import dataclass

EXAMPLE_ADDRESS = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
EXAMPLE_WALLET_KEY = "11" * 32
"""The private key of the example's address, which everybody knows (facts 3.2)."""
DEMO_APP_KEY = "demo-app-key"
DEMO_APP_SECRET = "demo-app-secret"  # noqa: S105 (no secret: anybody may sign with it)


@dataclass(frozen=True, slots=True)
class Keyring:
    """Developer keys with their secrets, and whether the signatures of wallets are verified.

    `clock` is another clock by which v1 requests may be stamped, in ms since 1970, beside the
    world's own; None where there is none.
    """

    developers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    wallets: bool = False
    clock: Callable[[], int] | None = field(default=None, repr=False, compare=False)

    def with_developer(self, app_key: str, secret: str) -> "Keyring":
        """Return the keyring with one more developer key; from then on v1 signatures count."""
        known = {**self.developers, app_key: secret}
        # A new one: requests that are being checked go on with the keys they came under.
        return replace(self, developers=MappingProxyType(known))

    @property
    def hosted_signer(self) -> tuple[str, str]:
        """The key and secret the hosted signer signs with: the first, else a well-known pair."""
        return next(iter(self.developers.items()), (DEMO_APP_KEY, DEMO_APP_SECRET))
