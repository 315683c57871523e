"""Has a process ready what the server of a test needs, so that its forks have it at once."""

import gc
import sys

from mockserver.http_messages import Headers, Request
from mockserver.testing.server import MockServer
from mockserver.testing.settings import MockSettings
from mockserver.worlds.trigger_actions import add_trigger


def warm(cache: str) -> None:
    """Read, compile and import what a suite uses; what its forks compile goes to a folder."""
    mock = MockServer(MockSettings(refusals="allow", unused="allow"))
    with mock.default.hosted() as hosted:
        operations = list(hosted.contract)
        hosted.faults.add(
            {"kind": "http-status", "status": 503}, hosted.contract, hosted.world.scenario
        )
        add_trigger(hosted, {"steer": "dropped"})
        hosted.faults.clear()
    for operation in operations:
        # Refused, but the form of its input is compiled.
        request = Request(operation.method, operation.path, "", Headers(()), b"{}")
        mock.locked.respond(request)
    sys.dont_write_bytecode, sys.pycache_prefix = False, cache
    # What lives on is not searched for garbage in each fork, whose memory stays shared so.
    gc.collect()
    gc.freeze()
