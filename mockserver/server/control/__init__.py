"""The control API under `/__mock/`: what a test or a person does to a world, and never a client.

Its table is imported with the first control request: many servers never get one.
"""

from typing import TYPE_CHECKING, Any

from mockserver.server.control.authorization import Guard
from mockserver.server.control.dispatcher import Control
from mockserver.server.control.route import ControlRequest, Row, ServerState

if TYPE_CHECKING:
    from mockserver.server.control.route_table import ROWS

__all__ = ["ROWS", "Control", "ControlRequest", "Guard", "Row", "ServerState"]


def __getattr__(name: str) -> Any:
    if name != "ROWS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mockserver.server.control.route_table import ROWS  # noqa: PLC0415 - as said above

    return ROWS
