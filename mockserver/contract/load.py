"""The contract as files, and as a `Contract` for each requested dialect."""

import json
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from difflib import get_close_matches
from functools import cache, cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from mockserver import file_formats, resources
from mockserver.contract.dialect import (
    DIALECTS,
    DOCUMENTED,
    MARK,
    Dialect,
    Erratum,
    Overlay,
    UnknownDialect,
    apply,
    dialect_of,
    load_overlay,
)
from mockserver.contract.facts import FACTS, FactRegister, basis_of_row
from mockserver.contract.operation import Generation, Operation, RefusalRule, RefusalWords
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json

ENDPOINTS, REFUSALS, ERRATA = "endpoints.yaml", "refusals.yaml", "errata.yaml"
FOLDERS = ("common", "v1", "v2")


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something that is not published and was chosen, with other plausible choices.

    `forms` has patterns of the values that some alternatives allow, by their number from 1;
    `evidence` names the exchanges that put it to the test, and is empty where none do.
    """

    id: str
    title: str
    chosen: str
    reason: str
    alternatives: tuple[str, ...]
    concerns: tuple[str, ...]
    forms: Mapping[str, str] = field(default_factory=dict)
    evidence: str = ""


class Contract:
    """The contract of the interface in one dialect."""

    def __init__(
        self,
        *,
        dialect: Dialect,
        generations: Mapping[str, Generation],
        operations: Iterable[Operation],
        refusals: Iterable[RefusalRule],
        source: "ContractSource",
    ) -> None:
        """Index the parts; `source` still gives the registers and other dialects."""
        self.dialect = dialect
        self.generations = generations
        self.operations = tuple(operations)
        self.refusals = {rule.name: rule for rule in refusals}
        self.source = source
        self._by_id = {operation.id: operation for operation in self.operations}
        self.by_route = {
            (operation.path, operation.method): operation for operation in self.operations
        }
        """The operations by path and method."""
        self._methods: dict[str, list[str]] = {}
        for operation in self.operations:
            self._methods.setdefault(operation.path, []).append(operation.method)

    def __iter__(self) -> Iterator[Operation]:
        return iter(self.operations)

    def operation(self, operation_id: str) -> Operation:
        """Return the operation of an id such as `v2.getChain`. Raises `KeyError`."""
        return self._by_id[operation_id]

    def get(self, operation_id: str | None) -> Operation | None:
        """Return the operation of an id, or None for one that the dialect does not have."""
        return self._by_id.get(operation_id or "")

    def find(self, method: str, path: str) -> Operation | None:
        return self.by_route.get((path, method))

    def methods(self, path: str) -> list[str]:
        """Return the methods that a path answers; empty for an unknown path."""
        return self._methods.get(path, [])

    def nearest(self, path: str) -> Operation | None:
        """Return the operation whose path, or last part of it, is most like an unknown path."""
        paths = list(self._methods)
        near = get_close_matches(path[:300], paths, n=1, cutoff=0.6)
        if not near:
            # Whoever has the prefix wrong has the last part right. Reversed, so that of two
            # operations with the same last part the first one of the table is kept.
            last = {known.rpartition("/")[2].lower(): known for known in reversed(paths)}
            wanted = path.rstrip("/").rpartition("/")[2].lower()[:100]
            near = [last[name] for name in get_close_matches(wanted, last, n=1, cutoff=0.6)]
        return self.by_route[near[0], self._methods[near[0]][0]] if near else None

    def generation_of(self, path: str) -> Generation:
        """Return the generation whose envelope answers a path, also one that does not exist."""
        known = next((row for row in self.operations if row.path == path), None)
        if known is not None:
            return known.generation
        # By its beginning, which is all that an unknown path shows.
        return self.generations["v1" if path.startswith("/open") else "v2"]

    @cached_property
    def groups(self) -> Mapping[str, tuple[str, ...]]:
        """The groups of operations that tables of rules and breaks name, by their ids.

        `open` ones need no authentication. `v1-offers` and `v2-offers` are the reads of a
        generation that need neither an order nor a ticket.
        """
        reads = [operation for operation in self if not operation.writes]
        grouped = {"every": self.operations, "reads": reads}
        grouped["open"] = [operation for operation in self if operation.auth == "none"]
        for name in self.generations:
            grouped[f"{name}-offers"] = [
                operation
                for operation in reads
                if operation.generation.id == name
                and not {"orders", "tickets"} & {*operation.row["tags"]}
            ]
        ids = {name: tuple(operation.id for operation in every) for name, every in grouped.items()}
        return {"lists": self.facts.lists, **ids}

    @property
    def errata(self) -> tuple[Erratum, ...]:
        return self.source.errata

    @property
    def facts(self) -> FactRegister:
        return self.source.facts

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        return self.source.assumptions


class ContractSource:
    """The contract as it lies in its files: raw documents, register of errata, assumptions.

    The shipped files are checked against `schemas/meta` by the tests, not at every start.
    """

    def __init__(self, root: Path | None = None, overlays: Iterable[Overlay] = ()) -> None:
        """Read from a folder laid out as `schemas/`; by default the one that is shipped.

        `overlays` may be named in dialects, as in `observed+learned.yaml`, and no other file.
        """
        self.root = root or resources.schemas()
        self._overlays = {str(overlay.file): overlay for overlay in overlays}

    @cached_property
    def errata(self) -> tuple[Erratum, ...]:
        return tuple(_erratum(row) for row in self._yaml(ERRATA)["errata"])

    @cached_property
    def assumptions(self) -> tuple[Assumption, ...]:
        rows = self._yaml("assumptions.yaml")["assumptions"]
        return tuple(file_formats.value_of(Assumption, row) for row in rows)

    @cached_property
    def facts(self) -> FactRegister:
        return FactRegister(self._yaml(FACTS))

    def dialect(self, spec: str) -> Dialect:
        return DOCUMENTED_DIALECT if spec == DOCUMENTED else dialect_of(spec, self.errata)

    def contract(self, spec: str = DOCUMENTED) -> Contract:
        """Return the contract in a dialect. Raises `UnknownDialect`."""
        spec, mark, file = spec.partition(MARK)
        dialect = self.dialect(spec)
        overlay = self._overlays.get(file)
        if mark and overlay is None:
            raise UnknownDialect(f"unknown dialect {f'{spec}{mark}{file}'[:80]!r}")
        if overlay is not None:
            dialect = self._joined(dialect, overlay)
        raw = self.raw
        if dialect.errata:
            raw = apply(raw, self.errata, dialect)
        return _ContractBuilder(raw, overlay).contract(dialect, self)

    def _joined(self, dialect: Dialect, overlay: Overlay) -> Dialect:
        name = f"{dialect.name}{MARK}{overlay.file}"
        if not overlay.errata:
            return Dialect(name, dialect.errata)
        added = self.dialect(",".join(overlay.errata)).errata
        # In the order of the register, as everywhere: a later erratum may build on an earlier one.
        chosen = {*dialect.errata, *added}
        return Dialect(name, tuple(erratum.id for erratum in self.errata if erratum.id in chosen))

    @cached_property
    def raw(self) -> dict[str, Any]:
        """The documents by their names, before any erratum."""
        schemas = (
            path for folder in FOLDERS for path in sorted((self.root / folder).glob("*.json"))
        )
        files = [self.root / ENDPOINTS, self.root / REFUSALS, *schemas]
        return {path.relative_to(self.root).as_posix(): self._read(path) for path in files}

    def _read(self, path: Path) -> Any:
        """Return the content of a document; a subclass reads files of users strictly."""
        if path.suffix == ".json":
            return json.loads(path.read_text("utf-8"))
        return self._yaml(path.name)

    def _yaml(self, name: str) -> Any:
        path = self.root / name
        return file_formats.parse(path.read_text("utf-8"), path).value


DOCUMENTED_DIALECT = Dialect(DOCUMENTED)


def load(dialect: str = DOCUMENTED) -> Contract:
    """Return the shipped contract in a dialect: `documented`, `observed` or `E-01,E-05`.

    It is read once: nothing changes a contract, and its compiled schemas take megabytes. One with
    an overlay is read anew, as its file may be another by then.
    """
    return source_for(dialect).contract(dialect) if MARK in dialect else _shipped(dialect)


@lru_cache(maxsize=16)
def _shipped(dialect: str) -> Contract:
    return ContractSource().contract(dialect)


def source_for(dialect: str) -> ContractSource:
    """Return the shipped contract, with the overlay that a dialect names. Raises `InvalidFile`."""
    file = dialect.partition(MARK)[2]
    return ContractSource(overlays=[load_overlay(Path(file))] if file else ())


@cache
def _success_codes() -> tuple[int, ...]:
    return tuple(
        {operation.generation.success_code for name in DIALECTS for operation in load(name)}
    )


def has_succeeded(body: Json) -> bool:
    """Tell whether the body of an answer has the code of a success, documented or observed."""
    return isinstance(body, dict) and body.get("code") in _success_codes()


class _ContractBuilder:
    """Makes operations, envelopes and refusals from patched documents."""

    def __init__(self, raw: Mapping[str, Any], overlay: Overlay | None = None) -> None:
        self._raw = raw
        self._overlay = overlay
        self._inlined: dict[str, Any] = {}

    def contract(self, dialect: Dialect, source: ContractSource) -> Contract:
        table, generations = self._raw[ENDPOINTS], {}
        for name, row in table["generations"].items():
            more = {"id": name, "envelope_schema": self._schema(row["envelope"])}
            generations[name] = file_formats.value_of(
                Generation, {"description": "", **row}, **more
            )
        return Contract(
            dialect=dialect,
            generations=generations,
            operations=[
                self._operation(row, generations[row["generation"]]) for row in table["operations"]
            ],
            refusals=[_refusal(row) for row in self._raw[REFUSALS]["refusals"]],
            source=source,
        )

    def _operation(self, row: Mapping[str, Any], generation: Generation) -> Operation:
        request, data = self._schema(row["request"]), self._schema(row["data"])
        if self._raw[ENDPOINTS]["unknown_names"] == "ignored":
            request = _opened(request)
        if self._overlay is not None:
            data = self._overlay.laid_over(row["id"], data)
        return Operation(row, generation, request, data)

    def _schema(self, name: str) -> dict[str, Any]:
        if name not in self._inlined:
            schema = dict(self._raw[name])
            schema.pop("$schema", None)
            schema.pop("$id", None)
            self._inlined[name] = self._inline(schema, PurePosixPath(name).parent)
        inlined: dict[str, Any] = self._inlined[name]
        return inlined

    def _inline(self, node: Any, folder: PurePosixPath) -> Any:
        """Return a schema without references: both validators then report the same paths."""
        if isinstance(node, list):
            return [self._inline(item, folder) for item in node]
        if not isinstance(node, Mapping):
            return node
        if "$ref" not in node:
            return {key: self._inline(value, folder) for key, value in node.items()}
        # Each file once: hundreds of references lead to the same few.
        target = self._schema(resolved(folder, node["$ref"]))
        beside = self._inline({key: value for key, value in node.items() if key != "$ref"}, folder)
        branches = [*target.get("allOf", ()), *beside.get("allOf", ())]
        # Keywords beside a reference replace those of its target, but branches are joined.
        return {**target, **beside, **({"allOf": branches} if branches else {})}


def _opened(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request schema whose query and body may carry names it does not declare."""
    parts = {}
    for name, part in request.get("properties", {}).items():
        # A branch that closes the object would refuse names that nobody declares.
        kept = [
            branch for branch in part.get("allOf", ()) if branch.get("additionalProperties", True)
        ]
        closed = {key: value for key, value in part.items() if key != "allOf"}
        parts[name] = {**closed, "allOf": kept} if kept else closed
    return {**request, "properties": parts}


def resolved(folder: PurePosixPath, reference: object) -> str:
    """Return the name of the document that a reference leads to; empty where it leaves them."""
    path = posixpath.normpath(folder / str(reference))
    return "" if path.startswith(("../", "/")) else path


def _refusal(row: Mapping[str, Any]) -> RefusalRule:
    words = {
        name: RefusalWords(
            refusal["code"], refusal["msg"], refusal.get("status"), basis_of_row(refusal)
        )
        for name, refusal in row.items()
        if name in ("v1", "v2")
    }
    http, also = row.get("http", 200), tuple(row.get("also", ()))
    return RefusalRule(row["name"], row["meaning"], http, words, also)


def _erratum(row: Mapping[str, Any]) -> Erratum:
    source = row["source"]
    return file_formats.value_of(
        Erratum, row, source=[source] if isinstance(source, str) else source
    )
