"""The recorder: a local proxy that keeps what a service answers."""

from mockserver.server.recorder.exchange_keeper import KeeperOptions, RecordingKeeper, keep_all
from mockserver.server.recorder.proxy import RecordingProxy, record
from mockserver.server.recorder.upstream import ProxyOptions

__all__ = [
    "KeeperOptions",
    "ProxyOptions",
    "RecordingKeeper",
    "RecordingProxy",
    "keep_all",
    "record",
]
