"""What a recorder notices of the service: the dialect it speaks, and how far its clock is off."""

from collections import Counter
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from mockserver import jsontext
from mockserver.contract import Contract
from mockserver.exchange import Response
from mockserver.recordings import RecordedExchange

_LOOKED_AT = 8


class Dialects:
    """Tells in which dialect answers keep the contract."""

    def __init__(self, contracts: Mapping[str, Contract]) -> None:
        """Take the contract in each dialect that answers are held against."""
        self._contracts = contracts
        self._seen: Counter[str] = Counter()
        self._breaks: dict[str, list[str]] = {name: [] for name in contracts}

    def note(self, exchange: RecordedExchange) -> None:
        """Hold an answer against the contract in each dialect; a few of each operation suffice."""
        if self._seen[exchange.operation] >= _LOOKED_AT or exchange.response.status != 200:
            return
        try:
            body = exchange.response_json()
        except jsontext.NotJson:
            return
        self._seen[exchange.operation] += 1
        for name, contract in self._contracts.items():
            operation = contract.find(exchange.request.method, exchange.request.path)
            if operation is None or operation.response_violations(body):
                self._breaks[name].append(exchange.operation)

    @property
    def name(self) -> str | None:
        """The one dialect that every answer keeps; None where there is none, or more than one."""
        kept = [name for name, breaks in self._breaks.items() if not breaks]
        return kept[0] if len(kept) == 1 and self._seen else None

    @property
    def remark(self) -> str:
        """A sentence on answers that keep no dialect; empty where there is one that they keep."""
        if not self._seen or not all(self._breaks.values()):
            return ""
        fewest = min(self._breaks, key=lambda name: len(self._breaks[name]))
        where = ", ".join(sorted(set(self._breaks[fewest])))
        total = self._seen.total()
        return (
            f"{len(self._breaks[fewest])} of {total} answers looked at break the contract as "
            f"{fewest}, fewer than in any other dialect: {where}"
        )


class ClockSkew:
    """Estimates how far the service's clock is ahead, from its `Date` headers.

    Each tells a second: its clock showed it, or a later part of that second, at some time between
    the request and the end of the answer.
    """

    def __init__(self) -> None:
        """Begin without any bound."""
        self._least: int | None = None
        self._most: int | None = None

    def note(self, response: Response, sent_ms: int, duration_ms: int) -> None:
        """Take in the `Date` of an answer."""
        shown = _date_ms(response)
        if shown is None:
            return
        least, most = shown - sent_ms - duration_ms, shown + 999 - sent_ms
        if self._least is None or self._most is None or least > self._most or most < self._least:
            # The first one, or one of the clocks was set: what was known before is void.
            self._least, self._most = least, most
        else:
            self._least, self._most = max(self._least, least), min(self._most, most)

    @property
    def ms(self) -> int | None:
        """The skew in milliseconds: 0 where the clocks may agree, None where no answer told."""
        if self._least is None or self._most is None:
            return None
        return 0 if self._least <= 0 <= self._most else (self._least + self._most) // 2


def _date_ms(response: Response) -> int | None:
    text = response.header("Date")
    try:
        moment = parsedate_to_datetime(text) if text else None
        return None if moment is None else int(moment.timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None
