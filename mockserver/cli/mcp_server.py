"""`crosschain-mock mcp`: the mock for agents, as tools of the Model Context Protocol on stdio."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, urlencode

import click

from mockserver import __version__
from mockserver.jsontext import Json
from mockserver.mock_headers import CONTROL_PATH, EPOCH_HEADER

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from mockserver.testing import MockServer

_MOST_TEXT = 20_000
_INSTRUCTIONS = (
    "A mock of a cross-chain transfer and swap service. Point the client under test at the address "
    "that `world` returns, run it, then ask `journal`, `check` and `audit` what went wrong."
)


def mcp() -> None:
    """Offer the mock to agents, as tools of the Model Context Protocol on stdio."""
    try:
        import mcp.server  # noqa: F401
    except ImportError:
        raise click.ClickException(
            "the package `mcp` is missing: pip install 'crosschain-mock[mcp]'"
        ) from None
    from mockserver.testing import running

    with running(clock="frozen") as server:
        tools_of(server).run("stdio")


class _Worlds:
    """The worlds of one server, steered by its control API."""

    def __init__(self, server: "MockServer") -> None:
        self._server = server
        self.epoch = ""
        """The epoch of the world that answered last."""

    def address(self, world: str) -> str:
        return f"{self._server.url}/w/{quote(world, safe='')}"

    def call(
        self,
        world: str,
        method: str,
        path: str,
        body: Json = None,
        *,
        epoch: str | None = None,
        **query: Json,
    ) -> str:
        """Return the answer of the control API, or its sentence where it cannot be carried out.

        A world that is not of the `epoch` is left alone.
        """
        shown = {key: value for key, value in query.items() if value is not None}
        target = f"{self.address(world)}{CONTROL_PATH}{path}"
        target += f"?{urlencode(shown)}" if shown else ""
        raw = None if body is None else json.dumps(body).encode()
        named = {} if epoch is None else {EPOCH_HEADER: epoch}
        request = urllib.request.Request(target, raw, named, method=method)  # noqa: S310 - our own
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - as above
                self.epoch = answer.headers[EPOCH_HEADER]
                return str(answer.read().decode())[:_MOST_TEXT]
        except urllib.error.HTTPError as error:
            return f"not carried out: {json.loads(error.read())['error']}"


def _printed(*arguments: str) -> str:
    """Return what a command of ours prints."""
    command = [sys.executable, "-m", "mockserver", *arguments]
    ended = subprocess.run(  # noqa: S603 - the arguments are checked by the command
        command, capture_output=True, text=True, timeout=600, check=False, stdin=subprocess.DEVNULL
    )
    return f"{ended.stdout}{ended.stderr}exit code {ended.returncode}"[-_MOST_TEXT:]


def tools_of(server: "MockServer") -> "MCPServer[Any]":
    """Return the tools, twelve at most: each of their descriptions costs an agent tokens."""
    from mcp.server import MCPServer

    tools: MCPServer[Any] = MCPServer(
        "crosschain-mock", instructions=_INSTRUCTIONS, version=__version__
    )
    worlds = _Worlds(server)

    @tools.tool(structured_output=False)
    def world(name: str = "default", scenario: str | None = None, fresh: bool = False) -> str:
        """Choose or make a world and get its base address (both generations). Scenarios: default, outage, slow, failing-orders. `fresh` begins it anew."""
        made = ""
        if scenario is not None:
            made = worlds.call(
                "default", "POST", "/worlds", {"key": name, "scenario": scenario, "clock": "frozen"}
            )
        elif fresh:
            made = worlds.call(name, "POST", "/reset", {})
        clock = worlds.call(name, "GET", "/clock")  # The answer names the epoch.
        shown = made or clock
        return f"base address: {worlds.address(name)}\nepoch: {worlds.epoch}\n{shown}"

    @tools.tool(structured_output=False)
    def journal(
        world: str = "default",
        operation: str | None = None,
        refused: bool | None = None,
        limit: int = 10,
        epoch: str | None = None,
    ) -> str:
        """What requests came to a world, what was answered, and why one was refused, with the nearest valid form."""
        flag = None if refused is None else str(refused).lower()
        return worlds.call(
            *(world, "GET", "/journal"),
            epoch=epoch,
            operation=operation,
            refused=flag,
            limit=limit,
        )

    @tools.tool(structured_output=False)
    def advance(duration: str, world: str = "default") -> str:
        """Move a world's clock forward, by e.g. '5m'."""
        return worlds.call(world, "POST", "/clock", {"advance": duration})

    @tools.tool(structured_output=False)
    def outage(
        chain: str,
        mode: Literal[
            "delisted", "disabled", "listed-dead", "quote-only", "accept-stall", "end"
        ] = "listed-dead",
        world: str = "default",
    ) -> str:
        """Suspend a chain (nickname such as BNB), or `end` its outage."""
        if mode == "end":
            return worlds.call(world, "DELETE", "/outages", chain=chain)
        return worlds.call(world, "POST", "/outages", {"chain": chain, "mode": mode})

    @tools.tool(structured_output=False)
    def fault(
        operation: str,
        kind: Literal[
            "http-status", "latency", "reset-before-headers", "truncated-body", "refusal"
        ],
        options: dict[str, Any] | None = None,
        world: str = "default",
    ) -> str:
        """Disturb answers. options: first, nth, does (done or none), status, delay, refusal."""
        return worlds.call(
            world, "POST", "/faults", {"operation": operation, "kind": kind, **(options or {})}
        )

    @tools.tool(structured_output=False)
    def orders(
        order: str | None = None,
        course: str | None = None,
        world: str = "default",
        epoch: str | None = None,
    ) -> str:
        """List orders, show one, or send one along another course (success, refund, fail, dropped)."""
        if order is None:
            return worlds.call(world, "GET", "/orders", epoch=epoch, limit=50)
        method, body = ("GET", None) if course is None else ("POST", {"course": course})
        return worlds.call(world, method, f"/orders/{order}", body, epoch=epoch)

    @tools.tool(structured_output=False)
    def check(world: str = "default", epoch: str | None = None) -> str:
        """What a test should fail for: unexpected refusals, faults and stubs that met no request, defects. With the `epoch` that `world` told, a world that was made anew is refused, here and in journal, orders, audit."""
        return worlds.call(world, "GET", "/check", epoch=epoch)

    @tools.tool(structured_output=False)
    def audit(world: str = "default", epoch: str | None = None) -> str:
        """Money that was doubled, lost or is stuck, by the orders and requests of a world."""
        return worlds.call(world, "GET", "/audit", epoch=epoch)

    @tools.tool(structured_output=False)
    def survive(command: list[str], timeout: str = "2m") -> str:
        """Run a client again and again, each time with another failure, to find one that costs money. The client finds the mock in CROSSCHAIN_MOCK_URL."""
        return _printed("survive", "--time", timeout, "--", *command)

    @tools.tool(structured_output=False)
    def conform(url: str) -> str:
        """Judge whether a service on this machine keeps the contract. Sends reading requests only."""
        return _printed("conform", "run", url)

    @tools.tool(structured_output=False)
    def fact(words: str) -> str:
        """Look a fact about the interface up, with its basis: documented, observed or assumed."""
        return "\n".join(_facts(words.lower().split())) or "no fact has these words; use fewer"

    @tools.tool(structured_output=False)
    def refusal(name: str) -> str:
        """Explain a refusal by its name, such as 'chain-suspended', or its code."""
        return _refusals(name)

    return tools


