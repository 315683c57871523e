"""The libraries of the extra `signing`, for curve and hash of wallets, loaded on first use."""

from types import ModuleType

from mockserver.errors import CrosschainMockError


class SigningUnavailable(CrosschainMockError):
    """Signatures of wallets are needed, but their libraries are not installed."""


def require() -> None:
    """Load the libraries, so that the first signature need not. Raises `SigningUnavailable`."""
    libraries()


def libraries() -> tuple[ModuleType, ModuleType]:
    """Return `coincurve`, and `keccak` of pycryptodome. Raises `SigningUnavailable`."""
    # Here and not at the import: a server without wallets needs neither library.
    try:
        import coincurve
        from Crypto.Hash import keccak
    except ImportError:
        raise SigningUnavailable(
            "wallet signatures need the libraries 'coincurve' and 'pycryptodome'; "
            "install the extra: pip install 'crosschain-mock[signing]'"
        ) from None
    return coincurve, keccak
