"""The progress of a run: a line on the stderr of a terminal, gone at the end."""

from contextlib import AbstractContextManager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from mockserver.clock import ticks_ms
from mockserver.conformance.report.masking import visible
from mockserver.conformance.session.exchange import Exchange

# A run that is over within a second shows nothing.
_QUIET_MS = 1_000


class Progress(AbstractContextManager["Progress"]):
    """A `Watch` for people; the line appears when a run takes longer than a moment."""

    def __init__(self, stream: TextIO, *, quiet_ms: int = _QUIET_MS) -> None:
        """Take the terminal, and how long to wait before the line appears."""
        self._stream = stream
        self._quiet_ms = quiet_ms
        self._began = ticks_ms()
        self._bar: Bar | None = None

    def __exit__(self, *raised: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def sent(self, exchange: Exchange, planned: int) -> None:
        if ticks_ms() - self._began < self._quiet_ms:
            return
        bar = self._bar or self._started()
        bar.update(
            bar.task_ids[0],
            completed=exchange.number,
            total=max(planned, exchange.number),
            # Names of probes contain those of chains and tokens, which the service chooses.
            description=visible(exchange.probe),
        )

    def _started(self) -> Bar:
        self._bar = Bar(
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
            console=Console(file=self._stream),
            transient=True,
        )
        self._bar.start()
        self._bar.add_task("", total=None)
        return self._bar
