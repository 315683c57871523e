"""Commands that look at what a world has seen: the journal, and checks of it."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

import click

from mockserver.cli.printing import print_json
from mockserver.cli.remote import Remote, connected, either, given, pairs
from mockserver.cli.types import Word
from mockserver.exchange import printable
from mockserver.jsontext import Json, camel

_POLL_S = 0.2
_FINDING = Word("mockserver.worlds.audit:KINDS")


@click.command()
@click.argument("operation", required=False)
@click.option("--operation", "named", help="The OPERATION, as an option.")
@click.option("--follow", "-f", is_flag=True, help="Print what comes from now on, until stopped.")
@click.option("--method", help="Only this method.")
@click.option("--path", help="Only this path below the world.")
@click.option("--refused", is_flag=True, help="Only refused requests.")
@click.option("--since", type=int, help="Only entries after that number.")
@click.option("--limit", type=int, help="At most so many entries.")
@click.option("--json", "as_json", is_flag=True, help="Print an entry a line, as JSON.")
@click.option("--clear", is_flag=True, help="Forget the journal instead.")
@connected
def journal(remote: Remote, follow: bool, as_json: bool, clear: bool, **options: Any) -> None:
    """Print what a world has seen of an OPERATION or of all, and why requests were refused.

    Such as: journal submitOrder --refused
    """
    if clear:
        print_json(remote.send("DELETE", "/journal"))
        return
    options["operation"] = either(options, "operation")
    search = given(**options)
    if follow and "since" not in search:
        search["since"] = remote.get("/journal", limit=1)["last"]
        click.echo(f"what comes after request {search['since']}; Ctrl-C stops", err=True)
    told = remote.get("/journal", **search)
    _entries(told["entries"], as_json=as_json)
    while follow:
        time.sleep(_POLL_S)
        told = remote.get("/journal", **{**search, "since": told["next"]})
        _entries(told["entries"], as_json=as_json)


@click.command()
@click.argument("operation", required=False)
@click.option("--operation", "named", help="The OPERATION, as an option.")
@click.option("--method", help="Requests with this method.")
@click.option("--path", help="Requests for this path below the world.")
@click.option("--refused/--answered", default=None, help="Only refused ones, or only the others.")
@click.option("--query", multiple=True, metavar="NAME=VALUE", help="A parameter they must have.")
@click.option("--body", multiple=True, metavar="NAME=VALUE", help="A body field they must have.")
@click.option("--from", "from", help="At or after that time of the world.")
@click.option("--until", help="Before that time of the world.")
@click.option("--exactly", type=int, help="So many of them.")
@click.option("--at-least", type=int, help="So many or more.")
@click.option("--at-most", type=int, help="So many or fewer.")
@click.option("--never", is_flag=True, help="None of them.")
@click.option("--within", help="All within that much of the world's time.")
@click.option("--order", multiple=True, metavar="OPERATION", help="In this order; repeatable.")
@connected
def verify(remote: Remote, **options: Any) -> None:
    """Tell whether a world has seen what it should of an OPERATION; exit 1 where it has not.

    Such as: verify submitOrder --exactly 1
    """
    options["operation"] = either(options, "operation")
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
        click.echo(f"  {told['dropped']} older requests are not in the journal any more")
    if not told["held"]:
        sys.exit(1)


@click.command()
@connected
def check(remote: Remote) -> None:
    """Tell of unused stubs, failures and unexpected refusals; exit 1 where there are any."""
    told = remote.get("/check")
    print_json(told)
    if not told["ok"]:
        sys.exit(1)


@click.command()
@click.argument("kinds", nargs=-1, metavar="[KIND]...", type=_FINDING)
@click.option("--without", multiple=True, metavar="KIND", type=_FINDING, help="All but this kind.")
@click.option("--quote-age", metavar="DURATION", help="From when on a quote is old; 5m without it.")
@connected
def audit(
    remote: Remote, kinds: tuple[str, ...], without: tuple[str, ...], quote_age: str | None
) -> None:
    """Tell of money that was doubled, lost or is stuck; exit 1 where there is any.

    By the KINDS of findings that are named, or by all: two-orders, deposit-without-order,
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
        yield f"{told['unjudged']} orders were not judged: older requests are not kept any more"
    if told["ok"]:
        yield f"all is well with {told['judged']} orders"


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
