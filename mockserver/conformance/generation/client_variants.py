"""How clients of other kinds send a request, which changes nothing of what is requested."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from mockserver.conformance.checks.judged_exchanges import request_key
from mockserver.conformance.discovery.service_clock import seconds_between
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.request_draft import JSON_TYPE, Draft

_ORIGIN, _VALIDATORS, _RANGE = "the origin of a page", "validators of an old copy", "a range"
_MANY, _EXPECT, _OLDER = "40 further headers", "a body that waits for 100", "HTTP/1.0"
_ABSOLUTE = "the whole address as its target"
_APPLICATION = "all types of applications accepted"
_OTHER_COPY = '"never-sent-by-this-service"'
# Inputs of no operation: in forms, and with characters, that are seen less often.
_FURTHER = ("mark=a==", "empty=", "flag", "note=O'Neil%3B%20%3Cselect%3E%2050%25%20or%20%22all%22")
_MOST_COOKIES = 1000
_MAX_AGE = re.compile(r"(?:s-maxage|max-age)\s*=\s*\"?(\d{1,12})", re.IGNORECASE)
_SECONDS = re.compile(r"\d{1,12}", re.ASCII)
_NOT_KEPT = ("no-store", "no-cache", "must-revalidate", "private")

OLD_COPY: Mapping[str, str] = {
    "If-None-Match": _OTHER_COPY,
    "If-Modified-Since": "Sat, 01 Jan 1994 00:00:00 GMT",
}
_HEADERS: Mapping[str, Mapping[str, str]] = {
    _ORIGIN: {"Origin": "https://wallet.example"},
    "the address of a page": {"Referer": "https://wallet.example/swap?from=ETH&to=BNB"},
    "what browsers say of a page": {
        "Sec-Fetch-Site": "cross-site",
        "Sec-Fetch-Mode": "cors",
        "Sec-Fetch-Dest": "empty",
        "DNT": "1",
    },
    "no name of its client": {"User-Agent": ""},
    "the mark of a trace": {
        "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "X-Request-Id": "4bf92f35-77b3-4da6-a3ce-929d0e0e4736",
    },
    "whom it is forwarded for": {
        "Forwarded": "for=192.0.2.7;proto=https",
        "X-Forwarded-For": "192.0.2.7, 198.51.100.9",
        "X-Real-IP": "192.0.2.7",
    },
    "nothing from a cache": {"Cache-Control": "no-cache", "Pragma": "no-cache"},
    _APPLICATION: {"Accept": "application/*"},
    "deflate alone accepted": {"Accept-Encoding": "deflate"},
    _MANY: {f"X-Further-{number}": "x" * 40 for number in range(40)},
    _VALIDATORS: OLD_COPY,
}
# What HTTP lets a server answer to some forms in place of the usual answer.
_ALLOWED: Mapping[str, tuple[int, ...]] = {
    _RANGE: (206, 416),
    _MANY: (431,),
    _EXPECT: (417,),
    _OLDER: (426, 505),
}


def forms_of_clients(
    draft: Draft, cookies: str, media_type: str, *, takes_further: bool
) -> dict[str, Callable[[Draft], Draft]]:
    """Return changes to a request by what they are called.

    `cookies` are sent back; `media_type` is that of the answers so far.
    """
    forms = {words: _with_headers(headers) for words, headers in _HEADERS.items()}
    # As to a proxy: each server has to take it (RFC 9112, 3.2.2).
    forms[_ABSOLUTE] = lambda draft: replace(draft, is_absolute=True)
    if not media_type.startswith("application/"):
        del forms[_APPLICATION]
    if cookies:
        forms["cookies"] = _with_headers({"Cookie": cookies})
    if draft.sent_body:
        forms["the type of its body in capitals"] = _type_in_capitals
        # HTTP/1.0 does not know it.
        forms[_EXPECT] = _with_headers({"Expect": "100-continue"})
    else:
        # Whoever knows ranges has to see that it is one of another copy.
        forms[_RANGE] = _with_headers({"Range": "bytes=0-9", "If-Range": _OTHER_COPY})
        forms[_OLDER] = lambda draft: replace(draft, version="1.0")
    # v1 may sign the query, so it stays as it is there.
    if draft.raw_query and "signature" not in {name.lower() for name in draft.headers}:
        if takes_further:
            forms["further inputs with other characters"] = _with_further_inputs
        forms["its inputs in another order"] = _in_another_order
        forms["empty inputs between its own"] = _with_empty_inputs
    return forms


def allowed_to_differ(exchange: Exchange) -> set[str]:
    """Return the forms that may be why an answer is another one, by what they are called."""
    status = exchange.answer.status
    words = {form for form, statuses in _ALLOWED.items() if status in statuses}
    if status == 304:
        words.add(_VALIDATORS)
    # Nothing is published of older versions: a server may not speak them.
    if not exchange.has_answer:
        words.add(_OLDER)
    # Nothing is published of pages elsewhere: they may be refused, as everything is.
    if exchange.refused and not exchange.unreadable:
        words.add(_ORIGIN)
    return words


def cookies_for(exchanges: Iterable[Exchange], first: Exchange) -> str:
    """Return the cookies that a client has before it sends a request again, as it sends them.

    Those of other requests stand in place of the request's own: what they remember may show.
    """
    cookies = dict[str, str]()
    for exchange in sorted(exchanges, key=lambda exchange: not _is_again(exchange, first)):
        for header, value in exchange.answer.headers:
            pair, *attributes = (part.strip() for part in value.split(";"))
            name, equals, _ = pair.partition("=")
            if header.lower() != "set-cookie" or not equals or not pair.isprintable():
                continue
            ended = any(each.lower() in ("max-age=0", "max-age=-1") for each in attributes)
            cookies[name] = "" if ended else pair
    return "; ".join(filter(None, cookies.values()))[:_MOST_COOKIES]


def _is_again(exchange: Exchange, first: Exchange) -> bool:
    same = exchange.answer.body == first.answer.body
    return same or request_key(exchange) == request_key(first)


def kept_for(exchange: Exchange) -> int:
    """Return for how many seconds the headers of an answer let others keep it."""
    header = exchange.answer.header
    control = header("Cache-Control") or ""
    if any(word in control.lower() for word in _NOT_KEPT):
        return 0
    if ages := [int(age) for age in _MAX_AGE.findall(control)]:
        return max(ages)
    # What is no date has expired (RFC 9111, 5.3).
    return int(seconds_between(header("Date"), header("Expires")) or 0)


def age_of(exchange: Exchange) -> int:
    """Return for how many seconds an answer was kept before it came, by its headers."""
    shown = _SECONDS.fullmatch((exchange.answer.header("Age") or "").strip())
    return int(shown[0]) if shown else 0


def is_stale(exchange: Exchange) -> bool:
    """Tell whether an answer was kept longer before it came than its headers let anybody keep it.

    They may allow that (RFC 5861). What nobody may keep at all, gateways keep that are told apart.
    """
    may_be_stale = "stale-" in (exchange.answer.header("Cache-Control") or "").lower()
    return not may_be_stale and 0 < kept_for(exchange) < age_of(exchange)


def coding_of(exchange: Exchange) -> str:
    return (exchange.answer.header("Content-Encoding") or "identity").strip().lower()


def varies_by(exchange: Exchange, name: str) -> bool:
    """Tell whether the headers of an answer say that it depends on a header of its request."""
    named = (value for header, value in exchange.answer.headers if header.lower() == "vary")
    return not {name.lower(), "*"}.isdisjoint(
        part.strip().lower() for value in named for part in value.split(",")
    )


def knows_no_chunks(exchange: Exchange) -> bool:
    """Tell whether an answer is framed in a way that its client cannot know."""
    coding = exchange.answer.header("Transfer-Encoding")
    return coding is not None and exchange.request.version == "1.0"


def _with_headers(headers: Mapping[str, str]) -> Callable[[Draft], Draft]:
    return lambda draft: replace(draft, headers={**draft.headers, **headers})


def _type_in_capitals(draft: Draft) -> Draft:
    return replace(draft, content_type=f"{JSON_TYPE.title()};charset=UTF-8")


def _with_further_inputs(draft: Draft) -> Draft:
    return replace(draft, raw_query="&".join((*_FURTHER, draft.raw_query or "")))


def _in_another_order(draft: Draft) -> Draft:
    return replace(draft, raw_query="&".join(reversed((draft.raw_query or "").split("&"))))


def _with_empty_inputs(draft: Draft) -> Draft:
    return replace(draft, raw_query=f"&{(draft.raw_query or '').replace('&', '&&')}&")


# What differs between two answers by a header of their requests.
_CHOSEN_BY: Mapping[str, Callable[[Exchange], object]] = {
    "chain": lambda exchange: exchange.body,
    "Accept-Encoding": coding_of,
}


def kept_without_vary(every: Sequence[Exchange]) -> tuple[str, Exchange, Exchange] | None:
    """Return a header that is all that tells two requests under one address apart, and their
    answers, which differ by it: others may keep the first.
    """
    # What is not packed anybody can read.
    in_order = sorted(every, key=lambda exchange: coding_of(exchange) == "identity")
    for name, shown in _CHOSEN_BY.items():
        first = dict[str, Exchange]()
        for exchange in in_order:
            asked = exchange.request.headers.get(name)
            if exchange.request.method != "GET" or (name == "chain" and asked is None):
                continue
            before = first.setdefault(exchange.request.target, exchange)
            other = before.request.headers.get(name) != asked and shown(before) != shown(exchange)
            if other and kept_for(before) and not varies_by(before, name):
                return name, before, exchange
    return None
