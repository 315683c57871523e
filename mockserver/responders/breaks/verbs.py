"""What the table of breaks can say of a call: each verb makes an act of what stands behind it.

A word that a verb takes is the name of a function, written with dashes, or such a name with what
the function is given: `number`, or `{times: "100"}`. What changes values stands in `converters`
and, where it looks at the world, in `inputs`; what tells when a break acts in `conditions`; what
needs code of its own in `edits`, `bodies` and `acts`.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

from mockserver import jsontext
from mockserver.exchange import Response
from mockserver.jsontext import Json
from mockserver.responders.breaks import acts, bodies, conditions, converters, edits, inputs
from mockserver.responders.breaks.answers import (
    EditableAnswer,
    editable,
    edited,
    refused,
    succeeded,
)
from mockserver.responders.breaks.values import Mutation, MutationContext, inputs_of
from mockserver.responders.delivery import Delivery
from mockserver.tables import UnknownName, function_of

_MEDIA_TYPES = {"page": "text/html; charset=utf-8", "text": "text/plain"}


def word(spec: Json, *modules: ModuleType) -> Callable[..., Any]:
    """Return the function of a word. Raises `UnknownName` where no module has it."""
    name, given = (spec, ()) if isinstance(spec, str) else next(iter(spec.items()))
    given = () if isinstance(spec, str) else (given,)
    for module in modules:
        made = vars(module).get("WORDS", {}).get(name) or function_of(module, name)
        if made is not None:
            return lambda *values: made(*values, *given)
    places = " or ".join(module.__name__.rpartition(".")[2] for module in modules)
    raise UnknownName(f"no function of {places} is called {name!r}")


def only(condition: Json, act: Mutation) -> Mutation:
    """Let an act do what it does under a condition."""
    holds = word(condition, conditions)

    def conditional(context: MutationContext) -> Delivery:
        sent = context.answer()
        # What was answered is not asked for again: a submission would be made twice.
        return act(replace(context, below=lambda call: sent)) if holds(context, sent) else sent

    return conditional


def _editing(edit: Callable[[EditableAnswer], None]) -> Mutation:
    def act(context: MutationContext) -> Delivery:
        sent = context.answer()
        answer = editable(context, sent)
        return sent if answer is None else edited(answer, sent, edit)

    return act


def _edit(spec: Json) -> Mutation:
    return _editing(word(spec, edits))


def _at_places(
    given: Mapping[str, Any], edit: Callable[[dict[str, Json], str, Any], None]
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

    return _at_places({path: word(how, converters) for path, how in spec.items()}, edit)


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


def _correct(spec: Mapping[str, Json]) -> Mutation:
    """Take other values in place of those that were given, all by what the request said."""
    return _asking(spec, lambda inputs, place: inputs.get(place) is not None)


def _fill(spec: Mapping[str, Json]) -> Mutation:
    """Take values as given where a request leaves them out."""
    return _asking(spec, lambda inputs, place: inputs.lacks(place))


def _asking(spec: Mapping[str, Json], concerned: Callable[..., bool]) -> Mutation:
    changes = [(place, _input(how)) for place, how in spec.items()]

    def act(context: MutationContext) -> Delivery:
        inputs = other = inputs_of(context.call)
        for place, how in changes:
            if concerned(inputs, place):
                given = inputs.get(place)
                told = how(context.call, given)
                if told != given or type(told) is not type(given):
                    other = other.setting(place, told)
        return context.answer(other.request)

    return act


def _input(spec: Json) -> Callable[..., Json]:
    try:
        return word(spec, inputs)
    except UnknownName:
        how = word(spec, converters, inputs)
        return lambda call, value: how(value)


def _refuse(spec: Mapping[str, str]) -> Mutation:
    """Refuse good requests; others are refused anyway."""
    ((kind, why),) = spec.items()

    def act(context: MutationContext) -> Delivery:
        sent = context.answer()
        if succeeded(context, sent.response) is None:
            return sent
        return replace(sent, response=context.refuse(kind, why).response)

    return act


def _send(spec: Mapping[str, Json]) -> Mutation:
    """Send another status, or with a body something else altogether."""
    kind = next((kind for kind in ("page", "text", "body") if kind in spec), None)
    media = {"Content-Type": _MEDIA_TYPES[kind]} if kind in _MEDIA_TYPES else {}
    headers = tuple({**media, **spec.get("headers", {})}.items())

    def act(context: MutationContext) -> Delivery:
        sent = context.answer()
        was = sent.response
        other = Response(spec["status"], was.headers, was.body)
        if kind is not None:
            other = Response(spec["status"], headers, spec[kind].encode())
        return replace(sent, response=other)

    return act


def _refusal(spec: Json) -> Mutation:
    """Change the envelopes of refusals."""
    how = word(spec, converters)

    def act(context: MutationContext) -> Delivery:
        sent = context.answer()
        body = jsontext.decode_or(sent.response.body) if refused(sent.response) else None
        if not isinstance(body, dict):
            return sent
        return sent.with_body(jsontext.encode(how(body)))

    return act


def _body(spec: Json) -> Mutation:
    """Change the bytes of every body."""
    how = word(spec, bodies)

    def act(context: MutationContext) -> Delivery:
        sent = context.answer()
        return sent.with_body(how(sent.response.body)) if sent.response.body else sent

    return act


def _headers(spec: Mapping[str, str]) -> Mutation:
    """Set headers of every answer, in their places where it has them."""

    def act(context: MutationContext) -> Delivery:
        sent = context.answer()
        was = sent.response
        other = {name.lower(): value for name, value in spec.items()}
        kept = tuple((name, other.get(name.lower(), value)) for name, value in was.headers)
        there = {name.lower() for name, _ in kept}
        more = tuple(item for item in spec.items() if item[0].lower() not in there)
        return replace(sent, response=Response(was.status, (*kept, *more), was.body))

    return act


def _act(spec: Json) -> Mutation:
    return word(spec, acts)


VERBS: Mapping[str, Callable[[Any], Mutation]] = {
    "change": _change,
    "drop": _drop,
    "rename": _rename,
    "put": _put,
    "add": _add,
    "edit": _edit,
    "correct": _correct,
    "fill": _fill,
    "refuse": _refuse,
    "send": _send,
    "refusal": _refusal,
    "headers": _headers,
    "body": _body,
    "act": _act,
}
"""The verbs of the table."""
