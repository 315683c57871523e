"""How much of everything is kept, read and answered: the one table of bounds.

`docs/reference/limits.md` is made from it, and code reads the bounds from its rows.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass

Scope = Literal["a request", "a connection", "a world", "the server", "a file", "a command"]

KIB = 1024
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound: `most` of a `unit`, for each `scope`, and what happens beyond it."""

    what: str
    most: int
    unit: str
    scope: Scope
    beyond: str
    option: str = ""
    """The option of `serve` and `run` that sets it; empty for one that nobody can set."""

    def __str__(self) -> str:
        """Return the bound as people read it: `16 MiB`, `1000 stubs`."""
        if self.unit != "bytes":
            return f"{self.most} {self.unit}"
        if self.most % MIB == 0:
            return f"{self.most // MIB} MiB"
        return f"{self.most // KIB} KiB" if self.most % KIB == 0 else f"{self.most} bytes"


_REFUSED = "refused, and nothing is changed"
_OLDEST = "the oldest give way, and are counted as `dropped`"

BODY = Limit("body of a request", MIB, "bytes", "a request", "HTTP 413 (A-030)")
LOAD_BODY = Limit(
    "body of `POST /__mock/load`, the dump of a world", 192 * MIB, "bytes", "a request", "HTTP 413"
)
HEAD = Limit("names and values of all headers", 64 * KIB, "bytes", "a request", "HTTP 431")
HEAD_FIELDS = Limit("lines of a request head", 1000, "lines", "a request", "HTTP 431")
PARAMETERS = Limit("parameters of a query", 1000, "parameters", "a request", "HTTP 431")
VALUES = Limit(
    "members and items of the JSON of a body", 10_000, "values", "a request", "HTTP 413 (A-030)"
)
DEPTH = Limit("nesting of JSON", 64, "levels", "a request", "HTTP 400")
DIGITS = Limit("digits of a JSON number", 4300, "digits", "a request", "HTTP 400")
EXPONENT = Limit("exponent of a JSON number, up or down", 1000, "places", "a request", "HTTP 400")

UNKNOWN_NAMES = Limit(
    "unknown names in a refusal", 20, "names", "a request", "the others are only counted"
)

IDLE = Limit("wait for a whole request head", 75, "seconds", "a connection", "closed")
BODY_WAIT = Limit("wait for the body of a request", 60, "seconds", "a request", "HTTP 408")
STALLED = Limit("wait for a client to read its answer", 60, "seconds", "a connection", "closed")

JOURNAL = Limit("journal entries", 1000, "entries", "a world", _OLDEST, "journal-entries")
JOURNAL_BYTES = Limit("journal", 64 * MIB, "bytes", "a world", _OLDEST, "journal-bytes")
ALL_JOURNAL_BYTES = Limit(
    "journals of all worlds",
    256 * MIB,
    "bytes",
    "the server",
    "the largest journal is halved, and what it lost is counted as `dropped`",
    "all-journal-bytes",
)
WORLDS = Limit(
    "worlds", 10_000, "worlds", "the server", "refused until one is dropped", "most-worlds"
)
ORDERS = Limit("orders", 1_000_000, "orders", "a world", _REFUSED)
ORDER_TEXT = Limit("texts of an order or a ticket", 2 * KIB, "bytes", "a request", _REFUSED)
FORCED = Limit("statuses that were forced or steered", 20_000, "events", "a world", _REFUSED)
TICKETS = Limit("tickets", 10_000, "tickets", "a world", _REFUSED)
TRANSACTIONS = Limit("transactions on chains", 20_000, "transactions", "a world", _REFUSED)
TRANSACTION_BYTES = Limit("transactions on chains", 32 * MIB, "bytes", "a world", _REFUSED)
WAITING = Limit("transactions in no block yet", 1_000, "transactions", "a world", _REFUSED)
MARKS = Limit(
    "blocks that were mined or reorganised by command", 1_000, "commands", "a world", _REFUSED
)
MINED = Limit("empty blocks", 100_000, "blocks", "a request", "refused")
FILTERS = Limit("filters of nodes", 100, "filters", "a world", _OLDEST)
STUBS = Limit("stubs", 1000, "stubs", "a world", _REFUSED, "most-stubs")
STUB_BYTES = Limit("stubs", 16 * MIB, "bytes", "a world", _REFUSED, "stub-bytes")
FAULTS = Limit("faults", 1000, "faults", "a world", _REFUSED)
FAULT_BYTES = Limit("faults", 4 * MIB, "bytes", "a world", _REFUSED)
OUTAGES = Limit("outages", 1000, "outages", "a world", _REFUSED)
HELD = Limit(
    "wait of an answer that is held back", 30_000, "milliseconds", "a request", "sent all the same"
)
DIALECTS = Limit("dialects that its worlds speak", 100, "dialects", "the server", _REFUSED)
KEYS = Limit("developer keys", 1000, "keys", "a world", _REFUSED)
APP_KEYS = Limit("app keys that choose a world", 1000, "keys", "a world", _REFUSED)
ALL_APP_KEYS = Limit("app keys that choose worlds", 20_000, "keys", "the server", _REFUSED)
EXPECTED = Limit("refusals that a test expects", 1000, "refusals", "a world", _REFUSED)
SNAPSHOTS = Limit("snapshots", 1000, "snapshots", "a world", _REFUSED, "most-snapshots")
FAILURES = Limit("defects of the server that are reported", 100, "texts", "a world", "not reported")
AUDITED = Limit(
    "orders that an audit looks at",
    10_000,
    "orders",
    "a request",
    "the older ones are not judged",
    "audited-orders",
)
FINDINGS = Limit("findings that an audit tells", 500, "findings", "a request", "only counted")
LISTENERS = Limit(
    "listeners to events, and WebSockets of nodes",
    100,
    "listeners",
    "the server",
    _REFUSED,
    "most-listeners",
)
SUBSCRIPTIONS = Limit("subscriptions to a node", 100, "subscriptions", "a connection", "refused")
BATCH = Limit("JSON-RPC calls in a batch", 100, "calls", "a request", "refused")
ALL_BYTES = Limit(
    "orders, tickets, transactions, stubs, faults and snapshots of all worlds",
    2048 * MIB,
    "bytes",
    "the server",
    _REFUSED,
    "world-bytes",
)

