"""Reads a scenario: a file, what it extends, its catalog and its calendar, as one engine value."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any

from mockserver import jsontext
from mockserver.clock import ClockMode, check_beginning, wall_ms
from mockserver.engine.catalog import Catalog
from mockserver.engine.order_courses import Policy
from mockserver.engine.outages import Window
from mockserver.engine.scenario import Scenario
from mockserver.errors import InvalidFile, Problem
from mockserver.fast_dataclass import dataclass
from mockserver.file_formats import Complaint, Document, part_of, read
from mockserver.jsontext import FieldPath, Json
from mockserver.scenarios import scenario_values
from mockserver.scenarios.calendar_files import WorldStart, calendar_windows
from mockserver.scenarios.catalog_files import load_catalog
from mockserver.scenarios.library import located
from mockserver.scenarios.preset_orders_and_quotes import fixed_quotes, known_orders
from mockserver.scenarios.problems import scenario_problems, unknown_keys
from mockserver.scenarios.template_names import with_templates
from mockserver.times_and_durations import ClockRefused, parse_duration, parse_instant

# How many problems of a kind are told of one file.
_MOST_NAMED = 50


@dataclass(frozen=True, slots=True)
class Layers:
    """Documents of which the first extends the second and so on, with their merged value.

    Maps are merged key by key, to any depth; lists and single values replace what they extend.
    """

    documents: Sequence[Document]
    value: Mapping[str, Json]

    def problem(self, path: FieldPath, message: str) -> Problem:
        """Return a problem at a field, placed in the file that the field's value comes from."""
        return self.owner(path).problem(path, message)

    def owner(self, path: FieldPath) -> Document:
        """Return the file that gives the value at a path, or the nearest that encloses it."""
        owners = [(document, document.value) for document in self.documents]
        for part in path:
            inside = [(document, value[part]) for document, value in owners if _has(value, part)]
            if not inside:
                break
            # What is not a map replaces all that it extends.
            owners = inside if isinstance(inside[0][1], Mapping) else inside[:1]
        return owners[0][0]


def layered(document: Document) -> Layers:
    """Return a scenario's document with all that it extends.

    Raises `InvalidFile` where one of them cannot be read or extends itself.
    """
    documents = [document]
    while (name := documents[-1].value.get("extends")) is not None:
        documents.append(_extended(documents, name))
    value: dict[str, Any] = {}
    # From the one that is extended last, so that each nearer one replaces its values.
    for layer in reversed(documents):
        value = _merged(value, layer.value)
    return Layers(documents, value)


def _extended(documents: Sequence[Document], name: str) -> Document:
    # By the file that names it: paths are relative to that.
    last = documents[-1]
    file = _named_in(last, "extends", "scenarios", name)
    # Resolved: two names, or a link, may lead to one file.
    seen = [document.file.resolve() for document in documents]
    if file.resolve() in seen:
        way = " -> ".join(document.file.name for document in documents)
        text = f"a scenario cannot extend itself: {way} -> {file.name}"
        raise InvalidFile([last.problem(("extends",), text)])
    return read(file, "scenario")


def _named_in(document: Document, field: str, folder: str, name: str) -> Path:
    """Return the file that a field names. Raises `InvalidFile` at the field where there is none."""
    try:
        file = located(folder, name, document.file.parent)
        text = f"there is no file {str(file)!r}"
    except InvalidFile as error:
        text = error.problems[0].message
    else:
        if _is_there(file, Path.is_file):
            return file
    raise InvalidFile([document.problem((field,), text)])


def _is_there(path: Path, kind: Callable[[Path], bool]) -> bool:
    try:
        return kind(path)
    except OSError:
        # A name may be longer than that of any file.
        return False


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            merged[key] = _merged(old, value)
        else:
            merged[key] = value
    return merged


def _has(value: Json, part: str | int) -> bool:
    if isinstance(value, Mapping):
        return part in value
    return isinstance(value, list) and isinstance(part, int) and part < len(value)


