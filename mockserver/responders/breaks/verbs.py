"""The verbs of the table of breaks: each makes a mutation of its arguments.

A word that a verb takes is the name of a function, written with dashes, alone or with its
arguments: `number`, or `{times: "100"}`. Values are changed by `converters`, and by
`contextual` where that depends on the call; conditions and changes of bodies are below; what needs
code of its own is in `acts`.
"""

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

from mockserver import jsontext
from mockserver.contract import shipped_facts
from mockserver.http_messages import Response
from mockserver.jsontext import Json
from mockserver.responders.answer_delivery import Delivery
from mockserver.responders.breaks import acts, contextual_values, wrong_values
from mockserver.responders.breaks.mutations import (
    EditableAnswer,
    Mutation,
    MutationContext,
    RequestInputs,
    editable,
    edited,
    refused,
)
from mockserver.responders.breaks.wrong_values import is_number
from mockserver.tables import UnknownTableName, function_of

_PAGE = {"Content-Type": "text/html; charset=utf-8"}


# When a break acts


def _invalid_input(context: MutationContext, sent: Delivery) -> bool:
    reading = context.call.operation.read(context.call.request)
    return bool(reading.refusal or reading.violations)


def _matching(context: MutationContext, sent: Delivery, place_and_pattern: tuple[str, str]) -> bool:
    place, pattern = place_and_pattern
    value = context.inputs.get(place)
    text = jsontext.plain(Decimal(value)) if is_number(value) else str(value or "")
    return re.fullmatch(pattern, text, re.DOTALL) is not None


def _of_odd_index(context: MutationContext, sent: Delivery) -> bool:
    indexes = {token.symbol: token.index for token in context.catalog.tokens}
    return bool(indexes.get(str(context.inputs.get("query.symbol")), 0) % 2)


def _behind_a_refusal(context: MutationContext, sent: Delivery) -> bool:
    before = bool(context.memory.pop("refused", False))
    if refused(sent):
        context.memory["refused"] = True
    return before


def _has(context: MutationContext, sent: Delivery, place_and_values: Sequence[Json]) -> bool:
    answer, (place, *values) = editable(context, sent), place_and_values
    return answer is not None and answer.get(place) in values


def _ended(context: MutationContext, sent: Delivery, place: str) -> bool:
    answer, generation = editable(context, sent), context.call.operation.generation.id
    final = shipped_facts().statuses[generation].final
    return answer is not None and str(answer.get(place)) in final


def _looks(context: MutationContext) -> int:
    """Count another request with the same query, and return how many there were."""
    return context.count(f"look {context.call.request.query[-300:]}")


_CONDITIONS: Mapping[str, Callable[..., bool]] = {
    # A success with data; under `refusal`, a refusal of this server.
    "success": lambda context, sent: editable(context, sent) is not None,
    "refusal": lambda context, sent: refused(sent),
    # The request breaks the contract.
    "odd-input": _invalid_input,
    # The request leaves an input out, or gives an empty text for it.
    "without": lambda context, sent, place: context.inputs.get(place) in (None, ""),
    # The request has a text of this form, or a number written so; none is an empty text.
    "matching": _matching,
    # The request is about one of the half of the tokens whose index is odd.
    "of-odd-index": _of_odd_index,
    # The answer is a success with one of these values at a place.
    "has": _has,
    # The answer shows an order that has come to its end, by the status at a place.
    "ended": _ended,
    # Every so many calls, or from that number on. Those that name looks count only calls with the
    # same query.
    "every": lambda context, sent, count: context.count() % count == 0,
    "every-look": lambda context, sent, count: _looks(context) % count == 0,
    "from-look": lambda context, sent, count: _looks(context) >= count,
    # The request before was refused.
    "behind-a-refusal": _behind_a_refusal,
}


# Bodies, as bytes


def _sub(body: bytes, patterns: Mapping[str, str]) -> bytes:
    for pattern, text in patterns.items():
        body = re.sub(pattern.encode(), text.encode("latin-1"), body)
    return body


def _rewritten(body: bytes, write: Callable[[Json], bytes]) -> bytes:
    value = jsontext.decode_or(body)
    return body if value is None else write(value)


def _reversed(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: _reversed(value[key]) for key in reversed(list(value))}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


