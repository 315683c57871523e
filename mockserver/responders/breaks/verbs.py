"""What the table of breaks can say of a call: each verb makes a mutation of what stands behind it.

A word that a verb takes is the name of a function, written with dashes, or such a name with what
the function is given: `number`, or `{times: "100"}`. What changes values stands in `converters`
and, where it looks at the world, in `inputs`; what changes bodies and tells when a break acts is
below; what needs code of its own stands in `edits` and `acts`.
"""

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

from mockserver import jsontext
from mockserver.exchange import Response
from mockserver.jsontext import Json
from mockserver.responders.breaks import acts, converters, edits, inputs
from mockserver.responders.breaks.converters import is_number, whole
from mockserver.responders.breaks.mutations import (
    EditableAnswer,
    Mutation,
    MutationContext,
    RequestInputs,
    counted,
    editable,
    edited,
    refused,
    succeeded,
)
from mockserver.responders.delivery import Delivery
from mockserver.tables import UnknownName, function_of

_MEDIA_TYPES = {"page": "text/html; charset=utf-8", "text": "text/plain"}


# When a break acts


def _invalid_input(context: MutationContext, sent: Delivery) -> bool:
    reading = context.call.operation.read(context.call.request)
    return bool(reading.refusal or reading.violations)


def _above(context: MutationContext, sent: Delivery, place_and_most: tuple[str, int]) -> bool:
    place, most = place_and_most
    units = whole(context.inputs.get(place))
    return units is not None and units > most


def _matching(context: MutationContext, sent: Delivery, place_and_pattern: tuple[str, str]) -> bool:
    place, pattern = place_and_pattern
    value = context.inputs.get(place)
    text = jsontext.plain(Decimal(value)) if is_number(value) else str(value or "")
    return re.fullmatch(pattern, text, re.DOTALL) is not None


def _of_odd_index(context: MutationContext, sent: Delivery) -> bool:
    indexes = {one.symbol: one.index for one in context.catalog.tokens}
    return bool(indexes.get(str(context.inputs.get("query.symbol")), 0) % 2)


def _behind_a_refusal(context: MutationContext, sent: Delivery) -> bool:
    before = bool(context.memory.pop("refused", False))
    if refused(sent.response):
        context.memory["refused"] = True
    return before


def _has_member(
    context: MutationContext, sent: Delivery, member_and_value: tuple[str, Json]
) -> bool | None:
    """Tell whether a success has this value of a member; None where it is no success."""
    body, (name, value) = succeeded(context, sent.response), member_and_value
    return None if body is None else bool(body["data"].get(name) == value)


def _succeeded(context: MutationContext, sent: Delivery) -> bool:
    return succeeded(context, sent.response) is not None


def _asked_before(context: MutationContext, sent: Delivery) -> bool:
    return counted(context.memory, f"quote {context.call.request.query[-300:]}") > 1


def _from_the_third_check(context: MutationContext, sent: Delivery) -> bool:
    order = f"order {str(context.inputs.get('query.id'))[:200]}"
    return _succeeded(context, sent) and counted(context.memory, order) > 2


_CONDITIONS: Mapping[str, Callable[..., bool]] = {
    # An answer says all is well and has data; or this server has refused the request.
    "success": _succeeded,
    "refusal": lambda context, sent: refused(sent.response),
    # The request breaks the contract.
    "odd-input": _invalid_input,
    # The request leaves an input out, or gives an empty text for it.
    "without": lambda context, sent, place: context.inputs.get(place) in (None, ""),
    # The request has a larger whole number.
    "above": _above,
    # The request has a text of this form, or a number written so; none is an empty text.
    "matching": _matching,
    # The request is about one of the half of the tokens whose index is odd.
    "of-odd-index": _of_odd_index,
    # The answer is a success with this value of a member, or with another one.
    "told": lambda context, sent, what: _has_member(context, sent, what) is True,
    "told-otherwise": lambda context, sent, what: _has_member(context, sent, what) is False,
    # The same was asked before.
    "asked-before": _asked_before,
    # It is the third success, or the sixth, and so on.
    "every-third": lambda context, sent: (
        _succeeded(context, sent) and counted(context.memory) % 3 == 0
    ),
    # An order was checked twice before.
    "from-the-third-check": _from_the_third_check,
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
    # JSON written in another way; what is none stays.
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
    "converters": converters.WORDS.get,
    "inputs": partial(function_of, inputs),
    "edits": partial(function_of, edits),
    "acts": partial(function_of, acts),
}


def word(spec: Json, *places: str) -> Callable[..., Any]:
    """Return the function of a word. Raises `UnknownName` where no place has it."""
    name, given = (spec, ()) if isinstance(spec, str) else next(iter(spec.items()))
    given = () if isinstance(spec, str) else (given,)
    for place in places:
        made = _PLACES[place](name)
        if made is not None:
            return lambda *values: made(*values, *given)
    raise UnknownName(f"no function of {' or '.join(places)} is called {name!r}")


def only(condition: Json, act: Mutation) -> Mutation:
    """Let a mutation do what it does under a condition."""
    holds = word(condition, "conditions")

    def conditional(context: MutationContext) -> Delivery:
        sent = context.answer()
        # What was answered is not asked for again: a submission would be made twice.
        return act(replace(context, below=lambda call: sent)) if holds(context, sent) else sent

    return conditional


# Verbs that edit the data of successes


def _editing(edit: Callable[[EditableAnswer], None]) -> Mutation:
    def act(context: MutationContext) -> Delivery:
        sent = context.answer()
        answer = editable(context, sent)
        return sent if answer is None else edited(answer, sent, edit)

    return act


