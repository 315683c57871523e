"""Control of the audit: what is wrong with the money of a world."""

from mockserver.jsontext import Json
from mockserver.responders.audit import KINDS, QUOTE_AGE_MS, audit, kinds_named
from mockserver.responders.forms import DURATION, TEXT, described, duration_ms
from mockserver.server.control.row import Asked, Row, listed, told, with_members

_FINDING = with_members(
    told(kind="string", told="string", orders="array", requests="array", transactions="array"),
    orders=listed({"type": "string"}),
    requests=listed(told(sequence="integer", at="string", request="string", outcome="string")),
    transactions=listed(told(chain="string", hash="string")),
)


def show(asked: Asked) -> Json:
    """Return what is wrong with the money of a world, by what its clients did and asked."""
    query = asked.query
    age = duration_ms(query["quoteAge"]) if "quoteAge" in query else QUOTE_AGE_MS
    found = audit(asked.hosted, kinds_named(query.get("kinds", "all")), age)
    return {
        "ok": not found,
        "findings": [one.render() for one in found],
        "more": found.more,
        "judged": found.judged,
        "unjudged": found.unjudged,
    }


ROWS = (
    Row(
        "GET",
        "/audit",
        "Tell of money that was doubled, lost or is stuck",
        show,
        with_members(
            told(
                ok="boolean", findings="array", more="integer", judged="integer", unjudged="integer"
            ),
            findings=listed(_FINDING),
        ),
        query={
            "kinds": described(
                TEXT,
                f"the kinds of findings, separated by commas; all by default: {', '.join(KINDS)}",
            ),
            "quoteAge": described(DURATION, "from when on a quote is old; `5m` by default"),
        },
    ),
)
