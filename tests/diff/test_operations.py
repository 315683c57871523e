"""Changes of operations: where they are, what they need, what they answer with."""

import pytest

from tests.diff.conftest import document, enveloped, query, told, versions

BREAKING, MAY, HARMLESS = "breaking", "may-break", "harmless"
TEXT = {"type": "string"}


def operation(found):
    return found["paths"]["/v1/quote"]["post"]


def header(name, **more):
    return {"name": name, "in": "header", "schema": TEXT, **more}


def test_an_operation_that_came_or_went(edited):
    old = document()
    new = edited(old, lambda it: it["paths"].update({"/v1/more": {"get": {"operationId": "more"}}}))
    assert told(old, new) == [(HARMLESS, "operation-added", "")]
    assert told(new, old) == [(BREAKING, "operation-removed", "")]


@pytest.mark.parametrize(
    ("path", "method", "kinds"),
    [
        ("/v2/elsewhere", "post", ["path-changed"]),
        ("/v1/quote", "get", ["method-changed"]),
        ("/v2/elsewhere", "get", ["method-changed", "path-changed"]),
    ],
)
def test_an_operation_that_moved_is_recognised(edited, path, method, kinds):
    old = document(parameters=[query(TEXT)])
    new = edited(old, lambda it: it.update(paths={path: {method: operation(it)}}))
    assert told(old, new) == told(new, old) == [(BREAKING, kind, "") for kind in kinds]


def test_a_moved_operation_without_its_id_is_recognised_by_its_last_part(edited):
    old = document()
    new = edited(old, lambda it: it.update(paths={"/v3/new/quote": {"post": operation(it)}}))
    operation({"paths": {"/v1/quote": new["paths"]["/v3/new/quote"]}})["operationId"] = "v2.other"
    assert told(old, new) == [(HARMLESS, "operation-id", ""), (BREAKING, "path-changed", "")][::-1]


def test_required_and_optional_inputs():
    none = document()
    optional = document(parameters=[query(TEXT)])
    required = document(parameters=[query(TEXT, required=True)])
    assert told(none, optional) == [(HARMLESS, "input-added", "query.amount")]
    assert told(none, required) == [(BREAKING, "input-added", "query.amount")]
    assert told(optional, required) == [(BREAKING, "required", "query.amount")]
    assert told(required, optional) == [(HARMLESS, "required", "query.amount")]
    assert told(optional, none) == [(BREAKING, "input-removed", "query.amount")]
    assert told(required, none) == [(BREAKING, "input-removed", "query.amount")]


@pytest.mark.parametrize("place", ["header", "query", "cookie", "path"])
def test_an_input_that_moved(place):
    body = {"type": "object", "properties": {"chain": TEXT}}
    old = document(body={"type": "object"}, parameters=[query(TEXT, "chain") | {"in": place}])
    new = document(body=body)
    assert told(old, new) == [(BREAKING, "input-moved", "body.chain")]
    assert told(new, old) == [(BREAKING, "input-moved", f"{place}.chain")]


def test_an_input_that_has_another_name_is_known_by_its_role():
    old, new = (
        document(parameters=[query({**TEXT, "x-role": "user"}, name)])
        for name in ("evmAddres", "evmAddress")
    )
    assert told(old, new) == [(BREAKING, "input-renamed", "query.evmAddress")]


def test_the_case_of_a_header_is_harmless_and_that_of_a_parameter_is_not():
    old, new = (document(parameters=[header(name)]) for name in ("EvmAddress", "Evmaddress"))
    assert told(old, new) == [(HARMLESS, "header-case", "header.EvmAddress")]
    assert told(new, old) == [(HARMLESS, "header-case", "header.Evmaddress")]
    old, new = (document(parameters=[query(TEXT, name)]) for name in ("toChain", "tochain"))
    assert told(old, new) == [(BREAKING, "input-renamed", "query.tochain")]
    assert told(new, old) == [(BREAKING, "input-renamed", "query.toChain")]


def test_a_header_that_must_not_be_sent_is_none():
    old = document(parameters=[header("chain")])
    new = document(parameters=[{**header("chain"), "schema": {"not": {}}}])
    assert told(old, new) == [(BREAKING, "input-removed", "header.chain")]
    assert told(new, old) == [(HARMLESS, "input-added", "header.chain")]


def test_the_body_as_a_whole(edited):
    none, some = document(), document(body={"type": "object"})
    assert told(none, some) == [(BREAKING, "input-added", "body")]
    assert told(some, none) == [(BREAKING, "input-removed", "body")]
    free = edited(some, lambda it: operation(it)["requestBody"].update(required=False))
    assert told(some, free) == [(HARMLESS, "required", "body")]
    assert told(free, some) == [(BREAKING, "required", "body")]
    assert told(none, free) == [(HARMLESS, "input-added", "body")]