def _at_places(
    given: Mapping[str, Any], edit: Callable[[dict[str, Json], str, Any], object]
) -> Mutation:
    """Edit the fields at places of a success, each with what is given for its place."""

    def edit_all(answer: EditableAnswer) -> None:
        for path, one in given.items():
            for holder, key in answer.places(path):
                edit(holder, key, one)

    return _editing(edit_all)


def _change(spec: Mapping[str, Json]) -> Mutation:
    def edit(holder: dict[str, Json], key: str, how: Callable[..., Json]) -> None:
        holder[key] = how(holder[key])

    return _at_places({path: word(how, "converters") for path, how in spec.items()}, edit)


def _drop(spec: Sequence[str]) -> Mutation:
    return _at_places(dict.fromkeys(spec), lambda holder, key, _: holder.pop(key))


def _rename(spec: Mapping[str, str]) -> Mutation:
    def edit(holder: dict[str, Json], key: str, name: str) -> None:
        items = [(name if one == key else one, value) for one, value in holder.items()]
        holder.clear()
        holder.update(items)

    return _at_places(spec, edit)


def _put(spec: Mapping[str, Json]) -> Mutation:
    def edit(answer: EditableAnswer) -> None:
        for path, value in spec.items():
            above, _, name = path.rpartition(".")
            for holder in answer.holders(above):
                holder[name] = copy.deepcopy(value)

    return _editing(edit)


def _add(spec: Mapping[str, Mapping[str, Json]]) -> Mutation:
    def edit(answer: EditableAnswer) -> None:
        for name, members in spec.items():
            answer.one_more(name, members)

    return _editing(edit)


# Verbs that change what is asked


def _asking(spec: Mapping[str, Json], concerned: Callable[[RequestInputs, str], bool]) -> Mutation:
    changes = [(place, _input(how)) for place, how in spec.items()]

    def act(context: MutationContext) -> Delivery:
        given = other = context.inputs
        for place, how in changes:
            if concerned(given, place):
                before = given.get(place)
                now = how(context, before)
                if now != before or type(now) is not type(before):
                    other = other.setting(place, now)
        return context.answer(other.request)

    return act


def _input(spec: Json) -> Callable[..., Json]:
    try:
        return word(spec, "inputs")
    except UnknownName:
        how = word(spec, "converters", "inputs")
        return lambda context, value: how(value)


# Verbs that change what is sent


def _sending(change: Callable[[MutationContext, Delivery], Delivery]) -> Mutation:
    return lambda context: change(context, context.answer())


def _refuse(spec: Mapping[str, str]) -> Mutation:
    """Refuse good requests; others are refused anyway."""
    ((kind, why),) = spec.items()
    return _sending(
        lambda context, sent: (
            replace(sent, response=context.refuse(kind, why).response)
            if _succeeded(context, sent)
            else sent
        )
    )


def _send(spec: Mapping[str, Json]) -> Mutation:
    """Send another status, or with a body something else altogether."""
    kind = next((kind for kind in ("page", "text", "body") if kind in spec), None)
    media = {"Content-Type": _MEDIA_TYPES[kind]} if kind in _MEDIA_TYPES else {}
    headers = tuple({**media, **spec.get("headers", {})}.items())

    def send(context: MutationContext, sent: Delivery) -> Delivery:
        was, status = sent.response, spec["status"]
        other = Response(status, was.headers, was.body)
        if kind is not None:
            other = Response(status, headers, spec[kind].encode())
        return replace(sent, response=other)

    return _sending(send)


def _refusal(spec: Json) -> Mutation:
    """Change the envelopes of refusals."""
    how = word(spec, "converters")

    def change(context: MutationContext, sent: Delivery) -> Delivery:
        body = jsontext.decode_or(sent.response.body) if refused(sent.response) else None
        return sent.with_body(jsontext.encode(how(body))) if isinstance(body, dict) else sent

    return _sending(change)


def _body(spec: Json) -> Mutation:
    """Change the bytes of every body."""
    how = word(spec, "bodies")
    return _sending(
        lambda context, sent: (
            sent.with_body(how(sent.response.body)) if sent.response.body else sent
        )
    )


def _headers(spec: Mapping[str, str]) -> Mutation:
    """Set headers of every answer, in their places where it has them."""
    other = {name.lower(): value for name, value in spec.items()}

    def change(context: MutationContext, sent: Delivery) -> Delivery:
        was = sent.response
        kept = tuple((name, other.get(name.lower(), value)) for name, value in was.headers)
        there = {name.lower() for name, _ in kept}
        more = tuple(item for item in spec.items() if item[0].lower() not in there)
        return replace(sent, response=Response(was.status, (*kept, *more), was.body))

    return _sending(change)


VERBS: Mapping[str, Callable[[Any], Mutation]] = {
    "change": _change,
    "drop": _drop,
    "rename": _rename,
    "put": _put,
    "add": _add,
    "edit": lambda spec: _editing(word(spec, "edits")),
    # Other values in place of those that were given, all by what the request said.
    "correct": lambda spec: _asking(spec, lambda given, place: given.get(place) is not None),
    # Values as given where a request leaves them out.
    "fill": lambda spec: _asking(spec, lambda given, place: given.lacks(place)),
    "refuse": _refuse,
    "send": _send,
    "refusal": _refusal,
    "headers": _headers,
    "body": _body,
    "act": lambda spec: word(spec, "acts"),
}
"""The verbs of the table."""
