"""What a test may have meant by a name that a world, its clock or its orders do not have."""

from collections.abc import Mapping
from dataclasses import fields

from mockserver.suggestions import did_you_mean
from mockserver.testing.settings import MockSettings

_FIXTURE = "crosschain_mock"
_SETTINGS = frozenset(setting.name for setting in fields(MockSettings))
_PREFIXES = ("assert_", "get_", "is_", "set_", "add_", "start_", "check_", "with_")
# Names of the same thing in other libraries: pytest-httpserver, respx, responses, freezegun,
# time-machine, unittest.mock, WireMock, toxiproxy.
_SYNONYMS = {
    "advance": "clock.advance(minutes=5)",
    "audited": "audit()",
    "call_count": "verify('submitOrder', exactly=1)",
    "calls": "requests()",
    "called": "verify('submitOrder', exactly=1)",
    "called_once": "verify('submitOrder', exactly=1)",
    "called_with": "verify('submitOrder', json={…})",
    "all_called": "check()",
    "clean": "check()",
    "clear": "reset()",
    "complete": "orders.force(order, 'Succeeded'), or clock.run_until_final(order)",
    "delay": "fail('submitOrder', 'latency', delay='2s')",
    "down": "suspend('BNB')",
    "end_outage": "restore('BNB')",
    "expect": "stub(…), verify(…) or expect_refusal(…)",
    "expect_request": "stub(…), or verify(…) after the call",
    "fault": "fail('submitOrder', 'http-status', status=503)",
    "finish": "clock.run_until_final(order)",
    "forward": "clock.advance(minutes=5)",
    "freeze": "clock.switch('frozen')",
    "history": "journal",
    "inject": "fail('submitOrder', 'latency', delay='2s')",
    "last_request": "requests()[-1]",
    "latency": "fail('submitOrder', 'latency', delay='2s')",
    "log": "journal",
    "mock": "stub(…)",
    "move_to": "clock.set('2026-01-02T00:00:00Z')",
    "no_findings": "audit(), lint() or check()",
    "no_refusals": "check()",
    "on": "at('submitOrder', 1, 'after')",
    "order": "orders[…] or orders.last",
    "orders.fail": "orders.steer(order, 'fail')",
    "orders.set": "orders.force(order, 'Failed'), or orders.steer(order, 'fail')",
    "orders.wait": "clock.run_until_final(order)",
    "outage": "suspend('BNB', lasting='9h')",
    "port": "base_url_v2, or base_url for v1",
    "refused": "requests(refused=True)",
    "resume": "restore('BNB')",
    "route": "stub(…)",
    "shift": "clock.advance(minutes=5)",
    "sleep": "clock.advance(seconds=15)",
    "status": "orders[…].status, or orders.force(…)",
    "tick": "clock.advance(seconds=15)",
    "time": "clock.now",
    "travel": "clock.advance(hours=8)",
    "trigger": "at('submitOrder', 1, 'after')",
    "url": "base_url_v2, or base_url for v1",
    "wait": "clock.advance(seconds=15), or clock.run_until_final(order)",
    "when": "at('submitOrder', 1, 'after')",
}


def near_miss(subject: str, name: str, parts: Mapping[str, type]) -> str:
    """Return a sentence for an attribute that does not exist: where it is, or what there is.

    `subject` is what a test calls the value, such as `clock`, empty for the world; `parts` are the
    classes to search, by the path to them from the fixture: `""`, `clock`, `orders`.
    """
    public = {part: _public(made) for part, made in parts.items()}
    wanted = name
    # The name itself first: with a prefix off it may be something else.
    for prefix in ("", *_PREFIXES):
        if prefix and not wanted.startswith(prefix):
            continue
        plain = wanted.removeprefix(prefix)
        # What a part of the fixture calls so comes before a namesake elsewhere: `orders.set`.
        if meant := _SYNONYMS.get(f"{subject}.{plain}"):
            return f"{_path(subject, name)} does not exist; use {_path('', meant)}"
        places = [_path(part, plain) for part, names in public.items() if plain in names]
        if places:
            return f"{_path(subject, name)} does not exist; it is {' or '.join(places)}"
        if plain in _SYNONYMS:
            return f"{_path(subject, name)} does not exist; use {_path('', _SYNONYMS[plain])}"
    own = public[subject]
    if not subject and name in _SETTINGS:
        marker = f"@pytest.mark.{_FIXTURE}({name}=…)"
        return f"{_path('', name)} does not exist; {marker} sets it, and settings.{name} has it"
    if not subject:  # set when a world is made, so the class does not have them
        own += [part for part in parts if part] + ["settings"]
    suggestion = did_you_mean(name, own)
    return f"{_path(subject, name)} does not exist{suggestion or '; there is ' + ', '.join(own)}"


def _public(made: type) -> list[str]:
    return sorted(name for name in vars(made) if not name.startswith("_"))


def _path(part: str, name: str) -> str:
    return ".".join(filter(None, (_FIXTURE, part, name)))
