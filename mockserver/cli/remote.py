"""A running server, as the commands that control one reach it."""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import field
from functools import update_wrapper
from inspect import signature
from io import StringIO
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import click

from mockserver import jsontext
from mockserver.cli.printing import print_json
from mockserver.cli.shared_options import JSON, with_options
from mockserver.errors import CrosschainMockError
from mockserver.jsontext import Json, camel
from mockserver.values import dataclass

DEFAULT_URL = "http://127.0.0.1:8765"
_TIMEOUT_S = 300
"""Seconds to wait for an answer: the dump of a world with many orders takes long to load."""


class NotThere(CrosschainMockError):
    """No mock answers at the address."""

    exit_code = 3


class NotDone(CrosschainMockError):
    """The server did not do what it was asked; nothing has changed."""


@dataclass(frozen=True, slots=True)
class Remote:
    """A server by its address, the world that is meant, and the token where it wants one."""

    url: str
    world: str
    token: str | None = field(default=None, repr=False)
    answers: list[Json] = field(default_factory=list, repr=False, compare=False)

    def get(self, path: str, /, **query: Json) -> Json:
        """Return what the control API shows; parameters that are None are left out."""
        return self.send("GET", path, query=query)

    def post(self, path: str, body: Json) -> Json:
        """Have something done and return what came of it."""
        return self.send("POST", path, body=body)

    def send(
        self, method: str, path: str, *, query: Mapping[str, Json] | None = None, body: Json = None
    ) -> Json:
        """Return the answer of the control API. Raises `NotThere`, `NotDone`."""
        given = {name: _text(value) for name, value in (query or {}).items() if value is not None}
        target = f"{self.url}/__mock{quote(path)}" + (f"?{urlencode(given)}" if given else "")
        raw = None if body is None else jsontext.encode(body)
        request = urllib.request.Request(target, raw, self._headers(), method=method)  # noqa: S310
        try:
            with self._opener().open(request, timeout=_TIMEOUT_S) as answer:
                self.answers[:] = [self._read(answer.read())]
                return self.answers[-1]
        except urllib.error.HTTPError as error:
            with error:
                told = self._read(error.read())
            raise NotDone(_sentence(told, error.code)) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise NotThere(
                f"no server answers at {self.url} ({str(reason).lower()}); start one with "
                "'crosschain-mock serve', or name another with --url"
            ) from None

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "X-Mock-World": self.world}
        return {**headers, "X-Mock-Token": self.token} if self.token else headers

    def _opener(self) -> urllib.request.OpenerDirector:
        # A proxy of the environment cannot reach what listens on this machine.
        host = urlsplit(self.url).hostname or ""
        near = host in ("localhost", "::1") or host.startswith("127.")
        handlers = [urllib.request.ProxyHandler({})] if near else []
        return urllib.request.build_opener(*handlers)

    def _read(self, raw: bytes) -> Json:
        try:
            return jsontext.decode(raw)
        except jsontext.NotJson:
            raise NotThere(
                f"what answers at {self.url} is no crosschain-mock; name another with --url"
            ) from None


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def connected(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that name a server, and hand it over as `remote`.

    Each also has `--json`, which prints the server's last answer in place of what people read;
    a command that prints another JSON declares the option itself.
    """
    own_json = "as_json" in signature(function).parameters

    def called(*, url: str, world: str, server_token: str | None, **options: Any) -> None:
        if not _is_address(url):
            raise click.UsageError(f"--url: {url!r} is no address; write {DEFAULT_URL}")
        remote = Remote(url.rstrip("/"), world, server_token)
        if own_json or not options.pop("as_json"):
            function(remote=remote, **options)
            return
        try:
            with redirect_stdout(StringIO()):
                function(remote=remote, **options)
        finally:
            # A command that answers no ends here with its exit code, and its answer counts too.
            for answer in remote.answers:
                print_json(answer)

    options = (
        *(() if own_json else (JSON,)),
        click.option(
            "--url",
            default=DEFAULT_URL,
            show_default=True,
            envvar="CROSSCHAIN_MOCK_URL",
            show_envvar=True,
            help="Where the server is.",
        ),
        click.option(
            "--world", default="default", show_default=True, help="The key of the world meant."
        ),
        click.option(
            "--token",
            # A command may have a token of a chain.
            "server_token",
            envvar="CROSSCHAIN_MOCK_TOKEN",
            show_envvar=True,
            help="The token of a server that listens beyond this machine.",
        ),
    )
    wrapped: Callable[..., None] = with_options(options)(update_wrapper(called, function))
    return wrapped


def asks(
    request: str, *, about: str = "", body: Mapping[str, Json] | None = None
) -> Callable[[Callable[[Any], None]], Callable[..., None]]:
    """Make a command of a function that prints what one request of the control API gave.

    `request` is its method and path, in which `{id}` is an argument of the command. The other
    arguments and options are members of its body, beside those of `body`, or of its query, under
    the names that these have there: `down_percent` is `downPercent`. `about` is the one that is
    given as an argument, or as an option in its place.
    """
    method, _, path = request.partition(" ")

    def decorate(told: Callable[[Any], None]) -> Callable[..., None]:
        def command(remote: Remote, **options: Any) -> None:
            if about:
                options[about] = either(options, about)
            where = {name: options.pop(name) for name in re.findall(r"\{(\w+)\}", path)}
            sent = {**(body or {}), **given(**{camel(name): options[name] for name in options})}
            where_sent = {"query" if method in ("GET", "DELETE") else "body": sent}
            told(remote.send(method, path.format(**where), **where_sent))

        command.__doc__ = told.__doc__
        return connected(command)

    return decorate


def plain(
    group: click.Group,
    name: str,
    request: str,
    does: str,
    *arguments: str,
    body: Mapping[str, Json] | None = None,
    told: str | Callable[[Any], None] = print_json,
) -> None:
    """Give a group a command that is one request of the control API, as `asks` has it.

    `arguments` are such as `DURATION=advance`: as help shows it, and the member of the body.
    `told` prints what came of it, or is the line to print, with its members in braces.
    """

    def tell(answer: Any) -> None:
        if not isinstance(told, str):
            told(answer)
        elif told:
            click.echo(told.format_map(answer))

    made = asks(request, body=body)(tell)
    inside = [f"{one.upper()}={one}" for one in re.findall(r"\{(\w+)\}", request)]
    for one in reversed([*inside, *arguments]):
        shown, _, member = one.partition("=")
        made = click.argument(member, metavar=shown)(made)
    group.command(name, help=does)(made)


def either(options: dict[str, Any], member: str) -> str | None:
    """Return what is given as an argument, or else as the option `named`, which is taken out."""
    told: str | None = options[member]
    named: str | None = options.pop("named")
    if told and named and told != named:
        raise click.UsageError(f"one {member} at a time: {told!r} or {named!r}")
    return told or named


def given(**members: Json) -> dict[str, Json]:
    """Return the members of a request without those that were not given."""
    # By identity: a number that is 0 was given, although it equals False.
    return {
        name: value for name, value in members.items() if value is not None and value is not False
    }


def value_of(text: str) -> Json:
    """Return a value as it is written on a command line: a number or JSON, else plain text."""
    try:
        return jsontext.decode(text.encode("utf-8", "surrogateescape"))
    except jsontext.NotJson:
        return text


def pairs(texts: tuple[str, ...]) -> dict[str, Json]:
    """Return the members written as `NAME=VALUE`. Raises `UsageError` for anything else."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise click.UsageError(f"{text!r}: write NAME=VALUE, as in delay=2s")
        found[name] = value_of(value)
    return found


def _sentence(told: Json, status: int) -> str:
    if isinstance(told, Mapping) and isinstance(told.get("error"), str):
        # Who types a command knows its options, and no body of a request.
        return str(told["error"]).replace("body field ", "").removeprefix("body: ")
    return f"the server answered {status}: {json.dumps(told, default=str)[:200]}"


def _text(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
