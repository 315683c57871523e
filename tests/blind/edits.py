"""Small edits of calls and answers, from which faults are put together."""

from collections.abc import Callable
from typing import Any

from tests.blind.refusals import Refused, refusal
from tests.blind.wire import After, Answer, Before, Call, Verbatim, write
from tests.blind.world import ACCOUNT, NATIVE

Edit = Callable[[Any], Any]
Test = Callable[[Call], bool]
DROP = object()
"""What an edit gives back for a member that has to go."""


def _edit(value: Any, path: list[str], edit: Edit) -> None:
    if not path or not isinstance(value, dict | list):
        return
    head, rest = path[0], path[1:]
    keys: list[Any]
    if isinstance(value, list):
        keys = list(range(len(value))) if head == "*" else [int(head)]
        keys = [key for key in keys if -len(value) <= key < len(value)]
    else:
        keys = list(value) if head == "*" else [key for key in (head,) if key in value]
    for key in keys:
        if rest:
            _edit(value[key], rest, edit)
            continue
        new = edit(value[key])
        if new is DROP:
            del value[key]
        else:
            value[key] = new


def at(path: str, edit: Edit) -> After:
    """Edit a member of a success; ``*`` stands for every item or member."""

    def after(call: Call, answer: Answer) -> None:
        if answer.good:
            _edit(answer.body, path.split("."), edit)

    return after


def put(path: str, value: Any) -> After:
    """Give a member another value."""
    return at(path, lambda _: value)


def drop(path: str) -> After:
    """Leave a member out."""
    return at(path, lambda _: DROP)


def rename(path: str, name: str) -> After:
    """Call a member something else."""
    parent, _, old = path.rpartition(".")

    def renamed(value: Any) -> Any:
        return {name if key == old else key: item for key, item in value.items()}

    return at(parent, renamed)


def times(path: str, factor: int, divisor: int = 1) -> After:
    """Scale a whole number that is written as text."""
    return at(path, lambda old: str(int(old) * factor // divisor))


def as_number(path: str) -> After:
    """Write text of digits as a JSON number."""
    return at(path, lambda old: Verbatim(old or "0"))


def as_text(path: str) -> After:
    """Write a number or a boolean as text."""
    return at(path, lambda old: write(old) if not isinstance(old, str) else old)


def as_float(path: str) -> After:
    """Print digits as a float does, with what that loses."""
    return at(path, lambda old: str(float(old)))


def with_call(path: str, edit: Callable[[Call, Any], Any]) -> After:
    """Edit a member with an eye on the request."""

    def after(call: Call, answer: Answer) -> None:
        at(path, lambda old: edit(call, old))(call, answer)

    return after


def payload(edit: Callable[[bytes], bytes]) -> After:
    """Change the bytes of a success."""

    def after(call: Call, answer: Answer) -> None:
        if answer.good:
            answer.payload = edit(answer.encoded())

    return after


def http(**fields: Any) -> After:
    """Change how a success is sent: ``status``, ``content_type``, ``delay``, ``hang_up`` ..."""

    def after(call: Call, answer: Answer) -> None:
        if answer.good:
            for name, value in fields.items():
                setattr(answer, name, value)

    return after


def boom(call: Call, answer: Answer) -> None:
    """A page of a web server that lost its application."""
    answer.status, answer.content_type = 500, "text/html"
    answer.payload = b"<html><h1>500 Internal Server Error</h1></html>"


def no(call: Call, answer: Answer) -> None:
    """A refusal where there should be none."""
    refused = refusal(
        call.operation[:2], call.world.choices, Refused("malformed", "something went wrong")
    )
    answer.body, answer.status, answer.payload = refused.body, refused.status, None


def succeed(data: Any) -> After:
    """A success in place of a refusal."""

    def after(call: Call, answer: Answer) -> None:
        if not answer.good and isinstance(answer.body, dict):
            answer.body = {**answer.body, "code": 0, "msg": "success", "data": data}
            answer.status = 200

    return after


def on_refusal(edit: Callable[[Answer], None]) -> After:
    """Change refusals alone."""

    def after(call: Call, answer: Answer) -> None:
        if not answer.good and answer.payload is None:
            edit(answer)

    return after


def when(test: Test, then: After) -> After:
    """Let an edit happen in a region of requests only."""

    def after(call: Call, answer: Answer) -> None:
        if test(call):
            then(call, answer)

    return after


def both(*edits: After) -> After:
    """Several edits, one after the other."""

    def after(call: Call, answer: Answer) -> None:
        for edit in edits:
            edit(call, answer)

    return after


def fill(**values: Any) -> Before:
    """Take requests that lack a required input as if it had this value."""

    def before(call: Call) -> None:
        for name, value in values.items():
            if call.inputs.get(name) is None or call.inputs[name] == "":
                call.inputs[name] = value

    return before


def pretend(**values: Any) -> Before:
    """Take every request as if the input had this value."""

    def before(call: Call) -> None:
        call.inputs.update(values)

    return before


def mend(name: str, ok: Callable[[Call, str], bool], value: str) -> Before:
    """Take a request whose input should be refused as if it had this value."""

    def before(call: Call) -> None:
        if name in call.inputs and not ok(call, str(call.inputs[name])):
            call.inputs[name] = value

    return before


def without_header(name: str) -> Before:
    """Take requests that lack a required header; a time may be nonsense as well."""
    key = name.lower()
    usual = ACCOUNT if key == "evmaddress" else "1700000000000"

    def before(call: Call) -> None:
        if not call.headers.get(key) or key in {"expiretime", "timestamp"}:
            call.headers[key] = usual

    return before


def known_chain(call: Call, nick: str) -> bool:
    """Whether 2.0 lists the chain."""
    return call.world.chain(nick) is not None


def known_v1_chain(call: Call, name: str) -> bool:
    """Whether v1 lists the chain."""
    return call.world.v1_chain(name) is not None


def known_symbol(call: Call, symbol: str) -> bool:
    """Whether some chain has a token of this symbol."""
    return any(token.symbol == symbol for token in call.world.tokens)


def one_amount(name: str) -> Before:
    """Take every amount as if it were this one."""

    def before(call: Call) -> None:
        if str(call.inputs.get(name, "")).isdigit() and int(call.inputs[name]) > 0:
            call.inputs[name] = "7000000000000000000"

    return before


def any_token(name: str, decimal: str, chain: str) -> Before:
    """Unknown tokens are taken for the coin of the chain."""

    def before(call: Call) -> None:
        found = call.world.chain(str(call.inputs.get(chain)))
        if found and not call.world.by_address(found.nick, str(call.inputs.get(name))):
            call.inputs.update({name: NATIVE, decimal: str(found.decimals)})

    return before
