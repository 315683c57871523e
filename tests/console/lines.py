"""What stands around the console in a test: a line that can be cut, a page of another origin."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Relay:
    """A line between the browser and a server that can be cut and mended."""

    def __init__(self, target: int) -> None:
        """Lead to a port of this machine."""
        self._target = target
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._broken = threading.Event()
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> "Relay":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        self._thread.join(60)

    def cut(self) -> None:
        """End every connection, and take no other."""
        self._broken.set()
        for one in self._open:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        self._open = []

    def mend(self) -> None:
        """Take connections again."""
        self._broken.clear()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if self._broken.is_set():
                near.close()
                continue
            far = socket.create_connection(("127.0.0.1", self._target))
            self._open += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=_copy, args=(one, other), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while part := source.recv(65_536):
            target.sendall(part)
    except OSError:
        pass
    for one in (source, target):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            continue
    source.close()


class OnePage:
    """A server with one page."""

    def __init__(self, body: bytes) -> None:
        """Answer everything with it."""

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self) -> int:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return int(self._server.server_address[1])

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
