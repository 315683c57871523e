"""Counters in the text format of Prometheus, version 0.0.4."""

from collections.abc import Iterator, Mapping

from mockserver.http_messages import Headers
from mockserver.jsontext import Json

TEXT_TYPE = ("Content-Type", "text/plain; version=0.0.4; charset=utf-8")

_LABELLED = {
    "requests": ("operation", "Requests for operations of the service."),
    "refusals": ("refusal", "Requests that were refused, by the name of the refusal."),
    "faults": ("fault", "Answers that a fault disturbed, by its kind."),
}


def wants_text(query: Mapping[str, Json], headers: Headers) -> bool:
    """Tell whether a client wants this format: by `format`, or by `Accept` as Prometheus sends it.

    Everybody else gets JSON, also who accepts anything.
    """
    if "format" in query:
        return bool(query["format"] == "prometheus")
    accepted = headers.get("Accept", "").lower()
    is_text = "text/plain" in accepted or "application/openmetrics-text" in accepted
    return is_text and "application/json" not in accepted


def exposed(metrics: Mapping[str, Json]) -> str:
    """Return what `GET /metrics` answers as text."""
    return "".join(f"{line}\n" for line in _lines(metrics))


def _lines(metrics: Mapping[str, Json]) -> Iterator[str]:
    for name, (label, text) in _LABELLED.items():
        metric = f"crosschain_mock_{name}_total"
        yield from _head(metric, text, "counter")
        for value, count in metrics[name].items():
            yield f'{metric}{{{label}="{_escaped(value)}"}} {count}'
    yield from _head("crosschain_mock_control_requests_total", "Control requests.", "counter")
    yield f"crosschain_mock_control_requests_total {metrics['control']}"
    yield from _head("crosschain_mock_worlds", "Worlds of the server.", "gauge")
    yield f"crosschain_mock_worlds {metrics['worlds']}"
    name = "crosschain_mock_world_uptime_seconds"
    yield from _head(name, "How long a world has run on its own clock.", "gauge")
    seconds, milliseconds = divmod(int(metrics["uptimeMs"]), 1000)
    yield f'{name}{{world="{_escaped(metrics["world"])}"}} {seconds}.{milliseconds:03}'


def _head(metric: str, text: str, kind: str) -> Iterator[str]:
    yield f"# HELP {metric} {text}"
    yield f"# TYPE {metric} {kind}"


def _escaped(value: str) -> str:
    """Return the value of a label as the format has it; stubs may name refusals as they like."""
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
