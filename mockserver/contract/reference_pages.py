"""The generated pages of `docs/reference`: operations, refusals, assumptions, errata."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mockserver import jsontext, markdown
from mockserver.contract.dialect import DOCUMENTED, OBSERVED, Erratum, apply, places, value_at
from mockserver.contract.facts import Fact, FactRegister, basis_in_words
from mockserver.contract.input_fields import Field
from mockserver.contract.load import Assumption, Contract, ContractSource
from mockserver.contract.operation import Operation, RefusalRule
from mockserver.markdown import cell, table

_PLACES = {"headers": "header", "query": "query", "body": "body"}
_INPUT_HEADS = ("input", "in", "required", "type", "meaning")
_MAX_CELL = 240
_NOTHING = "—"

_ABOUT_OPERATIONS = (
    "Facts without a mark are documented, with the section of the interface description, "
    "and stand in [the register of facts](facts.md); a meaning or a unit that is not "
    "carries its own mark. "
    "*Observed* facts carry the key of their source, *assumed* ones the entry in "
    "[the register](assumptions.md)."
)
_ABOUT_REFUSALS = (
    "Every way the service says no. The header `X-Mock-Refusal` carries the name and the "
    "exact reason. The interface description shows no code but 0 (section 7): every code "
    "here is observed or assumed, as `schemas/refusals.yaml` marks it."
)
_ABOUT_ASSUMPTIONS = (
    "What neither the interface description nor public material shows. The mock had to "
    "choose; the alternatives are as plausible. Do not rely on any of it against the real "
    "service."
)
_ABOUT_ERRATA = (
    "Where the interface description and the clients in the field contradict each other. "
    "The dialect `documented` applies none of these, `observed` applies all."
)
_ABOUT_FACTS = """\
What the interface description states, statement by statement and in words of this project, and
what carries each: keywords of the schemas (operation, side and place), rules of the conformance
pack, or what the mock does. Where nothing can carry a statement, the reason stands there. Whatever
a report calls documented stands on one of these rows."""
_ABOUT_DIALECTS = """\
The interface description and the clients in the field contradict each other. Each contradiction is
an *erratum*: data in `schemas/errata.yaml`, with both forms, the source, and the change it makes to
the contract. The dialect `documented` applies none of them, `observed` applies all, and a single
one can be chosen:

    crosschain-mock serve --dialect observed
    crosschain-mock serve --erratum E-01 --erratum E-05
    crosschain-mock errata

