"""Seen transactions as plain data that a dump can carry, and back."""

from collections.abc import Mapping
from dataclasses import asdict

from mockserver.jsontext import Json
from mockserver.responders.seen import SeenTransaction


def plain_of(seen: SeenTransaction) -> dict[str, Json]:
    """Return a transaction as JSON can carry it, its call data in hex."""
    return {**asdict(seen), "data": seen.data.hex()}


def seen_of(plain: Mapping[str, Json]) -> SeenTransaction:
    """Return the transaction of checked plain data."""
    return SeenTransaction(**{**plain, "data": bytes.fromhex(plain["data"])})
