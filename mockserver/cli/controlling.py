"""Commands that control a world of a running server: clock, outages, faults, stubs, orders.

Those that are one request of the control API are made by `asks`, or stand at the end as calls of
`plain`; made by hand are those that say more than the request.
"""

from typing import Any

import click

from mockserver.cli.printing import print_json, print_table
from mockserver.cli.remote import Remote, asks, connected, given, pairs, plain, value_of
from mockserver.cli.shared_options import with_options
from mockserver.cli.types import Word
from mockserver.jsontext import Json, picked

_MODE = Word("mockserver.engine.outages:Mode")
_DIRECTION = Word("mockserver.engine.outages:Direction")
_IN_FLIGHT = Word("mockserver.engine.outages:InFlight")
_POLICY = Word("mockserver.engine.courses:Policy")
_STATUS = Word("mockserver.engine.courses:Status")
_KIND = Word("mockserver.responders.faults:KINDS")


@click.group()
def clock() -> None:
    """Show and move the clock of a world."""


@clock.command("mode")
@click.argument("mode", metavar="{real|frozen|auto|scaled:60}")
@connected
def clock_mode(remote: Remote, mode: str) -> None:
    """Let time pass as MODE says: real, frozen, auto or scaled:60."""
    name, colon, rate = mode.partition(":")
    _clock(remote.post("/clock", given(mode=name, rate=value_of(rate) if colon else None)))


@clock.command("run-until")
@click.argument("order")
@click.argument("status", default="terminal")
@connected
def clock_run_until(remote: Remote, order: str, status: str) -> None:
    """Jump to the moment an ORDER (an id, or order:ID) is `terminal` or has a STATUS."""
    until: dict[str, Json] = {"order": order.removeprefix("order:")}
    until |= {"terminal": True} if status == "terminal" else {"status": status}
    _clock(remote.post("/clock", {"runUntil": until}))


def _clock(told: Json) -> None:
    rate = f", {told['rate']} times as fast" if told["mode"] == "scaled" else ""
    click.echo(f"{told['now']} ({told['mode']}{rate})")


@click.group()
def outage() -> None:
    """Suspend and restore chains and tokens."""


_subject = with_options(
    (
        click.argument("chain", required=False),
        click.option("--chain", "named", help="The CHAIN, as an option."),
        click.option("--token-symbol", "token", help="A token by its symbol."),
    )
)
"""Gives a command the subject of an outage."""


@outage.command("list")
@click.option("--which", type=click.Choice(["all", "active", "announced"]), default="all")
@asks("GET /outages")
def outage_list(told: Json) -> None:
    """List the outages of a world."""
    _windows(told["outages"])


@outage.command("start")
@_subject
@click.option("--mode", type=_MODE, help="What clients see; listed-dead without it.")
@click.option("--direction", type=_DIRECTION, help="Which end of a transfer is out.")
@click.option("--from", "from", help="Its beginning; now without it.")
@click.option("--until", help="Its end; open without it.")
@click.option("--for", "for", help="Its length, in place of its end.")
@click.option("--in-flight", type=_IN_FLIGHT, help="What happens to orders on their way.")
@click.option("--reason", help="Why.")
@click.option("--lead", help="How long before its beginning it is announced.")
@click.option("--lag", type=int, help="How many times slower, of mode lagging.")
@click.option("--period", help="The length of a period, of mode flapping.")
@click.option("--down-percent", type=int, help="How much of a period is down, of mode flapping.")
@asks("POST /outages", about="chain")
def outage_start(told: Json) -> None:
    """Suspend a CHAIN or a token, from now on or as planned.

    Such as: outage start BNB --mode delisted --for 9h
    """
    _windows([told])


@outage.command("end")
@_subject
@click.option("--direction", type=_DIRECTION, help="Which end of a transfer is meant.")
@click.option("--planned", is_flag=True, help="Strike off what has not begun.")
@asks("DELETE /outages", about="chain")
def outage_end(told: Json) -> None:
    """End the active outages of a CHAIN or a token."""
    _windows(told["restored"])


@outage.command("load")
@click.argument("name")
@click.option("--start", help="What times such as +2h count from; the world's now without it.")
@connected
def outage_load(remote: Remote, name: str, start: str | None) -> None:
    """Add the calendar NAME: a shipped one, or a file of this machine."""
    from mockserver.clock import parse_instant
    from mockserver.scenarios import calendar_names, load_calendar

    body = given(name=name, start=start)
    if name not in calendar_names():
        begin = parse_instant(start) if start else remote.get("/clock")["ms"]
        body = {"windows": [_told(one) for one in load_calendar(name, start_ms=begin)]}
    told = remote.post("/calendar", body)
    _windows(told["added"])
    if told["past"]:
        click.echo(f"{told['past']} of its outages are past already", err=True)


@outage.command("timeline")
@click.option("--from", "from", help="The beginning; now without it.")
@click.option("--until", help="The end.")
@click.option("--for", "for", help="The length; a week without it.")
@asks("GET /timeline")
def outage_timeline(told: Json) -> None:
    """List the outages between two moments, by subject."""
    names = ("subject", "from", "until", "mode")
    print_table(names, [[one[name] for name in names] for one in told["spans"]])


