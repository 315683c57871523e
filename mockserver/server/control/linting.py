"""What lint says of the requests of a world."""

from mockserver.jsontext import Json
from mockserver.server.control.row import ControlRequest
from mockserver.worlds import lint as linting


def lint(request: ControlRequest) -> Json:
    """Return what would be wrong with the requests of a world if nothing else went wrong."""
    settings = linting.lint_settings(request.query.get("rules", "all"))
    result = linting.lint(request.hosted, settings, others=request.server.worlds)
    request.hosted.judged("lint", well=not result.serious)
    return result.render()
