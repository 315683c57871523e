"""Commands that say more to a running server than one request of the control API.

Those that are one request stand in the table `commands.json` alone.
"""

from pathlib import Path
from typing import Any

import click

from mockserver import jsontext, limits
from mockserver.cli.files import put, read_input
from mockserver.cli.printing import print_json, print_table
from mockserver.cli.remote import NotDone, Remote, given, pairs, value_of
from mockserver.errors import CrosschainMockError
from mockserver.jsontext import Json, picked


class NotLoadable(CrosschainMockError):
    """A file that does not become a world."""

    exit_code = 4


def clock_mode(remote: Remote, mode: str) -> None:
    """Set how time passes: real, frozen, auto or scaled:60."""
    print_clock(remote.post("/clock", _mode_and_rate("mode", mode)))


def clock_run_until(remote: Remote, order: str, status: str) -> None:
    """Move the clock to when an ORDER (an id, or order:ID) is `terminal` or has a STATUS."""
    until = {"terminal": True} if status == "terminal" else {"status": status}
    order = order.removeprefix("order:")
    print_clock(remote.post("/clock", {"runUntil": {"order": order, **until}}))


def print_clock(clock: Json) -> None:
    """Print the time of a world and how it passes."""
    rate = f", {clock['rate']} times as fast" if clock["mode"] == "scaled" else ""
    click.echo(f"{clock['now']} ({clock['mode']}{rate})")


def _mode_and_rate(name: str, mode: str) -> dict[str, Json]:
    """Return `scaled:60` as two members, of which the first has a name."""
    word, colon, rate = mode.partition(":")
    return given(**{name: word or None}, rate=value_of(rate) if colon else None)


def outage_load(remote: Remote, name: str, start: str | None) -> None:
    """Add the outages of the calendar NAME: a shipped one, or a file of this machine."""
    from mockserver.clock import parse_instant
    from mockserver.scenarios import calendar_names, load_calendar

    body = given(name=name, start=start)
    if name not in calendar_names():
        begin = parse_instant(start) if start else remote.get("/clock")["ms"]
        body = {"windows": [_described(one) for one in load_calendar(name, start_ms=begin)]}
    calendar = remote.post("/calendar", body)
    print_outages(calendar["added"])
    if calendar["past"]:
        click.echo(f"{calendar['past']} of its outages are past already", err=True)


def print_outages(outages: Json) -> None:
    """Print one outage or several as a table."""
    rows = [
        (
            *(one[name] for name in ("subject", "mode", "direction", "from")),
            one["until"] or "open",
            "yes" if one["active"] else "no",
            one["reason"],
        )
        for one in (outages if isinstance(outages, list) else [outages])
    ]
    print_table(("subject", "mode", "direction", "from", "until", "active", "reason"), rows)


def _described(window: Any) -> dict[str, Json]:
    """Return a window in the words of the control API."""
    from mockserver.clock import iso

    said = picked(window, "chain", "token", "mode", "direction", "in_flight", "lag")
    times = {"from": iso(window.from_ms), "lead": f"{window.lead_ms}ms"}
    return given(
        **said,
        **times,
        until=None if window.until_ms is None else iso(window.until_ms),
        period=f"{window.period_ms}ms",
        reason=window.reason or None,
        downPercent=window.down_percent if said["mode"] == "flapping" else None,
    )


def fault_add(remote: Remote, kind: str, operation: str | None, options: tuple[str, ...]) -> None:
    """Disturb the answers of an OPERATION, or of all, by a fault of a KIND.

    For example: fault add latency submitOrder delay=2s first=3

    \b
    KIND                  the client sees           options
    latency               a late answer             delay, distribution, until, sigma
    http-status           an HTTP error             status, retryAfter, body
    refusal               a refusal                 refusal, or code and msg
    reset-before-headers  a reset connection
    reset-after-headers   a reset after headers
    empty-answer          a closed connection
    truncated-body        half of a body
    broken-json           a body that is no JSON
    wrong-content-type    another media type        contentType
    mutation              a field that is wrong     field, change
    quota                 refusals above a limit    limit, window
    false-success         a success; nothing done

    With does=done the request takes effect although the answer is lost, with does=none it
    does not. Which requests: generation, effect, phase, chain, order, first, every, probability.
    """
    meant = given(operation=operation)
    if operation is not None and "=" in operation:
        meant, options = {}, (operation, *options)
    print_faults([remote.post("/faults", {"kind": kind, **meant, **pairs(options)})])


