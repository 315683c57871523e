"""A server that answers with whatever bytes a test likes, one connection after the other."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Talk = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]
"""Is given the head and body of a request, and writes the answer."""


@dataclass
class RawServer:
    """Where it listens, and every request that came."""

    port: int = 0
    requests: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def lines(self) -> list[str]:
        """The first line of each request."""
        return [request.partition(b"\r\n")[0].decode("latin-1") for request in self.requests]


@contextmanager
def raw_server(talk: Talk) -> Iterator[RawServer]:
    """Answer every request with what `talk` writes, then close the connection."""
    server = RawServer()
    loop = asyncio.new_event_loop()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _request(reader)
            if request:
                server.requests.append(request)
                await talk(request, writer)
            writer.close()
            await writer.wait_closed()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def wait_for(work):
        return asyncio.run_coroutine_threadsafe(work, loop).result(60)

    listening = wait_for(asyncio.start_server(serve, "127.0.0.1", 0))
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:

        async def stop() -> None:
            # A connection that is being accepted while the listener closes would stay open.
            loop.remove_reader(listening.sockets[0])
            for _ in range(3):
                await asyncio.sleep(0)
            listening.close()
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        wait_for(stop())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()


async def _request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        (
            int(line.partition(b":")[2])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        ),
        0,
    )
    return head + await reader.readexactly(length)


def saying(answer: bytes) -> Talk:
    """Return a server's way of always writing the same bytes."""

    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()

    return talk


def http(
    body: bytes, *headers: str, status: str = "200 OK", kind: str = "application/json"
) -> bytes:
    """Return a whole HTTP answer."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, *headers, "Connection: close", "", ""]).encode("latin-1") + body
