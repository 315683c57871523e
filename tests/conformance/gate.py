"""A server in front of the mock that counts what comes, and can keep one request waiting."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Gate:
    """Counts requests; the one that `holds` wants is passed on, but its answer never comes."""

    def __init__(self, behind: str) -> None:
        self.behind = urlsplit(behind)
        self.url = ""
        self.requests: list[str] = []
        self.holds = lambda line: False
        self.held = threading.Event()
        self._open = threading.Event()

    def release(self) -> None:
        """Let go of what waits, and hold nothing any more."""
        self.holds = lambda line: False
        self._open.set()

    def pass_on(self, handler: BaseHTTPRequestHandler) -> None:
        line = f"{handler.command} {handler.path.partition('?')[0]}"
        self.requests.append(line)
        length = int(handler.headers.get("Content-Length", 0))
        body = handler.rfile.read(length)
        connection = http.client.HTTPConnection(self.behind.netloc, timeout=60)
        headers = {name: value for name, value in handler.headers.items() if name != "Host"}
        connection.request(handler.command, self.behind.path + handler.path, body, headers)
        answer = connection.getresponse()
        raw = answer.read()
        connection.close()
        if self.holds(line):
            self.held.set()
            self._open.wait(60)
            handler.close_connection = True
            return
        handler.send_response(answer.status)
        for name, value in answer.getheaders():
            if name in ("Content-Type", "Content-Length"):
                handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(raw)


@contextmanager
def gate(behind: str) -> Iterator[Gate]:
    """Listen in a thread."""
    made = Gate(behind)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            made.pass_on(self)

        def log_message(self, *args):
            pass

    for method in ("POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"):
        setattr(Handler, f"do_{method}", Handler.do_GET)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.release()
        server.shutdown()
        server.server_close()
        thread.join()