def print_faults(faults: Json) -> None:
    """Print faults as a table, what a kind of them takes in its last column."""
    known = ("id", "kind", "does", "seen", "struck")
    rows = [
        (
            *(str(one[name]) for name in known),
            ", ".join(f"{name}={value}" for name, value in one.items() if name not in known),
        )
        for one in faults
    ]
    print_table(("id", "kind", "does", "matched", "disturbed", "options"), rows)


def stub_add(remote: Remote, file: str) -> None:
    """Set the stub that a JSON FILE describes; - reads standard input."""
    try:
        described = jsontext.decode(read_input(file))
    except jsontext.NotJson as error:
        raise click.UsageError(f"{file}: {error}; expected a JSON object") from None
    print_json(remote.post("/stubs", described))


def print_stubs(stubs: Json) -> None:
    """Print stubs as a table, what they match and answer as JSON."""
    rows = [
        (
            *(str(one.get(name, "")) for name in ("id", "operation", "used", "times")),
            jsontext.encode(one["match"]).decode() if "match" in one else "",
            jsontext.encode(one["response"]).decode(),
        )
        for one in stubs
    ]
    print_table(("id", "operation", "used", "times", "match", "response"), rows)


def control(remote: Remote, method: str, path: str, body: str | None) -> None:
    """Send a request to the control API: METHOD, PATH below /__mock, JSON BODY."""
    path, _, query = path.partition("?")
    parameters = pairs(tuple(query.split("&"))) if query else {}
    print_json(
        remote.send(method, path, query=parameters, body=None if body is None else value_of(body))
    )


def world_new(
    remote: Remote,
    key: str,
    clock: str | None,
    app_keys: tuple[str, ...],
    breaks: tuple[str, ...],
    **options: Any,
) -> None:
    """Create the world KEY, which answers at /w/KEY and for the header X-Mock-World."""
    body = given(
        key=key,
        **_mode_and_rate("clock", clock or ""),
        appKeys=list(app_keys) or None,
        breaks=list(breaks) or None,
        **options,
    )
    print_worlds(remote.post("/worlds", body))


def print_worlds(worlds: Json) -> None:
    """Print one world or several as a table."""
    names = ("key", "scenario", "dialect", "clock", "now", "orders", "requests")
    found = worlds if isinstance(worlds, list) else [worlds]
    print_table(names, [[str(one[name]) for name in names] for one in found])


def print_orders(orders: Json) -> None:
    """Print one order or several as a table; amounts are in smallest units of the source."""
    heads = ("id", "status", "from", "to", "smallest units", "course", "submitted")
    rows = [
        (
            *(one["id"], one["status"]),
            *(f"{one[end]['token']} {one[end]['chain']}" for end in ("from", "to")),
            *(one["amount"], one["course"], one["submitted"]),
        )
        for one in (orders if isinstance(orders, list) else [orders])
    ]
    print_table(heads, rows)


def world_dump(remote: Remote, output: Path | None) -> None:
    """Write a world as JSON, for `world load`."""
    put(jsontext.pretty(remote.get("/dump")) + "\n", output)


def world_load(remote: Remote, file: str) -> None:
    """Replace a world by the one in FILE; - reads standard input."""
    try:
        dump: Json = jsontext.decode(read_input(file, limits.LOAD_BODY))
    except jsontext.NotJson as error:
        raise NotLoadable(f"{file}: {error}; expected the dump of a world") from None
    try:
        print_worlds(remote.post("/load", dump))
    except NotDone as error:
        raise NotLoadable(f"{file}: {error}") from None