_BODIES: Mapping[str, Callable[..., bytes]] = {
    # Texts, in Latin-1, in place of what regular expressions find.
    "sub": _sub,
    # A text before the body and another one behind it.
    "around": lambda body, texts: texts[0].encode() + body + texts[1].encode(),
    "short-by": lambda body, count: body[:-count],
    "sixteen-bits": lambda body: body.decode("ascii", "replace").encode("utf-16"),
    # JSON written in another way; a body that is no JSON stays as it is.
    "indented": lambda body: _rewritten(
        body, lambda value: jsontext.pretty(value).encode("ascii") + b"\n"
    ),
    "members-reversed": lambda body: _rewritten(
        body, lambda value: jsontext.encode(_reversed(value))
    ),
}


# Words

_PLACES: Mapping[str, Callable[[str], Callable[..., Any] | None]] = {
    "conditions": _CONDITIONS.get,
    "bodies": _BODIES.get,
    "converters": wrong_values.WORDS.get,
    "contextual": partial(function_of, contextual_values),
    "acts": partial(function_of, acts),
}


def word(spec: Json, place: str) -> Callable[..., Any]:
    """Return the function of a word. Raises `UnknownTableName` where the place does not have it."""
    name, setting = (spec, ()) if isinstance(spec, str) else next(iter(spec.items()))
    setting = () if isinstance(spec, str) else (setting,)
    made = _PLACES[place](name)
    if made is None:
        raise UnknownTableName(f"no function of {place} is called {name!r}")
    return lambda *values: made(*values, *setting)


ValueVerb = Callable[[MutationContext, Json], Json]


def _value(spec: Json) -> ValueVerb:
    """Return the function that a table names, which replaces a value in the context of a call."""
    try:
        return word(spec, "contextual")
    except UnknownTableName:
        how = word(spec, "converters")
        return lambda context, value: how(value)


def only(conditions: Json, act: Mutation) -> Mutation:
    """Apply a mutation under a condition, or under each of several in turn.

    Under `refusal` refusals are edited, and not successes.
    """
    every = conditions if isinstance(conditions, list) else [conditions]
    holding = [word(condition, "conditions") for condition in every]

    def conditional(context: MutationContext) -> Delivery:
        sent = context.answer()
        # The answer is not requested again: a submission would be made twice.
        holds = all(condition(context, sent) for condition in holding)
        answered = replace(context, below=lambda call: sent, refusals="refusal" in every)
        return act(answered) if holds else sent

    return conditional


def in_turn(first: Mutation, then: Mutation) -> Mutation:
    """Apply one mutation after another."""
    return lambda context: then(
        replace(context, below=lambda call: first(replace(context, call=call)))
    )


# Verbs that edit the data of successes


def _editing(edit: Callable[[MutationContext, EditableAnswer], None]) -> Mutation:
    return lambda context: edited(context, context.answer(), partial(edit, context))


def _at_places(
    spec: Mapping[str, Any], edit: Callable[[MutationContext, dict[str, Json], str, Any], object]
) -> Mutation:
    """Edit fields of a success: `spec` has, by the place of each, the last argument of `edit`."""

    def edit_all(context: MutationContext, answer: EditableAnswer) -> None:
        for path, setting in spec.items():
            for holder, key in answer.places(path):
                edit(context, holder, key, setting)

    return _editing(edit_all)


def _change(spec: Mapping[str, Json], times: Callable[..., int] = lambda *_: 1) -> Mutation:
    def change(context: MutationContext, holder: dict[str, Json], key: str, how: ValueVerb) -> None:
        for _ in range(times(context, holder, key)):
            holder[key] = how(context, holder[key])

    return _at_places({path: _value(how) for path, how in spec.items()}, change)


def _times_before(context: MutationContext, holder: dict[str, Json], key: str) -> int:
    """Return how often the same was requested before, or submitted and answered."""
    about = context.call.request.query
    if context.call.operation.writes:
        about = jsontext.encode(holder[key]).decode()
    return context.count(f"{key} {about[-300:]}") - 1


def _copy(spec: Mapping[str, str]) -> Mutation:
    """Put what stands at another place of the data, or was an input, into fields."""

    def copied(context: MutationContext, answer: EditableAnswer) -> None:
        values = {}
        for path, source in spec.items():
            of_request = source.startswith(("query.", "headers.", "body."))
            values[path] = (context.inputs if of_request else answer).get(source)
        for path, value in values.items():
            for holder, key in answer.places(path) if value is not None else ():
                holder[key] = value

    return _editing(copied)


