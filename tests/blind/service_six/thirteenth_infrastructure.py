"""Twenty further faults of what stands between the service and its clients."""

import asyncio
import base64
import gzip
import hashlib
import json
import time
import zlib
from email.utils import formatdate
from urllib.parse import unquote_plus

from aiohttp import web

from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.infrastructure import (
    Answer,
    accepts_gzip,
    bytes_of,
    cached,
    count,
    packed,
    with_body,
)
from tests.blind.service_six.operations import (
    LISTS,
    QUOTE,
    QUOTES,
    RAW,
    TICKETS,
    V1_ORDER,
    V1_QUOTE,
)
from tests.blind.service_six.service import Call, RefusalError

POSTS = f"{V1_QUOTE} {RAW} submitCrossChain submitOrder submitTicket"


def etag_of(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:16]}"'


@fault("head-has-another-content-type", "wrap")
async def head_type(call: Call, answer: Answer) -> web.Response:
    """A default handler answers HEAD, not that of the route."""
    response = await answer()
    if call.request.method == "HEAD":
        response.content_type = "text/plain"
    return response


@fault("last-modified-eight-hours-ahead", "wrap", LISTS)
async def modified_ahead(call: Call, answer: Answer) -> web.Response:
    """Local time is formatted with the letters GMT behind it."""
    response = await answer()
    response.headers["Last-Modified"] = formatdate(time.time() + 8 * 3600, usegmt=True)
    return response


@fault("date-stands-still", "wrap")
async def date_stands_still(call: Call, answer: Answer) -> web.Response:
    """The timer that renews the text of the date has died."""
    response = await answer()
    now = formatdate(time.time(), usegmt=True)
    response.headers["Date"] = call.service.memory.setdefault("date", now)
    return response


@fault("prices-older-than-their-max-age", "wrap", "getPrice")
async def older_than_max_age(call: Call, answer: Answer) -> web.Response:
    """A cache serves stale answers while it revalidates, and never does."""
    kept = call.service.memory.setdefault("prices", {})
    key, now = call.request.path_qs, time.time()
    if key not in kept:
        response = await answer()
        if json.loads(bytes_of(response))["code"] == 0:
            kept[key] = (now, bytes_of(response))
        return response
    since, body = kept[key]
    headers = {"Cache-Control": "max-age=1", "Age": str(int(now - since))}
    return web.Response(body=body, headers=headers, content_type="application/json")


@fault("content-digest-of-another-body", "wrap")
async def digest_of_another(call: Call, answer: Answer) -> web.Response:
    """The digest is taken before another step ends the body with a line feed."""
    body = bytes_of(await answer())
    digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
    headers = {"Content-Digest": f"sha-256=:{digest}:"}
    return web.Response(body=body + b"\n", headers=headers, content_type="application/json")


@fault("throttled-with-code-zero", "wrap", QUOTES)
async def throttled(call: Call, answer: Answer) -> web.Response:
    """The limiter fills the envelope of a success with its own words."""
    if count(call, "throttled") % 41 == 0:
        return web.json_response({"code": 0, "msg": "too many requests", "data": {}})
    return await answer()


@fault("expect-continue-loses-the-body", "before", POSTS)
def expect_loses_body(call: Call) -> None:
    """A proxy passes on the head alone, and drops the body behind 100 Continue."""
    if "Expect" in call.request.headers:
        raise RefusalError("the body has to be a JSON object")


@fault("ranges-end-a-byte-early", "wrap", LISTS)
async def byte_early(call: Call, answer: Answer) -> web.Response:
    """The last byte of a range is taken for the first behind it."""
    response = await answer()
    body = bytes_of(response)
    unit, _, wanted = call.request.headers.get("Range", "").partition("=")
    first, _, last = wanted.partition("-")
    if unit == "bytes" and first.isdigit() and last.isdigit() and int(first) < len(body):
        end = min(int(last), len(body) - 1)
        headers = {"Content-Range": f"bytes {first}-{end}/{len(body)}"}
        return web.Response(
            body=body[int(first) : end],
            status=206,
            headers=headers,
            content_type="application/json",
        )
    response.headers["Accept-Ranges"] = "bytes"
    return response


@fault("deflate-without-its-wrapper", "wrap")
async def bare_deflate(call: Call, answer: Answer) -> web.Response:
    """The name deflate is taken for the bare format instead of zlib's."""
    response = await answer()
    if accepts_gzip(call) or "deflate" not in call.request.headers.get("Accept-Encoding", ""):
        return response

    def bare(body: bytes) -> bytes:
        packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        return packer.compress(body) + packer.flush()

    return packed(response, "deflate", bare)


