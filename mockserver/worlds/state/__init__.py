"""Worlds on a disk: what a client was told of survives the process.

Imported by servers with `--state` alone; the others need no SQLite.
"""

from mockserver.worlds.state.errors import NotKept
from mockserver.worlds.state.folder import arrange, opened
from mockserver.worlds.state.sqlite_file import Hold, StateFile, Sync
from mockserver.worlds.state.world_keeper import Keeper

__all__ = ["Hold", "Keeper", "NotKept", "StateFile", "Sync", "arrange", "opened"]
