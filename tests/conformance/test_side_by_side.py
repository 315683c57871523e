"""A run that sends side by side finds the same, in the same order, as one that does not."""

import asyncio
import threading
from contextlib import contextmanager

import pytest
from aiohttp import ClientSession, web

from mockserver.conformance import run
from mockserver.testing import running


class Slow:
    """A gateway before the mock that counts how many requests are under way at once."""

    def __init__(self, upstream):
        self.upstream = upstream
        self.under_way = self.most = self.came = 0

    async def answer(self, request):
        self.came += 1
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await asyncio.sleep(0.02)
            body = await request.read()
            headers = {name: value for name, value in request.headers.items() if name != "Host"}
            async with (
                ClientSession(auto_decompress=False) as session,
                session.request(
                    request.method, self.upstream + request.raw_path, data=body, headers=headers
                ) as came,
            ):
                kept = {
                    name: value
                    for name, value in came.headers.items()
                    if name.lower() not in ("content-length", "transfer-encoding", "connection")
                }
                return web.Response(status=came.status, body=await came.read(), headers=kept)
        finally:
            self.under_way -= 1


@contextmanager
def gateway(upstream):
    """Run the gateway in a thread, and yield it with its address."""
    slow, loop, ready = Slow(upstream), asyncio.new_event_loop(), threading.Event()
    address = []

    async def start():
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", slow.answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        address.append(f"http://127.0.0.1:{runner.addresses[0][1]}")
        ready.set()
        return runner

    def serve():
        runner = loop.run_until_complete(start())
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())

    thread = threading.Thread(target=serve)
    thread.start()
    ready.wait()
    try:
        yield slow, address[0]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def judged(broken, concurrency):
    """Judge a broken mock behind the gateway."""
    with (
        running(clock="auto", refusals="allow", breaks=broken) as mock,
        gateway(mock.url) as (slow, url),
    ):
        result = run(url, edges=False, delivery=False, examples=0, concurrency=concurrency)
    findings = [
        (outcome.id, outcome.verdict, [finding.message for finding in outcome.findings])
        for outcome in result.outcomes
    ]
    return slow, findings, [exchange.probe for exchange in result.exchanges]


@pytest.mark.parametrize(
    "broken",
    [
        ("bridge-whole-tokens", "envelope-msg-missing"),
        # Fewer findings, whose order is a part of that of the above.
        pytest.param((), marks=pytest.mark.deep),
        pytest.param(("chain-filter-ignored",), marks=pytest.mark.deep),
    ],
)
def test_findings_and_their_order_are_the_same(broken):
    one, findings, probes = judged(broken, 1)
    eight, same_findings, same_probes = judged(broken, 8)
    assert one.most == 1
    assert 4 <= eight.most <= 8
    assert same_probes == probes
    assert same_findings == findings
    assert any(messages for _, _, messages in findings) == bool(broken)


def test_a_budget_is_kept_to_the_last_request():
    with (
        running(clock="auto", refusals="allow") as mock,
        gateway(mock.url) as (slow, url),
    ):
        run(url, edges=True, delivery=False, examples=0, budget=350, concurrency=7)
    assert slow.came == 350
