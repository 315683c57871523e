"""What is masked in a message, where and why; and what stands for values that may stay."""

from collections.abc import Callable, Mapping
from typing import Self, TypeVar

from mockserver.jsontext import Json
from mockserver.recordings.redaction.known_secrets import Memory
from mockserver.recordings.redaction.secret_values import MASK, stand_in
from mockserver.recordings.redaction.standins import StandInMaker

_Result = TypeVar("_Result")
_LONGEST_NAME = 64


class Notes:
    """The state of masking one message.

    `masked` gets what was masked: its place, such as `request.body.user.pin`, and why: `name`,
    `form`, `known` (it stood elsewhere as a secret) or `packed` (in more codings than are undone).
    `stand_ins` replace values that stay.
    """

    def __init__(self, memory: Memory, stand_ins: StandInMaker | None = None) -> None:
        """Mask what is in the memory, and add to it."""
        self.memory = memory
        self.masked: dict[tuple[str, str], None] = {}
        self._stand_ins = stand_ins if stand_ins is not None and stand_ins.active else None
        self._at: list[str] = []
        self._depth = 0
        self._search = True

    def within(self, *place: str) -> Self:
        """Return the same masker at a place of the message."""
        self._at = list(place)
        return self

    def _hidden(self, name: str, why: str, value: str) -> str:
        """Return what stands in place of a secret, and note that."""
        mask = stand_in(value)
        if mask != value:
            self.memory.add(value)
            self._note(name, why)
        return mask

    def _left_out(self, why: str) -> str:
        """Return what stands for a text that is no secret itself, but cannot stay."""
        self._note("", why)
        return MASK

    def _known(self, name: str, text: str) -> str:
        """Return a text without the secrets that are known."""
        if not text or (not self._search and self._depth <= 1):
            return text
        changed = self.memory.without(text)
        if changed != text:
            self._note(name, "known")
        return changed

    def _note(self, name: str, why: str) -> None:
        parts = [*self._at, name] if name and self._at[-1:] != [name] else self._at
        # The name of a member may be a secret itself.
        clean = (self.memory.without(part) if len(part) < _LONGEST_NAME else MASK for part in parts)
        self.masked[".".join(clean), why] = None

    def _replaced(self, name: str, value: str) -> str:
        return value if self._stand_ins is None else self._stand_ins.named(name, value)

    def _publish(self, members: Mapping[str, Json]) -> None:
        """Take in the address of a token, which stays."""
        if self._stand_ins is not None and ("symbol" in members or "decimals" in members):
            for key in ("address", "contractAddress"):
                if isinstance(address := members.get(key), str):
                    self._stand_ins.publish(address)

    def _deeper(self, step: Callable[[], _Result]) -> _Result:
        search, self._depth = self._search, self._depth + 1
        try:
            return step()
        finally:
            self._depth, self._search = self._depth - 1, search
