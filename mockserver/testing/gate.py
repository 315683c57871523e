"""One caller at a time: the loop that answers clients and the test that moves the world."""

import threading

from mockserver.exchange import Request, Response
from mockserver.responders.delivery import Delivery
from mockserver.server.service import Service


class Gate:
    """A service behind a lock. Answers take less than a millisecond, so nobody waits long."""

    def __init__(self, service: Service) -> None:
        """Guard a service; `lock` is held while anybody works on its worlds."""
        self.service = service
        self.lock = threading.RLock()

    def answer(self, request: Request) -> Delivery:
        """Return the answer to a request."""
        with self.lock:
            return self.service.answer(request)

    def refuse(self, request: Request, name: str, reason: str) -> Response:
        """Return the refusal of a request that could not be read."""
        with self.lock:
            return self.service.refuse(request, name, reason)
