"""Control of what happens at a call: triggers, held answers, and prices that move."""

from mockserver.jsontext import Json
from mockserver.server.control.route import ControlRequest
from mockserver.worlds.trigger_actions import add_trigger, new_price
from mockserver.worlds.triggers import TriggerTally, trigger_json


def show(request: ControlRequest) -> Json:
    """Return the triggers of a world in the order set."""
    triggers = request.hosted.triggers
    return {"triggers": [trigger_json(trigger, triggers.tally(trigger)) for trigger in triggers]}


def add(request: ControlRequest) -> Json:
    return trigger_json(add_trigger(request.hosted, request.body), TriggerTally())


def remove(request: ControlRequest) -> Json:
    trigger, tally = request.hosted.triggers.remove(request.place["id"])
    return trigger_json(trigger, tally or TriggerTally())


def clear(request: ControlRequest) -> Json:
    return {"removed": request.hosted.triggers.clear()}


def release(request: ControlRequest) -> Json:
    """Send held answers: those of a name, or all that wait for no time of the clock."""
    name = request.body.get("name")
    held = request.hosted.release(
        lambda held: held.gate.due_ms is None if name is None else held.name == name
    )
    return {"released": held}


def move_price(request: ControlRequest) -> Json:
    """Set the USD price of a token from now on."""
    symbol, usd = new_price(request.hosted, request.body)
    request.hosted.move_price(symbol, usd)
    return {"token": symbol, "usd": str(usd)}
