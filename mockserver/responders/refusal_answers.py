"""Refusals as answers: the generation's envelope, and the exact reason in a header."""

from collections.abc import Callable

from mockserver import jsontext
from mockserver.contract import Contract, Generation
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Response
from mockserver.mock_headers import REFUSAL_HEADER

JSON_TYPE = ("Content-Type", "application/json; charset=utf-8")
JSON_HEADERS = (JSON_TYPE,)
"""The headers of a success, always this object, so that it is recognised by identity."""
# Characters of a reason: clients read headers of 8190, and a text to be signed is long.
_MAX_HEADER = 4000


@dataclass(frozen=True, slots=True)
class Denial:
    """Why a request is refused: the name of a refusal and the reason."""

    name: str
    reason: str


class Refuser:
    """Makes refusals in the words of a contract."""

    def __init__(self, contract: Contract, refusal_status: int | None = None) -> None:
        """Take a contract; `refusal_status` replaces the HTTP 200 that enveloped refusals have."""
        self._contract = contract
        self.status = refusal_status or 200
        self._writers: dict[tuple[str, str], tuple[int, Callable[[str], bytes]]] = {}

    def refuse(self, generation: Generation, name: str, reason: str) -> Response:
        """Return the refusal of a name in `schemas/refusals.yaml`, with its reason."""
        status, write = self._writers.get((generation.id, name)) or self._writer(generation, name)
        headers = JSON_TYPE, (REFUSAL_HEADER, _header_text(name, reason))
        return Response(status, headers, write(reason))

    def words_of(self, generation: Generation, code: int) -> str:
        """Return the text that goes with a code, or a plain one where no refusal has it."""
        for rule in self._contract.refusals.values():
            words = rule.words.get(generation.id)
            if words is not None and words.code == code:
                return words.msg
        return "refused"

    def _writer(self, generation: Generation, name: str) -> tuple[int, Callable[[str], bytes]]:
        """Return the status of a refusal, and what puts a reason into its body."""
        rule = self._contract.refusals[name]
        status = self.status if rule.http == 200 else rule.http
        bare = jsontext.encode(generation.refusal(rule, ""))
        # A character that no sentence has; as JSON it is an escape, which is found in the text.
        mark = "\0"
        encoded = jsontext.encode(generation.refusal(rule, mark)).decode("ascii")
        before, where, after = encoded.partition(jsontext.escaped(mark))

        def write(reason: str) -> bytes:
            if not (reason and where):
                return bare
            return f"{before}{jsontext.escaped(reason)}{after}".encode("ascii")

        self._writers[generation.id, name] = status, write
        return status, write


def refusal_in(header: str | None) -> str:
    """Return the name of the refusal in the header of an answer; empty without one."""
    return (header or "").partition(":")[0]


def _header_text(name: str, reason: str) -> str:
    """Return the reason as one line of printable ASCII, which is all a header may carry."""
    line = f"{name}: {reason}".encode("ascii", "backslashreplace").decode()
    if not line.isprintable():
        line = "".join(char if char.isprintable() else " " for char in line)
    return line if len(line) <= _MAX_HEADER else f"{line[: _MAX_HEADER - 3]}..."
