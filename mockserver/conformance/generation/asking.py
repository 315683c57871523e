"""Questions of a stage: numbered, remembered, and quiet once nothing more may be sent."""

from mockserver.conformance.session.draft import Draft
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.pace import Refusing, Spent
from mockserver.conformance.session.session import Session
from mockserver.contract import Operation
from mockserver.exchange import Request


class Asking:
    """Asks a service in the name of a stage; after the first refusal to send it stays silent.

    Hypothesis runs a request again and again; what was asked once is answered from memory, so that
    only new requests leave.
    """

    def __init__(self, session: Session, operation: Operation, words: str) -> None:
        """Name the probes `<operation id>/<words> N`."""
        self.session = session
        self.stopped = ""
        """Why nothing more is sent; empty while something may be."""
        self._operation = operation
        self._words = words
        self._known: dict[tuple[object, ...], Exchange] = {}
        self._count = 0

    @property
    def count(self) -> int:
        """How many requests were sent."""
        return self._count

    def remembered(self, draft: Draft, form: str = "", *, new: bool = True) -> Exchange | None:
        """Return the exchange of a request, asked now if it never was and `new` allows it.

        A request that is another form of one before is asked again, also where both are equal.
        """
        key = (form, *_key(draft.request(self._operation)))
        if key not in self._known:
            found = self.ask(draft) if new else None
            if found is None:
                return None
            self._known[key] = found
        return self._known[key]

    def ask(self, draft: Draft) -> Exchange | None:
        """Send a request and return the exchange; None where it may not be sent."""
        if self.stopped:
            return None
        probe = f"{self._operation.id}/{self._words} {self._count + 1}"
        try:
            exchange = self.session.ask(probe, draft)
        except (Spent, Refusing) as error:
            self.stopped = str(error)
            return None
        self._count += 1
        return exchange


def is_answered(session: Session, operation: Operation) -> bool:
    """Tell whether the generation of an operation has an address at which the service answers."""
    generation = operation.generation.id
    asked = [one for one in session.context.exchanges if one.operation.generation.id == generation]
    served = generation in session.transport.generations
    return served and (not asked or any(one.succeeded for one in asked))


def _key(request: Request) -> tuple[object, ...]:
    return (
        request.method,
        request.path,
        request.query,
        request.headers.items_sent,
        request.body,
    )
