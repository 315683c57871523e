"""The register of facts: whole, well-formed, and behind everything that is called documented."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from mockserver import file_formats, resources
from mockserver.conformance.requests.probe_labels import FILTERS
from mockserver.contract import Basis, BasisKind, Contract, Operation, UnknownFact, load
from mockserver.contract.facts import Carrier, FactRegister, carrier, shipped_facts
from mockserver.engine.order_statuses import Status, V1Status
from mockserver.engine.tickets import TicketStatus

Keyword = tuple[str, str, str, str]

FILE = resources.schemas() / "facts.yaml"
_INNER = ("items", "additionalProperties", "if", "then", "else", "not")
_STRUCTURE = frozenset(["properties", "allOf", "anyOf", *_INNER])


@cache
def _raw() -> dict[str, Any]:
    content: dict[str, Any] = file_formats.read(FILE, "facts").value
    return content


@cache
def _contract() -> Contract:
    return load()


def _below(
    schema: Mapping[str, Any], basis: Basis, place: str, where: tuple[str, str]
) -> Iterator[tuple[Keyword, str]]:
    """Yield every documented keyword of a schema, meanings included, and the section it names."""
    basis = basis.below(schema)
    if basis.kind is BasisKind.DOCUMENTED:
        for keyword in schema:
            if keyword == "required":
                for name in schema[keyword]:
                    yield (*where, f"{place}.{name}".lstrip("."), keyword), basis.section
            elif keyword not in _STRUCTURE and keyword != "title" and not keyword.startswith("x-"):
                yield (*where, place, keyword), basis.section
    for name, child in schema.get("properties", {}).items():
        yield from _below(child, basis, f"{place}.{name}".lstrip("."), where)
    for key in _INNER:
        if isinstance(schema.get(key), Mapping) and key != "if":
            inside = {"items": f"{place}[]", "additionalProperties": f"{place}.*"}.get(key, place)
            yield from _below(schema[key], basis, inside, where)
    for branch in schema.get("allOf", ()):
        yield from _below(branch, basis, place, where)


def documented(operation: Operation) -> Iterator[tuple[Keyword, str]]:
    for side, schema in (
        ("request", operation.request_schema),
        ("answer", operation.response_schema),
    ):
        yield from _below(schema, Basis(), "", (operation.id, side))


def _unregistered(register: FactRegister) -> list[Keyword]:
    return [
        keyword
        for operation in _contract()
        for keyword, _ in documented(operation)
        if register.behind(*keyword) is None
    ]


def test_every_documented_keyword_stands_on_a_fact():
    assert _unregistered(shipped_facts()) == []


@pytest.mark.parametrize("lost", ["bridge-quote.gas-fee", "v2.check-order", "v1.headers"])
def test_a_lost_fact_is_noticed(lost: str):
    rows = [row for row in _raw()["facts"] if row["id"] != lost]
    # What a wider row would still carry is taken away with it.
    wide = ("auth.v1", "bridge-quote.texts", "limits.expire-time")
    rows = [row for row in rows if row["id"] not in wide]
    assert _unregistered(FactRegister({**_raw(), "facts": rows}))


SAID_TWICE = ("interface.inputs", "envelope.v2.data", "v1.headers.everywhere", "ticket.flag")
"""Facts of more than one operation, which a section about one of them says once more."""


def _elsewhere(register: FactRegister) -> Iterator[str]:
    """Yield the documented keywords that name another section than their fact has."""
    for operation in _contract():
        for keyword, section in documented(operation):
            fact = register.behind(*keyword)
            if fact and fact.section != section and fact.id not in SAID_TWICE:
                yield f"{' '.join(keyword)}: {section}, and {fact.id} has {fact.section}"


def test_a_documented_keyword_names_the_section_of_its_fact():
    assert list(_elsewhere(shipped_facts())) == []


def test_a_section_that_says_something_else_is_noticed():
    rows = [
        {**row, "section": "2.2"} if row["id"] == "v2.submit-ticket" else row
        for row in _raw()["facts"]
    ]
    told = list(_elsewhere(FactRegister({**_raw(), "facts": rows})))
    assert (
        "v2.submitTicket request body.chain description: 4.2 row 11, "
        "and v2.submit-ticket has 2.2" in told
    )


UNITS = re.compile(
    r"percent|smallest units|whole tokens?|USD|millisecond|seconds|decimals of|network id|fees|"
    r"nickName|hex|Unix|EVM"
)


def _claims(register: FactRegister) -> list[str]:
    """Return the documented meanings that name a unit or more which their fact does not."""
    found = []
    for operation in _contract():
        for schema, side in (
            (operation.request_schema, "request"),
            (operation.response_schema, "answer"),
        ):
            for place, words in _meanings(schema, Basis(), ""):
                fact = register.behind(operation.id, side, place, "description")
                known = fact.says if fact else ""
                more = {unit for unit in UNITS.findall(words) if unit not in known}
                found += [f"{operation.id} {place}: {unit}" for unit in sorted(more)]
    return found


def _meanings(schema: Mapping[str, Any], basis: Basis, place: str) -> Iterator[tuple[str, str]]:
    basis = basis.below(schema)
    if basis.kind is BasisKind.DOCUMENTED and "description" in schema:
        yield place, schema["description"]
    for name, child in schema.get("properties", {}).items():
        yield from _meanings(child, basis, f"{place}.{name}".lstrip("."))
    for key in ("items", "then"):
        if isinstance(schema.get(key), Mapping):
            yield from _meanings(schema[key], basis, f"{place}[]" if key == "items" else place)
    for branch in schema.get("allOf", ()):
        yield from _meanings(branch, basis, place)


def test_a_documented_meaning_claims_no_unit_that_its_fact_does_not():
    assert _claims(shipped_facts()) == []


def test_a_meaning_that_claims_more_is_noticed():
    rows = [
        {**row, "says": "a bridge quote has outAmount"}
        if row["id"] == "bridge-quote.out-amount"
        else row
        for row in _raw()["facts"]
    ]
    told = _claims(FactRegister({**_raw(), "facts": rows}))
    assert told == ["v2.getBridgeQuote data.outAmount: smallest units"]


def test_every_line_of_the_register_names_documented_keywords():
    keywords = [keyword for operation in _contract() for keyword, _ in documented(operation)]
    idle = [
        f"{fact.id}: {line.text}"
        for fact in shipped_facts()
        for line in fact.schema
        if not any(line.covers(*keyword) for keyword in keywords)
    ]
    assert idle == []


def test_every_fact_has_an_id_and_a_section_of_its_own_words():
    register = shipped_facts()
    ids = [fact.id for fact in register]
    assert len(set(ids)) == len(ids)
    assert [fact.id for fact in register if not register.section_title(fact.section)] == []
    assert [fact.id for fact in register if '"' in fact.says or fact.says.endswith(".")] == []


def test_the_narrowest_fact_is_cited():
    register = shipped_facts()
    found = register.behind("v2.getBridgeQuote", "answer", "data.gasFee", "required")
    assert found is not None
    assert found.id == "bridge-quote.gas-fee"
    assert register.behind("v2.getBridgeQuote", "answer", "data.colour", "required") is None


def test_a_fact_is_the_basis_of_what_stands_on_it():
    basis = shipped_facts().fact("order-status.timestamp").basis
    assert (basis.kind, basis.reference, basis.fact) == (
        BasisKind.DOCUMENTED,
        "2.3",
        "order-status.timestamp",
    )
    with pytest.raises(UnknownFact, match=r"order-status\.colour"):
        shipped_facts().fact("order-status.colour")


@pytest.mark.parametrize(
    ("line", "keyword", "covered"),
    [
        ("v2.* answer data.*", ("v2.getPrice", "answer", "data.price", "type"), True),
        ("v2.* answer data.* required", ("v2.getPrice", "answer", "data.price", "type"), False),
        ("v1.* answer data", ("v2.getPrice", "answer", "data", "type"), False),
        ("* request .", ("v2.getPrice", "request", "", "type"), True),
        ("* request .", ("v2.getPrice", "answer", "", "type"), False),
        ("* answer data.list[]", ("v2.getAssets", "answer", "data.list[]", "type"), True),
        ("* answer data.list[]", ("v2.getAssets", "answer", "data.list", "type"), False),
    ],
)
def test_what_a_line_covers(line: str, keyword: Keyword, covered: bool):
    found: Carrier = carrier(line)
    assert found.covers(*keyword) is covered


def test_statuses_are_those_of_the_contract_and_of_the_engine():
    statuses = shipped_facts().statuses["v2"]
    schema = _contract().operation("v2.checkOrder").data_schema["properties"]["status"]
    assert set(schema["allOf"][0]["enum"]) == set(Status)
    assert statuses.paid == Status.SUCCEEDED
    assert set(statuses.final) == {status for status in Status if status.final}
    assert set(statuses.resting) == {status for status in Status if status.resting}


def test_statuses_of_v1_are_those_of_its_orders():
    statuses = shipped_facts().statuses["v1"]
    order = _contract().operation("v1.getOrderDetailByHashAndEvmAddress").data_schema
    schema = order["allOf"][0]["properties"]["order"]["properties"]["status"]
    assert schema["enum"] == list(V1Status)
    assert list(map(int, statuses.final)) == [
        one for one in V1Status if one is not V1Status.ONGOING
    ]
    assert int(statuses.paid) == V1Status.COMPLETED


def test_statuses_of_tickets_are_those_of_the_contract_and_of_the_engine():
    assert tuple(status.value for status in TicketStatus) == FILTERS


def test_the_lists_are_operations_that_answer_a_list():
    contract, lists = _contract(), shipped_facts().lists
    assert len(set(lists)) == len(lists)
    assert {one.id for one in contract if one.id in lists} == set(lists)
    documented_ones = {
        operation.id
        for operation in contract
        for (*_, place, _), _ in documented(operation)
        if place == "data.version"
    }
    assert documented_ones == {one for one in lists if one.startswith("v2.")}