A world speaks one dialect, and one server may host worlds of both. A request in the form of the
other dialect is refused, and the refusal names the erratum."""


def pages(rules: Mapping[str, Sequence[str]] | None = None) -> dict[str, str]:
    """Return every generated file by its name below `docs/reference`, as text.

    `rules` are the names of the conformance rules that stand on a fact, by its id.
    """
    source = ContractSource()
    pages = {}
    for spec, suffix in ((DOCUMENTED, ""), (OBSERVED, "-observed")):
        spoken = source.contract(spec)
        for generation in spoken.generations:
            pages[f"{generation}{suffix}.md"] = _operations_page(spoken, generation)
    refusals = source.contract().refusals.values()
    facts = _facts(source.facts, rules or {})
    for name, title, about, lines in (
        ("refusals", "Refusals", _ABOUT_REFUSALS, _refusals(refusals)),
        ("assumptions", "Assumptions", _ABOUT_ASSUMPTIONS, _assumptions(source.assumptions)),
        ("errata", "Errata", _ABOUT_ERRATA, _errata(source.errata)),
        ("facts", "Facts", _ABOUT_FACTS, facts),
        ("dialects", "The two dialects", _ABOUT_DIALECTS, _dialects(source)),
    ):
        pages[f"{name}.md"] = markdown.page(title, about, lines)
    return pages


def _operations_page(contract: Contract, generation_id: str) -> str:
    generation = contract.generations[generation_id]
    observed = contract.dialect.name != DOCUMENTED
    title = f"{generation.title}{', in the dialect of the field' if observed else ''}"
    lines = [_ABOUT_OPERATIONS, ""]
    for operation in contract:
        if operation.generation.id == generation_id:
            lines += _operation(operation)
    return markdown.page(title, generation.description.strip(), lines)


def _operation(operation: Operation) -> list[str]:
    row = operation.row
    parts = [
        f"## {operation.operation_id}",
        f"`{operation.method} {operation.path}` · section {operation.section}",
        f"{operation.summary}.",
        "Deprecated." if row.get("deprecated") else "",
        row.get("description", "").strip(),
    ]
    if operation.fields:
        parts += ["\n".join(table(_INPUT_HEADS, _inputs(operation)))]
    else:
        parts += ["No input."]
    answers = list(_answer_rows("", operation.data_schema, ""))
    if answers:
        where = "Answer, inside `data`:" if operation.enveloped else "Answer, without envelope:"
        parts += [where, "\n".join(table(("field", "type", "meaning", "basis"), answers))]
    return [line for part in parts if part for line in (part, "")]


def _inputs(operation: Operation) -> Iterator[tuple[str, ...]]:
    for field in operation.fields:
        yield (
            f"`{field.name}`",
            _PLACES[field.location],
            "yes" if field.required else "no",
            " or ".join(field.types) or "any",
            _meaning(field),
        )


def _meaning(field: Field) -> str:
    words = [*_described(field.schema)]
    if "default" in field.schema:
        words.append(f"by default {field.schema['default']!r}")
    nodes = (field.schema, *field.schema.get("allOf", ()))
    words += [_with_basis(node, "x-expects") for node in nodes if "x-expects" in node]
    return "; ".join(words)


def _described(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a value means: as documented, then what branches add on another basis."""
    if node.get("description"):
        yield str(node["description"])
    for branch in node.get("allOf", ()):
        if branch.get("description") and basis_in_words(branch):
            yield _with_basis(branch, "description")


def _with_basis(node: Mapping[str, Any], key: str) -> str:
    basis = basis_in_words(node)
    return f"{node[key]} — {basis}" if basis else str(node[key])


def _answer_rows(
    prefix: str, schema: Mapping[str, Any], basis: str
) -> Iterator[tuple[str, str, str, str]]:
    for branch in (schema, *schema.get("allOf", ())):
        inherited = basis_in_words(branch) or basis
        for name, node in branch.get("properties", {}).items():
            own = basis_in_words(node) or inherited
            yield f"`{prefix}{name}`", _type(node), "; ".join(_described(node)), own
            yield from _answer_rows(f"{prefix}{name}.", node, own)
        if isinstance(branch.get("items"), Mapping):
            place = f"{prefix.removesuffix('.')}[]."
            yield from _answer_rows(place, branch["items"], inherited)
        values = branch.get("additionalProperties")
        if isinstance(values, Mapping):
            yield from _answer_rows(f"{prefix}*.", values, inherited)


def _type(node: Mapping[str, Any]) -> str:
    for branch in (node, *node.get("allOf", ())):
        kind = branch.get("type")
        if kind:
            return kind if isinstance(kind, str) else " or ".join(kind)
    return "any"


def _refusals(rules: Iterable[RefusalRule]) -> Iterator[str]:
    heads = ("name", "meaning", "HTTP", "v1 `code`", "v1 `msg`", "2.0 `code`", "2.0 `msg`")
    rows = (
        (
            f"`{rule.name}`",
            rule.meaning,
            str(rule.http),
            *(
                part
                for refusal_words in rule.words.values()
                for part in (str(refusal_words.code), refusal_words.msg)
            ),
        )
        for rule in rules
    )
    return table(heads, rows)


def _assumptions(register: Iterable[Assumption]) -> Iterator[str]:
    for assumption in register:
        yield f"## {assumption.id}: {assumption.title}"
        yield ""
        yield f"- **Chosen**: {assumption.chosen}"
        yield f"- **Reason**: {assumption.reason}"
        yield f"- **As plausible**: {'; '.join(assumption.alternatives)}"
        yield f"- **Concerns**: {_names(assumption.concerns)}"
        yield ""


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _errata(register: Iterable[Erratum]) -> Iterator[str]:
    return table(
        ("id", "what", "documented", "observed", "source", "operations"),
        (
            (
                *(
                    erratum.id,
                    erratum.title,
                    erratum.documented,
                    erratum.observed,
                    ", ".join(erratum.source),
                ),
                _names(erratum.operations) or "all",
            )
            for erratum in register
        ),
    )


