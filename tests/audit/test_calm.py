"""No way to ask for a verdict is calm where there is no ground for it, whatever has happened.

Each row of the table is a circumstance, each column a way to ask.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from tests.audit.circumstances import CIRCUMSTANCES, Stage
from tests.conftest import Client, Running, frozen, running

AT_MOST = ("verify", "submitOrder", "--at-most", "9")
NEVER = ("verify", "submitCrossChain", "--never")
CAME = ("verify", "getChain", "--at-least", "1")
WAYS: dict[str, tuple[str, ...]] = {
    "audit": ("audit",),
    "strict": ("audit", "--strict"),
    "check": ("check",),
    "lint": ("lint", "--without", "no-list-before-use"),
    "most": AT_MOST,
    "never": NEVER,
    "came": CAME,
    "epoch": ("audit", "--epoch", "{epoch}"),
    "/audit": ("GET", "/audit"),
    "/check": ("GET", "/check"),
    "/lint": ("GET", "/lint?rules=-no-list-before-use"),
    "/most": ("POST", "/verify"),
}
"""The name of a column, and the command or the request."""

# well: nothing is found, and nothing is missing. holes: nothing is found, and what is missing is
# told. found: something is wrong. none: there is nothing to judge, or nobody who could. A bar (-)
# takes anything but well; `any` is for what nobody can know.
TABLE = """
                          audit strict check lint  most  never came  epoch /audit /check /lint /most
