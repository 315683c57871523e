"""Where servers listen, and where commands look for one, unless an option says otherwise."""

from collections.abc import Mapping

_HOST, _PORT = "127.0.0.1", 8765
DEFAULT_URL = f"http://{_HOST}:{_PORT}"
"""The default address of servers, and of commands that use one."""

DEFAULTS: Mapping[str, str | int] = {"HOST": _HOST, "PORT": _PORT, "URL": DEFAULT_URL}
"""The defaults that the table of commands names."""