@fault("requests-behind-another-are-lost", "wrap")
async def behind_another(call: Call, answer: Answer) -> web.Response:
    """The buffer is emptied behind each request, with what of the next is in it."""
    response = await answer()
    call.request.protocol._messages.clear()
    return response


@fault("tickets-at-once-lose-the-first", "wrap", "submitTicket")
async def lose_the_first(call: Call, answer: Answer) -> web.Response:
    """Each reads the list, adds to it and writes all of it back."""
    service = call.service
    before = list(service.tickets)
    await asyncio.sleep(0.03)
    response = await answer()
    mine = [ticket for ticket in service.tickets[-1:] if ticket not in before]
    service.tickets = before + mine
    return response


@fault("swap-quotes-cached-in-small-letters", "wrap", QUOTE)
async def cached_in_small_letters(call: Call, answer: Answer) -> web.Response:
    """The key of the cache is folded, though contracts beside EVM's are not."""
    key = tuple(sorted((name, str(value).lower()) for name, value in call.inputs.items()))
    return await cached(call, answer, (call.operation, key), 5)


@fault("v1-details-asked-too-early-stay-unknown", "wrap", V1_ORDER)
async def stay_unknown(call: Call, answer: Answer) -> web.Response:
    """That there is no order is kept like an order."""
    kept: Data = call.service.memory.setdefault("unknown", {})
    key = str(sorted(call.inputs.items()))
    until, body = kept.get(key, (0, b""))
    if time.time() < until:
        return web.Response(body=body, content_type="application/json")
    response = await answer()
    if json.loads(bytes_of(response))["msg"] == "there is no such order":
        kept[key] = (time.time() + 30, bytes_of(response))
    return response


@fault("close-asked-for-is-ignored", "wrap")
async def close_ignored(call: Call, answer: Answer) -> web.Response:
    """The balancer keeps its connections whatever its client asks for."""
    response = await answer()
    response._keep_alive = True
    return response


@fault("tickets-listed-five-at-most", "data", TICKETS)
def five_at_most(call: Call, data: Data) -> None:
    """A default of pages, and no page to ask for."""
    data["list"] = data["list"][:5]


@fault("cancelled-requests-answer-the-next", "wrap")
async def answer_the_next(call: Call, answer: Answer) -> web.Response:
    """What a client did not wait for stays in a shared connection to the back."""
    memory = call.service.memory
    response = await answer()
    await asyncio.sleep(0.01)
    if call.request.transport is None or call.request.transport.is_closing():
        memory["left"] = bytes_of(response)
    elif "left" in memory:
        return with_body(response, memory.pop("left"))
    return response


@fault("escaped-names-of-inputs-not-read", "before")
def escaped_names(call: Call) -> None:
    """Values are unescaped, names are not."""
    if call.request.method != "POST":
        query = call.request.raw_path.partition("?")[2]
        pairs = [part.partition("=") for part in query.split("&") if part]
        call.inputs = {name: unquote_plus(value) for name, _, value in pairs}


@fault("v1-quotes-not-modified", "wrap", V1_QUOTE)
async def not_modified(call: Call, answer: Answer) -> web.Response:
    """A step that handles conditional requests does not look at the method."""
    response = await answer()
    etag = etag_of(bytes_of(response))
    if call.request.headers.get("If-None-Match") in {etag, "*"}:
        return web.Response(status=304, headers={"ETag": etag})
    response.headers["ETag"] = etag
    return response


@fault("compressed-lists-public-without-vary", "wrap", LISTS)
async def without_vary(call: Call, answer: Answer) -> web.Response:
    """A cache is allowed to hand out gzip to whoever does not read it."""
    response = await answer()
    if accepts_gzip(call):
        body = gzip.compress(bytes_of(response))
        response = with_body(response, body, **{"Content-Encoding": "gzip"})
    response.headers["Cache-Control"] = "public, max-age=60"
    return response


@fault("strong-etag-for-two-codings", "wrap", LISTS)
async def two_codings(call: Call, answer: Answer) -> web.Response:
    """Compression comes behind the step that makes the ETag."""
    response = await answer()
    etag = etag_of(bytes_of(response))
    if call.request.headers.get("If-None-Match") == etag:
        return web.Response(status=304, headers={"ETag": etag, "Vary": "Accept-Encoding"})
    if accepts_gzip(call):
        response = packed(response, "gzip", gzip.compress)
    response.headers["ETag"] = etag
    response.headers["Vary"] = "Accept-Encoding"
    return response
