"""What a test has happen right before or after a call: `at("submitOrder", 1).suspend("BNB")`."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Literal, Unpack

from mockserver.jsontext import Json, camel
from mockserver.testing.locked_access import WorldHandle, public_api
from mockserver.testing.options import (
    Course,
    FaultKind,
    FaultOptions,
    Outage,
    check_names,
    duration_ms,
    json_of,
    spelled,
)
from mockserver.times_and_durations import Duration
from mockserver.worlds.trigger_actions import add_trigger
from mockserver.worlds.triggers import Trigger

When = Literal["before", "after"]
"""Before a call has its effect, or after it and before its answer is sent."""

# Options of an outage that the control API calls otherwise.
_OUTAGE_MEMBERS = {"starting": "from", "lasting": "for", "announced": "lead"}


@public_api
class At:
    """A call that is still to come; each method says what happens at it, and can be used once."""

    def __init__(self, handle: WorldHandle, place: Mapping[str, Json]) -> None:
        """Take the place of a trigger, as the control API has it."""
        self._handle, self._lock = handle, handle.lock
        self._place = place

    def suspend(
        self, chain: str | None = None, *, token: str | None = None, **outage: Unpack[Outage]
    ) -> Trigger:
        """Put a chain, a token, or a token on a chain out of service. Raises `BadControl`."""
        check_names(outage, Outage.__annotations__, "an outage")
        named = {"chain": chain, "token": token}
        body = {name: value for name, value in named.items() if value is not None}
        for name, value in outage.items():
            body[_OUTAGE_MEMBERS.get(name, camel(name))] = _plain(name, value)
        return self._set("outage", body)

    def restore(self, chain: str | None = None, *, token: str | None = None) -> Trigger:
        """End the outages of a subject. Raises `BadControl`."""
        named = {"chain": chain, "token": token}
        return self._set(
            "restore", {name: value for name, value in named.items() if value is not None}
        )

    def fail(
        self, operation: str | None, kind: FaultKind, /, **options: Unpack[FaultOptions]
    ) -> Trigger:
        """Set a fault, as `crosschain_mock.fail` does. Raises `BadControl`."""
        body = {"kind": kind, **spelled(options, FaultOptions, "a fault")}
        if operation is not None:
            body["operation"] = operation
        return self._set("fault", body)

    def steer(self, course: Course | str) -> Trigger:
        """Send the order that the call has made, or is about, along another course."""
        return self._set("steer", course)

    def price(
        self,
        token: str,
        usd: Decimal | float | None = None,
        *,
        percent: Decimal | float | None = None,
    ) -> Trigger:
        """Move the price of a token, in USD or by percent. Raises `BadControl`."""
        return self._set("price", price_body(token, usd, percent))

    def advance(self, by: Duration) -> Trigger:
        """Move the clock forward."""
        return self._set("clock", f"{duration_ms(by)}ms")

    def breaks(self, *names: str) -> Trigger:
        """Change answers from then on, by names of `crosschain-mock breaks`: lists, ids, …"""
        return self._set("breaks", list(names))

    def hold(
        self, *, until: str | None = None, name: str | None = None, most: Duration | None = None
    ) -> Trigger:
        """Hold the answer back: until another operation is called, or `release(name)`.

        It is sent after `most` of wall time all the same, by default after ten seconds.
        """
        options = {"until": until, "name": name, "most": most}
        body = {key: _plain(key, value) for key, value in options.items() if value is not None}
        return self._set("hold", body)

    def signal(self, name: str) -> Trigger:
        """Send a signal to the client's process, where `run` or `survive` has started it."""
        return self._set("signal", name)

    def _set(self, action: str, value: Json) -> Trigger:
        return add_trigger(self._handle.hosted, {**self._place, action: value})


def price_body(
    token: str, usd: Decimal | float | None, percent: Decimal | float | None
) -> dict[str, Json]:
    """Return a new price as the control API takes it."""
    prices = {"usd": usd, "percent": percent}
    numbers = {name: json_of(name, value) for name, value in prices.items() if value is not None}
    return {"token": token, **numbers}


def _plain(name: str, value: object) -> Json:
    """Return an option as JSON: a time or a duration as text."""
    # By what it can do: times of other libraries have this as well.
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "total_seconds"):
        return f"{duration_ms(value)}ms"  # type: ignore[arg-type] # a timedelta
    return json_of(name, value)
