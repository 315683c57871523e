"""A comparison as lines for people and as JSON for programs; secrets are masked in both."""

from collections.abc import Iterator

from mockserver.conformance.comparison.comparison import Cause, Comparison, SideSummary
from mockserver.conformance.comparison.difference import Found, Kind, dotted
from mockserver.conformance.report.shown import visible
from mockserver.jsontext import Json, picked
from mockserver.wording import counted, listed, one_line

FORMAT = "crosschain-mock/comparison@1"
SAYS = {
    Kind.OUTCOME: "one takes what the other does not",
    Kind.CODE: "refuses with another code",
    Kind.STATUS: "answers with another HTTP status",
    Kind.MEDIA_TYPE: "answers in another media type",
    Kind.NO_ANSWER: "an answer breaks off",
    Kind.NO_JSON: "an answer is no JSON",
    Kind.TYPE: "another type",
    Kind.MISSING: "a member is missing on the right",
    Kind.EXTRA: "a member is on the right only",
    Kind.LOST: "an item is missing on the right",
    Kind.GAINED: "an item is on the right only",
    Kind.VALUE: "another value",
}
_MOST_EXAMPLES = 3
_MOST_REASONS = 5
_MOST_IN_JSON = 50
_LONGEST = 300


def lines(comparison: Comparison, *, verbose: bool = False) -> Iterator[str]:
    """Yield the lines of a comparison; the last one is the conclusion."""
    yield f"left   {_told(comparison.left)}"
    yield f"right  {_told(comparison.right)}"
    yield (
        f"seed {comparison.seed} · dialect {comparison.dialect} · amounts within "
        f"{comparison.band} % are equal"
    )
    for cause in comparison.causes:
        yield ""
        yield from _cause(cause, comparison, verbose=verbose)
    if comparison.moving:
        yield ""
        for operation, places in sorted(comparison.moving.items()):
            names = listed(sorted(map(dotted, places)))
            yield f"moves by itself, not compared: {operation} {names}"
    if comparison.left_out:
        yield ""
        yield from _reasons(comparison, verbose=verbose)
    for note in comparison.notes:
        yield f"note: {_clean(note, comparison)}"
    yield ""
    yield comparison.conclusion


def facts(comparison: Comparison) -> dict[str, Json]:
    """Return a comparison as JSON, in the published format."""
    return {
        "format": FORMAT,
        "left": picked(comparison.left, "name", "requests", "submissions"),
        "right": picked(comparison.right, "name", "requests", "submissions"),
        "seed": comparison.seed,
        "dialect": comparison.dialect,
        "band_percent": comparison.band,
        "compared": comparison.compared,
        "equal": comparison.exit_code == 0,
        "conclusion": comparison.conclusion,
        "differences": [_difference(cause, comparison) for cause in comparison.causes],
        "moving": {
            operation: sorted(map(dotted, places))
            for operation, places in sorted(comparison.moving.items())
        },
        "left_out": {
            probe: _clean(reason, comparison)
            for probe, reason in sorted(comparison.left_out.items())
        },
        "notes": [_clean(note, comparison) for note in comparison.notes],
        "elapsed_ms": comparison.elapsed_ms,
    }


def _told(side: SideSummary) -> str:
    sent = f"{counted(side.requests, 'request')}, submissions sent: {side.submissions}"
    return f"{side.name}: {sent}"


def _cause(cause: Cause, comparison: Comparison, *, verbose: bool) -> Iterator[str]:
    where = f" at {cause.place}" if cause.place else ""
    yield f"{cause.kind}{where}: {SAYS[cause.kind]}"
    yield f"  {listed(cause.operations)}"
    most = len(cause.found) if verbose else _MOST_EXAMPLES
    for found in cause.found[:most]:
        yield from _example(found, comparison)
    if len(cause.found) > most:
        yield f"  and {len(cause.found) - most} more"


def _example(found: Found, comparison: Comparison) -> Iterator[str]:
    one = found.difference
    item = f" {_clean(one.item, comparison)}:" if one.item else ""
    left, right = _clean(one.left, comparison), _clean(one.right, comparison)
    yield f" {item} {left} | {right}"
    yield f"    {_clean(f'{found.probe}: {_asked(found)}', comparison)}"


def _asked(found: Found) -> str:
    return f"{found.left.request.method} {found.left.request.target}"


def _reasons(comparison: Comparison, *, verbose: bool) -> Iterator[str]:
    groups: dict[str, list[str]] = {}
    for probe, reason in comparison.left_out.items():
        groups.setdefault(reason, []).append(probe)
    yield f"not compared: {counted(len(comparison.left_out), 'request')}"
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    most = len(ordered) if verbose else _MOST_REASONS
    for reason, probes in ordered[:most]:
        names = listed(probes, len(probes) if verbose else 2)
        yield f"  {len(probes)} x {_clean(reason, comparison)}: {names}"
    if len(ordered) > most:
        yield f"  and {counted(len(ordered) - most, 'other reason')}; --verbose"


def _difference(cause: Cause, comparison: Comparison) -> dict[str, Json]:
    return {
        "kind": cause.kind.value,
        "place": cause.place,
        "says": SAYS[cause.kind],
        "operations": list(cause.operations),
        "count": len(cause.found),
        "examples": [
            {
                "probe": found.probe,
                "operation": found.left.operation.id,
                "request": _clean(_asked(found), comparison),
                "item": _clean(found.difference.item, comparison),
                "left": _clean(found.difference.left, comparison),
                "right": _clean(found.difference.right, comparison),
            }
            for found in cause.found[:_MOST_IN_JSON]
        ],
    }


def _clean(text: str, comparison: Comparison) -> str:
    return one_line(visible(comparison.masker.text(text)), _LONGEST)
