"""pytest-httpserver with a handler for each operation; it keeps a log of what came.

Run: `python -m benchmarks.peers.httpserver DATA.json`. It closes a connection after each answer.
"""

import json
import signal
import sys
from collections.abc import Callable
from threading import Event
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from benchmarks.peers.work import Work


def main() -> None:
    work, ended = Work(sys.argv[1]), Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    handlers: dict[str, Callable[[Request], dict[str, Any]]] = {
        "/v1/getChain": lambda _: work.chains(),
        "/v1/getBridgeQuote": lambda request: work.quote(request.args),
        "/v1/submitOrder": lambda request: work.submit(request.get_json()),
        "/v1/checkOrder": lambda request: work.check(request.args),
    }
    server = HTTPServer(host="127.0.0.1", threaded=True)
    for path, handler in handlers.items():
        server.expect_request(path).respond_with_handler(_answering(handler))
    server.start()
    sys.stdout.write(f"ready on {server.url_for('')}\n")
    sys.stdout.flush()
    ended.wait()
    server.stop()


def _answering(handler: Callable[[Request], dict[str, Any]]) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        return Response(json.dumps(handler(request)), content_type="application/json")

    return answer


if __name__ == "__main__":
    main()
