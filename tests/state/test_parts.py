"""Every part of a world is kept, or is named here with the reason why it is not."""

from collections.abc import Callable
from dataclasses import fields

import pytest

from mockserver.clock import ClockMode
from mockserver.engine.world_state import STORED_BY_ROW, WorldState
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.state.dump_parts import parts_of
from tests.state.conftest import Server

HEAD = {"clock": "world.clock", "calendar": "world.calendar", "prices": "world.prices"}
"""Fields of the engine's state by the part of a dump that has them."""
OF_THE_DUMP = {
    "faults": "faults",
    "stubs": "stubs",
    "breaks": "breaks",
    "played": "played",
    "triggers": "triggers",
    "node": "node",
    "blocks": "blocks",
    "contract": "dialect",
}
"""Fields of a hosted world by the part of its dump; a part may be absent where it is empty."""
BY_ROW = {"transactions", "journal", "_snapshots"}
HOSTING = ("beliefs", "began_ms", "expected", "failures", "horizon", "keys", "lost", "token")
NOT_KEPT = {
    "key": "the name of its row",
    "world": "see the fields of the engine's state",
    "refuser": "follows from the dialect and the options of the server",
    "replay": "an option of the server, whose files are read at its start",
    "generated": "answers of a Python test, which end with it",
    "bounds": "options of the server",
    "opening": "follows from the scenario, whose name is in its dump",
    "upstream": "an option of the server, as recordings are",
    "held": "answers that are held back, whose connections end with the server",
    "revision": "listeners compare it while they are connected",
    "epoch": "another one after each restart, so that listeners notice",
    "changes": "what the check of one run looks for",
    "restarts": "counted from the starts of the server",
    "_passed": "what was asked of a world before it is deleted, which `run` tells at its end",
    "send_signal": "how the server's own process gets a signal",
    "record": "what notes the changes",
}


def test_every_field_of_the_state_is_kept() -> None:
    known = set(HEAD) | STORED_BY_ROW
    assert known == {field.name for field in fields(WorldState)}, (
        "a field of the engine's state is neither in the head of its dump nor stored by row: "
        "dump it, and name it in HEAD here, or in STORED_BY_ROW where it follows from rows"
    )


def test_every_field_of_a_world_is_kept_or_has_a_reason() -> None:
    known = set(OF_THE_DUMP) | BY_ROW | set(HOSTING) | set(NOT_KEPT)
    assert known == {field.name for field in fields(HostedWorld)}, (
        "a field of a hosted world is not kept over restarts: add it to its dump and name it in "
        "OF_THE_DUMP here, or say in NOT_KEPT why it need not be"
    )


def test_the_parts_of_a_dump_are_the_parts_that_are_written(
    serving: Callable[..., Server],
) -> None:
    server = serving(clock=ClockMode.FROZEN)
    server.call("PUT", "/__mock/breaks", {"breaks": ["bridge-whole-tokens"]})
    hosted = server.service.worlds.get("default")
    dump = server.call("GET", "/__mock/dump")
    inside = {f"world.{name}" for name in dump.pop("world")} - {"world.orders", "world.tickets"}
    written = set(parts_of(hosted, []))
    assert written == (set(dump) - {"transactions"}) | inside | {"hosting"}
    # A part that a later release adds is one more member of the dump: nothing else is needed.
    assert {"breaks", "faults", "stubs", "world.calendar"} <= written


@pytest.mark.parametrize("name", HOSTING)
@pytest.mark.deep(quick=5)
def test_what_dumps_leave_out_is_written_beside_them(
    serving: Callable[..., Server], name: str
) -> None:
    server = serving()
    token = "-".join(("of", "a", "world"))
    server.call("PUT", "/w/owned/__mock/world", {"token": token})
    claims = {"expects": [{"amount": "1 USDT"}]}
    server.call("POST", "/w/owned/__mock/claims", claims, X_Mock_Token=token)
    hosting = parts_of(server.service.worlds.get("owned"), [])["hosting"]
    assert f'"{name}":' in hosting