def test_media_types(edited):
    old = document(body={"type": "object"})
    both = edited(
        old, lambda it: operation(it)["requestBody"]["content"].update({"text/csv": {"schema": {}}})
    )
    assert told(old, both) == [(HARMLESS, "media-type", "body")]
    assert told(both, old) == [(BREAKING, "media-type", "body")]


def test_deprecation_and_words(edited):
    old = document()
    new = edited(old, lambda it: operation(it).update(deprecated=True, summary="Another"))
    assert told(old, new) == told(new, old) == [(HARMLESS, "deprecated", "")]
    assert [change.kind for change in versions(old, new).changes if change.text_only] == ["summary"]


def test_authentication(edited):
    old = document()
    schemes = {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "appKey"}}}

    def secured(*alternatives):
        return edited(
            old,
            lambda it: it.update(
                components=schemes, security=[{one: []} if one else {} for one in alternatives]
            ),
        )

    assert told(old, secured("key")) == [(BREAKING, "auth", "")]
    assert told(secured("key"), old) == [(HARMLESS, "auth", "")]
    assert told(secured("key"), secured("key", "token")) == [(HARMLESS, "auth", "")]
    assert told(secured("key", "token"), secured("key")) == [(BREAKING, "auth", "")]
    assert told(secured("key"), secured("token")) == [(BREAKING, "auth", "")]
    assert told(old, secured("")) == []


def answer(found, schema, status="200"):
    responses = operation(found)["responses"]
    responses[status] = {"content": {"application/json": {"schema": schema}}}


def test_the_code_of_success(edited):
    old = document(data=TEXT)
    new = edited(old, lambda it: answer(it, enveloped(TEXT, code=200)))
    assert told(old, new) == told(new, old) == [(BREAKING, "success-code", "code")]


def test_the_status_of_a_success(edited):
    old = document(data=TEXT)

    def moved(it):
        responses = operation(it)["responses"]
        responses["201"] = responses.pop("200")

    new = edited(old, moved)
    assert told(old, new) == told(new, old) == [(BREAKING, "status", "status")]


def test_statuses_without_an_envelope(edited):
    plain = edited(document(), lambda it: answer(it, {"type": "object"}))
    more = edited(plain, lambda it: answer(it, {"type": "object"}, "404"))
    assert told(plain, more) == [(MAY, "status", "status 404")]
    assert told(more, plain) == [(HARMLESS, "status", "status 404")]
    other = edited(more, lambda it: answer(it, {"type": "array"}, "404"))
    assert told(more, other) == [(BREAKING, "type", "status 404")]


def test_refusals_that_come_with_a_status_of_their_own(edited):
    def lifted(it):
        envelope = enveloped({})
        envelope = {key: envelope[key] for key in ("type", "required", "properties", "allOf")}
        success = {"properties": {"code": {"const": 0}, "data": TEXT}}
        refused = {"properties": {"code": {"not": {"const": 0}}}}
        whole = {**envelope, "required": ["code", "data"], "allOf": [*envelope["allOf"], success]}
        answer(it, whole)
        answer(it, {**envelope, "allOf": [*envelope["allOf"], refused]}, "400")

    old = document(data=TEXT)
    new = edited(old, lifted)
    assert told(old, new) == told(new, old) == [(BREAKING, "refusal-status", "refusal.status")]


def test_a_success_without_an_envelope(edited):
    old = document(data=TEXT)
    bare = {"if": {"required": ["code"]}, "then": enveloped(TEXT), "else": TEXT}
    new = edited(old, lambda it: answer(it, bare))
    assert told(old, new) == told(new, old) == [(BREAKING, "envelope", "")]
    assert told(new, new) == []


def test_what_all_operations_have_is_told_once(edited):
    def twice(it, kind):
        it["paths"]["/v1/other"] = {"post": {**operation(it), "operationId": "v2.other"}}
        schema = operation(it)["responses"]["200"]["content"]["application/json"]["schema"]
        schema["properties"]["msg"] = {"type": kind}

    old, new = (
        edited(document(), lambda it, kind=kind: twice(it, kind)) for kind in ("string", "integer")
    )
    [change] = versions(old, new).changes
    assert (change.operation, change.place, change.kind) == ("v2.*", "msg", "type")


def test_changes_come_in_a_stable_order_with_the_worst_first():
    body = {"type": "object", "properties": {"a": TEXT, "b": TEXT}}
    old, new = document(body=body), document(parameters=[query(TEXT)])
    levels = [str(change.level) for change in versions(old, new).changes]
    assert levels == sorted(levels, key=["breaking", "may-break", "harmless"].index)
    assert versions(old, new) == versions(old, new)
