"""Commands that look at what a world has seen: the journal, and checks of it."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

import click

from mockserver.cli.printing import print_json
from mockserver.cli.remote import Remote, given, pairs
from mockserver.exchange import printable
from mockserver.jsontext import Json, camel
from mockserver.wording import counted

_POLL_S = 0.2


def journal(remote: Remote, follow: bool, as_json: bool, clear: bool, **options: Any) -> None:
    """Print the requests to an OPERATION, or all, and why some were refused.

    For example: journal submitOrder --refused
    """
    if clear:
        print_json(remote.send("DELETE", "/journal"))
        return
    search = given(**options)
    if follow and "since" not in search:
        search["since"] = remote.get("/journal", limit=1)["last"]
        click.echo(f"what comes after request {search['since']}; Ctrl-C stops", err=True)
    told = remote.get("/journal", **search)
    _entries(told["entries"], as_json=as_json)
    if not (told["entries"] or follow or as_json):
        click.echo(f"no such request in world '{remote.world}'", err=True)
    while follow:
        time.sleep(_POLL_S)
        told = remote.get("/journal", **{**search, "since": told["next"]})
        _entries(told["entries"], as_json=as_json)


def verify(remote: Remote, **options: Any) -> None:
    """Check that an OPERATION was called as it should; exit 1 if not.

    For example: verify submitOrder --exactly 1
    """
    match = given(**{name: pairs(options.pop(name)) or None for name in ("query", "body")})
    options |= {"match": match or None, "order": list(options["order"]) or None}
    wanted = {camel(name): value for name, value in given(**options).items()}
    # That a request was not refused is something to look for.
    if options["refused"] is not None:
        wanted["refused"] = options["refused"]
    told = remote.post("/verify", wanted)
    click.echo(printable(f"{'held' if told['held'] else 'not held'}: {told['told']}"))
    for line in told["nearest"]:
        click.echo(printable(f"  {line}"))
    if told["dropped"]:
        click.echo(f"  {counted(told['dropped'], 'older request')} no longer in the journal")
    if not told["held"]:
        sys.exit(1)


def check(remote: Remote) -> None:
    """Find unused stubs, failures and unexpected refusals; exit 1 if any."""
    told = remote.get("/check")
    for stub in told["unusedStubs"]:
        wanted = f" of {stub['times']} times" if "times" in stub else " times"
        click.echo(printable(f"unused: stub {stub['id']} answered {stub['used']}{wanted}"))
    for failure in told["failures"]:
        click.echo(printable(f"failure: {failure}"))
    if told["unexpectedRefusals"]:
        click.echo("unexpected refusals:")
    for entry in told["unexpectedRefusals"]:
        _entry(entry)
    if not told["ok"]:
        sys.exit(1)
    click.echo("all is well: no unused stub, no failure, no unexpected refusal")


def audit(
    remote: Remote, kinds: tuple[str, ...], without: tuple[str, ...], quote_age: str | None
) -> None:
    """Find money that was doubled, lost or is stuck; exit 1 if there is any.

    KINDS of findings, all by default: two-orders, deposit-without-order,
    order-not-followed, refund-not-noticed, drop-not-reported and other-quote.
    """
    named = ",".join([*kinds, *(f"-{kind}" for kind in without)])
    told = remote.get("/audit", kinds=named or None, quoteAge=quote_age)
    for line in audited(told):
        click.echo(printable(line))
    if not told["ok"]:
        sys.exit(1)


def audited(told: Json) -> Iterator[str]:
    """Yield the lines in which an audit is told."""
    for one in told["findings"]:
        yield f"{one['kind']}: {one['told']}"
        for request in one["requests"]:
            yield f"  {request['sequence']}. {request['request']} -> {request['outcome']}"
        for sent in one["transactions"]:
            yield f"  transaction {sent['hash']} on {sent['chain']}"
    if told["more"]:
        yield f"and {told['more']} more"
    if told["unjudged"]:
        yield f"{counted(told['unjudged'], 'order')} not judged: older requests are no longer kept"
    if told["ok"]:
        yield f"all is well with {counted(told['judged'], 'order')}"


def _entries(entries: Iterable[Json], *, as_json: bool) -> None:
    from mockserver import jsontext

    for entry in entries:
        if as_json:
            click.echo(jsontext.encode(entry))
        else:
            _entry(entry)
    sys.stdout.flush()


def _entry(entry: Json) -> None:
    request, response = entry["request"], entry["response"]
    target = f"{request['path']}{_query(request['query'])}"
    told = f"{entry['sequence']}  {entry['at']}  {request['method']} {target}"
    lines = [f"{told}  {response['status']}  {entry['responder']}"]
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


def _query(query: Json) -> str:
    """Return the query of a request as it stands in its target, decoded."""
    told = query if isinstance(query, str) else "&".join(f"{name}={text}" for name, text in query)
    return f"?{told}" if told else ""
