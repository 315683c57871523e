"""Each kind of change of a schema, in requests and in answers, forth and back."""

import pytest

from tests.diff.conftest import document, query, told, versions

BREAKING, MAY, HARMLESS = "breaking", "may-break", "harmless"
TEXT = {"type": "string"}
ASSUMED = {"x-basis": "assumed", "x-assumption": "A-002"}
OBSERVED = {"x-basis": "observed", "x-source": "DEMO"}


def fields(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


NARROWER = {
    "type": ({"type": ["string", "null"]}, TEXT, "type"),
    "any type": ({}, TEXT, "type"),
    "number to integer": ({"type": "number"}, {"type": "integer"}, "type"),
    "anyOf of types": ({"anyOf": [TEXT, {"type": "null"}]}, TEXT, "type"),
    "enum": ({**TEXT, "enum": ["a", "b"]}, {**TEXT, "enum": ["a"]}, "values"),
    "enum from any": (TEXT, {**TEXT, "enum": ["a"]}, "values"),
    "const": ({**TEXT, "enum": ["a", "b"]}, {"const": "a"}, "values"),
    "enum within pattern": ({**TEXT, "pattern": "^[0-9]+$"}, {"enum": ["1", "2"]}, "values"),
    "pattern": (TEXT, {**TEXT, "pattern": "^[0-9]+$"}, "pattern"),
    "stricter pattern": (
        {**TEXT, "pattern": "^[0-9]{1,9}$"},
        {**TEXT, "allOf": [{"pattern": "^[0-9]{1,3}$"}]},
        "pattern",
    ),
    "pattern with length": ({**TEXT, "maxLength": 4}, {**TEXT, "pattern": "^[0-9]{4}$"}, "pattern"),
    "minLength": (TEXT, {**TEXT, "minLength": 1}, "minLength"),
    "maxLength": ({**TEXT, "maxLength": 9}, {**TEXT, "maxLength": 8}, "maxLength"),
    "minimum": ({"type": "integer"}, {"type": "integer", "minimum": 0}, "minimum"),
    "exclusive": (
        {"type": "number", "minimum": 0},
        {"type": "number", "exclusiveMinimum": 0},
        "minimum",
    ),
    "huge maximum": (
        {"type": "integer", "maximum": 2**256 + 1},
        {"type": "integer", "maximum": 2**256},
        "maximum",
    ),
    "multipleOf": (
        {"type": "integer", "multipleOf": 2},
        {"type": "integer", "multipleOf": 4},
        "multipleOf",
    ),
    "maxItems": ({"type": "array"}, {"type": "array", "maxItems": 5}, "maxItems"),
    "unique": ({"type": "array"}, {"type": "array", "uniqueItems": True}, "uniqueItems"),
    "minProperties": ({"type": "object"}, {"type": "object", "minProperties": 1}, "minProperties"),
    "not": (TEXT, {**TEXT, "not": {"const": "0"}}, "not"),
    "format": (TEXT, {**TEXT, "format": "date"}, "format"),
    "forms": ({}, {"anyOf": [{**TEXT, "maxLength": 3}, {"type": "integer"}]}, "forms"),
    "a form less": (
        {"anyOf": [{**TEXT, "maxLength": 3}, {"type": "integer"}, {"type": "array"}]},
        {"anyOf": [{"type": "integer"}, {**TEXT, "maxLength": 3}]},
        "forms",
    ),
    "required": (fields(a=TEXT), fields(["a"], a=TEXT), "required"),
    "reading": (TEXT, {**TEXT, "x-reading": "deposit"}, "x-reading"),
    "once": (TEXT, {**TEXT, "x-once": True}, "x-once"),
}


@pytest.mark.parametrize(("wide", "narrow", "kind"), NARROWER.values(), ids=list(NARROWER))
def test_what_narrows_breaks_requests_and_what_widens_breaks_answers(wide, narrow, kind):
    place = "amount.a" if kind == "required" else "amount"
    old, new = (document(body=fields(amount=one)) for one in (wide, narrow))
    assert told(old, new) == [(BREAKING, kind, f"body.{place}")]
    assert told(new, old) == [(HARMLESS, kind, f"body.{place}")]
    old, new = (document(data=fields(amount=one)) for one in (wide, narrow))
    assert told(old, new) == [(HARMLESS, kind, f"data.{place}")]
    assert told(new, old) == [(BREAKING, kind, f"data.{place}")]


EITHER_WAY = {
    "type": ({"type": "string"}, {"type": "integer"}, "type"),
    "enum": ({"enum": ["a", "b"]}, {"enum": ["a", "c"]}, "values"),
    "pattern": ({**TEXT, "pattern": "^[0-9]+$"}, {**TEXT, "pattern": "^[a-f]+$"}, "pattern"),
    "multipleOf": (
        {"type": "integer", "multipleOf": 4},
        {"type": "integer", "multipleOf": 6},
        "multipleOf",
    ),
}


@pytest.mark.parametrize(("one", "other", "kind"), EITHER_WAY.values(), ids=list(EITHER_WAY))
def test_what_loses_and_gains_breaks_both_ways(one, other, kind):
    for side in ("body", "data"):
        old, new = (document(**{side: fields(amount=schema)}) for schema in (one, other))
        assert told(old, new) == [(BREAKING, kind, f"{side}.amount")]
        assert told(new, old) == [(BREAKING, kind, f"{side}.amount")]


UNDECIDED = {
    "patterns": ({**TEXT, "pattern": "^(?=a)a"}, {**TEXT, "pattern": "^(?=b)b"}, "pattern"),
    "not": ({"not": {"const": 1}}, {"not": {"const": 2}}, "not"),
    "unknown keyword": (TEXT, {**TEXT, "contentEncoding": "base64"}, "contentEncoding"),
    "patternProperties": (
        {"patternProperties": {"^a": TEXT}},
        {"patternProperties": {"^a": {"type": "integer"}}},
        "patternProperties",
    ),
    "if": (
        {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
        {"if": {"required": ["c"]}, "then": {"required": ["b"]}},
        "if",
    ),
    "forms": (
        {"oneOf": [{**TEXT, "maxLength": 3}, {**TEXT, "pattern": "^a"}]},
        {"oneOf": [{"type": "integer", "minimum": 3}, {"type": "array", "minItems": 1}]},
        "forms",
    ),
    "default": ({**TEXT, "default": "a"}, {**TEXT, "default": "b"}, "default"),
}


@pytest.mark.parametrize(("one", "other", "kind"), UNDECIDED.values(), ids=list(UNDECIDED))
def test_what_cannot_be_decided_may_break_and_says_so(one, other, kind):
    for side in ("body", "data"):
        old, new = (document(**{side: fields(amount=schema)}) for schema in (one, other))
        assert told(old, new) == [(MAY, kind, f"{side}.amount")]
        assert told(new, old) == [(MAY, kind, f"{side}.amount")]
    [change] = versions(old, new).changes
    assert "compared" in change.why or kind == "default"


SAME = {
    "order of types": ({"type": ["string", "null"]}, {"type": ["null", "string"]}),
    "branches": ({**TEXT, "maxLength": 3}, {"allOf": [{"maxLength": 3}, {"maxLength": 4}, TEXT]}),
    "exclusive integer": (
        {"type": "integer", "exclusiveMinimum": 0},
        {"type": "integer", "minimum": 1},
    ),
    "const as enum": ({"const": "a"}, {"enum": ["a"]}),
    "enum as pattern": ({**TEXT, "enum": ["1", "2"]}, {**TEXT, "pattern": "^[12]$"}),
    "1.0 and 1": ({"enum": [1]}, {"enum": [1, 1]}),
    "boolean as enum": ({"type": "boolean"}, {"enum": [True, False]}),
    "limits of another type": (TEXT, {**TEXT, "minimum": 5, "maxItems": 3}),
    "least of nothing": (TEXT, {**TEXT, "minLength": 0}),
    "names of branches": (fields(a=TEXT), {**fields(a=TEXT), "allOf": [{"properties": {"a": {}}}]}),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=list(SAME))
def test_what_allows_the_same_is_no_change(one, other):
    for side in ("body", "data"):
        old, new = (document(**{side: fields(amount=schema)}) for schema in (one, other))
        assert told(old, new) == []
        assert told(new, old) == []


def test_the_same_texts_written_in_another_way_are_wording():
    old, new = (
        document(body=fields(amount={**TEXT, "pattern": pattern}))
        for pattern in ("^[0-9]+$", "^[0-9][0-9]*$")
    )
    assert told(old, new) == []
    assert [change.kind for change in versions(old, new).changes] == ["pattern"]


def test_a_pattern_that_lost_texts_quotes_one():
    old = document(body=fields(amount={**TEXT, "pattern": "^[0-9]{1,9}$"}))
    new = document(body=fields(amount={**TEXT, "pattern": "^[0-9]{1,3}$"}))
    [change] = versions(old, new).changes
    assert change.example == "'1111' is not taken any more"
    assert (change.was, change.now) == ("pattern ^[0-9]{1,9}$", "pattern ^[0-9]{1,3}$")


def test_an_input_that_came_or_went():
    old, new = document(body=fields()), document(body=fields(a=TEXT))
    assert told(old, new) == [(HARMLESS, "input-added", "body.a")]
    assert told(new, old) == [(BREAKING, "input-removed", "body.a")]
    needed = document(body=fields(["a"], a=TEXT))
    assert told(old, needed) == [(BREAKING, "input-added", "body.a")]
    assert told(needed, old) == [(BREAKING, "input-removed", "body.a")]


def test_a_field_of_an_answer_that_came_or_went():
    old, new = document(data=fields()), document(data=fields(["a"], a=TEXT))
    assert told(old, new) == [(HARMLESS, "field-added", "data.a")]
    assert told(new, old) == [(BREAKING, "field-removed", "data.a")]
    # Clients were told that it may be missing.
    assert told(document(data=fields(a=TEXT)), old) == [(MAY, "field-removed", "data.a")]
    closed = document(data={**fields(), "additionalProperties": False})
    full = document(data={**fields(["a"], a=TEXT), "additionalProperties": False})
    assert told(closed, full) == [(MAY, "field-added", "data.a")]


def test_places_lead_through_lists_and_maps():
    def nested(schema):
        inner = {"type": "array", "items": fields(decimals=schema)}
        return document(data=fields(list=inner, prices={"additionalProperties": schema}))

    old, new = nested({"type": "integer"}), nested({"type": "number"})
    assert told(old, new) == [
        (BREAKING, "type", "data.list[].decimals"),
        (BREAKING, "type", "data.prices.*"),
    ]


def test_names_that_are_not_declared():
    for side, levels in (("body", (BREAKING, HARMLESS)), ("data", (HARMLESS, MAY))):
        old = document(**{side: fields(a=TEXT)})
        new = document(**{side: {**fields(a=TEXT), "additionalProperties": False}})
        assert told(old, new) == [(levels[0], "closed", side)]
        assert told(new, old) == [(levels[1], "closed", side)]


def test_a_closed_branch_takes_away_what_another_declares():
    old = document(body=fields(a=TEXT, b=TEXT))
    branch = {"properties": {"a": {}}, "additionalProperties": False, **ASSUMED}
    new = document(body={**fields(a=TEXT, b=TEXT), "allOf": [branch]})
    assert told(old, new) == [(BREAKING, "input-removed", "body.b"), (MAY, "closed", "body")]


def test_a_condition_tells_where_it_holds():
    def ordered(then):
        rule = {"if": {"properties": {"kind": {"const": "1"}}}, "then": {"properties": then}}
        return document(body={**fields(kind=TEXT, slippage=TEXT), "allOf": [rule]})

    old, new = ordered({}), ordered({"slippage": {"const": "0"}})
    assert told(old, new) == [(BREAKING, "values", "body.slippage")]
    assert told(new, old) == [(HARMLESS, "values", "body.slippage")]
    [change] = versions(old, new).changes
    assert "where kind is '1'" in change.why
    plain = document(body=fields(kind=TEXT, slippage=TEXT))
    assert told(plain, new) == [(BREAKING, "values", "body.slippage")]
    assert told(new, plain) == [(HARMLESS, "values", "body.slippage")]


def test_forms_that_keep_what_was_required():
    old = document(body=fields(["a"], a=TEXT, b=TEXT))
    new = document(
        body={**fields(a=TEXT, b=TEXT), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    )
    assert told(old, new) == [(HARMLESS, "forms", "body"), (HARMLESS, "required", "body.a")]
    assert (BREAKING, "required", "body.a") in told(new, old)


def test_what_rests_on_an_assumption_may_break():
    old = document(
        body=fields(a=TEXT), data=fields(b={**TEXT, "allOf": [{"maxLength": 1, **ASSUMED}]})
    )
    new = document(
        body=fields(a={**TEXT, "allOf": [{"maxLength": 1, **ASSUMED}]}), data=fields(b=TEXT)
    )
    assert told(old, new) == [(MAY, "maxLength", "body.a"), (MAY, "maxLength", "data.b")]
    assert {change.basis for change in versions(old, new).changes} == {"assumption A-002"}


def test_a_list_of_values_that_no_document_states_is_open():
    def status(values, **basis):
        return document(data=fields(status={**TEXT, "allOf": [{"enum": values, **basis}]}))

    assert told(status(["a"], **OBSERVED), status(["a", "b"], **OBSERVED)) == [
        (MAY, "values", "data.status")
    ]
    assert told(status(["a"]), status(["a", "b"])) == [(BREAKING, "values", "data.status")]
    [change] = versions(status(["a"]), status(["a", "b"])).changes
    assert (change.was, change.now, change.example) == ("'a'", "'a', 'b'", "'b'")


def test_the_basis_of_a_fact():
    firm, weak = (document(data=fields(a={**TEXT, **basis})) for basis in ({}, ASSUMED))
    seen = document(data=fields(a={**TEXT, **OBSERVED}))
    assert told(weak, firm) == told(weak, seen) == [(HARMLESS, "basis", "data.a")]
    assert told(firm, weak) == told(seen, weak) == [(MAY, "basis", "data.a")]
    [change] = versions(firm, weak).changes
    assert change.now.startswith("assumption A-002")


def test_a_basis_that_holds_for_all_below_is_told_once():
    inner = fields(["x"], x={"type": "array", "items": TEXT})
    firm, weak = document(data=fields(a=inner)), document(data=fields(a={**inner, **ASSUMED}))
    assert told(firm, weak) == [(MAY, "basis", "data.a")]


def test_words_are_no_change_for_clients():
    old = document(body=fields(a={**TEXT, "description": "one"}))
    new = document(body=fields(a={**TEXT, "description": "two"}))
    assert told(old, new) == []
    [change] = versions(old, new).changes
    assert (change.was, change.now, change.text_only) == ("one", "two", True)


def test_deprecated_is_told_and_harmless():
    old, new = (document(body=fields(a={**TEXT, "deprecated": flag})) for flag in (False, True))
    assert told(old, new) == told(new, old) == [(HARMLESS, "deprecated", "body.a")]


def test_references_and_circles():
    def tree(kind):
        found = document(data={"$ref": "#/components/schemas/Node"})
        node = fields(
            value={"type": kind}, children={"items": {"$ref": "#/components/schemas/Node"}}
        )
        return {**found, "components": {"schemas": {"Node": node}}}

    assert told(tree("string"), tree("string")) == []
    assert told(tree("string"), tree("integer")) == [(BREAKING, "type", "data.value")]


def test_a_written_out_schema_is_the_one_that_is_referred_to():
    named = document(data=fields(a={"$ref": "#/components/schemas/A"}))
    named["components"] = {"schemas": {"A": {"not": TEXT, "maximum": 3}}}
    assert told(named, document(data=fields(a={"not": TEXT, "maximum": 3}))) == []


WIRE = {
    "a text takes numbers": ({"type": "integer"}, TEXT, (BREAKING, HARMLESS)),
    "a form stands against a type": (
        {"type": "integer"},
        {**TEXT, "pattern": "^[0-9]+$"},
        (MAY, MAY),
    ),
    "number and integer": ({"type": "number"}, {"type": "integer"}, (HARMLESS, BREAKING)),
}


@pytest.mark.parametrize(("one", "other", "levels"), WIRE.values(), ids=list(WIRE))
def test_on_the_wire_every_value_is_a_text(one, other, levels):
    old, new = (document(parameters=[query(schema)]) for schema in (one, other))
    assert told(new, old) == [(levels[0], "type", "query.amount")]
    assert told(old, new) == [(levels[1], "type", "query.amount")]
