"""What the end of a test complains about: refusals that nobody asked for."""

from mockserver.responders.hosted import HostedWorld
from mockserver.responders.journal import Entry
from mockserver.responders.stubs import StubResponder

_OUTAGES = ("chain-suspended", "token-suspended")


def unexpected_refusals(hosted: HostedWorld) -> list[Entry]:
    """Return refused requests but for those a test asked for.

    Asked for are the refusals of stubs, of faults, those announced as expected, and suspensions in
    a world that has any outage.
    """
    return [
        entry
        for entry in hosted.journal
        if entry.refusal is not None
        and not entry.fault
        and entry.responder != StubResponder.name
        and not _expected(hosted, entry)
    ]


def _expected(hosted: HostedWorld, entry: Entry) -> bool:
    name = (entry.refusal or "").partition(":")[0]
    if name in _OUTAGES and hosted.world.outages.all():
        return True
    return any(
        expected.refusal in (None, name) and expected.operation in (None, entry.operation)
        for expected in hosted.expected
    )
