"""What may be sent at all, and how much, how fast and for how long.

It is consulted at the one place where bytes leave, about path and method alone.
"""

from decimal import Decimal

from mockserver import limits
from mockserver.conformance.session.target import Target, UnsafeOrWrong
from mockserver.contract import Contract
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Request, is_loopback
from mockserver.mock_headers import SAFE_METHODS

_NO_ACCOUNT = "needs a developer account on a host that is not local; give one: --set app-key=KEY"


@dataclass(frozen=True, slots=True)
class Arming:
    """The user's permission to send submissions.

    `most` is how many may go out in the whole run; `confirmed` the hosts whose names the user has
    typed once more, which a host that is not local needs.
    """

    writes: bool = False
    most: int = 300
    confirmed: tuple[str, ...] = ()


class Permit:
    """Says which requests may leave, and counts the submissions among them."""

    def __init__(
        self,
        contract: Contract,
        target: Target,
        *,
        hosts: tuple[str, ...] = (),
        arming: Arming | None = None,
        own_keys: bool = False,
    ) -> None:
        """Take the target and the hosts that the user has named. Raises `UnsafeOrWrong`.

        A host that is not loopback must be among `hosts`, and among the confirmed ones for writes.
        With `own_keys` requests carry the user's developer account; without, no POST leaves for
        another machine, not even one that only reads.
        """
        self.contract = contract
        self.arming = arming or Arming()
        self._posts = own_keys or target.is_local
        # Names of hosts are the same in any case.
        self._hosts = frozenset(host.lower() for host in hosts)
        self.writes_sent = 0
        for host in target.hosts:
            self._check_host(host)

    def refusal(self, request: Request) -> str:
        """Return why a request may not be sent; empty where it may."""
        operation = self.contract.find(request.method, request.path)
        if operation is None:
            # A path that nobody documents may do anything: only what reads by its method is sent
            # there.
            if request.method in SAFE_METHODS:
                return ""
            return f"{request.method} {request.path} is no operation that is known to be harmless"
        if not operation.writes:
            return "" if self._posts or request.method in SAFE_METHODS else _NO_ACCOUNT
        if not self.arming.writes:
            return f"{operation.id} changes something: it needs --arm-writes"
        if self.writes_sent >= self.arming.most:
            return f"the cap of {self.arming.most} submissions is reached"
        return ""

    def note(self, request: Request) -> None:
        operation = self.contract.find(request.method, request.path)
        self.writes_sent += operation is not None and operation.writes

    def _check_host(self, host: str) -> None:
        if is_loopback(host):
            return
        if host not in self._hosts:
            name_it = f"name it with --allow-host {host} if it is meant"
            raise UnsafeOrWrong(f"{host!r} is not this machine; {name_it}")
        if self.arming.writes and host not in {name.lower() for name in self.arming.confirmed}:
            again = f"type its name again with --set confirm-host={host} if they are meant"
            raise UnsafeOrWrong(f"submissions to {host!r} may cost money; {again}")


LOCAL_RATE = Decimal(1000)
# A service of others is spared.
REMOTE_RATE = Decimal(2)


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of a run, all of them always in force.

    `budget` is in requests, `rate` in requests a second; `time_ms` bounds the whole run,
    `request_ms` one request with its answer, `most_bytes` the body of an answer, `most_kept` the
    bodies of all answers, which a run keeps; all times are wall time in milliseconds.
    """

    budget: int = 400
    rate: Decimal = LOCAL_RATE
    time_ms: int = limits.RUN_MS
    request_ms: int = limits.REQUEST_MS
    most_bytes: int = limits.ANSWER.most
    most_kept: int = limits.ANSWERS.most


class Spent(Exception):
    """Budget or time is used up; the message says which."""


class Refusing(Exception):
    """A request that is not allowed to leave; the message says why."""
