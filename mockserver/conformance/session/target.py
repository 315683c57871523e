"""The service under test: where its generations answer, and which of its hosts are our own."""

from urllib.parse import urlsplit

from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import is_loopback


class UnsafeOrWrong(CrosschainMockError):
    """An address or an option is wrong, or would be unsafe; nothing was sent."""


@dataclass(frozen=True, slots=True)
class Target:
    """Two base addresses, without a slash at the end; a generation without one is not judged."""

    v1: str | None
    v2: str | None

    @property
    def bases(self) -> dict[str, str]:
        by_generation = {"v1": self.v1, "v2": self.v2}
        return {generation: base for generation, base in by_generation.items() if base is not None}

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that requests go to, each once, in lower case and without port."""
        return tuple(dict.fromkeys(urlsplit(base).hostname or "" for base in self.bases.values()))

    @property
    def is_local(self) -> bool:
        return all(map(is_loopback, self.hosts))


def target_of(url: str | None = None, *, v1: str | None = None, v2: str | None = None) -> Target:
    """Return the target at `url`, or at an address for each generation. Raises `UnsafeOrWrong`."""
    v1_base, two = v1 or url, v2 or url
    if v1_base is None and two is None:
        raise UnsafeOrWrong("no address is given; name the base address of the service")
    return Target(_base(v1_base) if v1_base else None, _base(two) if two else None)


def _base(text: str) -> str:
    if not isinstance(text, str):
        raise UnsafeOrWrong(f"an address is a text as in 'http://127.0.0.1:8080', got {text!r}")
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        # Reading the port checks it.
        usable = usable and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise UnsafeOrWrong(
            f"{text!r} is no base address; write for example 'http://127.0.0.1:8080'"
        )
    # The address stands in reports and journals.
    if parts.username or parts.password:
        raise UnsafeOrWrong(f"the address of {parts.hostname!r} holds a password; leave it out")
    if parts.query or parts.fragment:
        raise UnsafeOrWrong(f"{text!r} is no base address; leave out what follows '?' or '#'")
    return text.rstrip("/")