def _drop(spec: Sequence[str]) -> Mutation:
    return _at_places(dict.fromkeys(spec), lambda context, holder, key, _: holder.pop(key))


def _rename(spec: Mapping[str, str]) -> Mutation:
    def rename(context: MutationContext, holder: dict[str, Json], key: str, name: str) -> None:
        items = [(name if member == key else member, value) for member, value in holder.items()]
        holder.clear()
        holder.update(items)

    return _at_places(spec, rename)


def _put(spec: Mapping[str, Json]) -> Mutation:
    def put(context: MutationContext, answer: EditableAnswer) -> None:
        for path, value in spec.items():
            above, _, name = path.rpartition(".")
            for holder in answer.holders(above):
                holder[name] = copy.deepcopy(value)

    return _editing(put)


def _add(spec: Mapping[str, Mapping[str, Json]]) -> Mutation:
    """Add an item to a list that is like its last one but for some members."""

    def add(context: MutationContext, answer: EditableAnswer) -> None:
        for name, members in spec.items():
            listed = answer.listed(name)
            if listed and isinstance(listed[-1], dict):
                listed.append({**copy.deepcopy(listed[-1]), **members})

    return _editing(add)


# Verbs that change the request


def _inputs(spec: Mapping[str, Json], concerned: Callable[[RequestInputs, str], bool]) -> Mutation:
    changes = [(place, _value(how)) for place, how in spec.items()]

    def act(context: MutationContext) -> Delivery:
        request_inputs, request = context.inputs, context.call.request
        for place, how in changes:
            if concerned(request_inputs, place):
                before = request_inputs.get(place)
                now = how(context, before)
                if now != before or type(now) is not type(before):
                    request = RequestInputs.of(request).setting(place, now)
        return context.answer(request)

    return act


# Verbs that change the bytes of the answer


def _sending(change: Callable[[MutationContext, Delivery], Delivery]) -> Mutation:
    return lambda context: change(context, context.answer())


def _refuse(spec: Mapping[str, str]) -> Mutation:
    """Refuse good requests; others are refused anyway."""
    ((kind, why),) = spec.items()
    refusing = _sending(lambda context, sent: replace(sent, response=context.refuse(kind, why)))
    return only("success", refusing)


def _send(spec: Mapping[str, Json]) -> Mutation:
    """Send another status, or with a body something else altogether, by default a page."""
    status, headers = spec["status"], tuple(spec.get("headers", _PAGE).items())

    def send(context: MutationContext, sent: Delivery) -> Delivery:
        response = Response(status, sent.response.headers, sent.response.body)
        if "body" in spec:
            response = Response(status, headers, spec["body"].encode())
        return replace(sent, response=response)

    return _sending(send)


def _body(spec: Json) -> Mutation:
    """Change the bytes of every body."""
    how = word(spec, "bodies")
    return _sending(
        lambda context, sent: (
            sent.with_body(how(sent.response.body)) if sent.response.body else sent
        )
    )


def _headers(spec: Mapping[str, str]) -> Mutation:
    names = {name.lower() for name in spec}

    def change(context: MutationContext, sent: Delivery) -> Delivery:
        was = sent.response
        others = (header for header in was.headers if header[0].lower() not in names)
        return replace(sent, response=Response(was.status, (*others, *spec.items()), was.body))

    return _sending(change)


VERBS: Mapping[str, Callable[[Any], Mutation]] = {
    "change": _change,
    "again": lambda spec: _change(spec, _times_before),
    "copy": _copy,
    "drop": _drop,
    "rename": _rename,
    "put": _put,
    "add": _add,
    # Other values in place of those that were given, all computed from the original request.
    "correct": lambda spec: _inputs(
        spec, lambda request_inputs, place: request_inputs.get(place) is not None
    ),
    # Values as given where a request leaves them out.
    "fill": lambda spec: _inputs(spec, lambda request_inputs, place: request_inputs.lacks(place)),
    "refuse": _refuse,
    "send": _send,
    "headers": _headers,
    "body": _body,
    "act": lambda spec: word(spec, "acts"),
}
"""The verbs of the table."""
