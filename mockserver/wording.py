"""Helpers for messages: numbers with nouns, names in a row, texts on one line."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 cause`, `3 causes`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def times(number: int) -> str:
    """Return how often something was: `never`, `once`, `twice`, `3 times`."""
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number} times")


def listed(names: Sequence[str], most: int = 6) -> str:
    """Return names in a row, with the number of those left out."""
    first = ", ".join(names[:most])
    return f"{first} and {len(names) - most} more" if len(names) > most else first


def first_lines(items: Sequence[object], most: int = 50) -> Iterator[str]:
    """Yield a line for each item, and after `most` of them how many more there are."""
    yield from map(str, items[:most])
    if len(items) > most:
        yield f"and {len(items) - most} more"


def one_line(text: str, most: int = 0) -> str:
    """Return a text on one line, cut to `most` characters where a number is given."""
    line = " ".join(text.split())
    return f"{line[:most]}…" if most and len(line) > most else line


def reason_lines(
    groups: Mapping[str, Sequence[str]], most: int, *, complete: bool
) -> Iterator[str]:
    """Yield a line for each reason with the names that it is about; `complete`: all."""
    chosen = list(groups.items())[: len(groups) if complete else most]
    for reason, names in chosen:
        shown = listed(names, len(names) if complete else 2)
        yield f"{len(names)} x {one_line(reason, 400)}: {shown}"
    if len(groups) > len(chosen):
        yield f"and {counted(len(groups) - len(chosen), 'other reason')}; --verbose"


def reason_of(error: OSError | ValueError) -> str:
    """Return why the system refused something, as the end of a sentence."""
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()


def audit_lines(audit: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines in which people read an audit, as the control API shows it."""
    for finding in audit["findings"]:
        yield from finding_lines(finding)
    if audit["more"]:
        yield f"and {audit['more']} more"
    if audit["unjudged"]:
        yield f"{counted(audit['unjudged'], 'order')} not judged: older requests are no longer kept"
    if audit["findings"]:
        return
    ground, orders = audit["ground"], counted(audit["judged"], "order")
    if ground and ground["missing"]:
        yield ground["missing"]
    elif audit["leftOut"]:
        yield f"nothing found with {orders}; not looked for: {listed(audit['leftOut'], 3)}"
    else:
        yield f"all is well with {orders}"


def lint_lines(lint: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines in which people read what lint found, as the control API shows it."""
    for finding in lint["findings"]:
        yield f"{finding['level']} {finding['rule']}: {finding['told']}"
        for row in finding["requests"]:
            yield f"  {row['sequence']}. {row['request']} -> {row['outcome']}"
        yield f"  {finding['advice']}"
    if lint["more"]:
        yield f"and {lint['more']} more"
    if lint["lost"]:
        yield f"{counted(lint['lost'], 'older request')} no longer kept, and not looked at"
    if lint["ground"] and lint["ground"]["missing"]:
        yield lint["ground"]["missing"]
    elif not lint["requests"]:
        yield "no request came to an operation, so there was nothing to look at"
    elif not lint["findings"]:
        yield f"nothing to say of {counted(lint['requests'], 'request')}"


def finding_lines(finding: Mapping[str, Any]) -> Iterator[str]:
    yield f"{finding['kind']}: {finding['told']}"
    for row in finding["requests"]:
        yield f"  {row['sequence']}. {row['request']} -> {row['outcome']}"
    for row in finding["transactions"]:
        yield f"  transaction {row['hash']} on {row['chain']}"


def github_command(level: str, title: str, text: str) -> str:
    """Return a workflow command of GitHub Actions, which becomes an annotation of a run."""
    name = _escaped(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={name}::{_escaped(text)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


# What differs between two sentences that say the same: names, numbers, lists at the end.
_PARTICULAR = re.compile(r"'[^']*'|(?<=of )\S+:|0x[0-9A-Fa-f]+|[0-9]+|(?<=: )[A-Za-z0-9_, ]+$")


def one_of_each_kind(sentences: Iterable[str]) -> Iterator[str]:
    """Yield the first sentence of each kind, with how many more say the same of something else."""
    kinds: dict[str, list[str]] = {}
    for sentence in sentences:
        kind = _PARTICULAR.sub("_", sentence)
        kinds.setdefault(kind, []).append(sentence)
    for alike in kinds.values():
        more = f" (and {len(alike) - 1} more alike)" if len(alike) > 1 else ""
        yield f"{alike[0]}{more}"
