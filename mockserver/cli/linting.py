"""The command `lint`: judgements on a run in which nothing went wrong."""

import sys
from typing import TYPE_CHECKING, Any

from mockserver.cli.control_client import Remote
from mockserver.cli.journal_and_checks import asked, require_ground
from mockserver.cli.printing import print_text
from mockserver.http_messages import printable
from mockserver.jsontext import Json
from mockserver.wording import counted, lint_lines

if TYPE_CHECKING:
    from mockserver.worlds.lint import LintResult


def lint(remote: Remote, rules: tuple[str, ...], without: tuple[str, ...], **options: Any) -> None:
    """Find what costs money as soon as anything goes wrong; exit 1 if there is any.

    RULES are names of docs/reference/lint.md, with a limit as in stale-quote=30s, or the levels
    error, warn and note; all by default. Judges the requests of a world, or recordings.
    """
    named = ",".join([*rules, *(f"-{rule}" for rule in without)])
    if options["recordings"]:
        remote.answer = answer = _of_recordings(options["recordings"], named)
    else:
        answer = asked(remote, "GET", "/lint", query={"rules": named or None})
    failing = any(answer["counts"][level] for level in _levels(options["fail_on"]))
    if answer["ground"] and not failing:
        require_ground(answer["ground"], strict=options["strict"])
    for line in lint_lines(answer):
        print_text(printable(line))
    if failing:
        sys.exit(1)
    if not answer["requests"]:
        sys.exit(3)


def _levels(fail_on: str) -> tuple[str, ...]:
    from mockserver.worlds.lint import LintLevel

    return LintLevel(fail_on).or_worse


def _of_recordings(named: tuple[str, ...], rules: str) -> dict[str, Json]:
    """Return what lint says of recordings. Raises `InvalidFile`."""
    from mockserver.learning.recorded_world import recorded_world
    from mockserver.recordings import gather
    from mockserver.worlds.lint import lint, lint_settings

    settings = lint_settings(rules or "all")
    world = recorded_world(gather(named))
    if world.omitted:
        print_text(f"{counted(world.omitted, 'exchange')} without their bodies are not judged")
    result: LintResult = lint(world.hosted, settings)
    return result.render()
