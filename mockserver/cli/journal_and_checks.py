"""Commands that read the journal of a world, and check it."""

import sys
import time
from typing import Any

import click

from mockserver import jsontext
from mockserver.cli.control_client import ControlRefused, Remote, pairs, present
from mockserver.cli.printing import print_json, print_text
from mockserver.errors import CrosschainMockError
from mockserver.http_messages import printable
from mockserver.jsontext import Json, camel
from mockserver.wording import audit_lines, counted

_POLL_S = 0.2


def journal(remote: Remote, follow: bool, as_json: bool, clear: bool, **options: Any) -> None:
    """Print the requests to an OPERATION, or all, and why some were refused.

    For example: journal submitOrder --refused
    """
    if clear:
        print_json(remote.send("DELETE", "/journal"))
        return
    search = present(**options)
    if follow and "since" not in search:
        search["since"] = remote.get("/journal", limit=1)["last"]
        remote.stay()
        click.echo(f"what comes after request {search['since']}; Ctrl-C stops", err=True)
    while True:
        page = remote.get("/journal", **search)
        # What another world has under these numbers is no continuation.
        remote.stay()
        for entry in page["entries"]:
            if as_json:
                click.echo(jsontext.encode(entry))
            else:
                _print_entry(entry)
        sys.stdout.flush()
        if not follow:
            break
        # Not the last entry that was shown: others may not match the search, and need no second
        # look.
        search["since"] = page["next"]
        time.sleep(_POLL_S)
    if not (page["entries"] or as_json):
        click.echo(f"no such request in world '{remote.world}'", err=True)


def verify(remote: Remote, strict: bool, **options: Any) -> None:
    """Check that an OPERATION was called as it should; exit 1 if not.

    For example: verify submitOrder --exactly 1
    """
    match = present(**{name: pairs(options.pop(name)) or None for name in ("query", "body")})
    options |= {"match": match or None, "order": list(options["order"]) or None}
    wanted = {camel(name): value for name, value in present(**options).items()}
    # That a request was not refused is something to look for.
    if options["refused"] is not None:
        wanted["refused"] = options["refused"]
    verdict = asked(remote, "POST", "/verify", body=wanted)
    ground = verdict["ground"]
    # Nothing to judge is told apart from a claim that failed: exit 3 and not 1.
    if not verdict["held"] and verdict["told"] == ground["missing"]:
        raise NoGround(ground["missing"])
    print_text(printable(f"{'held' if verdict['held'] else 'not held'}: {verdict['told']}"))
    for line in verdict["nearest"]:
        print_text(printable(f"  {line}"))
    if verdict["dropped"]:
        print_text(f"  {counted(verdict['dropped'], 'older request')} no longer in the journal")
    if not verdict["held"]:
        sys.exit(1)
    require_ground(ground, strict=strict)


def check(remote: Remote, unused: str, strict: bool) -> None:
    """Find what met no request, failures, and refusals that nobody expects; exit 1 if any."""
    state = asked(remote, "GET", "/check", query={"unused": unused})
    for sentence in state["told"]:
        for line in sentence.splitlines():
            print_text(printable(line))
    if state["told"]:
        sys.exit(1)
    require_ground(state["ground"], strict=strict)
    click.echo("all is well: nothing unused, no failure, no unexpected refusal")


def audit(remote: Remote, kinds: tuple[str, ...], without: tuple[str, ...], **options: Any) -> None:
    """Find money that was doubled, lost or is stuck; exit 1 if there is any.

    KINDS of findings are named in docs/reference/audit.md; all by default. Orders are judged by how
    they will have ended.
    """
    named = ",".join([*kinds, *(f"-{kind}" for kind in without)])
    query = {
        "kinds": named or None,
        "quoteAge": options["quote_age"],
        "asIs": "true" if options["as_is"] else None,
        "exitClaims": "true" if options["exit_claims"] else None,
    }
    answer = asked(remote, "GET", "/audit", query=query)
    # What was found stands, whatever else is not known.
    if not answer["findings"]:
        require_ground(answer["ground"], strict=options["strict"])
    for line in audit_lines(answer):
        print_text(printable(line))
    if answer["findings"]:
        sys.exit(1)


def asked(remote: Remote, method: str, path: str, **parts: Any) -> Json:
    """Return the answer to a question about a world. Raises `NoGround` where there is none."""
    try:
        return remote.send(method, path, **parts)
    except ControlRefused as error:
        if "there is no world" not in str(error):
            raise
        # Nothing is known of it, which is no mistake in what was asked.
        raise NoGround(str(error)) from None


def require_ground(ground: Json, *, strict: bool) -> None:
    """Tell what is missing from a verdict that finds nothing. Raises `NoGround`.

    There is none without any request, or, strictly, where it has holes.
    """
    if ground["missing"]:
        raise NoGround(ground["missing"])
    for hole in ground["holes"]:
        click.echo(printable(f"ground: {hole}"), err=True)
    if strict and ground["holes"]:
        requests = counted(ground["requests"], "request")
        raise NoGround(f"the verdict rests on {requests}, with holes: {'; '.join(ground['holes'])}")


class NoGround(CrosschainMockError):
    """A verdict that nothing carries."""

    exit_code = 3


def _print_entry(entry: Json) -> None:
    request, response = entry["request"], entry["response"]
    query = request["query"]
    if not isinstance(query, str):
        # Pairs of a query that could be decoded.
        query = "&".join(f"{name}={text}" for name, text in query)
    target = f"{request['method']} {request['path']}{'?' if query else ''}{query}"
    line = (
        f"{entry['sequence']}  {entry['at']}  {target}  {response['status']}  {entry['responder']}"
    )
    took = entry["durationMs"]
    lines = [line if took is None else f"{line}  {took} ms"]
    if entry["fault"]:
        lines.append(f"    fault: {entry['fault']}")
    if entry["refusal"]:
        lines.append(f"    refused: {entry['refusal']}")
    if entry["nearest"] and entry["nearest"]["changed"]:
        lines.append(f"    nearest valid form: {'; '.join(entry['nearest']['changed'])}")
    colour = "yellow" if entry["refusal"] or entry["fault"] else None
    for line in lines:
        # What goes into a pipe or a file is left without colour.
        click.secho(printable(line), fg=colour)
