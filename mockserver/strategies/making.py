"""Values of a schema, with all that it leaves open; and those of its documented part alone."""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from mockserver.jsontext import Json
from mockserver.strategies.leaves import anything, leaf
from mockserver.strategies.shape import Schema, Shape, documented, shape_of

_MOST_ITEMS = 3
_NEW_NAMES = ("added", "isNew", "data", "status", "amount", "名", "")


def values_of(schema: Schema, *, undocumented: bool = False) -> SearchStrategy[Json]:
    """Return values that keep a schema, with and without optional members, and with further ones.

    With `undocumented` only what is documented has to be kept: what was observed or assumed may be
    missing, and may have other values, beside the usual ones.
    """
    return _values(schema, documented(schema) if undocumented else schema)


def _values(usual: Schema, firm: Schema) -> SearchStrategy[Json]:
    """Return values that keep the schema `firm`; where that allows it, of the form of `usual`."""
    shape, least = shape_of(usual), shape_of(firm)
    if shape.is_object:
        return _also_other(_object(shape, least), least)
    if shape.is_array:
        items = _values(shape.items, least.items)
        return _also_other(st.lists(items, max_size=_MOST_ITEMS), least)
    return leaf(shape) if shape == least else st.one_of(leaf(shape), leaf(least))


def _also_other(values: SearchStrategy[Json], least: Shape) -> SearchStrategy[Json]:
    """Return the values, and others where no type is demanded."""
    return values if least.types or least.members else st.one_of(values, anything())


def _object(shape: Shape, least: Shape) -> SearchStrategy[Json]:
    members = {
        name: _values(node, least.members.get(name, {})) for name, node in shape.members.items()
    }
    known = [name for name in members if name in least.required]
    unnamed = sorted(least.required - members.keys())
    needed = {name: members.get(name, anything()) for name in (*known, *unnamed)}
    optional = {name: made for name, made in members.items() if name not in needed}
    declared = st.fixed_dictionaries(needed, optional=optional)
    names = st.sampled_from([name for name in _NEW_NAMES if name not in members])
    others = _values(shape.others, least.others) if shape.others else anything()
    further = st.dictionaries(names, others, max_size=2)
    # Most objects come as they are known.
    maybe = further if shape.others else st.one_of(st.just({}), st.just({}), further)
    return st.builds(lambda one, more: {**one, **more}, declared, maybe)
