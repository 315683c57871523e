"""Playback: answers taken from recorded exchanges.

What plays them is imported with the first world that replays: most servers have none.
"""

from typing import TYPE_CHECKING

from mockserver.exchange import Response
from mockserver.responders.responder import Call

if TYPE_CHECKING:
    from mockserver.responders.replay.outages import Simulating


class Playback:
    """Answers what was recorded, in worlds that replay.

    Strictly it refuses everything else, naming the nearest recording; otherwise it leaves the rest
    to the next responder. Outages of the world stand above what was recorded.
    """

    name = "playback"

    def __init__(self, simulation: "Simulating") -> None:
        """Take the simulation, which knows what outages make of the lists."""
        self._simulation = simulation

    def respond(self, call: Call) -> Response | None:
        """Return the recorded answer to a call; None where the world or its mode has none."""
        replay = call.hosted.replay
        if replay is None:
            return None
        from mockserver.responders.replay.player import played  # noqa: PLC0415 - as said above

        return played(call, replay, self._simulation)
