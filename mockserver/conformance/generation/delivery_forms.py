"""Forms in which browsers and proxies send a request, which change nothing of its meaning."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from mockserver import jsontext
from mockserver.conformance.session.request_draft import JSON_TYPE, Draft
from mockserver.jsontext import Json

_LETTER = re.compile(r"(%[0-9A-Fa-f]{2})|([0-9A-Za-z])")
_ROUND_AMOUNT = re.compile(rb'("amount": *[1-9])(0+)(?=[,} ])')
# How long the further input is.
_FURTHER, SHORT, _LONG = "utm_source", 3, 600

DeliveryEdit = Callable[[Draft], Draft]


def with_headers(**changes: str) -> DeliveryEdit:
    named = {name.replace("_", "-"): value for name, value in changes.items()}
    return lambda draft: replace(draft, headers={**draft.headers, **named})


def _header_names(spell: Callable[[str], str]) -> DeliveryEdit:
    return lambda draft: replace(
        draft, headers={spell(name): value for name, value in draft.headers.items()}
    )


def _escaped(draft: Draft) -> Draft:
    """Return a request with each letter and digit of each value as an escape: three times as long,
    which cuts show in that gateways make.
    """

    query = (name + equals + _LETTER.sub(_escape, value) for name, equals, value in _inputs(draft))
    return replace(draft, raw_query="&".join(query))


def _escaped_names(draft: Draft) -> Draft:
    """Return a request with the first letter of the name of each input as an escape."""
    query = (
        _LETTER.sub(_escape, name, 1) + equals + value for name, equals, value in _inputs(draft)
    )
    return replace(draft, raw_query="&".join(query))


def _escape(match: re.Match[str]) -> str:
    return match[1] or f"%{ord(match[2]):02X}"


def _inputs(draft: Draft) -> Iterator[tuple[str, str, str]]:
    return (part.partition("=") for part in (draft.raw_query or "").split("&") if part)


def escaped_body(draft: Draft) -> Draft:
    """Return a submission with each character of its texts as an escape of JSON."""

    def escaped(value: Json) -> str:
        text = value if isinstance(value, str) else ""
        units = text.encode("utf-16-be", "surrogatepass").hex()
        digits = "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
        return f'"{digits}"' if isinstance(value, str) else jsontext.encode(value).decode()

    body = jsontext.decode_or(draft.sent_body, None)
    if not isinstance(body, Mapping):
        return draft
    members = (f'"{name}":{escaped(value)}' for name, value in body.items())
    return replace(draft, raw_body=f"{{{','.join(members)}}}".encode())


def _with_exponents(draft: Draft) -> Draft:
    """Return a request whose round amounts are written as 1e2: the same numbers in JSON."""

    def exponent(match: re.Match[bytes]) -> bytes:
        return match[1] + b"e%d" % len(match[2])

    return replace(draft, raw_body=_ROUND_AMOUNT.sub(exponent, draft.sent_body) or None)


def with_further_input(length: int) -> DeliveryEdit:
    """Return a change that puts an input in front which no operation has, as trackers do.

    The query is longer then, so that cuts show. v1 may sign the query, so it stays as it is there.
    """

    def change(draft: Draft) -> Draft:
        if not draft.raw_query or "signature" in {name.lower() for name in draft.headers}:
            return draft
        return replace(draft, raw_query=f"{_FURTHER}={'x' * length}&{draft.raw_query}")

    return change


def _with_white_space(draft: Draft) -> Draft:
    """Return a request with white space around its body and inside of it, as people write JSON."""
    body = draft.sent_body.strip()
    is_object = body.startswith(b"{") and body.endswith(b"}")
    return replace(draft, raw_body=b"\n { " + body[1:-1] + b" \n}\r\n") if is_object else draft


def _blanks_as_plus(draft: Draft) -> Draft:
    return replace(draft, raw_query=(draft.raw_query or "").replace("%20", "+"))


def _named_charset(draft: Draft) -> Draft:
    return replace(draft, content_type=f"{JSON_TYPE}; charset=utf-8")


def _in_chunks(draft: Draft) -> Draft:
    """Return a request whose body travels in chunks, as that of a client does that streams."""
    return with_headers(Transfer_Encoding="chunked")(draft) if draft.sent_body else draft


COMPRESSED = "compression accepted"
LONGER_QUERY = f"a further input of {_LONG} characters in front"
LONG_INPUT = with_further_input(_LONG)

# Ways of sending that change nothing of the meaning. All of a group are sent in one request, and
# one by one only where that is answered otherwise.
FORMS: Mapping[str, Mapping[str, DeliveryEdit]] = {
    "as browsers send it": {
        "names of headers in lower case": _header_names(str.lower),
        COMPRESSED: with_headers(Accept_Encoding="gzip, deflate, br"),
        "another language accepted": with_headers(Accept_Language="de-DE, fr;q=0.8"),
        "the name of a browser": with_headers(User_Agent="Mozilla/5.0 (X11; Linux x86_64)"),
        "cookies": with_headers(Cookie="seen=1"),
        "letters as escapes": _escaped,
        "letters of names as escapes": _escaped_names,
        "blanks as +": _blanks_as_plus,
        LONGER_QUERY: LONG_INPUT,
        "the charset of the body named": _named_charset,
        "white space in the body": _with_white_space,
        "several types accepted": with_headers(
            Accept="application/json, text/plain;q=0.9, */*;q=0.8"
        ),
    },
    "as proxies send it": {
        "names of headers in upper case": _header_names(str.upper),
        "compression accepted, plain preferred": with_headers(
            Accept_Encoding="identity, gzip;q=0.5"
        ),
        "nothing from a cache": with_headers(Cache_Control="no-cache", Pragma="no-cache"),
        "the names of proxies": with_headers(Via="1.1 proxy", X_Forwarded_For="192.0.2.7"),
        "any type accepted": with_headers(Accept="*/*"),
        "a third language accepted": with_headers(Accept_Language="zh-CN, ar;q=0.8"),
        "the body in chunks": _in_chunks,
        "letters of the body as escapes": escaped_body,
        "amounts with an exponent": _with_exponents,
    },
}


# Ways of sending a submission, each for a deposit of its own.
FORMS_OF_SUBMISSIONS: Mapping[str, DeliveryEdit] = {
    "names of headers in lower case": _header_names(str.lower),
    "letters of its body as escapes": escaped_body,
    "the charset of the body named": _named_charset,
    "the body in chunks, with white space": lambda draft: _in_chunks(_with_white_space(draft)),
}


def applied(draft: Draft, *changes: DeliveryEdit) -> Draft:
    for change in changes:
        draft = change(draft)
    return draft
