"""A call of a node that is no JSON-RPC: its path, and what it was asked with."""

from collections.abc import Mapping

from mockserver.engine.catalog import Chain
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Response
from mockserver.jsontext import Json, encode
from mockserver.worlds.blocks import ChainBlocks
from mockserver.worlds.hosted import HostedWorld

_JSON = ("Content-Type", "application/json")


@dataclass(frozen=True, slots=True)
class RestCall:
    """A call of a node over HTTP: `path` is below the chain's, `members` are query and body."""

    hosted: HostedWorld
    chain: Chain
    path: tuple[str, ...]
    members: Mapping[str, Json]

    @property
    def blocks(self) -> ChainBlocks:
        """The blocks of the chain up to now."""
        return self.hosted.blocks.of(self.hosted, self.chain.nickname)

    def text(self, name: str) -> str:
        """Return a member as text, empty where it is missing."""
        value = self.members.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int:
        """Return a member that is a whole number, or the digits of one; else 0."""
        value = self.members.get(name)
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 20:
            return int(value)
        return value if type(value) is int else 0

    def flag(self, name: str) -> bool:
        return self.members.get(name) in (True, "true")


def refusal(status: int, body: Json) -> Response:
    return Response(status, (_JSON,), encode(body))
