"""The control API under `/__mock/`: what a test or a person does to a world, and never a client."""

from mockserver.server.control.desk import Control
from mockserver.server.control.guard import Guard
from mockserver.server.control.row import Asked, House, Row
from mockserver.server.control.table import ROWS

__all__ = ["ROWS", "Asked", "Control", "Guard", "House", "Row"]
