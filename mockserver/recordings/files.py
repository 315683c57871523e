"""Recording files in YAML, readable without Python and the same byte for byte when rewritten."""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from mockserver import documents
from mockserver.clock import parse_duration
from mockserver.errors import InvalidFile, Problem
from mockserver.jsontext import Json, plain
from mockserver.recordings.recording import RecordedExchange, Recording

_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"), (1, "ms"))


def load(file: Path) -> Recording:
    """Return a recording file. Raises `InvalidFile` with file and line of every problem."""
    value = documents.read(file, "recording").value
    dialect = value.get("dialect", "documented")
    return Recording(
        title=value["title"],
        description=value.get("description", ""),
        origin=value["origin"],
        source=value.get("source", ""),
        dialect=dialect if isinstance(dialect, str) else ",".join(dialect),
        scenario=value.get("scenario", "default"),
        start=value.get("start"),
        exchanges=tuple(_exchange(row) for row in value["exchanges"]),
    )


def load_folder(folder: Path) -> tuple[Recording, ...]:
    """Return every recording below a folder, in the order of their paths."""
    files = sorted(folder.rglob("*.yaml")) if folder.is_dir() else []
    if not files:
        raise InvalidFile([Problem(folder, None, "", "no recording (*.yaml) in this folder")])
    return tuple(load(file) for file in files)


def text_of(recording: Recording) -> str:
    """Return a recording as the text of its file."""
    head: dict[str, Json] = {"format": "crosschain-mock/recording@1", "title": recording.title}
    optional = {
        "description": recording.description,
        "origin": recording.origin,
        "source": recording.source,
        "dialect": recording.dialect.split(",") if "," in recording.dialect else recording.dialect,
        "scenario": recording.scenario if recording.origin == "simulation" else "",
        "start": recording.start,
    }
    head.update({key: value for key, value in optional.items() if value})
    head["exchanges"] = [_row(exchange) for exchange in recording.exchanges]
    return yaml.dump(head, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def _exchange(row: Mapping[str, Any]) -> RecordedExchange:
    request, response = row["request"], row["response"]
    return RecordedExchange(
        name=row["name"],
        operation=row["operation"],
        method=request["method"],
        path=request["path"],
        query={
            name: tuple(value) if isinstance(value, list) else value
            for name, value in request.get("query", {}).items()
        },
        headers=request.get("headers", {}),
        body=request.get("body"),
        body_text=request.get("bodyText"),
        status=response["status"],
        response_headers=response.get("headers", {}),
        response_body=response["body"],
        note=row.get("note", ""),
        advance_ms=parse_duration(row["advance"]) if "advance" in row else 0,
    )


def _row(exchange: RecordedExchange) -> dict[str, Json]:
    row: dict[str, Json] = {"name": exchange.name, "operation": exchange.operation}
    if exchange.note:
        row["note"] = exchange.note
    if exchange.advance_ms:
        row["advance"] = _duration(exchange.advance_ms)
    request: dict[str, Json] = {"method": exchange.method, "path": exchange.path}
    parts = {
        "query": {
            name: value if isinstance(value, str) else list(value)
            for name, value in exchange.query.items()
        },
        "headers": dict(exchange.headers),
    }
    request.update({key: part for key, part in parts.items() if part})
    if exchange.body is not None:
        request["body"] = exchange.body
    if exchange.body_text is not None:
        request["bodyText"] = exchange.body_text
    row["request"] = request
    response: dict[str, Json] = {"status": exchange.status}
    if exchange.response_headers:
        response["headers"] = dict(exchange.response_headers)
    response["body"] = exchange.response_body
    row["response"] = response
    return row


def _duration(ms: int) -> str:
    text = ""
    for size, unit in _UNITS:
        count, ms = divmod(ms, size)
        text += f"{count}{unit}" if count else ""
    return text


class _Dumper(yaml.SafeDumper):
    """Writes decimal numbers as they are, and never an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _decimal(dumper: yaml.SafeDumper, number: Decimal) -> yaml.ScalarNode:
    text = plain(number)
    kind = "float" if "." in text else "int"
    return dumper.represent_scalar(f"tag:yaml.org,2002:{kind}", text)


_Dumper.add_representer(Decimal, _decimal)
