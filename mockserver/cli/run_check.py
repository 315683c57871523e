"""The check at the end of `run`: each world is held to what pytest holds the world of a test to."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement

from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import printable
from mockserver.responders.refusal_answers import refusal_in
from mockserver.wording import counted, one_line
from mockserver.worlds.end_of_test_check import Remedies, complaints, unexpected_since, unused
from mockserver.worlds.hosted import DEFAULT_WORLD, HostedWorld, Worlds
from mockserver.worlds.journal_text import readable_journal
from mockserver.worlds.verdict_evidence import ground_of
from mockserver.worlds.verification import unmet

_REMEDIES = Remedies(
    "announce it with `POST /__mock/expect` or `run --expect-refusal NAME` if that is meant",
    "record it with `run --record new` and the address of the service",
    "take it away, or keep this silent with `run --unused allow`",
    "`run --stamps either` takes both",
)


@dataclass(frozen=True, slots=True)
class RunProblem:
    """Something that fails a run: the key of its world, who says so (`audit`), and lines of text.

    A text may have control characters.
    """

    world: str
    source: str
    text: str


@dataclass(frozen=True, slots=True)
class RunGround:
    """What the verdicts on a run rest on.

    `requests` are those that can be judged at its end, `holes` are sentences on what is missing,
    and `passed` tells of worlds that the command has judged itself before it deleted them.
    """

    requests: int
    holes: tuple[str, ...]
    passed: str

    @property
    def missing(self) -> str:
        """Why there is nothing to judge; empty where there is."""
        if self.requests or self.passed:
            return ""
        if not self.holes:
            return "there is nothing to judge: no request came to any world"
        return f"there is nothing left to judge: {'; '.join(self.holes)}"

    @property
    def whole(self) -> bool:
        return not (self.missing or self.holes)


def run_ground(worlds: Worlds, before: Mapping[str, int], wanted: Sequence[str]) -> RunGround:
    """Return what the verdicts that are wanted of a run rest on.

    `before` has the last requests of earlier runs, by worlds.
    """
    used = [hosted for hosted in worlds if hosted.journal.last_sequence > before.get(hosted.key, 0)]
    grounds = [ground_of(hosted) for hosted in used]
    holes = [f"world {ground.world}: {hole}" for ground in grounds for hole in ground.holes]
    passed = []
    for key, departed in worlds.gone.items():
        lacking = [name for name in wanted if name not in departed.passed]
        # A world that was judged before it was deleted is no hole.
        if wanted and not lacking:
            passed.append(departed.requests)
            continue
        without = f", and passed no {' and no '.join(lacking)} until then" if lacking else ""
        requests = counted(departed.requests, "request")
        holes.append(f"world {key}: {requests} before it was deleted{without}")
    told = ""
    if passed:
        judged = f"{counted(len(passed), 'world')} with {counted(sum(passed), 'request')}"
        they = "it was" if len(passed) == 1 else "they were"
        told = f"{judged} passed {' and '.join(wanted)} before {they} deleted"
    return RunGround(sum(ground.requests for ground in grounds), tuple(holes), told)


def expected_in(hosted: HostedWorld, names: Collection[str]) -> set[int]:
    """Return the numbers of the requests that were refused by one of these names."""
    return {entry.sequence for entry in hosted.journal if refusal_in(entry.refusal or "") in names}


def problems_of(
    hosted: HostedWorld, since: int, names: Collection[str], *, idle_is_fine: bool = False
) -> list[RunProblem]:
    """Return what came to a world after the entry `since`, or did not, and nobody expects.

    Refusals by one of the `names` are expected; what was set and met no request is told, unless
    `idle_is_fine`.
    """
    refusals = unexpected_since(hosted, since, expected_in(hosted, names))
    sentences = [*complaints(hosted, refusals, _REMEDIES, since)]
    if not idle_is_fine:
        sentences += unused(hosted, filter(None, unmet(hosted)), _REMEDIES)
    return [RunProblem(hosted.key, "check", sentence) for sentence in sentences]


def never_refused(worlds: Iterable[HostedWorld], names: Sequence[str]) -> list[RunProblem]:
    """Return the refusals that the whole run was expected to meet, and that came to no world."""
    kept = list(worlds)
    # The refusal may be among what the journal has dropped.
    if any(hosted.journal.dropped for hosted in kept):
        return []
    missed = [name for name in names if not any(expected_in(hosted, [name]) for hosted in kept)]
    return [
        RunProblem(
            DEFAULT_WORLD,
            "check",
            f"expected {name!r}, it did not come\n  see why, or leave `--expect-refusal` out",
        )
        for name in missed
    ]


def lines_of(problems: Sequence[RunProblem]) -> Iterator[str]:
    """Yield the lines that tell what the check has found, by world."""
    for key in dict.fromkeys(problem.world for problem in problems):
        yield f"check of world {key}:"
        for problem in problems:
            if problem.world == key:
                yield from printable_lines(problem.text)


def printable_lines(text: str) -> list[str]:
    """Return the lines of a text without control characters."""
    return [printable(line) for line in text.splitlines()]


def junit(worlds: Iterable[HostedWorld], problems: Sequence[RunProblem]) -> str:
    """Return JUnit's XML: a testcase for each world with requests or problems."""
    # It brings all rules of `conform` along, a quarter of what `run` takes to start and end.
    from mockserver.conformance.report.ci_formats import xml_text

    by_world: dict[str, list[RunProblem]] = {}
    for problem in problems:
        by_world.setdefault(problem.world, []).append(problem)
    judged = [hosted for hosted in worlds if hosted.requests or hosted.key in by_world]
    numbers = {"tests": str(len(judged)), "failures": str(len(by_world)), "errors": "0"}
    root = Element("testsuites", {"name": "crosschain-mock run", **numbers})
    suite = SubElement(root, "testsuite", {"name": "worlds", **numbers})
    for hosted in judged:
        case = SubElement(suite, "testcase", classname="worlds", name=hosted.key)
        _add_problems(case, hosted, by_world)
    return xml_text(root)


def _add_problems(
    case: Element, hosted: HostedWorld, by_world: Mapping[str, Sequence[RunProblem]]
) -> None:
    found = by_world.get(hosted.key, ())
    for problem in found:
        lines = printable_lines(problem.text)
        failure = SubElement(case, "failure", type=problem.source, message=one_line(lines[0]))
        failure.text = "\n".join(lines)
    if found:
        journal = printable_lines(readable_journal(hosted.journal))
        SubElement(case, "system-out").text = "\n".join(journal)
