"""The mock inside the process of a test: servers, worlds, and what a test may do to them.

`world.py` is what the fixture `crosschain_mock` gives; the fixtures themselves are in
`mockserver/pytest_plugin.py`.
"""

from mockserver.errors import CrosschainMockError
from mockserver.testing.clock import MockClock
from mockserver.testing.expected_refusals import ExpectedRefusal, MockCheckFailed
from mockserver.testing.options import (
    AuditKind,
    Course,
    FaultKind,
    OrderStatus,
    OutageMode,
    WrongWord,
)
from mockserver.testing.orders import MockOrders, UnknownOrder
from mockserver.testing.running import replay_capsule, running, serving
from mockserver.testing.server import MockServer
from mockserver.testing.settings import BadSetting, MockSettings
from mockserver.testing.world import MockWorld

CrosschainMock = MockServer
"""The former name of `MockServer`, which could be taken for the fixture `crosschain_mock`."""

__all__ = [
    "AuditKind",
    "BadSetting",
    "Course",
    "CrosschainMock",
    "CrosschainMockError",
    "ExpectedRefusal",
    "FaultKind",
    "MockCheckFailed",
    "MockClock",
    "MockOrders",
    "MockServer",
    "MockSettings",
    "MockWorld",
    "OrderStatus",
    "OutageMode",
    "UnknownOrder",
    "WrongWord",
    "replay_capsule",
    "running",
    "serving",
]
