"""The recorder: a local proxy that keeps what a service answers."""

from mockserver.server.recorder.keeper import Keeper, KeeperOptions, keep_all
from mockserver.server.recorder.proxy import RecordingProxy, record
from mockserver.server.recorder.upstream import ProxyOptions

__all__ = ["Keeper", "KeeperOptions", "ProxyOptions", "RecordingProxy", "keep_all", "record"]
