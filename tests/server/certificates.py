"""Certificates for tests, made as they are needed. Needs the package cryptography."""

from datetime import UTC, datetime, timedelta
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

import pytest


class Pair(NamedTuple):
    """A certificate and its key, in PEM."""

    cert: Path
    key: Path


@cache
def _keys(number: int) -> object:
    """Return a private key: making one takes as long as a test."""
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415 - not for all tests

    return ec.generate_private_key(ec.SECP256R1())


def written_pair(
    folder: Path,
    name: str = "server",
    *,
    days: tuple[int, int] = (-1, 1),
    password: bytes = b"",
    host: str = "127.0.0.1",
) -> Pair:
    """Write a certificate for a host, valid between two numbers of days from now, and its key."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415 - as above

    key = _keys(sum(name.encode()))
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    begin, end = (datetime.now(UTC) + timedelta(days=day) for day in days)
    builder = x509.CertificateBuilder(
        issuer_name=subject,
        subject_name=subject,
        public_key=key.public_key(),  # type: ignore[attr-defined]
        serial_number=x509.random_serial_number(),
        not_valid_before=begin,
        not_valid_after=end,
    )
    named = x509.SubjectAlternativeName([x509.IPAddress(ip_address(host))])
    cert = builder.add_extension(named, critical=False).sign(key, hashes.SHA256())
    lock: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if password:
        lock = serialization.BestAvailableEncryption(password)
    pair = Pair(folder / f"{name}.pem", folder / f"{name}.key")
    pair.cert.write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    pair.key.write_bytes(
        key.private_bytes(  # type: ignore[attr-defined]
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock
        )
    )
    return pair
