"""How recordings are served in a world, and how far they have been played there.

Every server imports this module, and most replay nothing, so it does not import recordings.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any

from mockserver.engine.persistent_mapping import Layered
from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.suggestions import did_you_mean

if TYPE_CHECKING:
    from mockserver.recordings import RequestForm

MODES = {
    "strict": "refuse what was not recorded (the default)",
    "fallback": "let the simulation answer what was not recorded",
    "naked": "serve recordings as they are: no outage of the world, no dialect stands above them",
    "counted": "give the nth request of a kind the nth answer (the default)",
    "paced": "move on at the recorded pace, on the world's clock",
}
"""The words of options and markers for how recordings are served."""


class BadMode(CrosschainMockError):
    """A mode of replaying that does not exist."""


@dataclass(frozen=True, slots=True)
class ReplayMode:
    """How recordings are served.

    `strict` refuses what was not recorded; otherwise the simulation answers it. `naked` serves
    recorded answers whatever outages and dialect the world has. `counted` moves a sequence on
    with each request; otherwise it moves as it was recorded, on the world's clock. With `once`
    each recorded answer is given once; otherwise the last is repeated. With `any_dialect` answers
    are used that the world's dialect forbids.
    """

    strict: bool = True
    naked: bool = False
    counted: bool = True
    once: bool = False
    any_dialect: bool = False

    @classmethod
    def of(cls, words: str | Iterable[str]) -> "ReplayMode":
        """Return the mode of some words, such as `fallback,naked`. Raises `BadMode`."""
        texts = words.replace(",", " ").split() if isinstance(words, str) else list(words)
        for word in texts:
            if word not in MODES:
                near, known = did_you_mean(str(word), list(MODES)), ", ".join(MODES)
                raise BadMode(
                    f"replay_mode: {word!r} is no way to replay{near} (there are {known})"
                )
        if "strict" in texts and "fallback" in texts:
            raise BadMode("replay_mode: 'strict' and 'fallback' exclude each other")
        if "counted" in texts and "paced" in texts:
            raise BadMode("replay_mode: 'counted' and 'paced' exclude each other")
        return cls("fallback" not in texts, "naked" in texts, "paced" not in texts)


@dataclass(slots=True)
class PlaybackState:
    """How far recordings have been played in one world.

    `counts` is how often a form was answered, `reached` which of its answers came last, both from 1
    on. `asked` is when a form was requested first, `struck` the moment of the last event of an
    outage, and `began` when an exchange was played first, by its label; all in the world's
    milliseconds. `choices` leads from a value that this client chose, in lower case, to the one
    that the recorded client had chosen; `sent` leads back.
    """

    counts: "Layered[RequestForm, int]" = field(default_factory=Layered)
    reached: "Layered[RequestForm, int]" = field(default_factory=Layered)
    asked: "Layered[RequestForm, int]" = field(default_factory=Layered)
    struck: "Layered[RequestForm, int]" = field(default_factory=Layered)
    began: Layered[str, int] = field(default_factory=Layered)
    choices: Layered[str, str] = field(default_factory=Layered)
    sent: Layered[str, str] = field(default_factory=Layered)

    def copy(self) -> "PlaybackState":
        return PlaybackState(*(getattr(self, item.name).copy() for item in fields(self)))

    def dump(self) -> dict[str, Json]:
        """Return it as plain data; empty where nothing was played."""
        if not self.counts:
            return {}
        forms = [
            {
                "operation": form.operation,
                "query": [list(pair) for pair in form.query],
                "headers": [list(pair) for pair in form.headers],
                "body": form.body,
                **{name: kept[form] for name in _BY_FORM if form in (kept := getattr(self, name))},
            }
            for form in self.counts
        ]
        return {"forms": forms, **{name: dict(getattr(self, name).items()) for name in _BY_TEXT}}

    @classmethod
    def load(cls, dumped: Mapping[str, Any]) -> "PlaybackState":
        """Return the state of a dump, which was checked."""
        from mockserver.recordings import RequestForm  # noqa: PLC0415 - as said above

        played = cls()
        for item in dumped.get("forms", ()):
            query, headers = (tuple(map(tuple, item[part])) for part in ("query", "headers"))
            form = RequestForm(item["operation"], query, headers, item["body"])
            for name in _BY_FORM:
                if name in item:
                    getattr(played, name)[form] = item[name]
        for name in _BY_TEXT:
            for text, value in dumped.get(name, {}).items():
                getattr(played, name)[text] = value
        return played


_BY_FORM = ("counts", "reached", "asked", "struck")
_BY_TEXT = ("began", "choices", "sent")