def _dialects(source: ContractSource) -> Iterator[str]:
    """Yield the lines of the page, from the register and the documents that it changes."""
    for erratum in source.errata:
        operations = _names(erratum.operations) or "all operations"
        yield f"## {erratum.id}: {erratum.title}"
        yield ""
        yield f"{operations} · section {erratum.section} · observed in {', '.join(erratum.source)}"
        yield ""
        yield "| | documented | observed |"
        yield "|---|---|---|"
        yield f"| **form** | {cell(erratum.documented)} | {cell(erratum.observed)} |"
        for place, before, after in _changes(source, erratum):
            yield f"| `{place}` | {_value(before)} | {_value(after)} |"
        yield ""


def _changes(source: ContractSource, erratum: Erratum) -> Iterator[tuple[str, Any, Any]]:
    """Yield each place that an erratum changes when it is applied alone, before and after.

    A place inside another one that is shown as a whole is left out, and so are bare names.
    """
    documents = source.raw
    patched = apply(documents, source.errata, source.dialect(erratum.id))
    reported: list[str] = []
    for change in erratum.changes:
        name = change["document"]
        for pointer in places(change):
            place = f"{name}#{pointer}"
            # What is inside a place that was told of is shown there already.
            if any(place.startswith(f"{reported_place}/") for reported_place in reported):
                continue
            before = value_at(documents[name], pointer, _NOTHING)
            after = value_at(patched[name], pointer, change.get("value", _NOTHING))
            # Empty objects are made room for later changes, which tell more.
            if before != after and {} not in (before, after):
                reported.append(place)
                yield place, before, after


def _value(value: Any) -> str:
    if value == _NOTHING:
        return _NOTHING
    if isinstance(value, Mapping) and {"method", "path", "summary"} <= set(value):
        return f"`{value['method']} {value['path']}`: {value['summary']}"
    text = jsontext.encode(value).decode("ascii")
    text = cell(text if len(text) <= _MAX_CELL else f"{text[:_MAX_CELL]}…")
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _facts(register: FactRegister, rules: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the facts by section; `rules` are the names of those that stand on one, by its id."""
    section = None
    for fact in register:
        if fact.section != section:
            if section is not None:
                yield ""
            section = fact.section
            yield f"## Section {section}: {register.section_title(section)}"
            yield ""
            yield from table(("fact", "says", "carried by"), ())
        carried = "<br>".join(_carried(fact, rules.get(fact.id, ())))
        yield f"| `{fact.id}` | {fact.says} | {carried} |"
    yield from ("", "## Observed and assumed", "")
    yield from table(
        ("fact", "says", "source", "rules"),
        (
            (
                f"`{known_fact.id}`",
                known_fact.says,
                str(known_fact.basis),
                _names(rules.get(known_fact.id, ())),
            )
            for known_fact in register.evidence
        ),
    )
    yield from ("", "## Statuses of orders", "")
    yield from table(
        ("generation", "has paid all", "held", "final", "failed", "source"),
        (
            (
                name,
                statuses.paid,
                *(
                    ", ".join(part) or "none"
                    for part in (statuses.held, statuses.final, statuses.failed)
                ),
                str(statuses.basis),
            )
            for name, statuses in register.statuses.items()
        ),
    )


def _carried(fact: Fact, rules: Sequence[str]) -> Iterator[str]:
    yield from (f"`{carrier.text}`" for carrier in fact.schema)
    if rules:
        yield f"rules: {_names(rules)}"
    if fact.behaviour:
        yield f"the mock: {fact.behaviour}"
    if fact.nothing:
        yield f"nothing: {fact.nothing}"