def load_scenario(name_or_path: str | Path, *, wall: Callable[[], int] = wall_ms) -> Scenario:
    """Return a shipped scenario by its name, or that of a file.

    Where the scenario gives its clock no start, times of its calendar such as `+2h` count from
    `wall()` (ms since 1970), the moment it is read. Raises `InvalidFile` with every problem.
    """
    file = located("scenarios", name_or_path)
    layers = layered(read(file, "scenario"))
    catalog = _catalog(layers)
    problems = list(_first(layers, unknown_keys(layers.value, catalog)))
    fixed, complaints = fixed_quotes(layers.value.get("quotes", {}), catalog)
    problems += [layers.problem(*complaint) for complaint in complaints]
    start_ms = _start(layers, problems)
    seed = layers.value.get("seed", 0)
    # Without a start of its own, the calendar counts from now.
    start = WorldStart(catalog, wall() if start_ms is None else start_ms, seed)
    orders, complaints = known_orders(layers.value.get("orders", {}), start)
    problems += [layers.problem(*complaint) for complaint in complaints]
    calendar = _calendar(layers, start, problems)
    scenario = _scenario(
        layers.value,
        catalog,
        seed,
        name=file.stem,
        start_ms=start_ms,
        fixed=fixed,
        known_orders=orders,
        calendar=calendar,
    )
    problems += _first(layers, scenario_problems(scenario))
    # Templates are checked against the scenario, which has to be right before.
    if not problems:
        scenario = with_templates(scenario, layers.value.get("templates", {}))
    if problems:
        raise InvalidFile(problems)
    return scenario


def _first(layers: Layers, complaints: Iterable[Complaint]) -> Iterator[Problem]:
    """Yield the first problems. Each looks for a name that is near, which takes a millisecond."""
    for number, (path, text) in enumerate(complaints):
        if number == _MOST_NAMED:
            yield layers.problem(path, "and more of the kind; mend these first")
            return
        yield layers.problem(path, text)


def digest(name_or_path: str | Path) -> str:
    """Return a digest of a scenario with all that it extends. Raises `InvalidFile`."""
    layers = layered(read(located("scenarios", name_or_path), "scenario"))
    return sha256(jsontext.encode(layers.value)).hexdigest()[:16]


def _catalog(layers: Layers) -> Catalog:
    catalog: Any = layers.value.get("catalog")
    if catalog is None:
        return load_catalog()
    owner = layers.owner(("catalog",))
    if isinstance(catalog, str):
        folder = owner.file.parent / catalog
        if not _is_there(folder, Path.is_dir):
            raise InvalidFile([owner.problem(("catalog",), f"there is no folder {str(folder)!r}")])
        return load_catalog(folder)
    return load_catalog(added=part_of(owner, "catalog", catalog, ("catalog",)))


def _start(layers: Layers, problems: list[Problem]) -> int | None:
    text = layers.value.get("clock", {}).get("start")
    if text is None:
        return None
    try:
        start_ms = parse_instant(text)
        check_beginning(start_ms)
        return start_ms
    except ClockRefused as error:
        problems.append(layers.problem(("clock", "start"), str(error)))
        return None


def _calendar(layers: Layers, start: WorldStart, problems: list[Problem]) -> tuple[Window, ...]:
    calendar, owner = layers.value.get("calendar", []), layers.owner(("calendar",))
    if not isinstance(calendar, str):
        windows, complaints = calendar_windows({"windows": calendar}, start)
        # The file has the windows right below `calendar`, without the key of a calendar's file.
        problems += [layers.problem(("calendar", *path[1:]), text) for path, text in complaints]
        return windows
    try:
        document = read(_named_in(owner, "calendar", "calendars", calendar), "calendar")
    except InvalidFile as error:
        problems.extend(error.problems)
        return ()
    windows, complaints = calendar_windows(document.value, start)
    problems.extend(document.problem(path, text) for path, text in complaints)
    return windows


def _scenario(value: Mapping[str, Any], catalog: Catalog, seed: int, **parts: Any) -> Scenario:
    """Return the scenario of a merged value; `parts` are those that are read on their own."""
    clock, orders = value.get("clock", {}), value.get("orders", {})
    return Scenario(
        catalog=catalog,
        prices=scenario_values.prices(value.get("prices", {}), catalog, seed),
        rates=scenario_values.rates(value.get("fees", {}), catalog),
        seed=seed,
        clock_mode=ClockMode(clock.get("mode", "real")),
        clock_rate=Decimal(clock.get("rate", "1")),
        courses=scenario_values.courses(value.get("courses", {})),
        order_rules=scenario_values.order_rules(orders.get("rules", [])),
        default_course=orders.get("course", "success"),
        default_policy=Policy(orders.get("policy", "time")),
        default_polls=orders.get("polls", 3),
        refund_ms=parse_duration(orders.get("refunded_after", "40s")),
        ticket_ms=parse_duration(value.get("tickets", {}).get("resolved_after", "5m")),
        openings=scenario_values.openings(value.get("balances", {}), catalog),
        list_version=value.get("lists", {}).get("version", 1),
        id_prefix=value.get("ids", {}).get("prefix", 30),
        failures=value.get("failures", {}),
        **parts,
    )
