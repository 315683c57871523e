"""What a request says, and other requests in its place."""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote

from mockserver import jsontext
from mockserver.exchange import Headers, Request, pairs_or
from mockserver.jsontext import Json
from mockserver.responders.responder import Call
from mockserver.values import dataclass


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request says, as far as it can be read; what cannot be read is empty."""

    request: Request
    query: Mapping[str, str]
    body: Mapping[str, Json]

    def get(self, place: str) -> Json:
        """Return the value at a place such as `query.chain` or `headers.appKey`, or None."""
        location, _, name = place.partition(".")
        if location == "headers":
            return self.request.headers.get(name)
        return (self.query if location == "query" else self.body).get(name)

    def lacks(self, place: str) -> bool:
        """Tell whether a place is left out of a request that can be read."""
        location, _, name = place.partition(".")
        if location == "body":
            # A body that cannot be read is not made into one that can.
            return bool(self.body) and name not in self.body
        if location == "query":
            unread = bool(self.request.query) and not self.query
            return name not in self.query and not unread
        return self.get(place) is None

    def setting(self, place: str, value: Json) -> "Asked":
        """Return the same with another value at a place."""
        location, _, name = place.partition(".")
        request = self.request
        if location == "query":
            return self.querying({**self.query, name: str(value)})
        if location == "headers":
            kept = [item for item in request.headers.items_sent if item[0].lower() != name.lower()]
            headers = Headers([*kept, (name, str(value))])
            return replace(self, request=replace(request, headers=headers))
        body = {**self.body, name: value}
        return replace(self, request=replace(request, body=jsontext.encode(body)), body=body)

    def querying(self, query: Mapping[str, str]) -> "Asked":
        """Return the same with another query."""
        text = "&".join(
            f"{quote(key, safe='')}={quote(one, safe='')}" for key, one in query.items()
        )
        return replace(self, request=replace(self.request, query=text), query=query)


def asked_of(call: Call) -> Asked:
    """Return what a call asks for."""
    request = call.request
    return Asked(request, _query(request.query), request.members)


def _query(text: str) -> Mapping[str, str]:
    pairs = pairs_or(text)
    found = dict(pairs)
    return found if len(found) == len(pairs) else {}
