"""The second service on a socket: for tests, and by hand with ``python -m tests.blind.serve``."""

import argparse
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.blind.faults import FAULTS
from tests.blind.regions import REGIONS
from tests.blind.rows import Row
from tests.blind.service import Service
from tests.blind.variations import VARIATIONS
from tests.blind.wire import Answer

_LONGEST_BODY = 1 << 20
Wait = Callable[[float], object]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    timeout = 30
    server: "_Server"

    def _serve(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > _LONGEST_BODY:
            self.close_connection = True
            self.send_error(413)
            return
        body = self.rfile.read(int(length))
        headers = dict(self.headers.items())
        method = "GET" if self.command == "HEAD" else self.command
        try:
            # Without what stands before the path where the target is a whole address.
            target = re.sub(r"^https?://[^/]*", "", self.path)
            answer = self.server.service.receive(method, target, headers, body)
        except Exception as error:
            self.server.failures.append(error)
            raise
        if answer.delay:
            self.server.wait(answer.delay)
        if answer.hang_up:
            self.close_connection = True
            return
        self._write(answer)

    def _write(self, answer: Answer) -> None:
        payload = answer.encoded()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.chunked:
            self.send_header("Transfer-Encoding", "chunked")
            payload = b"%x\r\n%s\r\n0\r\n\r\n" % (len(payload), payload)
        elif "Content-Length" not in answer.headers:
            self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(payload[: len(payload) - answer.unsent])
        if answer.unsent or answer.headers.get("Connection") == "close":
            self.close_connection = True

    do_GET = do_POST = do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = _serve  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: tests read their own assertions."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, service: Service, port: int = 0, wait: Wait | None = None) -> None:
        self.service = service
        self.stopping = threading.Event()
        self.wait: Wait = wait or self.stopping.wait
        self.failures: list[Exception] = []
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is no news."""


def fault_rows(names: Sequence[str]) -> list[Row]:
    """Faults and regions by name; ``KeyError`` for a name that is none."""
    return [{**FAULTS, **REGIONS}[name] for name in names]


@contextmanager
def blind_service(
    faults: Sequence[str] = (),
    variations: Sequence[str] = (),
    port: int = 0,
    rows: Sequence[Row] = (),
    wait: Wait | None = None,
) -> Iterator[str]:
    """The base address of a running service, of both generations.

    ``faults`` are faults by name, ``rows`` further ones that stand in no list. ``wait`` is called
    with the seconds of each delay, in place of waiting for them.

    Raises ``ExceptionGroup`` afterwards where the service itself has failed, whatever was asked.
    """
    service = Service([*fault_rows(faults), *rows], [VARIATIONS[name] for name in variations])
    server = _Server(service, port, wait)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join(60)
    if server.failures:
        raise ExceptionGroup("the service failed by itself", server.failures)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.blind.serve", description=__doc__)
    known = sorted([*FAULTS, *REGIONS])
    parser.add_argument("--fault", action="append", default=[], choices=known, metavar="NAME")
    parser.add_argument(
        "--variation", action="append", default=[], choices=sorted(VARIATIONS), metavar="NAME"
    )
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="name everything that can be asked for")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted, or list what there is."""
    options = _options(arguments)
    if options.list:
        for kind, rows in (("fault", FAULTS), ("region", REGIONS), ("variation", VARIATIONS)):
            for row in rows.values():
                sys.stdout.write(
                    f"{kind}\t{row.name}\t{row.shows}\t{row.section}\t{row.sentence}\n"
                )
        return
    with blind_service(options.fault, options.variation, options.port) as url:
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
