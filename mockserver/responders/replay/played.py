"""What a world remembers of the recordings it has played."""

from collections.abc import Mapping
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any

from mockserver.engine.layered import Layered
from mockserver.jsontext import Json
from mockserver.values import dataclass

if TYPE_CHECKING:
    from mockserver.recordings import RequestForm


@dataclass(slots=True)
class Played:
    """How far recordings have been played in one world.

    `counts` is how often a form was answered, `reached` which of its answers came last, both from 1
    on. `asked` is when a form was asked first, `struck` the moment of the outage's event that was
    shown last, and `began` when an exchange was played first, by its label; all in the world's
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

    def copy(self) -> "Played":
        """Return the same, apart from now on."""
        return Played(*(getattr(self, item.name).copy() for item in fields(self)))

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
                **{
                    name: value
                    for name in _BY_FORM
                    if (value := getattr(self, name).get(form)) is not None
                },
            }
            for form in self.counts
        ]
        by_text = {name: dict(getattr(self, name).items()) for name in _BY_TEXT}
        return {"forms": forms, **by_text}

    @classmethod
    def load(cls, dumped: Mapping[str, Any]) -> "Played":
        """Return what checked plain data tells."""
        # Most servers replay nothing, and start without what that takes.
        from mockserver.recordings import RequestForm  # noqa: PLC0415

        played = cls()
        for item in dumped.get("forms", ()):
            query, headers = (
                tuple((name, value) for name, value in item[part]) for part in ("query", "headers")
            )
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
