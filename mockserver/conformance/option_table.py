"""Everything that a run can be told, in one table: the command line, pytest's options and ini keys,
keyword arguments, the Action's inputs and the page of options are made of it.

Nothing is imported here that a project pays for which only has the pytest plugin installed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Form = Literal["command", "pytest", "ini", "keyword", "action"]
"""A way to tell a run something."""
FORMS: tuple[Form, ...] = ("command", "pytest", "ini", "keyword", "action")

Kind = Literal[
    "address",
    "text",
    "texts",
    "whole",
    "rate",
    "duration",
    "instant",
    "word",
    "flag",
    "switch",
    "file",
    "roles",
]
"""What a value is: a `flag` is on or not given, a `switch` is on, off, or left to the run; an
`address` is an argument of the command."""

Absent = Mapping[Form, str]

FAILING_WORDS = ("violation", "observed", "assumption", "extra")
"""The short words for the verdicts that are findings, the worst first."""


@dataclass(frozen=True, slots=True)
class Option:
    """A row of the table.

    `name` is that of the command line, without dashes; `named` is for forms that call it otherwise.
    `default` is as people write it, and `least` and `most` bound numbers. `absent` says why a form
    does not have the option. `variable` is where the environment may have the value.
    """

    name: str
    kind: Kind
    help: str
    default: str | int | None = None
    least: int | str = 0
    most: str = ""
    words: tuple[str, ...] = ()
    metavar: str | None = None
    short: str = ""
    variable: str = ""
    action_default: str = ""
    named: Mapping[Form, str] = field(default_factory=dict)
    absent: Absent = field(default_factory=dict)

    def in_form(self, form: Form) -> str:
        """Return the bare name in a form, with underscores in Python and ini files; else empty."""
        if form in self.absent:
            return ""
        name = self.named.get("pytest" if form == "ini" else form, self.name)
        return name.replace("-", "_") if form in ("ini", "keyword") else name

    @property
    def key(self) -> str:
        """The name of the value within Python, whether or not `run` takes it as a keyword."""
        return self.named.get("keyword", self.name).replace("-", "_")

    @property
    def described(self) -> str:
        """What it is, with its words and its default."""
        words = f" One of {', '.join(self.words)}." if self.words else ""
        default = f" Default: {self.default}." if self.default not in (None, 0, "0") else ""
        return f"{self.help}{words}{default}"


def _in(*forms: Form, why: str) -> Absent:
    return dict.fromkeys(forms, why)


_TYPED = _in("ini", why="what may cost money or reach another machine is typed, or it is not meant")
_SECRET = _in("pytest", "ini", "action", why="a secret is taken from the environment")
_SELECTED = _in("pytest", "ini", why="tests are selected with `-k`")
_KEPT = _in("pytest", "ini", why="the workers of a session share a journal of their own")
_CALLED = _in("keyword", why="the caller has the result in hand")
_REPORTS = {**_CALLED, **_in("pytest", "ini", why="pytest writes reports of its own")}
_AT_HAND = {**_REPORTS, **_in("action", why="it is for somebody at a terminal")}
_URLS: tuple[Mapping[Form, str], ...] = tuple(
    {"pytest": f"{generation}-url", "action": f"{generation}-url"} for generation in ("v1", "v2")
)

ADDRESSES = (
    Option(
        "url",
        "address",
        "The base address of the service, for both generations.",
        variable="CROSSCHAIN_MOCK_URL",
    ),
    Option(
        "v1",
        "text",
        "The base address of v1.",
        metavar="URL",
        variable="CROSSCHAIN_MOCK_BASE_URL",
        named=_URLS[0],
    ),
    Option(
        "v2",
        "text",
        "The base address of 2.0.",
        metavar="URL",
        variable="CROSSCHAIN_MOCK_BASE_URL_V2",
        named=_URLS[1],
    ),
)
PERMIT = (
    Option(
        "allow-host",
        "texts",
        "A host that is not this machine, and is meant.",
        metavar="HOST",
        named={"keyword": "allow_hosts"},
        absent=_TYPED,
    ),
    Option("arm-writes", "flag", "Let submissions out, too.", absent=_TYPED),
    Option(
        "most-writes", "whole", "At most so many submissions.", default=100, least=1, absent=_TYPED
    ),
    Option(
        "confirm-host",
        "texts",
        "The host's name again, without which it gets no submissions.",
        metavar="HOST",
        named={"keyword": "confirm_hosts"},
        absent={**_TYPED, **_in("action", why="the Action submits to its own machine alone")},
    ),
)
RUN = (
    Option("seed", "whole", "What chance draws from.", default=1),
    Option("dialect", "text", "`documented`, `observed`, or errata.", default="documented"),
    Option(
        "overlay",
        "file",
        "What `recordings learn` has learned of a service, laid over the dialect.",
    ),
    Option("budget", "whole", "At most so many requests.", least=1),
    Option("rate", "rate", "At most so many requests a second.", least="0.001", most="10000"),
    Option("time", "duration", "For the run.", default="10m", least=1),
    Option("request-time", "duration", "For one request and its answer.", default="10s", least=1),
    Option(
        "slow",
        "duration",
        "What takes longer, and again when asked again, is a slow answer.",
        default="3s",
        least=1,
    ),
    *PERMIT,
    Option(
        "app-key",
        "text",
        "A developer key for v1, instead of the example's.",
        variable="CROSSCHAIN_MOCK_APP_KEY",
        absent=_SECRET,
    ),
    Option(
        "app-secret",
        "text",
        "Its secret; better given by the environment.",
        variable="CROSSCHAIN_MOCK_APP_SECRET",
        absent=_SECRET,
    ),
    Option("address", "text", "The account that requests name."),
    Option(
        "order",
        "texts",
        "A 2.0 order from before, to be looked up without a submission.",
        metavar="ID",
        named={"keyword": "orders"},
    ),
    Option(
        "ticket",
        "texts",
        "A ticket from before, to be looked up without a submission.",
        metavar="ID",
        named={"keyword": "tickets"},
    ),
    Option(
        "hash",
        "texts",
        "The transaction of a v1 order of the account, as CHAIN:HASH with the chain's v1 name.",
        metavar="CHAIN:HASH",
        named={"keyword": "hashes"},
    ),
    Option("timestamp", "instant", "Stamp v1 requests with this time, whatever comes of it."),
    Option(
        "only",
        "texts",
        "Only this rule, layer, operation or generated stage; * fits.",
        metavar="NAME",
        absent=_SELECTED,
    ),
    Option(
        "skip",
        "texts",
        "Not this rule, layer, operation or generated stage; * fits.",
        metavar="NAME",
        absent=_SELECTED,
    ),
    Option(
        "patience",
        "duration",
        "How long to wait in all for what was submitted to settle: 6s by itself, not at all with "
        "the mock.",
    ),
    Option(
        "edges",
        "switch",
        "Ask at the edges of every input; by itself where the service is on this machine.",
    ),
    Option(
        "examples",
        "whole",
        "Generated requests an operation: 2 by itself where the service is on this machine and "
        "Hypothesis is installed.",
    ),
    Option("sequences", "whole", "Generated sequences a flow.", default=0),
    Option("deep", "whole", "Schemathesis examples an operation.", default=0),
    Option("probes", "file", "A file of requests that are sent in every run, a line each."),
    Option("bindings", "file", "A file that says which member of a list item plays which role."),
)
WAIT = Option(
    "wait",
    "duration",
    "Wait so long for a service that is still starting, such as 30s.",
    default="0",
    action_default="30s",
)
ROLES = Option(
    "roles",
    "roles",
    "Which member of a list item plays which role.",
    absent=_in("command", "pytest", "ini", "action", why="a file has them: `bindings`"),
)
STRICT = Option(
    "strict", "flag", "Fail where what could be judged was not reached.", absent=_CALLED
)
FAILING = Option(
    "fail-on",
    "word",
    "The mildest finding that fails.",
    default="violation",
    words=FAILING_WORDS,
    absent=_CALLED,
)
REPORT = (
    Option(
        "recordings",
        "texts",
        "Judge recordings instead of a service, and send nothing.",
        metavar="NAME|PATH",
        absent=_in("pytest", "ini", "keyword", "action", why="what is judged there is a service"),
    ),
    Option(
        "journal",
        "file",
        "Keep every exchange in a file, from which a run can be resumed.",
        absent=_KEPT,
    ),
    Option("resume", "file", "Go on with the run of a journal.", absent=_KEPT),
    STRICT,
    FAILING,
    Option(
        "report",
        "texts",
        "Write a report: html, json, junit, sarif or github; - is stdout.",
        metavar="FORMAT=FILE",
        absent=_REPORTS,
    ),
    Option("baseline", "file", "A file of findings that are accepted.", absent=_REPORTS),
    Option("write-baseline", "file", "Write such a file with all that was found.", absent=_AT_HAND),
    Option("owner", "text", "Who answers for what --write-baseline accepts.", absent=_AT_HAND),
    Option(
        "expires", "text", "The last day on which it is accepted.", metavar="DATE", absent=_AT_HAND
    ),
    Option(
        "reason",
        "text",
        "Why it is accepted.",
        default="found, and not yet looked into",
        absent=_AT_HAND,
    ),
    Option("quiet", "flag", "Only findings and the conclusion.", short="q", absent=_AT_HAND),
    Option("verbose", "flag", "Everything, and every request.", short="v", absent=_AT_HAND),
)

OPTIONS: tuple[Option, ...] = (*ADDRESSES, *RUN, ROLES, WAIT, *REPORT)
"""Every option, in the order in which people are told of them."""
