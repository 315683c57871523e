"""What can have happened to a world before somebody asks for a verdict on it.

Written from the description of the verdicts alone, before their code was read, together with the
table of what each has to say.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.audit.wallets import Wallet
from tests.conftest import Client, Running, frozen, running


@dataclass
class Stage:
    """A server with a world; a circumstance sets both up, and may change what is asked for."""

    server: Running
    key: str
    folder: Path
    stack: ExitStack
    epoch: str = ""
    """The epoch of the world when its client began."""
    made: list[str] = field(default_factory=list)
    asked: str = ""
    """The key that the question names, where it is not the world's own."""

    def client(self, key: str | None = None) -> Client:
        """Return a client of a world."""
        chosen = key or self.key
        self.made.append(chosen)
        client = self.client_of(self.server, chosen)
        # As a client that has no question yet: the server tells where the world lives.
        self.epoch = self.epoch or client.control("GET", "/world")["epoch"]
        return client

    def client_of(self, server: Running, key: str) -> Client:
        """Return a client of a world of a server."""
        client = Client(server.port, server.client.contract, prefix=f"/w/{key}")
        self.stack.callback(client.close)
        return client

    def other(self, **settings: Any) -> None:
        """Go on with a server of its own."""
        self.server = self.stack.enter_context(running(frozen(**settings)))

    def own(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request to the control API, in no world's name."""
        return self.server.client.control(method, path, body)


def well(client: Client) -> None:
    """Do what no verdict has anything to say of."""
    for path in ("/v1/getChain", "/v1/getAssets"):
        client.get(path)
    wallet = Wallet(client)
    wallet.quote()
    wallet.follow(wallet.submit())


def wrong(client: Client) -> None:
    """Pay without a quote, three times, follow nothing, and be refused for nothing planned."""
    wallet = Wallet(client)
    for _ in range(3):
        wallet.submit()
    client.get("/v1/checkOrder", query={"id": "1"})
    wallet.wait("2h")


def seen(client: Client) -> None:
    """Send one request that nobody minds."""
    client.get("/v1/getChain")


Circumstance = Callable[[Stage], None]
CIRCUMSTANCES: dict[str, Circumstance] = {}


def circumstance(play: Circumstance) -> Circumstance:
    CIRCUMSTANCES[play.__name__] = play
    return play


@circumstance
def healthy(stage: Stage) -> None:
    stage.other()
    well(stage.client())


@circumstance
def faulty(stage: Stage) -> None:
    stage.other()
    wrong(stage.client())


@circumstance
def made_and_never_used(stage: Stage) -> None:
    stage.client().control("GET", "/clock")


@circumstance
def never_made(stage: Stage) -> None:
    wrong(stage.client())
    stage.asked = f"{stage.key}-typo"


@circumstance
def no_key(stage: Stage) -> None:
    wrong(stage.client())
    stage.asked = "a b"


@circumstance
def deleted(stage: Stage) -> None:
    wrong(stage.client())
    stage.own("DELETE", f"/worlds/{stage.key}")


@circumstance
def deleted_and_used_again(stage: Stage) -> None:
    client = stage.client()
    wrong(client)
    stage.own("DELETE", f"/worlds/{stage.key}")
    seen(client)


@circumstance
def made_anew(stage: Stage) -> None:
    deleted(stage)
    stage.own("POST", "/worlds", {"key": stage.key})


@circumstance
def made_anew_and_used(stage: Stage) -> None:
    made_anew(stage)
    seen(stage.client())


@circumstance
def was_reset(stage: Stage) -> None:
    client = stage.client()
    wrong(client)
    client.control("POST", "/reset", {})


@circumstance
def was_reset_and_used(stage: Stage) -> None:
    client = stage.client()
    wrong(client)
    client.control("POST", "/reset", {})
    seen(client)


@circumstance
def reverted_to_the_beginning(stage: Stage) -> None:
    client = stage.client()
    client.control("POST", "/snapshots", {"name": "begin"})
    wrong(client)
    client.control("POST", "/revert", {"name": "begin"})


@circumstance
def reverted_in_part(stage: Stage) -> None:
    client = stage.client()
    well(client)
    client.control("POST", "/snapshots", {"name": "middle"})
    wrong(client)
    client.control("POST", "/revert", {"name": "middle"})


@circumstance
def forked(stage: Stage) -> None:
    client, stage.asked = stage.client(), f"{stage.key}-twin"
    wrong(client)
    client.control("POST", "/fork", {"to": stage.asked})
    stage.made.append(stage.asked)


@circumstance
def forked_and_used(stage: Stage) -> None:
    forked(stage)
    seen(stage.client(stage.asked))


@circumstance
def another_world_is_wrong(stage: Stage) -> None:
    stage.other()
    well(stage.client())
    wrong(stage.client("elsewhere"))


@circumstance
def all_went_to_another_world(stage: Stage) -> None:
    stage.other()
    stage.client().control("GET", "/clock")
    wrong(stage.client("elsewhere"))


@circumstance
def journal_cleared(stage: Stage) -> None:
    client = stage.client()
    wrong(client)
    client.control("DELETE", "/journal")


@circumstance
def journal_cleared_and_used(stage: Stage) -> None:
    client = stage.client()
    wrong(client)
    client.control("DELETE", "/journal")
    seen(client)


@circumstance
def journal_overflowed(stage: Stage) -> None:
    client = stage.client()
    wrong(client)
    for _ in range(1001):
        client.operation("v2.getPrice")
    seen(client)


@circumstance
def killed(stage: Stage) -> None:
    wrong(stage.client())
    stage.other()


@circumstance
def killed_and_used(stage: Stage) -> None:
    killed(stage)
    seen(stage.client())


@circumstance
def restarted_with_its_state(stage: Stage) -> None:
    with running(frozen(state=stage.folder)) as first:
        client = stage.client_of(first, stage.key)
        well(client)
        stage.epoch = client.control("GET", "/world")["epoch"]
        first.service.close()
    stage.other(state=stage.folder)


@circumstance
def answered_by_stubs(stage: Stage) -> None:
    client = stage.client()
    body = {"operation": "v2.getChain", "response": {"refusal": "no-price", "reason": "so"}}
    client.control("POST", "/stubs", body)
    seen(client)


@circumstance
def replayed(stage: Stage) -> None:
    stage.other(replay=("v2/getChain",))
    seen(stage.client())


@circumstance
def loaded(stage: Stage) -> None:
    client = stage.client()
    wrong(client)
    dump = client.control("GET", "/dump")
    stage.asked = f"{stage.key}-loaded"
    stage.client(stage.asked).control("POST", "/load", dump)


@circumstance
def loaded_and_used(stage: Stage) -> None:
    loaded(stage)
    seen(stage.client(stage.asked))


@circumstance
def loaded_over_its_traffic(stage: Stage) -> None:
    client = stage.client()
    dump = client.control("GET", "/dump")
    wrong(client)
    client.control("POST", "/load", dump)
    seen(client)


@circumstance
def only_steered(stage: Stage) -> None:
    client = stage.client()
    client.control("POST", "/clock", {"advance": "1h"})
    client.control("GET", "/orders")


@circumstance
def wrong_base_address(stage: Stage) -> None:
    client = stage.client()
    for path in ("/api/v1/getChain", "/api/v1/submitOrder"):
        client.get(path)


@circumstance
def only_preflights(stage: Stage) -> None:
    headers = {"Origin": "http://page.test", "Access-Control-Request-Method": "POST"}
    stage.client().call("OPTIONS", "/v1/submitOrder", headers=headers)


@circumstance
def everything_refused(stage: Stage) -> None:
    client = stage.client()
    client.control("POST", "/faults", {"kind": "http-status", "status": 503})
    for path in ("/v1/getChain", "/v1/getAssets"):
        client.get(path)


@circumstance
def over_its_quota(stage: Stage) -> None:
    client = stage.client()
    client.control("POST", "/faults", {"kind": "quota", "limit": 1, "window": "1h"})
    for path in ("/v1/getChain", "/v1/getAssets", "/v1/getChain"):
        client.get(path)


@circumstance
def gone(stage: Stage) -> None:
    """The server has ended."""
    with running(frozen()) as ended:
        wrong(stage.client_of(ended, stage.key))
    stage.server = ended


@circumstance
def made_as_a_fork(stage: Stage) -> None:
    wrong(stage.client())
    stage.asked = f"{stage.key}-twin"
    stage.client(stage.asked).control("PUT", "/world", {"fork": stage.key})


@circumstance
def fork_of_a_fork(stage: Stage) -> None:
    forked(stage)
    first, stage.asked = stage.asked, f"{stage.key}-loaded"
    stage.client(first).control("POST", "/fork", {"to": stage.asked})


@circumstance
def forked_and_its_source_deleted(stage: Stage) -> None:
    forked(stage)
    stage.own("DELETE", f"/worlds/{stage.key}")
    stage.asked = stage.key


@circumstance
def reset_twice_and_used(stage: Stage) -> None:
    was_reset(stage)
    was_reset_and_used(stage)


@circumstance
def cleared_and_reverted(stage: Stage) -> None:
    client = stage.client()
    client.control("POST", "/snapshots", {"name": "begin"})
    wrong(client)
    client.control("DELETE", "/journal")
    client.control("POST", "/revert", {"name": "begin"})


@circumstance
def loaded_from_another_server(stage: Stage) -> None:
    with running(frozen()) as elsewhere:
        client = stage.client_of(elsewhere, stage.key)
        wrong(client)
        dump = client.control("GET", "/dump")
    stage.client().control("POST", "/load", dump)


@circumstance
def loaded_and_reset(stage: Stage) -> None:
    loaded(stage)
    stage.client(stage.asked).control("POST", "/reset", {})


@circumstance
def loaded_with_its_own_dump(stage: Stage) -> None:
    client = stage.client()
    wrong(client)
    client.control("POST", "/load", client.control("GET", "/dump"))


@circumstance
def asked_in_capitals(stage: Stage) -> None:
    wrong(stage.client())
    stage.asked = stage.key.upper()


@circumstance
def sent_with_a_header(stage: Stage) -> None:
    """Some requests name their world by a header, and none of them by the path."""
    stage.other()
    client = Client(stage.server.port, stage.server.client.contract)
    stage.stack.callback(client.close)
    client.get("/v1/getChain", headers={"X-Mock-World": stage.key})
    wrong(client)


@circumstance
def on_another_server(stage: Stage) -> None:
    with running(frozen()) as elsewhere:
        wrong(stage.client_of(elsewhere, stage.key))


@circumstance
def its_submissions_are_stubbed(stage: Stage) -> None:
    client = stage.client()
    body = {"operation": "v2.submitOrder", "response": {"data": {"id": "30000000001"}}}
    client.control("POST", "/stubs", body)
    Wallet(client).quote()
    Wallet(client).submit()


@circumstance
def deleted_and_forked_into(stage: Stage) -> None:
    deleted(stage)
    source = f"{stage.key}-twin"
    well(stage.client(source))
    stage.client(source).control("POST", "/fork", {"to": stage.key})


@circumstance
def reverted_and_reset_and_used(stage: Stage) -> None:
    reverted_in_part(stage)
    stage.client().control("POST", "/reset", {})
    seen(stage.client())
