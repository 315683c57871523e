"""Control of the audit: what is wrong with the money of a world."""

from mockserver.jsontext import Json
from mockserver.responders.forms import duration_ms
from mockserver.server.control.row import ControlRequest
from mockserver.worlds.audit import QUOTE_AGE_MS, audit, kinds_named


def show(request: ControlRequest) -> Json:
    """Return what is wrong with the money of a world, by what its clients did and asked."""
    query = request.query
    age = duration_ms(query["quoteAge"]) if "quoteAge" in query else QUOTE_AGE_MS
    found = audit(request.hosted, kinds_named(query.get("kinds", "all")), age)
    return {
        "ok": not found,
        "findings": [one.render() for one in found],
        "more": found.more,
        "judged": found.judged,
        "unjudged": found.unjudged,
    }