def _facts(words: list[str]) -> list[str]:
    from mockserver.contract import load

    contract = load()
    lines = [
        f"{operation.id}: documented in section {operation.section}: {operation.method} "
        f"{operation.path}; {operation.summary}. {operation.row.get('description', '')} Inputs: "
        + ", ".join(f"{field.name} ({field.location})" for field in operation.fields)
        for operation in contract
    ]
    lines += [
        f"{assumption.id}: assumed: {assumption.title}: {assumption.chosen} ({assumption.reason})"
        for assumption in contract.assumptions
    ]
    lines += [
        f"{erratum.id}: observed: {erratum.title}: {erratum.observed}; documented: "
        f"{erratum.documented}"
        for erratum in contract.errata
    ]
    return [line for line in lines if all(word in line.lower() for word in words)][:10]


def _refusals(name: str) -> str:
    import yaml

    from mockserver import resources

    table = yaml.safe_load((resources.schemas() / "refusals.yaml").read_text("utf-8"))["refusals"]
    rows = table.items() if isinstance(table, dict) else ((row["name"], row) for row in table)
    matching = {key: row for key, row in rows if name == key or name in json.dumps(row)}
    exact = {name: matching[name]} if name in matching else matching
    return json.dumps(exact, indent=1) if exact else f"no refusal is called {name!r}"
