"""TLS of a server: its certificate and key, checked before anybody connects.

Imported by servers with a certificate alone.
"""

import ssl
from contextlib import suppress
from pathlib import Path

from mockserver import userfiles
from mockserver.errors import CrosschainMockError

# What OpenSSL says of the validity of a certificate (X509_V_ERR_...).
_VERDICTS = {9: "is not valid yet", 10: "has expired"}
_HANDSHAKE_TURNS = 8


class BadCertificate(CrosschainMockError):
    """A certificate or a key with which nobody can be served."""

    exit_code = 4


def context_of(cert: Path, key: Path | None) -> ssl.SSLContext:
    """Return what serves with a certificate and its key, which may stand in the same file.

    Raises `BadCertificate`.
    """
    key = key or cert
    _check_text(cert, "certificate", b"CERTIFICATE-----")
    text = _check_text(key, "key", b"PRIVATE KEY-----")
    if b"ENCRYPTED" in text:
        raise BadCertificate(
            f"the key in {str(key)!r} is encrypted, and nobody is there to be asked for its "
            "password; write it without one: openssl pkey -in KEY -out PLAIN"
        )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # What this server speaks, for clients that would rather speak HTTP/2.
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(cert, key)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise BadCertificate(
                f"the key in {str(key)!r} is not that of the certificate in {str(cert)!r}; name "
                "the two that were made together"
            ) from None
        raise BadCertificate(
            f"the certificate in {str(cert)!r} and the key in {str(key)!r} cannot be used: "
            f"{(error.reason or str(error)).replace('_', ' ').lower()}"
        ) from None
    _check_validity(context, cert)
    return context


def _check_text(file: Path, what: str, mark: bytes) -> bytes:
    """Return the text of a file in PEM. Raises `BadCertificate`."""
    try:
        text = userfiles.read(file)
    except userfiles.NotReadable as error:
        raise BadCertificate(f"the {what} {str(file)!r} {error}") from None
    if mark not in text:
        article = "a private key" if what == "key" else "a certificate"
        raise BadCertificate(
            f"{str(file)!r} has no {what} in PEM; expected {article} between lines such as "
            f"-----BEGIN {mark.decode()}"
        )
    return text


def _check_validity(context: ssl.SSLContext, cert: Path) -> None:
    """Raise `BadCertificate` where clients would refuse a certificate for its dates."""
    # They are asked: a handshake in memory, with a client that trusts the certificate itself.
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    client.load_verify_locations(cert)
    sent, answered = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = (
        client.wrap_bio(answered, sent),
        context.wrap_bio(sent, answered, server_side=True),
    )
    try:
        for _ in range(_HANDSHAKE_TURNS):
            for end in ends:
                with suppress(ssl.SSLWantReadError):
                    end.do_handshake()
    except ssl.SSLCertVerificationError as error:
        if verdict := _VERDICTS.get(error.verify_code):
            raise BadCertificate(
                f"the certificate in {str(cert)!r} {verdict}; clients would refuse it"
            ) from None
    except ssl.SSLError as error:
        raise BadCertificate(
            f"the certificate in {str(cert)!r} cannot be used: {error.reason or error}"
        ) from None
