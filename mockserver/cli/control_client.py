"""A running server, as the commands that control one reach it."""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Container, Mapping
from contextlib import nullcontext, redirect_stdout
from dataclasses import field
from http.client import HTTPException
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlencode, urlsplit

import click
from click.core import ParameterSource

from mockserver import jsontext
from mockserver.cli.default_address import DEFAULT_URL
from mockserver.cli.printing import Columns, print_answer, print_json
from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json, camel
from mockserver.mock_headers import CONTROL_PATH, EPOCH_HEADER, TOKEN_HEADER, WORLD_HEADER

if TYPE_CHECKING:
    import ssl

# Seconds to wait for an answer: the dump of a world with many orders takes long to load.
_TIMEOUT_S = 300
_WORLD_IN_URL = re.compile(r"/w/([^/]+)/?$")


class NoServer(CrosschainMockError):
    """No mock answers at the address."""

    exit_code = 3


class ControlRefused(CrosschainMockError):
    """The server refused a request; nothing has changed."""


@dataclass(slots=True)
class Remote:
    """A server by its address, the world that is meant, and the token where it wants one.

    With an `epoch`, a world of another one refuses. `trust` has the certificates of a server with
    https, where they are not the system's. `answer` is the last one that came, `answering` the
    epoch of the world that gave it.
    """

    url: str
    world: str
    token: str | None = field(default=None, repr=False)
    epoch: str | None = None
    trust: "ssl.SSLContext | None" = None
    answer: Json = field(default=None, repr=False)
    answering: str | None = field(default=None, repr=False)

    def stay(self) -> None:
        """Have what is asked from now on be of the world that answered last, or be refused."""
        self.epoch = self.answering

    @property
    def key(self) -> str:
        """The key of the world that is meant, by the address or by its option."""
        named = _WORLD_IN_URL.search(self.url)
        return unquote(named[1]) if named else self.world

    def of_world(self, key: str, epoch: str | None = None) -> "Remote":
        """Return the same server with another world meant, which may have to be of an epoch."""
        return Remote(_WORLD_IN_URL.sub("", self.url), key, self.token, epoch, self.trust)

    def require_epoch(self) -> None:
        """Raise `ControlRefused` where the world that is meant is not of the epoch that is named.

        What follows is sent to another world, which has an epoch of its own.
        """
        if self.epoch is not None:
            self.get("/clock")

    def get(self, path: str, /, **query: Json) -> Json:
        """Return what the control API shows; parameters that are None are left out."""
        return self.send("GET", path, query=query)

    def post(self, path: str, body: Json) -> Json:
        """Post to the control API and return its answer."""
        return self.send("POST", path, body=body)

    def send(
        self, method: str, path: str, *, query: Mapping[str, Json] | None = None, body: Json = None
    ) -> Json:
        """Return the answer of the control API. Raises `NoServer`, `ControlRefused`."""
        parameters = {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in (query or {}).items()
            if value is not None
        }
        target = f"{self.url}{CONTROL_PATH}{quote(path)}"
        target += f"?{urlencode(parameters)}" if parameters else ""
        raw = None if body is None else jsontext.encode(body)
        request = urllib.request.Request(target, raw, self._headers(), method=method)  # noqa: S310
        try:
            with self._opener().open(request, timeout=_TIMEOUT_S) as answer:
                reply = self._read(answer.read())
                self.answering = answer.headers[EPOCH_HEADER]
        except urllib.error.HTTPError as error:
            with error:
                self.answering = error.headers[EPOCH_HEADER]
                refusal = self._read(error.read())
            raise ControlRefused(_refusal_text(refusal, error.code)) from None
        # What speaks another protocol than HTTP, or half of it.
        except HTTPException:
            raise self._no_mock() from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            if why := _untrusted(reason):
                raise NoServer(f"the server at {self.url} is not trusted: {why}") from None
            raise NoServer(
                f"no server answers at {self.url} ({str(reason).lower()}); start one with "
                "'crosschain-mock serve', or name another with --url"
            ) from None
        # Only a node answers with a list, to several calls at once.
        if not (isinstance(reply, Mapping) or path.startswith("/chains/")):
            raise self._no_mock()
        self.answer = reply
        return reply

    def _headers(self) -> dict[str, str]:
        # As bytes of UTF-8, so that any text reaches the server, which says what is wrong with it.
        texts = {WORLD_HEADER: self.world, TOKEN_HEADER: self.token or None}
        # An empty epoch is sent: it is that of no world, as when a variable of the shell is empty.
        texts[EPOCH_HEADER] = self.epoch
        headers = {
            name: text.encode("utf-8", "replace").decode("latin-1")
            for name, text in texts.items()
            if text is not None
        }
        return {"Content-Type": "application/json", **headers}

    def _opener(self) -> urllib.request.OpenerDirector:
        # A proxy of the environment cannot reach what listens on this machine.
        host = urlsplit(self.url).hostname or ""
        near = host in ("localhost", "::1") or host.startswith("127.")
        handlers: list[urllib.request.BaseHandler] = []
        if near:
            handlers.append(urllib.request.ProxyHandler({}))
        if self.trust is not None:
            handlers.append(urllib.request.HTTPSHandler(context=self.trust))
        return urllib.request.build_opener(*handlers)

    def _read(self, raw: bytes) -> Json:
        try:
            return jsontext.decode(raw)
        except jsontext.NotJson:
            raise self._no_mock() from None

    def _no_mock(self) -> NoServer:
        right = "or it ended before its answer did; name another with --url"
        return NoServer(f"what answers at {self.url} is no crosschain-mock, {right}")


