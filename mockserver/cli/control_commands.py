"""Commands for a running server that are more than one request of the control API.

Commands of a single request are only in the table `commands.json`.
"""

from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from mockserver import jsontext, limits
from mockserver.cli.control_client import (
    ControlRefused,
    NoServer,
    Remote,
    pairs,
    parsed_value,
    present,
)
from mockserver.cli.files import read_input, write_output
from mockserver.cli.printing import print_list
from mockserver.engine.refusal import StateNotLoadable
from mockserver.jsontext import Json, picked


def clock_mode(remote: Remote, mode: str) -> Json:
    """Set how time passes: real, frozen, auto, client or scaled:60."""
    return remote.post("/clock", _mode_and_rate("mode", mode))


def clock_run_until(remote: Remote, order: str, status: str) -> Json:
    """Move the clock to when an ORDER (an id, or order:ID) is `terminal` or has a STATUS."""
    until = {"terminal": True} if status == "terminal" else {"status": status}
    order = order.removeprefix("order:")
    return remote.post("/clock", {"runUntil": {"order": order, **until}})


def print_clock(clock: Json) -> None:
    """Print the time of a world and how it passes."""
    rate = f", {clock['rate']} times as fast" if clock["mode"] == "scaled" else ""
    click.echo(f"{clock['now']} ({clock['mode']}{rate})")


def _mode_and_rate(name: str, mode: str) -> dict[str, Json]:
    """Return `scaled:60` as two members, of which the first has a name."""
    word, colon, rate = mode.partition(":")
    return present(**{name: word or None}, rate=parsed_value(rate) if colon else None)


def outage_load(remote: Remote, name: str, start: str | None) -> Json:
    """Add the outages of the calendar NAME: a shipped one, or a file of this machine."""
    from mockserver.scenarios import calendar_names, load_calendar
    from mockserver.times_and_durations import parse_instant

    body = present(name=name, start=start)
    if name not in calendar_names():
        begin = parse_instant(start) if start else remote.get("/clock")["ms"]
        body = {"windows": [_described(window) for window in load_calendar(name, start_ms=begin)]}
    calendar = remote.post("/calendar", body)
    if calendar["past"]:
        click.echo(f"{calendar['past']} of its outages are past already", err=True)
    return calendar


def _described(window: Any) -> dict[str, Json]:
    """Return a window in the words of the control API."""
    from mockserver.times_and_durations import iso

    members = picked(window, "chain", "token", "mode", "direction", "in_flight", "lag")
    return present(
        **members,
        **{"from": iso(window.from_ms)},
        lead=f"{window.lead_ms}ms",
        until=None if window.until_ms is None else iso(window.until_ms),
        period=f"{window.period_ms}ms",
        reason=window.reason or None,
        downPercent=window.down_percent if members["mode"] == "flapping" else None,
    )


def fault_add(remote: Remote, kind: str, operation: str | None, options: tuple[str, ...]) -> Json:
    """Disturb the answers of an OPERATION, or of all, by a fault of a KIND.

    For example: fault add latency submitOrder delay=2s first=3

    \b
    KIND                  the client sees         options
    latency               a late answer           delay, distribution, until, sigma
    http-status           an HTTP error           status, retryAfter, body
    refusal               a refusal               refusal, or code and msg
    reset-before-headers  a reset connection
    reset-after-headers   a reset after headers
    empty-answer          a closed connection
    truncated-body        half of a body
    broken-json           a body that is no JSON
    wrong-content-type    another media type      contentType
    mutation              a field that is wrong   field, change
    quota                 refusals past a limit   limit, window
    false-success         success, nothing done

    With does=done the request takes effect although the answer is lost, with does=none it
    does not. Which requests: generation, effect, phase, chain, order, first, every, probability.
    """
    meant = present(operation=operation)
    if operation is not None and "=" in operation:
        meant, options = {}, (operation, *options)
    return [remote.post("/faults", {"kind": kind, **meant, **pairs(options, _numbers_of_faults())})]


def _numbers_of_faults() -> set[str]:
    """Return the members of faults that are numbers; an order's id is a text of digits."""
    from mockserver.server.control.route_table import ROWS

    bodies = (row.body or {} for row in ROWS if (row.method, row.path) == ("POST", "/faults"))
    kinds = (kind["properties"].items() for body in bodies for kind in body["oneOf"])
    members = (member for properties in kinds for member in properties)
    return {name for name, form in members if form.get("type") in ("integer", "number")}