FILE = Limit(
    "a file of ours: scenario, recording, contract, body", 32 * MIB, "bytes", "a file", "refused"
)
ANSWER = Limit(
    "an answer that `conform` reads",
    16 * MIB,
    "bytes",
    "a request",
    "not read any further; its beginning is kept",
)
ANSWERS = Limit(
    "answers that a run of `conform` keeps",
    128 * MIB,
    "bytes",
    "a command",
    "nothing more is sent, as without a budget",
)
RECORDED_BODY = Limit(
    "a body that a recorder keeps", 256 * MIB, "bytes", "a file", "passed on, and not kept"
)
LONG_FILE = Limit(
    "a file of other tools, a capsule, or the journal of a run",
    512 * MIB,
    "bytes",
    "a file",
    "refused",
)
FILE_DEPTH = Limit("nesting of YAML and JSON in files", 50, "levels", "a file", "refused")
RUN_MS, REQUEST_MS = 600_000, 10_000
"""How long a run and a request of `conform` may take by default, in wall time."""
AMOUNT_DIGITS = 77
"""The most digits of an amount in smallest units, as in `schemas/common/smallest-units.json`."""
PARSER_DEPTH = 500
"""Levels of nesting that are safe for recursive parsers on the C stack."""

MOST_SEED = 2**64 - 1
"""The highest seed of a world; the files and routes that take one have it in their schemas."""

TABLE = tuple(constant for constant in list(vars().values()) if isinstance(constant, Limit))
"""Every bound, in the order of the page."""
SETTABLE = {limit.option: limit for limit in TABLE if limit.option}
"""The bounds that a server's options set, by option."""
MOST_SET = 2**40
"""The highest value of a bound that is set: so many bytes no machine of tests has."""
_SIZE = re.compile(r"([0-9]{1,13})\s*(KiB|MiB|GiB|)", re.IGNORECASE)
_SIZES = {"": 1, "kib": KIB, "mib": MIB, "gib": 1024 * MIB}


class Bounds:
    """The bounds of one server: those of the table, but for what its options have changed."""

    __slots__ = ("_changed",)

    def __init__(self, changed: Mapping[str, int] | None = None) -> None:
        """Take the bounds that are others, by their options: `{"journal-entries": 100_000}`."""
        self._changed = {
            option: replace(SETTABLE[option], most=most) for option, most in (changed or {}).items()
        }

    def __getitem__(self, limit: Limit) -> Limit:
        """Return a bound as this server has it."""
        return self._changed.get(limit.option, limit)


class BadBound(CrosschainMockError):
    """A bound that does not exist, or a value that it cannot have."""


def bound_of(option: str, value: object) -> int:
    """Return the value of a settable bound: a whole number, or a size such as `64MiB`.

    Raises `BadBound`.
    """
    limit = SETTABLE.get(option)
    if limit is None:
        raise BadBound(f"{option!r} is no bound; there are {', '.join(SETTABLE)}")
    size = _SIZE.fullmatch(str(value).strip()) if not isinstance(value, bool) else None
    number = 0
    if size and (limit.unit == "bytes" or not size[2]):
        number = int(size[1]) * _SIZES[size[2].lower()]
    if not 1 <= number <= MOST_SET:
        form = "a size such as 64MiB" if limit.unit == "bytes" else "a whole number"
        raise BadBound(f"{option}: expected {form}, from 1 to {MOST_SET}, got {value!r}")
    return number


AS_LISTED = Bounds()
"""The bounds of the table as they are."""


_ABOUT = """\
Everything that a server reads, keeps and answers has an end, so that no client can make it run out
of memory or keep others waiting. Refusals of operations are named `limit-reached`, `body-too-large`
and `head-too-large` in `X-Mock-Refusal`; the control API answers 400 with a sentence. Bytes are
those of texts as they are kept, not of the interpreter's memory.

Some bounds are set by options of `serve` and `run`, and by the setting `bounds` in pytest: in
a marker `bounds={"journal-entries": 50_000}`, or `--crosschain-mock-bounds=journal-entries=50000`.
Sizes may have a unit: `--journal-bytes 512MiB`. A world that was kept or dumped with more stubs
than a lowered bound allows is not loaded."""


def page() -> str:
    from mockserver import markdown  # noqa: PLC0415 - no server needs it

    rows = (
        (limit.what, str(limit), limit.scope, limit.beyond, limit.option and f"`--{limit.option}`")
        for limit in TABLE
    )
    heads = ("what", "most", "for each", "beyond it", "set by")
    return markdown.page("Limits", _ABOUT, markdown.table(heads, rows))
