"""The mock inside the process of a test: servers, worlds, and what a test may do to them."""

from mockserver.testing.clock import MockClock
from mockserver.testing.expecting import ExpectedRefusal, MockCheckFailed
from mockserver.testing.orders import MockOrders
from mockserver.testing.running import running, serving
from mockserver.testing.server import CrosschainMock
from mockserver.testing.settings import BadSetting, MockSettings
from mockserver.testing.world import MockWorld

__all__ = [
    "BadSetting",
    "CrosschainMock",
    "ExpectedRefusal",
    "MockCheckFailed",
    "MockClock",
    "MockOrders",
    "MockSettings",
    "MockWorld",
    "running",
    "serving",
]
