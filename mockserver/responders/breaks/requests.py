"""Words to change requests with, before they are answered: what is missing is filled in, say."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote

from mockserver import jsontext
from mockserver.exchange import BadEncoding, Headers, Request, query_pairs
from mockserver.jsontext import Json
from mockserver.responders.breaks.values import Act, Turn
from mockserver.responders.delivery import Delivery
from mockserver.responders.responder import Call

Value = Json | Callable[[Call], Json]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request says, as far as it can be read; what cannot be read is empty."""

    request: Request
    query: Mapping[str, str]
    body: Mapping[str, Json]

    def get(self, location: str, name: str) -> Json:
        """Return a value of `query`, `headers` or `body`, or None."""
        if location == "headers":
            return self.request.headers.get(name)
        return (self.query if location == "query" else self.body).get(name)


def asked_of(call: Call) -> Asked:
    """Return what a call asks for."""
    request = call.request
    return Asked(request, _query(request.query), _body(request.body))


def asking(how: Callable[[Turn, Asked], Request]) -> Act:
    """Answer another request in place of the one that came."""
    return lambda turn: turn.answer(how(turn, asked_of(turn.call)))


def filling(location: str, name: str, value: Value) -> Act:
    """Take a value as given where a request leaves it out."""

    def how(turn: Turn, asked: Asked) -> Request:
        if asked.get(location, name) is not None or _holds(asked, location, name):
            return asked.request
        told = value(turn.call) if callable(value) else value
        return with_value(asked, location, name, told)

    return asking(how)


def correcting(location: str, name: str, how: Callable[[Call, Json], Json]) -> Act:
    """Take another value in place of one that was given."""

    def corrected(turn: Turn, asked: Asked) -> Request:
        given = asked.get(location, name)
        if given is None:
            return asked.request
        told = how(turn.call, given)
        same = told == given and type(told) is type(given)
        return asked.request if same else with_value(asked, location, name, told)

    return asking(corrected)


def with_value(asked: Asked, location: str, name: str, value: Json) -> Request:
    """Return the request with a value of `query`, `headers` or `body` set."""
    request = asked.request
    if location == "query":
        query = {**asked.query, name: str(value)}
        text = "&".join(
            f"{quote(key, safe='')}={quote(one, safe='')}" for key, one in query.items()
        )
        return replace(request, query=text)
    if location == "headers":
        kept = [item for item in request.headers.items_sent if item[0].lower() != name.lower()]
        return replace(request, headers=Headers([*kept, (name, str(value))]))
    return replace(request, body=jsontext.encode({**asked.body, name: value}))


def all_of(*acts: Act) -> Act:
    """Do several things at once; the first is the innermost."""

    def act(turn: Turn) -> Delivery:
        below = turn.below
        for one in acts[:-1]:
            below = _through(one, turn, below)
        return acts[-1](replace(turn, below=below))

    return act


def _through(act: Act, turn: Turn, below: Callable[[Call], Delivery]) -> Callable[[Call], Delivery]:
    return lambda call: act(replace(turn, call=call, below=below))


def _quoted(text: str) -> str:
    return quote(text, safe="")


def _holds(asked: Asked, location: str, name: str) -> bool:
    if location == "body":
        # A body that cannot be read is not made into one that can.
        return name in asked.body or not asked.body
    if location == "query":
        return name in asked.query or (bool(asked.request.query) and not asked.query)
    return False


def _query(text: str) -> Mapping[str, str]:
    try:
        pairs = query_pairs(text)
    except BadEncoding:
        return {}
    found = dict(pairs)
    return found if len(found) == len(pairs) else {}


def _body(raw: bytes) -> Mapping[str, Json]:
    try:
        found = jsontext.decode(raw)
    except jsontext.NotJson:
        return {}
    return found if isinstance(found, dict) else {}
