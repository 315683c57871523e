"""Cross-origin answers: browser clients call the API directly, with headers of their own."""

from mockserver.contract import Contract
from mockserver.exchange import Response

_OWN = ("Content-Type", "X-Mock-World")
_EXPOSED = ", ".join(
    (
        "X-Mock-Refusal",
        "X-Mock-World",
        "X-Mock-Source",
        "X-Mock-Virtual-Elapsed",
        "X-Mock-Fault",
        "Retry-After",
    )
)
_DAY_S = "86400"


def opened(response: Response, world: str) -> Response:
    """Return an answer that a page of any origin may read."""
    return response.with_headers(
        ("Access-Control-Allow-Origin", "*"),
        ("Access-Control-Expose-Headers", _EXPOSED),
        ("X-Mock-World", world),
    )


def preflight(contract: Contract, path: str) -> Response:
    """Return the answer to a preflight: the path's methods and the API's own headers."""
    methods = contract.methods(path) or ["GET", "POST"]
    names = {
        field.name
        for operation in contract
        for field in operation.fields
        if field.location == "headers"
    }
    # Header names are the same in any case; each is listed once.
    listed = sorted({name.lower(): name for name in sorted({*names, *_OWN})}.values())
    headers = (
        ("Access-Control-Allow-Origin", "*"),
        ("Access-Control-Allow-Methods", ", ".join([*methods, "OPTIONS"])),
        ("Access-Control-Allow-Headers", ", ".join(listed)),
        ("Access-Control-Max-Age", _DAY_S),
    )
    return Response(204, headers, b"")