def print_faults(faults: Json) -> None:
    """Print faults as a table, what a kind of them takes in its last column."""
    known = {"id": "id", "kind": "kind", "does": "does", "matched": "seen", "disturbed": "struck"}

    def options(fault: Json) -> str:
        rest = fault.keys() - known.values()
        return ", ".join(f"{name}={value}" for name, value in fault.items() if name in rest)

    columns = {head: f"{{{member}}}" for head, member in known.items()}
    print_list(faults, {**columns, "options": options})


def stub_add(remote: Remote, file: str) -> Json:
    """Set the stub that a JSON FILE describes; - reads standard input."""
    try:
        described = jsontext.decode(read_input(file))
    except jsontext.NotJson as error:
        raise click.UsageError(f"{file}: {error}; expected a JSON object") from None
    return remote.post("/stubs", described)


def control(remote: Remote, method: str, path: str, body: str | None) -> Json:
    """Send a request to the control API: METHOD, PATH below /__mock, JSON BODY."""
    path, _, query = path.partition("?")
    return remote.send(
        method,
        f"/{path.lstrip('/').removeprefix('__mock').lstrip('/')}",
        query=pairs(tuple(query.split("&"))) if query else {},
        body=None if body is None else parsed_value(body),
    )


def world_new(
    remote: Remote,
    key: str,
    clock: str | None,
    app_keys: tuple[str, ...],
    breaks: tuple[str, ...],
    **options: Any,
) -> Json:
    """Create the world KEY, which answers at /w/KEY and for the header X-Mock-World.

    Its --token is that of the world; that of the server is --control-token here.
    """
    wanted = present(
        key=key,
        **_mode_and_rate("clock", clock or ""),
        appKeys=list(app_keys) or None,
        breaks=list(breaks) or None,
        **options,
    )
    remote.require_epoch()
    # Named in the head as well: what stands in front of several servers reads no bodies.
    remote.answer = remote.of_world(key).post("/worlds", wanted)
    return remote.answer


def world_fork(remote: Remote, to: str) -> Json:
    """Copy a world as it is now to the key TO, also to another server behind the same address."""
    remote.require_epoch()
    source, target = remote.key, remote.of_world(to)
    try:
        place = target.send("PUT", "/world", body={"fork": source})
    except ControlRefused as error:
        if not str(error).startswith("unknown-world"):
            raise
        place = _carried(remote, target)
    remote.answer = place
    return place


def _carried(remote: Remote, target: Remote) -> Json:
    """Make a copy of a world on another server than its own, from its dump."""
    dump = remote.get("/dump")
    # With an option, so that a world which is there already is refused and not replaced. A dump
    # has no token: what opens the source has to open the copy as well, and nothing less.
    options = present(dialect=dump["dialect"], token=remote.token)
    place = target.send("PUT", "/world", body=options)
    try:
        # App keys stay with the source, as in every copy.
        target.post("/load", {**dump, "appKeys": []})
    except ControlRefused:
        target.send("DELETE", f"/worlds/{target.world}")
        raise
    return place


def print_history(order: Json) -> None:
    """Print the events of an order and its moves of money, each as a table."""
    moved = [
        {**move, **entry, "amount": _in_tokens(entry)}
        for move in order["moves"]
        for entry in move["entries"]
    ]
    for rows, head, members in (
        (order["events"], "event", ("past", "status", "reason")),
        (moved, "move", ("past", "what", "account", "chain", "amount")),
    ):
        click.echo()
        columns = {head: "{at}"} | {member: f"{{{member}}}" for member in members}
        print_list(rows, columns)


def _in_tokens(entry: Json) -> str:
    """Return what an entry moves as people say it, as the console does: `-10 USDT`."""
    # Text of a whole number: no context of Decimal may round the digits of large amounts.
    sign, digits, _ = Decimal(entry["units"]).as_tuple()
    amount = Decimal((sign, digits, -int(entry["decimals"])))
    return f"{jsontext.plain(amount)} {entry['token']}"


def world_dump(remote: Remote, output: Path | None) -> None:
    """Write a world as JSON, for `world load`."""
    dump = remote.get("/dump")
    if not str(dump["format"]).startswith("crosschain-mock/world@"):
        raise NoServer(f"what answers at {remote.url} is no crosschain-mock, or has no dump")
    write_output(jsontext.pretty(dump) + "\n", output)


def world_load(remote: Remote, file: str) -> Json:
    """Replace a world by the one in FILE; - reads standard input."""
    try:
        dump: Json = jsontext.decode(read_input(file, limits.LOAD_BODY))
    except jsontext.NotJson as error:
        raise StateNotLoadable(f"{file}: {error}; expected the dump of a world") from None
    try:
        return remote.post("/load", dump)
    except ControlRefused as error:
        if remote.epoch not in (None, remote.answering):
            raise  # The file was not even looked at.
        raise StateNotLoadable(f"{file}: {error}") from None
