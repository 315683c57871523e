"""A test that asks for an audit is never calm where its world does not show what happened."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from mockserver.contract import load
from mockserver.testing import MockServer, MockWorld, running
from mockserver.testing.expected_refusals import MockCheckFailed
from tests.audit.circumstances import seen, well, wrong
from tests.conftest import Client


@dataclass
class Test:
    """A test with a world of its own, and what its client may reach besides."""

    __test__ = False
    server: MockServer
    world: MockWorld

    @contextmanager
    def client(self, key: str | None = None) -> Iterator[Client]:
        prefix = "" if key == "" else f"/w/{key or self.world.key}"
        client = Client(self.server.port, load(), prefix=prefix)
        yield client
        client.close()

    def well(self, key: str | None = None) -> None:
        with self.client(key) as client:
            well(client)

    def wrong(self, key: str | None = None) -> None:
        with self.client(key) as client:
            # What the audit finds alone, and nothing that other checks complain of.
            client.control("POST", "/expect", {})
            wrong(client)

    def control(self, method: str, path: str, body: object = None, key: str | None = None) -> None:
        with self.client(key) as client:
            client.control(method, path, body)


CIRCUMSTANCES: dict[str, Callable[[Test], None]] = {}


def calm(play: Callable[[Test], None]) -> None:
    CIRCUMSTANCES[play.__name__] = play


@calm
def well_done(test: Test) -> None:
    test.well()


@calm
def wrongly_done(test: Test) -> None:
    test.wrong()


@calm
def nothing_sent(test: Test) -> None:
    pass


@calm
def only_steered(test: Test) -> None:
    test.control("POST", "/clock", {"advance": "1h"})
    test.world.clock.advance(hours=1)


@calm
def reset_in_python(test: Test) -> None:
    test.wrong()
    test.world.reset()


@calm
def reset_by_request(test: Test) -> None:
    test.wrong()
    test.control("POST", "/reset", {})


@calm
def reset_and_well(test: Test) -> None:
    test.wrong()
    test.control("POST", "/reset", {})
    test.well()


@calm
def journal_cleared(test: Test) -> None:
    test.wrong()
    test.control("DELETE", "/journal")
    test.well()


@calm
def replaced_by_a_dump(test: Test) -> None:
    dump = test.world.dump()
    test.wrong()
    test.control("POST", "/load", dump)
    test.well()


@calm
def forked(test: Test) -> None:
    test.well()
    test.control("POST", "/fork", {"to": "forked"})
    test.wrong("forked")
    test.control("DELETE", "/worlds/forked")


@calm
def forked_and_left(test: Test) -> None:
    test.well()
    test.control("POST", "/fork", {"to": "forked"})
    test.wrong("forked")


@calm
def made_by_request(test: Test) -> None:
    test.well()
    test.control("POST", "/worlds", {"key": "second"})
    test.wrong("second")


@calm
def made_and_deleted(test: Test) -> None:
    test.well()
    test.control("POST", "/worlds", {"key": "second"})
    test.wrong("second")
    test.control("DELETE", "/worlds/second")


@calm
def second_of_the_server(test: Test) -> None:
    test.well()
    test.wrong(test.server.world("second").key)


@calm
def second_is_well(test: Test) -> None:
    test.well()
    second = test.server.world("second")
    test.well(second.key)
    second.close()


@calm
def second_is_not_to_be_judged(test: Test) -> None:
    test.well()
    test.wrong(test.server.world("second", audit=False).key)


@calm
def in_the_default_world(test: Test) -> None:
    test.well()
    assert test.server.url
    test.wrong("")


@calm
def deleted_under_its_feet(test: Test) -> None:
    test.wrong()
    test.control("DELETE", f"/worlds/{test.world.key}")
    test.well()


@calm
def wrong_base_address(test: Test) -> None:
    with test.client() as client:
        client.control("POST", "/expect", {})
        client.get("/api/v1/getChain")


# What a check has to say, by circumstance; nothing where all is well.
TABLE = {
    "well_done": "",
    "wrongly_done": "audit: order-not-followed",
    "nothing_sent": "audit: there is nothing to judge",
    "only_steered": "audit: there is nothing to judge",
    "reset_in_python": "audit: order-not-followed",
    "reset_by_request": "audit: order-not-followed",
    "reset_and_well": "audit: order-not-followed",
    "journal_cleared": "audit: order-not-followed",
    "replaced_by_a_dump": "audit: order-not-followed",
    "forked": "audit: in world 'forked': order-not-followed",
    "forked_and_left": "audit: in world 'forked': order-not-followed",
    "made_by_request": "audit: in world 'second': order-not-followed",
    "made_and_deleted": "audit: in world 'second': order-not-followed",
    "second_of_the_server": "audit: in world 'second': order-not-followed",
    "second_is_well": "",
    "second_is_not_to_be_judged": "",
    "in_the_default_world": "audit: in world 'default': order-not-followed",
    "deleted_under_its_feet": "audit: order-not-followed",
    "wrong_base_address": "audit: there is nothing to judge",
}


def complaint(test: Test) -> str:
    try:
        test.world.check()
    except MockCheckFailed as failed:
        return str(failed)
    return ""


@pytest.mark.parametrize("name", TABLE)
def test_a_check_tells_what_its_world_does_not_show(name):
    with running(clock="frozen", start="2026-01-01T00:00:00Z") as server:
        with_audit = Test(server, server.world("own", audit=True))
        CIRCUMSTANCES[name](with_audit)
        said = complaint(with_audit)
        assert said.startswith(TABLE[name]) if TABLE[name] else said == ""


def test_every_circumstance_has_a_word():
    assert list(TABLE) == list(CIRCUMSTANCES)


@pytest.mark.parametrize("judgement", ["audit", "lint"])
def test_an_assertion_without_ground_fails(judgement):
    with running(clock="frozen") as server, server.world("own") as world:
        judged = getattr(world, judgement)
        assert judged()
        assert not judged().findings
        assert "nothing to judge" in repr(judged())
        with Test(server, world).client() as client:
            seen(client)
        assert not world.audit()
        assert not world.lint().serious
        assert judged().ground.requests == 1


def test_a_project_that_audits_all_tests_may_have_some_that_send_nothing():
    with running(clock="frozen", audit=True) as server, server.world("own") as world:
        world.check()
