"""What lint says of the requests of a world."""

from collections.abc import Iterator

from mockserver.server.control.route import ControlRequest
from mockserver.worlds import lint as linting
from mockserver.worlds.judgement import rendered


def lint(request: ControlRequest) -> Iterator[bytes]:
    """Return what would be wrong with the requests of a world if nothing else went wrong."""
    settings = linting.lint_settings(request.query.get("rules", "all"))
    steps = linting.lint_in_steps(request.hosted, settings, others=request.server.worlds)
    return rendered(steps, request.hosted, "lint")