def _windows(windows: Json) -> None:
    rows = [
        (
            one["subject"],
            one["mode"],
            one["direction"],
            one["from"],
            one["until"] or "open",
            "active" if one["active"] else "",
            one["reason"],
        )
        for one in windows
    ]
    print_table(("subject", "mode", "direction", "from", "until", "", "reason"), rows)


def _told(window: Any) -> dict[str, Json]:
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


@click.group()
def fault() -> None:
    """Disturb answers on purpose."""


@fault.command("list")
@asks("GET /faults")
def fault_list(told: Json) -> None:
    """List the faults of a world with their counts."""
    known = ("id", "kind", "does", "seen", "struck")
    rows = [
        (
            *(str(one[name]) for name in known),
            ", ".join(f"{name}={value}" for name, value in one.items() if name not in known),
        )
        for one in told["faults"]
    ]
    print_table((*known, "options"), rows)


@fault.command("add")
@click.argument("kind", type=_KIND)
@click.argument("operation", required=False)
@click.argument("options", nargs=-1)
@connected
def fault_add(remote: Remote, kind: str, operation: str | None, options: tuple[str, ...]) -> None:
    """Set a fault of a KIND on an OPERATION, or on all, with OPTIONS as NAME=VALUE.

    Such as: fault add latency submitOrder delay=2s first=3
    """
    meant = given(operation=operation)
    if operation is not None and "=" in operation:
        meant, options = {}, (operation, *options)
    print_json(remote.post("/faults", {"kind": kind, **meant, **pairs(options)}))


@click.group()
def stub() -> None:
    """Put answers in front of the simulation."""


@stub.command("add")
@click.argument("file")
@connected
def stub_add(remote: Remote, file: str) -> None:
    """Set the stub that a JSON FILE describes; - reads standard input."""
    from mockserver import jsontext
    from mockserver.cli.files import read_input

    try:
        described = jsontext.decode(read_input(file))
    except jsontext.NotJson as error:
        raise click.UsageError(f"{file}: {error}; expected a JSON object") from None
    print_json(remote.post("/stubs", described))


@click.group()
def order() -> None:
    """Look at orders and steer them."""


@order.command("list")
@asks("GET /orders")
def order_list(told: Json) -> None:
    """List the orders of a world."""
    rows = [
        (
            one["id"],
            one["status"],
            f"{one['from']['token']} {one['from']['chain']}",
            f"{one['to']['token']} {one['to']['chain']}",
            one["amount"],
            one["course"],
            one["submitted"],
        )
        for one in told["orders"]
    ]
    print_table(("id", "status", "from", "to", "amount", "course", "submitted"), rows)


@order.command("steer")
@click.argument("order")
@click.argument("course", required=False)
@click.option("--policy", type=_POLICY, help="What moves it along its course.")
@asks("POST /orders/{order}")
def order_steer(told: Json) -> None:
    """Send an ORDER along another COURSE: success, slow, fail, refund, dropped, stuck, partial."""
    print_json(told)


@order.command("force")
@click.argument("order")
@click.argument("status", type=_STATUS)
@click.option("--reason", help="The reason that goes with it.")
@click.option("--policy", type=_POLICY, help="What moves it from there; by hand without it.")
@asks("POST /orders/{order}")
def order_force(told: Json) -> None:
    """Set the STATUS of an ORDER now."""
    print_json(told)


@click.command()
@asks("POST /reset")
def reset(told: Json) -> None:
    """Begin the scenario of a world anew, without faults, stubs and journal."""
    print_json(told)


@click.command()
@click.argument("method", type=click.Choice(["GET", "POST", "PUT", "DELETE"]))
@click.argument("path")
@click.argument("body", required=False)
@connected
def control(remote: Remote, method: str, path: str, body: str | None) -> None:
    """Send any request to the control API: METHOD, the PATH below /__mock, and a JSON BODY."""
    path, _, query = path.partition("?")
    parameters = pairs(tuple(query.split("&"))) if query else {}
    print_json(
        remote.send(method, path, query=parameters, body=None if body is None else value_of(body))
    )


_ADVANCE = "Move the clock forward by DURATION, such as 9h or 1h30m."
_SET = "Move the clock forward to TIME, such as 2026-01-01T00:00:00Z."
_NEXT = "Jump to the next thing that happens."
_LISTED = "List the stubs of a world and how often they answered."
_EVENTS = "Show an ORDER, by its id or v1 number, with its events."
_STEP = "Move an ORDER to the next status of its course."

plain(clock, "show", "GET /clock", "Show the time and how it passes.", told=_clock)
plain(clock, "advance", "POST /clock", _ADVANCE, "DURATION=advance", told=_clock)
plain(clock, "set", "POST /clock", _SET, "TIME=set", told=_clock)
plain(clock, "next", "POST /clock", _NEXT, body={"next": True}, told=_clock)
plain(fault, "remove", "DELETE /faults/{id}", "Take a fault away.")
plain(fault, "clear", "DELETE /faults", "Take all faults away.", told="{removed} removed")
plain(stub, "list", "GET /stubs", _LISTED, told=lambda told: print_json(told["stubs"]))
plain(stub, "remove", "DELETE /stubs/{id}", "Take a stub away.")
plain(stub, "clear", "DELETE /stubs", "Take all stubs away.", told="{removed} removed")
plain(order, "show", "GET /orders/{order}", _EVENTS)
plain(order, "step", "POST /orders/{order}", _STEP, body={"step": True})
