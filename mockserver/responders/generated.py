"""Generated answers: where a test wants them, they stand in front of the simulation."""

from mockserver.exchange import Response
from mockserver.responders.responder import Call


class GeneratedAnswers:
    """Answers with what was generated for the world, if anything was."""

    name = "generated"

    def respond(self, call: Call) -> Response | None:
        """Return a generated answer, or None where none was made for the call."""
        generated = call.hosted.generated
        return None if generated is None else generated.respond(call)
