"""A walk through the whole service: every operation, healthy and refused, with time going by."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from tests.blind.operations import ALL, BY_NAME, OPERATIONS
from tests.blind.rows import Example, Row
from tests.blind.service import Service
from tests.blind.wire import Answer
from tests.blind.world import ACCOUNT, NATIVE, OLD_HASH, STRANGER, address_on

USDT_ETH = address_on("ETH", "USDT")
USDT_BNB = address_on("BNB", "USDT")
HEX_ORDER = json.dumps(
    {"fromAmount": "10000000", "fromIndex": "5", "fromChain": "ETH", "certHash": "0x" + "99" * 32}
).encode()

START = 1_795_000_000.55
WRITES = ("v1.submitCrossChain", "v2.submitOrder", "v2.submitTicket")
FOLLOWED = {
    *WRITES,
    "v1.getOrderDetail",
    "v2.checkOrder",
    "v2.checkTicket",
    "v2.getAllTicketByAddress",
}

USUAL: dict[str, dict[str, Any]] = {
    "v1.getSupportChains": {},
    "v1.getSupportTokens": {"chain": "ETH"},
    "v1.getCrossChainQuote": {
        "amount": 12.5,
        "fromChain": "ETH",
        "toChain": "BSC",
        "token": "USDT",
        "feeLevel": 0,
    },
    "v1.getTransferToMinterRaw": {
        "amount": 12.5,
        "chain": "ETH",
        "evmAddress": ACCOUNT,
        "token": "USDT",
        "fromAddress": ACCOUNT,
    },
    "v1.submitCrossChain": {
        "fromAmount": 12.5,
        "fromChain": "ETH",
        "evmAddres": ACCOUNT,
        "fromToken": "USDT",
        "fromAddress": ACCOUNT,
        "certHash": "0x" + "77" * 32,
        "toChain": "BSC",
        "feeLevel": 0,
    },
    "v1.getOrderDetail": {"chain": "ETH", "hash": OLD_HASH, "evmAddress": ACCOUNT},
    "v2.getChain": {},
    "v2.getAssets": {},
    "v2.getAssetsByChain": {"chain": "ETH"},
    "v2.getBridgeQuote": {
        "amount": "12500000",
        "symbol": "USDT",
        "fromChain": "ETH",
        "toChain": "BNB",
    },
    "v2.getAggregateQuote": {
        "fromAmount": "12500000",
        "fromTokenAddress": USDT_ETH,
        "fromDecimal": "6",
        "fromChain": "ETH",
        "toTokenAddress": NATIVE,
        "toDecimal": "18",
        "toChain": "BNB",
    },
    "v2.getAggregateSwap": {
        "fromAmount": "12500000",
        "fromTokenAddress": USDT_ETH,
        "fromDecimal": "6",
        "toTokenAddress": NATIVE,
        "toDecimal": "18",
        "chain": "ETH",
        "sender": ACCOUNT,
        "recipient": STRANGER,
        "slippage": "100",
        "allowPartialFill": "false",
    },
    "v2.submitOrder": {
        "channel": "blind",
        "execStrategy": "",
        "extra": "",
        "orderType": "1",
        "slippage": "0",
        "sourceCerts": HEX_ORDER.hex(),
        "timeout": "0",
        "toAddr": ACCOUNT,
        "toChain": "BNB",
        "toIndex": "5",
        "triggerPrice": "0",
    },
    "v2.checkOrder": {"id": "30000001001"},
    "v2.getBalance": {"chain": "ETH", "contractAddress": USDT_ETH, "address": ACCOUNT},
    "v2.getPrice": {"chain": "ETH", "contractAddress": NATIVE, "symbol": "ETH"},
    "v2.submitTicket": {"hash": "0x" + "88" * 32, "chain": "ETH"},
    "v2.getAllTicketByAddress": {"address": ACCOUNT, "filter": "Pending"},
    "v2.checkTicket": {"ticketId": "71"},
}
HEADERS: dict[str, str | None] = {
    "appKey": "key",
    "expireTime": "15000",
    "timestamp": "1700000000000",
    "signature": "ab" * 32,
    "Evmaddress": ACCOUNT,
    "Signature": "ab" * 65,
}

_SWAPPED = {
    "fromTokenAddress": NATIVE,
    "fromDecimal": "18",
    "toTokenAddress": USDT_ETH,
    "toDecimal": "6",
    "fromAmount": "3000000000000000000",
}
_UNKNOWN = {
    "chain": "NOWHERE",
    "fromChain": "NOWHERE",
    "toChain": "NOWHERE",
    "symbol": "NOTHING",
    "token": "NOTHING",
    "fromToken": "NOTHING",
    "contractAddress": "0x" + "12" * 20,
    "fromTokenAddress": "0x" + "12" * 20,
    "toTokenAddress": "0x" + "12" * 20,
    "id": "999",
    "ticketId": "999",
    "hash": "0x" + "12" * 32,
    "evmAddress": STRANGER,
    "fromAddress": STRANGER,
    "amount": "-5",
    "fromAmount": "abc",
    "toIndex": "999999",
    "orderType": "7",
    "slippage": "77",
    "sourceCerts": "no hex",
    "filter": "Succeeded",
    "address": STRANGER,
}
_MORE = (
    Example("v2.getBridgeQuote", {"amount": "25000000"}),
    Example("v2.getBridgeQuote", {"fromChain": "BNB", "toChain": "ETH", "amount": "5" + "0" * 18}),
    Example("v2.getBridgeQuote", {"fromChain": "FTM"}),
    Example("v2.getBridgeQuote", {"symbol": "ETH", "fromChain": "ARB", "amount": "7" + "0" * 17}),
    Example("v2.getBridgeQuote", {"symbol": "KAS", "fromChain": "KAS", "amount": "9" + "0" * 12}),
    Example("v2.getAggregateQuote", {"fromAmount": "25000000"}),
    Example("v2.getAggregateQuote", {**_SWAPPED, "toChain": "ETH"}),
    Example("v2.getAggregateQuote", {"toChain": "AVAXC"}),
    Example("v2.getAggregateQuote", {"toChain": "FTM"}),
    Example("v2.getAggregateSwap", {"fromAmount": "25000000"}),
    Example("v2.getAggregateSwap", _SWAPPED),
    Example("v2.getAggregateSwap", {"slippage": "300"}),
    Example("v2.getAggregateSwap", {"allowPartialFill": "true"}),
    Example("v2.getAggregateSwap", {"aggregator": "Kyber"}),
    Example("v2.getAggregateSwap", {"routeSummary": "abc"}),
    Example("v2.getAggregateSwap", {"recipient": ACCOUNT}),
    Example("v2.getAggregateSwap", {"slippage": "100000"}),
    Example("v2.getAggregateSwap", {"slippage": "6000"}),
    Example(
        "v2.getAggregateSwap",
        {
            "chain": "TRX",
            "toTokenAddress": address_on("TRX", "USDT"),
            "toDecimal": "6",
            "fromTokenAddress": NATIVE,
        },
    ),
    Example("v2.getAssetsByChain", {"chain": "BNB"}),
    Example("v2.getAssetsByChain", {"chain": "KAS"}),
    Example("v2.getAssetsByChain", {"chain": "eth"}),
    Example("v2.getAssetsByChain", {"chain": "CRO"}),
    Example("v2.getAssetsByChain", {"chain": "AVAXC"}),
    Example("v2.getAssetsByChain", {"chain": "POLYGON"}),
    Example("v2.getAssets", times=2),
    Example("v2.getAggregateSwap", {"slippage": "much"}),
    Example("v2.getAggregateSwap", {"allowPartialFill": "perhaps"}),
    Example("v2.getBalance", {"contractAddress": NATIVE}),
    Example("v2.getBalance", {"address": STRANGER}),
    Example("v2.getBalance", {"chain": "KOIN", "contractAddress": NATIVE, "address": "1abc"}),
    Example("v2.getPrice", {"contractAddress": USDT_ETH, "symbol": "USDT"}),
    Example("v2.getPrice", times=9),
    Example("v2.getBridgeQuote", {"amount": "9" * 30}),
    Example("v2.getBridgeQuote", {"amount": "3"}),
    Example("v2.getBridgeQuote", {"unheardOf": "1"}),
    Example("v2.getChain", times=9),
    Example("v2.submitOrder", {"toChain": None, "channel": "other"}),
    Example("v2.submitOrder", {"orderType": "2", "slippage": "100"}),
    Example("v2.submitOrder", {"slippage": "100"}),
    Example("v2.submitOrder", {"extra": "3_2", "execStrategy": "x"}),
    Example("v2.submitOrder", times=2),
    Example("v2.checkOrder", {"id": "30000001002"}),
    Example("v2.checkOrder", {"id": "30000001001"}, times=7),
    Example("v2.checkOrder", {"id": "not an id"}),
    Example("v2.getAllTicketByAddress", {"filter": "Unknown"}),
    Example("v2.getAllTicketByAddress", {"filter": "Succeeded"}),
    Example("v2.getAllTicketByAddress", {"filter": "Nonsense"}),
    Example("v2.checkTicket", {"ticketId": "72"}),
    Example("v2.checkTicket", {"ticketId": "72"}, times=4),
    Example("v2.checkTicket", {"ticketId": "word"}),
    Example("v2.submitTicket", {"hash": "0x" + "66" * 32}),
    Example("v1.getSupportTokens", {"chain": "BSC"}),
    Example("v1.getCrossChainQuote", {"amount": 25}),
    Example("v1.getCrossChainQuote", {"amount": 100000}),
    Example("v1.getCrossChainQuote", {"amount": "100"}),
    Example("v1.getTransferToMinterRaw", {"amount": 25}),
    Example("v1.getTransferToMinterRaw", {"token": "ETH"}),
    Example("v1.submitCrossChain", {"fromChain": "BSC", "toChain": "ETH"}),
    Example("v1.getOrderDetail", times=4),
    Example("v1.getSupportTokens", {"chain": None}, {"chain": "ETH"}),
    Example("v1.getOrderDetail", {"hash": OLD_HASH[:12] + "00" * 28}),
    Example("v1.getOrderDetail", {"chain": "BSC"}),
    Example("v2.getBridgeQuote", {"symbol": "XCHNG", "toChain": "POLYGON"}),
    Example("v2.getAggregateQuote", {"fromTokenAddress": USDT_BNB}),
    Example("v2.getBalance", {"contractAddress": USDT_BNB}),
    Example("v2.getBalance", {"chain": "FTM", "contractAddress": NATIVE}),
    Example("v2.getPrice", {"contractAddress": USDT_BNB, "symbol": "USDT"}),
    Example("v2.getAssetsByChain", {"chain": "FTM"}),
    Example("v2.getAssetsByChain", {"chain": "ARB"}),
    Example("v2.checkOrder", {"id": "300000010019"}),
    Example("v2.checkTicket", {"ticketId": "711"}),
    Example("v2.submitTicket", {"hash": "0x" + "55" * 32, "chain": "BNB"}),
)


def request_of(example: Example) -> tuple[str, str, dict[str, str], bytes]:
    """Method, target, headers and body of an example."""
    operation = BY_NAME[example.operation]
    inputs = {**USUAL[example.operation], **example.inputs}
    inputs = {name: value for name, value in inputs.items() if value is not None}
    wanted = {name.lower(): HEADERS[name] for name in operation.headers}
    wanted.update({name.lower(): value for name, value in example.headers.items()})
    headers = {name: value for name, value in wanted.items() if value is not None}
    if operation.method == "POST":
        headers["content-type"] = "application/json"
        return "POST", operation.path, headers, json.dumps(inputs).encode()
    query = f"?{urlencode(inputs)}" if inputs else ""
    return "GET", operation.path + query, headers, b""


def examples() -> Iterator[Example]:
    """All requests of the tour whose inputs are known beforehand."""
    for operation in OPERATIONS:
        yield Example(operation.name)
        for name in (*operation.required, *operation.optional):
            yield Example(operation.name, {name: None})
            if name in _UNKNOWN:
                yield Example(operation.name, {name: _UNKNOWN[name]})
        for name in operation.headers:
            yield Example(operation.name, headers={name: None})
    yield from _MORE


@dataclass(slots=True)
class Tour:
    """A service with a clock that the tour moves."""

    faults: Sequence[Row] = ()
    variations: Sequence[Row] = ()
    now: float = START
    service: Service = field(init=False)

    def __post_init__(self) -> None:
        """Start the service at the tour's time."""
        self.service = Service(self.faults, self.variations, lambda: self.now)

    def send(self, example: Example) -> list[Answer]:
        """Send an example as often as it says."""
        return [self.service.receive(*request_of(example)) for _ in range(example.times)]

    def one(self, operation: str, **inputs: Any) -> Answer:
        """Send the usual request of an operation with other inputs."""
        return self.send(Example(operation, inputs))[0]

    def data(self, operation: str, **inputs: Any) -> Any:
        """The data of a success."""
        answer = self.one(operation, **inputs)
        assert answer.good, answer
        return answer.body["data"]

    def fingerprints(self, operations: Collection[str] = ALL) -> Iterator[tuple[Any, ...]]:
        """All answers of these operations on the tour, life cycles included."""
        followed = FOLLOWED & {*operations}
        wanted = {*operations, *(WRITES if followed else ())}
        for example in examples():
            if example.operation in wanted:
                yield from (answer.fingerprint() for answer in self.send(example))
        for operation, inputs in self._submitted() if followed else []:
            self.now = START
            for step in (0.0, 0.1, 0.25, 0.3, 0.4, 0.5, 2.0, 1.0):
                self.now += step
                yield from (a.fingerprint() for a in self.send(Example(operation, inputs)))

    def _submitted(self) -> list[tuple[str, Mapping[str, Any]]]:
        """What has been submitted to follow, whatever became of the answers."""
        orders = [key for key in self.service.world.orders if key > "30000002"]
        tickets = [ticket.key for ticket in self.service.world.tickets if ticket.key > 75]
        return [
            *(("v2.checkOrder", {"id": key}) for key in orders[:2]),
            *(("v2.checkTicket", {"ticketId": str(key)}) for key in tickets[:1]),
            *(
                ("v2.getAllTicketByAddress", {"filter": state})
                for state in ("Unknown", "Pending", "Succeeded")
            ),
            ("v1.getOrderDetail", {"hash": "0x" + "77" * 32}),
        ]
