"""A call of a method by JSON-RPC: its parameters, and the errors in the words of geth."""

import re
from collections.abc import Mapping, Sequence

from mockserver.engine.catalog import Chain
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.violations import excerpt
from mockserver.worlds.blocks import ChainBlocks
from mockserver.worlds.hosted import HostedWorld

UNREADABLE, INVALID, UNKNOWN_METHOD, BAD_PARAMS = -32700, -32600, -32601, -32602
"""Codes of JSON-RPC 2.0."""
REFUSED, REVERTED = -32000, 3
"""Codes of geth."""

# A pattern for a parameter, and its description in words.
TextForm = tuple[re.Pattern[str], str]

# `int` alone would take signs, blanks, underscores and the digits of other scripts as well.
QUANTITY: TextForm = re.compile("0x[0-9a-fA-F]{1,64}"), "0x and hex"
BYTES: TextForm = re.compile("0x(?:[0-9a-fA-F]{2})*"), "0x and hex of whole bytes"
BLOCK: TextForm = (
    re.compile("latest|pending|safe|finalized|earliest|0x(?:0|[1-9a-fA-F][0-9a-fA-F]{0,63})"),
    "a tag such as 'latest', or 0x and hex without leading zeros",
)
ADDRESS: TextForm = re.compile("0x[0-9a-fA-F]{40}"), "0x and 40 hex digits"
HASH: TextForm = re.compile("0x[0-9a-fA-F]{64}"), "0x and 64 hex digits"
FILTER_ID: TextForm = re.compile("0x[0-9a-fA-F]{1,64}"), "the id of a filter"


class RpcError(Exception):
    """A JSON-RPC error: its code, its message and what stands beside, such as a reason."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


@dataclass(frozen=True, slots=True)
class RpcCall:
    """A call of a method: the world, the chain and the parameters."""

    hosted: HostedWorld
    chain: Chain
    params: Sequence[Json]

    @property
    def blocks(self) -> ChainBlocks:
        """The blocks of the chain up to now."""
        return self.hosted.blocks.of(self.hosted, self.chain.nickname)

    def parameter(self, place: int) -> Json:
        """Return a parameter; None where it was left out."""
        return self.params[place] if place < len(self.params) else None

    def text(self, form: TextForm, place: int = 0) -> str:
        """Return a parameter, which is text of a form."""
        if place >= len(self.params):
            raise RpcError(BAD_PARAMS, f"missing value for required argument {place}")
        return checked(self.parameter(place), argument(place), form)

    def block(self, place: int) -> int:
        """Return the number of the block that a parameter names, the newest one without it.

        An object names it by `blockHash` or `blockNumber` (EIP-1898). Raises `RpcError` for a
        block that is not there.
        """
        value, blocks = self.parameter(place), self.blocks
        if isinstance(value, Mapping) and len(value.keys() & {"blockHash", "blockNumber"}) == 1:
            if "blockHash" in value:
                text = checked(value["blockHash"], f"{argument(place)}: 'blockHash'", HASH)
                number = blocks.number_of(text)
            else:
                number = block_number(blocks, value["blockNumber"], argument(place))
        else:
            number = block_number(blocks, value, argument(place))
        if not 0 <= number <= blocks.head + 1:
            raise RpcError(REFUSED, "header not found")
        return min(number, blocks.head)

    @property
    def members(self) -> Mapping[str, Json]:
        """The members of the first parameter, which is an object."""
        value = self.parameter(0)
        if isinstance(value, Mapping):
            return value
        if not self.params:
            raise RpcError(BAD_PARAMS, "missing value for required argument 0")
        raise bad_parameter(argument(0), "an object", value)


def argument(place: int) -> str:
    return f"invalid argument {place}"


def bad_parameter(where: str, right: str, value: Json) -> RpcError:
    return RpcError(BAD_PARAMS, f"{where}: expected {right}, got {excerpt(value)}")


def checked(value: Json, where: str, form: TextForm) -> str:
    """Return text of a form. Raises `RpcError`."""
    pattern, right = form
    if isinstance(value, str) and pattern.fullmatch(value):
        return value
    raise bad_parameter(where, right, value)


def block_number(blocks: ChainBlocks, value: Json, where: str) -> int:
    """Return the number that a tag, or 0x and hex, stands for; without either it is the newest."""
    text = "latest" if value is None else checked(value, where, BLOCK)
    if text.startswith("0x"):
        return int(text, 16)
    tags = {"earliest": 0, "pending": blocks.head + 1}
    return tags.get(text, blocks.head)


def word(value: int) -> str:
    return f"0x{value:064x}"
