"""Ordinary services and clients: headers with no secret of the contract in them, however they look.

Written from the interface description alone, before the masking code was read. A value in braces is taken from the answer
itself, so that the header has the same text as a member of the body.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from tests.blind.operations import ALL
from tests.blind.rows import Row, fault
from tests.blind.wire import Answer, Call, write

_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Healthy:
    name: str
    answer: tuple[tuple[str, str], ...] = ()
    request: tuple[tuple[str, str], ...] = ()

    def row(self) -> Row:
        """The service with these headers in each answer."""

        def after(call: Call, answer: Answer) -> None:
            values = _values(answer.body)
            for name, form in self.answer:
                answer.headers[name] = _FIELD.sub(
                    lambda match: values.get(match[1]) or _OTHERWISE[match[1]], form
                )

        return fault(self.name, ALL, "common sense", "ordinary headers", after=after)


_OTHERWISE = {
    "time": "1795000000", "msg": "success", "hash": "0x" + "77" * 32, "address": "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9",
    "id": "100001", "amount": "12500000", "price": "1.0000", "symbol": "USDT", "chain": "ETH", "version": "1", "status": "Succeeded",
    "data": "0x12aa3caf",
}  # fmt: skip
_MEMBERS = {
    "time": ("timestamp", "updateTime", "createTime", "time"), "msg": ("msg",), "hash": ("execHash", "hash", "certHash"),
    "address": ("address", "to", "contract", "contractAddress"), "id": ("id", "ticketId", "sn"), "amount": ("outAmount", "amountOut", "balance"),
    "price": ("price",), "symbol": ("symbol",), "chain": ("nickName", "chain"), "version": ("version",), "status": ("status", "solution"),
    "data": ("data",),
}  # fmt: skip


def _values(body: Any) -> dict[str, str]:
    text = json.loads(write(body)) if isinstance(body, dict) else {}
    flat: dict[str, str] = {}

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for name, member in value.items():
                if isinstance(member, str | int | float) and str(member).isprintable():
                    flat.setdefault(name, str(member))
                walk(member)
        elif isinstance(value, list):
            for member in value:
                walk(member)

    walk(text)
    return {
        kind: next((flat[name] for name in names if flat.get(name)), "")[:2000]
        .encode("ascii", "ignore")
        .decode()
        for kind, names in _MEMBERS.items()
    }


FLOWS: tuple[Healthy, ...] = (
    Healthy("plain"),
    Healthy("rate limits", (("X-RateLimit-Limit", "100"), ("X-RateLimit-Remaining", "99"), ("X-RateLimit-Reset", "{time}"))),
    Healthy("draft rate limits", (("RateLimit-Policy", "100;w=60"), ("RateLimit", "limit=100, remaining=99, reset=5"))),
    Healthy("cache", (("X-Cache-Status", "{msg}"), ("X-Cache", "HIT"), ("Age", "0"))),
    Healthy("cache in capitals", (("CF-Cache-Status", "SUCCESS"), ("X-Cache-Key", "{symbol}"))),
    Healthy("request id is the order", (("X-Request-Id", "{id}"), ("X-Correlation-Id", "{hash}"))),
    Healthy("trace", (("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), ("tracestate", "vendor={id}"))),
    Healthy("trace is a hash", (("X-Trace-Id", "{hash}"), ("X-B3-TraceId", "{id}"))),
    Healthy("dates", (("Last-Modified", "Mon, 23 Nov 2026 10:00:00 GMT"), ("Expires", "{time}"), ("X-Served-At", "{time}"))),
    Healthy("etag", (("ETag", '"{id}"'), ("Last-Event-ID", "{id}"))),
    Healthy("weak etag of an amount", (("ETag", 'W/"{amount}"'),)),
    Healthy("powered by", (("X-Powered-By", "Express"), ("Server", "nginx/1.25"), ("X-AspNet-Version", "4.0.30319"))),
    Healthy("balancer cookie is a word", (("Set-Cookie", "AWSALB={msg}; Path=/"),)),
    Healthy("balancer cookie is a chain", (("Set-Cookie", "route={chain}; Path=/"),)),
    Healthy("session cookie is a symbol", (("Set-Cookie", "session={symbol}; HttpOnly"),)),
    Healthy("cookie is a status", (("Set-Cookie", "SERVERID={status}; Path=/"),)),
    Healthy("server timing", (("Server-Timing", 'db;dur=53, app;desc="{msg}";dur=47.2'),)),
    Healthy("chain of the answer", (("X-Chain", "{chain}"), ("X-Symbol", "{symbol}"), ("X-Token", "{symbol}"))),
    Healthy("token is an address", (("X-Token", "{address}"), ("X-Token-Address", "{address}"))),
    Healthy("key is an amount", (("X-Key", "{amount}"), ("X-Api-Key-Remaining", "{amount}"))),
    Healthy("signature is a hash", (("X-Signature", "{hash}"), ("X-Content-Hash", "{hash}"))),
    Healthy("auth status", (("X-Auth-Status", "{msg}"), ("X-Authenticated", "true"))),
    Healthy("version", (("X-Api-Version", "{version}"), ("X-List-Version", "{version}"))),
    Healthy("price header", (("X-Price", "{price}"), ("X-Amount", "{amount}"))),
    Healthy("whole data", (("X-Data", "{data}"), ("X-Exec-Hash", "{hash}"))),
    Healthy("runtime", (("X-Runtime", "0.0123"), ("X-Response-Time", "{version}"), ("X-Process-Time", "1.0000"))),
    Healthy("via", (("Via", "1.1 varnish, 1.1 {chain}"), ("X-Served-By", "cache-fra-{chain}"), ("X-Timer", "S{time}.123,VS0"))),
    Healthy("cloud", (("CF-Ray", "8a1b2c3d4e5f-FRA"), ("X-Amz-Cf-Id", "{hash}"), ("X-Amzn-Trace-Id", "Root=1-{id}"))),
    Healthy("security", (("Strict-Transport-Security", "max-age=31536000"), ("Content-Security-Policy", "default-src 'none'"))),
    Healthy("reporting", (("NEL", '{"max_age":604800}'), ("Report-To", '{"group":"cf"}'))),
    Healthy("cors", (("Access-Control-Allow-Origin", "*"), ("Access-Control-Expose-Headers", "X-Signature,appKey"), ("Vary", "Origin"))),
    Healthy("links", (("Link", "</v1/getChain?version={version}>; rel=self"), ("Content-Location", "/v1/checkOrder?id={id}"))),
    Healthy("retry", (("Retry-After", "0"), ("X-Retry-In", "{version}"))),
    Healthy("small words", (("X-Ok", "true"), ("X-Code", "0"), ("X-Null", "null"), ("X-Secret", "0"), ("X-Empty", ""))),
    Healthy("envelope", (("X-Envelope", "code msg data"), ("X-Names", "timestamp,status,reason,amountOut"))),
    Healthy("host and pod", (("X-Pod", "api-{chain}-7d9f"), ("X-Region", "eu-{chain}"))),
    Healthy("authorization is a word", request=(("Authorization", "Bearer success"),)),
    Healthy("api key is a chain", request=(("X-Api-Key", "ETH"), ("X-Auth-Token", "USDT"))),
    Healthy("cookies of a browser", request=(("Cookie", "chain=ETH; token=USDT; session=12500000; lang=en"),)),
    Healthy("idempotency", request=(("Idempotency-Key", "0x" + "77" * 32), ("X-Idempotency-Token", "12500000"))),
    Healthy("wallet as a header", request=(("X-Wallet-Address", "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9"), ("X-Account-Key", "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9"))),
    Healthy("browser", request=(("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"), ("Accept-Language", "en"), ("Sec-Fetch-Mode", "cors"))),
    Healthy("client ids", request=(("X-Request-Id", "Succeeded"), ("X-Client-Version", "1.0000"), ("X-Device-Id", "100001"))),
    Healthy("referer", request=(("Referer", "https://wallet.example/v1/getBridgeQuote?symbol=USDT&fromChain=ETH"), ("Origin", "https://wallet.example"))),
    Healthy("a real key beside", request=(("Authorization", "Bearer 9uT7wq2ZpLm4XcVb8NrK"), ("X-Api-Key", "kQ83hfLwPz72mNcbVx"))),
    # What stands in front of services: networks of caches, balancers, gateways, tracing.
    Healthy("Cloudflare", (("CF-Ray", "8a1b2c3d4e5f6a7b-FRA"), ("Set-Cookie", "__cf_bm={hash}-{time}-0-{data}; path=/; HttpOnly; Secure"),
        ("Set-Cookie2", "cf_clearance={id}"), ("Report-To", '{"endpoints":[{"url":"https://a.example/report?s={data}"}]}'))),
    Healthy("balancer of AWS", (("Set-Cookie", "AWSALB={data}; Expires=Mon, 30 Nov 2026 10:00:00 GMT; Path=/"), ("X-Amz-Apigw-Id", "{hash}="),
        ("x-amzn-RequestId", "0f8f5a1e-{id}-4a6e"), ("X-Amzn-Trace-Id", "Root=1-{time}-{id};Sampled=0;Lineage=1:{id}:0"))),
    Healthy("balancer of Google", (("X-Cloud-Trace-Context", "{hash}/{id};o=1"), ("Set-Cookie", 'GCLB="{hash}"; path=/; HttpOnly'), ("Via", "1.1 google"))),
    Healthy("front of Azure", (("X-Azure-Ref", "{data}"), ("x-ms-request-id", "{id}"), ("Set-Cookie", "ARRAffinity={hash};Path=/;HttpOnly;Domain=a.example"),
        ("Request-Context", "appId=cid-v1:{id}"), ("x-ms-session-token", "0:{amount}"))),
    Healthy("several tracers", (("b3", "{hash}-{id}-1"), ("uber-trace-id", "{hash}:{id}:0:1"), ("sentry-trace", "{hash}-{id}-1"),
        ("baggage", "sentry-public_key={address},sentry-trace_id={hash},session.id={id}"), ("x-datadog-trace-id", "{id}"), ("newrelic", "{data}"))),
    Healthy("gateway", (("X-Kong-Request-Id", "{hash}"), ("X-Kong-Upstream-Latency", "{version}"), ("X-RateLimit-Remaining-Minute", "{amount}"),
        ("X-Consumer-Username", "{symbol}"), ("X-Credential-Identifier", "{symbol}"), ("X-Authenticated-Scope", "{msg}"), ("X-Envoy-Upstream-Service-Time", "{id}"))),
    Healthy("policies", (("Content-Security-Policy", "script-src 'nonce-{hash}' 'sha256-{data}'"), ("Public-Key-Pins", 'pin-sha256="{hash}"; max-age={time}'),
        ("Permissions-Policy", "publickey-credentials-get=(), otp-credentials=(self)"), ("Expect-CT", "max-age={time}, enforce"))),
    Healthy("sticky sessions", (("Set-Cookie", "JSESSIONID={id}.{chain}; Path=/; HttpOnly"), ("Set-Cookie3", "SRV=s1|{time}|{time}"),
        ("X-Session-Affinity", "{chain}"), ("X-Upstream-Addr", "10.0.0.1:8080"), ("X-Sid", "{status}"))),
    Healthy("digests", (("Repr-Digest", "sha-256=:{hash}:"), ("Content-MD5", "{hash}"), ("X-Signature-Timestamp", "{time}"),
        ("Signature-Input", 'sig1=("@method" "x-{symbol}");created={time};keyid="{chain}"'), ("X-Checksum", "{data}"))),
    Healthy("caches", (("X-Varnish", "{id} {time}"), ("Surrogate-Key", "{chain} {symbol} {status}"), ("X-Akamai-Request-ID", "{id}"),
        ("X-Token-Bucket-Remaining", "{amount}"), ("X-Fastly-Request-ID", "{hash}"), ("X-Cache-Key", "/v1/getPrice?symbol={symbol}&key={price}"))),
    Healthy("names of chains in a row", (("X-Chains", "ethereum arbitrum optimism polygon base tron solana kaspa fusion koinos bitcoin linea zksync"),),
        (("X-Tokens", "USDT, USDC, DAI, WBTC, WETH, BNB, TRX, SOL, KAS, FSN, KOIN, ETH, MATIC"),)),
    # Gateways and meshes of still others, with their ordinary headers.
    Healthy("Apigee", (("X-Apigee-Message-Id", "{hash}"), ("x-apigee-target-latency", "{version}"), ("X-Quota-Reset", "{time}"), ("X-Quota-Used", "{amount}"),
        ("X-Developer-App-Name", "{symbol}"), ("X-Api-Product", "{chain}"), ("X-Client-Key-Status", "{status}"))),
    Healthy("Tyk", (("X-RateLimit-Reset", "{time}"), ("X-Tyk-Api-Expires", "{time}"), ("X-Generator", "tyk.io"), ("X-Tyk-Trace-Id", "{hash}"), ("X-Tyk-Session-Lifetime", "{amount}"))),
    Healthy("Envoy", (("x-envoy-decorator-operation", "api.{chain}.svc:80/*"), ("x-envoy-attempt-count", "{version}"), ("x-request-id", "{hash}"),
        ("x-envoy-peer-metadata-id", "sidecar~10.0.0.1~{id}"), ("x-envoy-auth-partial-body", "false"), ("x-envoy-ratelimited", "true"))),
    Healthy("Istio with a token check", (("x-jwt-status", "{status}"), ("x-jwt-claim-exp", "{time}"), ("x-auth-request-user", "{symbol}"), ("x-auth-request-groups", "{chain},{symbol}"),
        ("x-ext-authz-check-result", "allowed"))),
    Healthy("Traefik", (("X-Forwarded-Tls-Client-Cert-Info", 'Subject="CN={chain}"'), ("X-Traefik-Auth-Level", "{version}"), ("X-Real-Ip", "10.0.0.1"), ("X-Retry-Key", "{id}"))),
    Healthy("API management", (("Ocp-Apim-Trace-Location", "https://a.example/trace/{id}"), ("X-Subscription-Name", "{symbol}"), ("x-ms-activity-id", "{hash}"),
        ("X-Token-Expires-In", "{amount}"), ("X-Token-Type", "{status}"), ("X-Key-Version", "{version}"))),
    Healthy("nginx with hashes", (("X-Cache-Key-Hash", "{hash}"), ("X-Secure-Link-Expires", "{time}"), ("X-Accel-Expires", "{version}"), ("X-Request-Hash", "{hash}"), ("X-Auth-Request-Redirect", "/v1/checkOrder?id={id}"))),
    Healthy("firewall", (("X-Sucuri-Id", "{id}"), ("X-Iinfo", "{id}-{time}-{id} NNNN CT"), ("X-CDN", "Imperva"), ("Set-Cookie", "visid_incap_{id}={data}; path=/"), ("Set-Cookie2", "nlbi_{id}={hash}; path=/"))),
    Healthy("models of prices for tokens", (("X-RateLimit-Limit-Tokens", "{amount}"), ("X-RateLimit-Reset-Tokens", "{version}s"), ("X-Tokens-Used", "{price}"), ("X-Key-Quota", "{amount}"), ("X-Session-Cost", "{price}"))),
    Healthy("gateway that authenticates", (("X-Authenticated-Userid", "{address}"), ("X-Auth-Method", "{msg}"), ("X-Auth-Time", "{time}"), ("X-Auth-Chain", "{chain}"), ("X-Key-Id", "{id}"), ("X-Sign-Algorithm", "{symbol}")),
        (("X-Gateway-Key-Id", "100001"), ("X-Sign-Version", "1"), ("X-Auth-Timestamp", "1795000000"))),
)  # fmt: skip
assert len(FLOWS) >= 66
