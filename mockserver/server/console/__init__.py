"""The console: pages for people, plain files that a browser shows and that call the control API."""

from mockserver.server.console.files import page
from mockserver.server.console.front import front, wants_front

__all__ = ["front", "page", "wants_front"]