healthy                   well  well   well  well  well  well  well  well  well   well   well  well
faulty                    found found  found found well  well  found found found  found  found well
made_and_never_used       none  none   none  none  none  none  -     none  none   none   none  none
never_made                none  none   none  none  none  none  none  none  none   none   none  none
no_key                    none  none   none  none  none  none  none  none  none   none   none  none
deleted                   none  none   none  none  none  none  none  none  none   none   none  none
deleted_and_used_again    holes none   holes holes holes holes holes none  holes  holes  holes holes
made_anew                 none  none   none  none  none  none  -     none  none   none   none  none
made_anew_and_used        holes none   holes holes holes holes holes none  holes  holes  holes holes
was_reset                 none  none   none  none  none  none  -     none  none   none   none  none
was_reset_and_used        holes none   holes holes holes holes holes holes holes  holes  holes holes
reverted_to_the_beginning none  none   -     -     none  none  -     none  none   -      -     none
reverted_in_part          holes none   -     -     holes holes holes holes holes  -      -     holes
forked                    none  none   none  none  none  none  -     none  none   none   none  none
forked_and_used           holes none   holes holes holes holes holes none  holes  holes  holes holes
another_world_is_wrong    holes none   holes holes holes holes holes holes holes  holes  holes holes
all_went_to_another_world none  none   none  none  none  none  -     none  none   none   none  none
journal_cleared           none  none   none  none  -     -     -     none  none   none   none  -
journal_cleared_and_used  holes none   holes holes -     -     holes holes holes  holes  holes -
journal_overflowed        holes none   holes holes -     -     holes holes holes  holes  holes -
killed                    none  none   none  none  none  none  none  none  none   none   none  none
killed_and_used           any   any    any   any   any   any   any   none  any    any    any   any
restarted_with_its_state  well  well   well  well  well  well  well  none  well   well   well  well
answered_by_stubs         holes none   -     holes holes holes holes holes holes  -      holes holes
replayed                  holes none   holes holes holes holes holes holes holes  holes  holes holes
loaded                    none  none   none  none  none  none  -     none  none   none   none  none
loaded_and_used           holes none   holes holes holes holes holes none  holes  holes  holes holes
loaded_over_its_traffic   holes none   holes holes holes holes holes none  holes  holes  holes holes
only_steered              none  none   none  none  none  none  -     none  none   none   none  none
wrong_base_address        none  none   -     none  none  none  -     none  none   -      none  none
only_preflights           none  none   none  none  none  none  -     none  none   none   none  none
everything_refused        holes none   holes holes holes holes holes holes holes  holes  holes holes
over_its_quota            well  well   well  well  well  well  well  well  well   well   well  well
gone                      none  none   none  none  none  none  none  none  none   none   none  none
made_as_a_fork            none  none   none  none  none  none  -     none  none   none   none  none
fork_of_a_fork            none  none   none  none  none  none  -     none  none   none   none  none
forked_and_its_source_deleted none none none none none none none none none none none none
reset_twice_and_used      holes none   holes holes holes holes holes holes holes  holes  holes holes
cleared_and_reverted      none  none   -     none  -     -     -     none  none   -      none  -
loaded_from_another_server none none   none  none  none  none  -     none  none   none   none  none
loaded_and_reset          none  none   none  none  none  none  -     none  none   none   none  none
loaded_with_its_own_dump  none  none   none  none  none  none  -     none  none   none   none  none
asked_in_capitals         none  none   none  none  none  none  none  none  none   none   none  none
sent_with_a_header        holes none   holes holes holes holes holes -     holes  holes  holes holes
on_another_server         none  none   none  none  none  none  none  none  none   none   none  none
its_submissions_are_stubbed holes none -     -     holes holes -     holes holes  -      -     holes
deleted_and_forked_into   none  none   none  none  none  none  -     none  none   none   none  none
reverted_and_reset_and_used holes none holes holes holes holes holes holes holes  holes  holes holes
"""

COLUMNS, *_ROWS = (line.split() for line in TABLE.strip().splitlines())
CELLS = {row[0]: dict(zip(COLUMNS, row[1:], strict=True)) for row in _ROWS}


def command_said(ended: Any) -> str:
    """Return what a command says: by its exit code, and whether it is calm without a word."""
    if ended.returncode:
        return {1: "found", 2: "refused", 3: "none"}[ended.returncode]
    return "holes" if "ground:" in ended.err else "well"


def answer_said(client: Client, method: str, path: str) -> str:
    """Return what an answer of the control API says to a program that reads all of it."""
    body = {"operation": "submitOrder", "atMost": 9} if method == "POST" else None
    try:
        answer = client.call(method, f"/__mock{path}", body=body)
    except OSError:
        return "none"
    if answer.status != 200:
        return "none"
    told = answer.json
    ground = told.get("ground") or {"missing": None, "holes": []}
    if told.get("ok", told.get("held")):
        # Whoever reads this member alone is calm.
        return "holes" if ground["holes"] else "well"
    return "none" if ground["missing"] else "found"


@dataclass(frozen=True)
class Ended:
    returncode: int
    err: str


def said(stage: Stage, way: str, call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> str:
    """Ask in one way, and return what is said."""
    words, key = WAYS[way], stage.asked or stage.key
    if words[0] in ("GET", "POST"):
        key = key.replace(" ", "%20")
        return answer_said(stage.client_of(stage.server, key), *words)
    monkeypatch.setenv("CROSSCHAIN_MOCK_URL", f"http://127.0.0.1:{stage.server.port}")
    options = [word.replace("{epoch}", stage.epoch) for word in words]
    ended = call(*options, "--world", key)
    word = command_said(Ended(ended.returncode, ended.stderr))
    # Another epoch, or a key that none can have, is refused, and nobody is calm.
    return "none" if word == "refused" else word


@pytest.fixture(scope="module")
def shared():
    with running(frozen()) as server:
        yield server


@pytest.fixture
def stage(shared: Running, tmp_path, request):
    key = f"calm-{request.node.callspec.id}".replace("_", "-")
    with ExitStack() as stack:
        yield Stage(shared, key, tmp_path / "state", stack)
    for made in (key, f"{key}-twin", f"{key}-loaded"):
        shared.service.worlds.drop(made)


def differing(stage: Stage, call: Any, monkeypatch: Any, name: str) -> dict[str, str]:
    """Return the ways that say something else of a circumstance than they have to."""
    CIRCUMSTANCES[name](stage)
    wrong = {}
    for way, wanted in CELLS[name].items():
        word = said(stage, way, call, monkeypatch)
        right = word != "well" if wanted == "-" else wanted in (word, "any")
        if not right:
            wrong[way] = f"{word}, not {wanted}"
    return wrong


@pytest.mark.parametrize("name", CELLS)
def test_nothing_is_called_well_without_ground(stage, call, monkeypatch, name):
    assert differing(stage, call, monkeypatch, name) == {}


def test_every_circumstance_is_asked_about():
    assert list(CELLS) == list(CIRCUMSTANCES)
    assert len(CELLS) * len(COLUMNS) >= 400
