"""The line that moves while a run takes long."""

import io

from mockserver.conformance.report.progress import Progress
from tests.conformance.report.made import exchange


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def test_a_long_run_shows_how_far_it_is(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with Progress(stream, quiet_ms=0) as progress:
        progress.sent(exchange(), 150)
        progress.sent(exchange(number=149), 150)
    assert "149/150" in stream.getvalue()
    assert "v2.getBridgeQuote/made" in stream.getvalue()


def test_a_name_that_the_service_gave_cannot_steer_the_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with Progress(stream, quiet_ms=0) as progress:
        progress.sent(exchange(label="of \x1b]0;owned\x07\ud800"), 150)
    assert "\x1b]0;owned" not in stream.getvalue()
    assert "of \\x1b]0;owned" in stream.getvalue()


def test_a_short_run_shows_nothing():
    stream = Terminal()
    with Progress(stream, quiet_ms=60_000) as progress:
        progress.sent(exchange(), 150)
    assert stream.getvalue() == ""
