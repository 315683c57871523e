"""Rules about bodies as bytes: strict JSON, called so, and not compressed unasked."""

import re
from collections.abc import Iterator

from mockserver.conformance.checks.evidence import answered, is_redirect
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.requests.protocol import is_beneath
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Verdict
from mockserver.contract import Operation, assumed, documented
from mockserver.validation import shown

_JSON = re.compile(r"(?:application|text)/(?:[\w.+-]+\+)?json", re.ASCII)


def body_is_strict_json(context: RunContext, operation: Operation) -> Iterator[Finding]:
    found: dict[str, Exchange] = {}
    for exchange in answered(context, operation):
        if is_redirect(exchange) or not exchange.unreadable or _is_https_own(exchange):
            continue
        found.setdefault(_fault(exchange), exchange)
    for fault, exchange in found.items():
        refused = exchange.answer.status >= 400
        begins = exchange.answer.body[:200].decode("utf-8", "replace")
        text = f"; the body begins with {shown(begins)}" if begins else ""
        yield Finding(
            f"{fault}: {exchange.unreadable}{text}",
            (exchange,),
            basis=documented("errors.envelope") if refused else None,
            cause=fault,
        )


def _fault(exchange: Exchange) -> str:
    """Return what kind of trouble keeps a body from being JSON."""
    body = exchange.answer.body
    if not body.strip():
        return "the body is empty"
    if body.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return "the body begins with a byte order mark"
    if body.lstrip()[:1] == b"<":
        return "the body is a page of HTML or XML"
    why = exchange.unreadable
    for words, fault in _FAULTS:
        if words in why:
            return fault
    return "the body is not JSON"


_FAULTS = (
    ("UTF-8", "the body is not UTF-8"),
    ("given twice", "a member is there twice"),
    ("is not a JSON number", "a number is none"),
    ("extra data", "something follows the JSON"),
    ("unterminated", "the body ends too early"),
)


def media_type_is_json(context: RunContext, operation: Operation) -> Iterator[Finding]:
    for exchange in answered(context, operation):
        if exchange.unreadable or is_redirect(exchange):
            continue
        finding = _media_finding(exchange)
        if finding is not None:
            yield finding
            return


def _media_finding(exchange: Exchange) -> Finding | None:
    given = exchange.answer.header("Content-Type")
    if given is None:
        basis = assumed("A-216", "answers say what they are")
        return Finding("there is no Content-Type", (exchange,), basis=basis, cause="none")
    media, _, rest = given.partition(";")
    if not _JSON.fullmatch(media.strip().lower()):
        return Finding(f"Content-Type is {shown(given)}", (exchange,), cause="other")
    charset = re.search(r"charset\s*=\s*\"?([\w-]+)", rest, re.IGNORECASE)
    if charset and charset[1].lower() not in ("utf-8", "utf8", "us-ascii"):
        basis = assumed("A-216", "JSON is UTF-8")
        return Finding(f"Content-Type is {shown(given)}", (exchange,), basis=basis, cause="charset")
    return None


def no_unasked_compression(context: RunContext, operation: Operation) -> Iterator[Finding]:
    for exchange in answered(context, operation):
        coding = (exchange.answer.header("Content-Encoding") or "identity").strip().lower()
        if coding != "identity":
            yield Finding(
                f"the body is compressed ({shown(coding)}), and nobody asked for it",
                (exchange,),
                verdict=Verdict.EXTRA,
                cause=coding[:20],
            )
            return


def _is_https_own(exchange: Exchange) -> bool:
    """Tell whether HTTP itself refuses: of what is beneath the interface nothing is published."""
    return exchange.answer.status >= 400 and is_beneath(exchange)