def _trust(cacert: Path | None) -> "ssl.SSLContext | None":
    """Return what trusts the certificates of a file. Raises `UsageError`."""
    if cacert is None:
        return None
    from mockserver.userfiles import NotReadable, trusting

    try:
        return trusting(cacert)
    except NotReadable as error:
        raise click.UsageError(f"--cacert: {str(cacert)!r} {error}") from None


def _untrusted(error: object) -> str:
    """Return why a certificate is not trusted, or why there is none; empty for other errors."""
    verdict = getattr(error, "verify_message", "")
    if verdict:
        return f"{verdict}; name its certificate, or that which issued it, with --cacert FILE"
    # By OpenSSL's names, since its sentences change with the release.
    if getattr(error, "reason", "") in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
        return "it speaks no TLS; write http:// in place of https://"
    return ""


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _check_world(url: str, world: str) -> None:
    """Raise `UsageError` where the address names another world than `--world` does."""
    named = _WORLD_IN_URL.search(url)
    source = click.get_current_context().get_parameter_source("world")
    # A default is no word of the user's: the address alone says which world is meant.
    if named and unquote(named[1]) != world and source is not ParameterSource.DEFAULT:
        raise click.UsageError(
            f"--world {world!r}: the address {url!r} names another world; leave one of them out"
        )


def connected(
    function: Callable[..., Json],
    row: Mapping[str, Any],
    tables: Mapping[str, Columns],
    *,
    own_json: bool,
) -> Callable[..., None]:
    """Return what a command does with the server that its options name, handed over as `remote`.

    What the function returns is printed as the row says. With `--json` the server's last answer is
    printed in place of what people read; a command with a JSON of its own handles that option
    itself. What a row is `about` is given as an argument, or as the option of that name.
    """
    about = row.get("about", "")

    def called(
        *,
        url: str,
        world: str,
        server_token: str | None,
        epoch: str | None,
        cacert: Path | None,
        **options: Any,
    ) -> None:
        if not _is_address(url):
            raise click.UsageError(f"--url: {url!r} is no address; write {DEFAULT_URL}")
        _check_world(url, world)
        remote = Remote(url.rstrip("/"), world, server_token, epoch, _trust(cacert))
        # A command with an option of its own prints JSON itself, another form of it perhaps.
        as_json = not own_json and options.pop("as_json")
        if about:
            argument, option = options[about], options.pop("named")
            if argument and option and argument != option:
                raise click.UsageError(f"one {about} at a time: {argument!r} or {option!r}")
            options[about] = argument or option
        try:
            with redirect_stdout(StringIO()) if as_json else nullcontext():
                answer = function(remote=remote, **options)
                if answer is not None:
                    print_answer(answer, row.get("prints", {}), tables)
        except ControlRefused as error:
            raise type(error)(_as_typed(str(error))) from None
        # A member that every answer of ours has: something else answers there.
        except KeyError as error:
            raise NoServer(f"what answers at {url} is no crosschain-mock: no {error}") from None
        finally:
            # A command that finds something wrong ends here with its exit code: its answer counts.
            if as_json and remote.answer is not None:
                print_json(remote.answer)

    return called


def request_of(row: Mapping[str, Any]) -> Callable[..., Json]:
    """Return a function that sends the request of a row to the control API.

    Of `POST /orders/{order}` the order is an argument of the command. The other arguments and
    options are members of the body, beside those of the row's `body`, or of the query, under the
    names that these have there: `down_percent` is `downPercent`.
    """
    method, _, path = row["request"].partition(" ")
    place = "query" if method in ("GET", "DELETE") else "body"

    def command(remote: Remote, **options: Any) -> Json:
        parts = {name: options.pop(name) for name in re.findall(r"\{(\w+)\}", path)}
        named = {camel(name): value for name, value in options.items()}
        sent = {**row.get("body", {}), **present(**named)}
        # A world that is named is on the server of its name.
        target = remote.of_world(parts["key"], remote.epoch) if "key" in parts else remote
        remote.answer = target.send(method, path.format(**parts), **{place: sent})
        return remote.answer

    return command


def _as_typed(sentence: str) -> str:
    """Return a sentence of the control API with the options of this command as they are typed."""
    names = {
        # The longest form, since messages about `-n` would not be found in the help.
        camel(str(parameter.name)): max(parameter.opts, key=len).lstrip("-")
        for parameter in click.get_current_context().command.params
        if isinstance(parameter, click.Option)
    }
    return re.sub(r"\b[a-z]+[A-Z]\w*", lambda match: names.get(match[0], match[0]), sentence)


def present(**members: Json) -> dict[str, Json]:
    """Return the members of a request without those that were not given."""
    # By identity: a number that is 0 was given, although it equals False.
    return {
        name: value for name, value in members.items() if value is not None and value is not False
    }


def parsed_value(text: str) -> Json:
    """Return a value as it is written on a command line: a number or JSON, else plain text."""
    try:
        return jsontext.decode(text.encode("utf-8", "surrogateescape"))
    except jsontext.NotJson:
        return text


def pairs(texts: tuple[str, ...], numbers: Container[str] | None = None) -> dict[str, Json]:
    """Return the members written as `NAME=VALUE`; with `numbers` all others are plain text.

    Raises `UsageError` for anything else.
    """
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise click.UsageError(f"{text!r}: write NAME=VALUE, as in delay=2s")
        values[name] = parsed_value(value) if numbers is None or name in numbers else value
    return values


def _refusal_text(refusal: Json, status: int) -> str:
    if isinstance(refusal, Mapping) and isinstance(refusal.get("error"), str):
        # Users of a command know its options, and not the request behind it.
        text = re.sub(r"\b(body field|query parameter) (?=')", "", refusal["error"])
        return text.removeprefix("body: ")
    return f"the server answered {status}: {json.dumps(refusal, default=str)[:200]}"
