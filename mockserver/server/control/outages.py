"""Control of outages: suspended, restored, loaded as a calendar, and drawn as a time line."""

from collections.abc import Mapping

from mockserver import jsontext, limits, scenarios
from mockserver.engine.outages import Direction, Window
from mockserver.engine.world import World
from mockserver.jsontext import Json
from mockserver.responders.control_forms import BadControl, instant_ms
from mockserver.server.control.route import ControlRequest
from mockserver.suggestions import did_you_mean
from mockserver.times_and_durations import iso
from mockserver.worlds.outage_windows import times_of, window_of

_MOST = limits.OUTAGES.most
_WEEK_MS = 7 * 86_400_000


def show(request: ControlRequest) -> Json:
    """Return the outages of a world: all, the active or the announced ones."""
    outages, now = request.hosted.world.outages, request.hosted.world.now()
    which = request.query.get("which", "all")
    windows = {"all": outages.all, "active": outages.active, "announced": outages.announced}
    return {"now": iso(now), "outages": [outage_json(window, now) for window in windows[which]()]}


def suspend(request: ControlRequest) -> Json:
    """Suspend a chain or a token, from now on or from a time, until restored or until a time."""
    world = request.hosted.world
    _room(world, 1)
    window = request.hosted.suspend(window_of(request.body, world.now()))
    return outage_json(window, world.now())


def restore(request: ControlRequest) -> Json:
    """End the active outages of a chain, a token, or a token on a chain; or strike planned ones."""
    settings = {**request.query, **request.body}
    if not (settings.get("chain") or settings.get("token")):
        raise BadControl("name the 'chain' or the 'token' to restore")
    direction = Direction(settings["direction"]) if "direction" in settings else None
    world = request.hosted.world
    end = world.outages.cancel if settings.get("planned") else world.outages.restore
    ended = end(settings.get("chain"), settings.get("token"), direction)
    return {"restored": [outage_json(window, world.now()) for window in ended]}


def calendar(request: ControlRequest) -> Json:
    """Add a shipped calendar, or several outages at once; all of them or none."""
    body, world = request.body, request.hosted.world
    if ("name" in body) == ("windows" in body):
        raise BadControl("body: give either 'name', a shipped calendar, or 'windows'")
    if "windows" in body and "start" in body:
        raise BadControl("body field 'start': goes with 'name'; outages have times of their own")
    now = world.now()
    windows = (
        _shipped(body, world)
        if "name" in body
        else tuple(window_of(item, now) for item in body["windows"])
    )
    ahead = [window for window in windows if window.until_ms is None or window.until_ms > now]
    _room(world, len(ahead))
    added = world.outages.suspend_all(ahead)
    return {
        "added": [outage_json(window, now) for window in added],
        "past": len(windows) - len(added),
    }


def timeline(request: ControlRequest) -> Json:
    """Return the outages between two moments, by subject, cut to them."""
    world, query = request.hosted.world, request.query
    begin, end = times_of(query, world.now(), "query")
    end = begin + _WEEK_MS if end is None else end
    if end <= begin:
        raise BadControl("query parameter 'until': not later than the beginning")
    return {
        "from": iso(begin),
        "until": iso(end),
        "spans": [
            {
                "subject": span.subject,
                "from": iso(span.from_ms),
                "until": iso(span.until_ms),
                **jsontext.picked(span.window, "mode", "direction", "reason"),
            }
            for span in world.outages.calendar.timeline(begin, end)
        ],
    }


def outage_json(window: Window, now_ms: int) -> dict[str, Json]:
    """Return an outage as the control API shows it; durations in milliseconds."""
    return {
        **jsontext.picked(window, "subject", "chain", "token", "mode", "direction", "in_flight"),
        "from": iso(window.from_ms),
        "until": None if window.until_ms is None else iso(window.until_ms),
        "active": window.covers(now_ms),
        "reason": window.reason,
        "lead": window.lead_ms,
        "lag": window.lag,
        "period": window.period_ms,
        "downPercent": window.down_percent,
    }


def _shipped(body: Mapping[str, Json], world: World) -> tuple[Window, ...]:
    name, names = body["name"], scenarios.calendar_names()
    if name not in names:
        near = f"{did_you_mean(name, names)} ({', '.join(names)})"
        raise BadControl(f"body field 'name': {name!r} is no shipped calendar{near}")
    start = instant_ms(body["start"]) if "start" in body else world.now()
    return scenarios.load_calendar(
        name, start_ms=start, catalog=world.scenario.catalog, seed=world.scenario.seed
    )


def _room(world: World, wanted: int) -> None:
    if len(world.outages.all()) + wanted > _MOST:
        raise BadControl(f"a world has at most {_MOST} outages; restore or reset first")
