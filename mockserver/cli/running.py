"""The command `run`: a server for as long as another command takes, with all that it starts."""

import contextlib
import gc
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from mockserver import child_processes
from mockserver.cli import serving
from mockserver.cli.record_modes import taped
from mockserver.errors import CannotStart
from mockserver.http_messages import printable
from mockserver.wording import counted, first_lines

if TYPE_CHECKING:
    import ssl

    from mockserver.cli.run_check import RunGround, RunProblem
    from mockserver.server.growing_capsules import GrowingCapsule
    from mockserver.server.service import Service
    from mockserver.survive.flows import PagedWorld
    from mockserver.worlds.hosted import HostedWorld, Worlds
    from mockserver.worlds.lint import LintSettings

# Of a run that is refused all along, the first lines tell enough.
_MOST_LINES = 400
_FORWARDED = tuple(
    getattr(signal, name)
    for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
)


def run(
    port: int,
    audited: bool,
    linted: bool,
    lint_rules: str,
    exit_claims: bool,
    command: tuple[str, ...],
    **options: Any,
) -> None:
    """Serve while COMMAND runs, check all worlds at the end, and exit with its exit code.

    COMMAND finds the server in CROSSCHAIN_MOCK_URL, and the base addresses of the two generations
    in CROSSCHAIN_MOCK_BASE_URL and CROSSCHAIN_MOCK_BASE_URL_V2, and with --tls-cert that file in
    CROSSCHAIN_MOCK_CACERT. Where it exits with 0, what nobody
    expects makes the exit code 1: refusals, faults that struck nothing, defects of the server.
    """
    with serving.importing_fast(options):
        from mockserver.cli.surviving import report_file
        from mockserver.server.assembly import build
        from mockserver.server.process import address, scheme_of
        from mockserver.testing.expected_refusals import refusal_name
        from mockserver.testing.running import service_in_thread
        from mockserver.worlds.hosted import DEFAULT_WORLD
        from mockserver.worlds.lint import lint_settings

    # Its command may run for hours.
    gc.enable()
    rules = lint_settings(lint_rules)
    tls = serving.tls_of(options)
    files = [file for _, file in (report_file(text, ("junit",)) for text in options["reports"])]
    with ExitStack() as stack:
        settings = stack.enter_context(taped(serving.settings_of(options), options))
        service = build(replace(settings, scheme=scheme_of(tls)))
        client = service.worlds.get(DEFAULT_WORLD)
        paged = stack.enter_context(_client_clock(service, client, command, tls))
        taken = stack.enter_context(
            service_in_thread(service, port, paged.locked if paged else None, tls)
        )
        url = address("127.0.0.1", taken, tls)
        if service.replaying:
            click.echo(service.replaying, err=True)
        environment = _environment(url, options["tls_cert"])
        # Before the command starts: a misspelled name is told of at once, and not after an hour.
        names = [refusal_name(name, client.contract) for name in options["expected_refusals"]]
        # Worlds that were kept from earlier runs are judged by what comes in this one.
        before = {hosted.key: hosted.journal.last_sequence for hosted in service.worlds}
        if paged is not None:
            environment = paged.environment(url, environment)
        capsule = stack.enter_context(_growing_capsule(service, options))
        # Judged only when it has ended: what it still does may mend what looks wrong before.
        code = _exit_code_of(command, environment, client)
        if paged is not None:
            paged.locked.catch_up()
        if capsule is not None:
            click.echo(f"{options['capsule']}: {capsule.finish()}", err=True)
    problems: list[RunProblem] = []
    if options["checked"]:
        problems += _print_check(
            service.worlds, before, names, idle_is_fine=options["unused"] == "allow"
        )
    judged = audited or linted
    # Of a command that failed, its own words come first.
    silent = not judged and (code != 0 or not (options["checked"] or options["strict"]))
    asked = {"check": options["checked"], "audit": audited, "lint": linted}
    ground = _print_ground(service.worlds, before, asked, judged=judged, silent=silent)
    if ground.requests and audited:
        problems += _print_audits(service.worlds, exit_claims=exit_claims and code == 0)
    if ground.requests and linted:
        problems += _print_lint(service.worlds, rules, names)
    # Nothing is known to be well, which is not the same as well.
    unfounded = (ground.missing and judged) or (options["strict"] and not ground.whole)
    _print_journals(service.worlds, problems)
    for file in files:
        from mockserver.cli.run_check import junit
        from mockserver.userfiles import write_text

        write_text(file, junit(service.worlds, problems))
    # The exit code of the command itself takes precedence.
    sys.exit(code or (1 if problems else 3 if unfounded else 0))


def _print_ground(
    worlds: "Worlds",
    before: Mapping[str, int],
    asked: Mapping[str, bool],
    *,
    judged: bool,
    silent: bool,
) -> "RunGround":
    """Print what the verdicts that are asked of a run do not rest on, and return the ground."""
    from mockserver.cli.run_check import run_ground

    ground = run_ground(worlds, before, [verdict for verdict in asked if asked[verdict]])
    # Where nothing was judged, this is the word of the check, which came without being asked for.
    if ground.missing and not silent:
        click.echo(printable(ground.missing if judged else f"check: {ground.missing}"), err=True)
    elif judged:
        told = [f"ground: {hole}" for hole in ground.holes]
        told += [f"ground: {ground.passed}"] if ground.passed else []
        for line in first_lines(told, _MOST_LINES):
            click.echo(printable(line), err=True)
    return ground


@contextmanager
def _growing_capsule(
    service: "Service", options: Mapping[str, Any]
) -> Iterator["GrowingCapsule | None"]:
    """Write the requests of the default world to a capsule as they come, where one is named."""
    if options["capsule"] is None:
        yield None
        return
    from mockserver.cli.files import read_text
    from mockserver.scenarios.library import is_file
    from mockserver.server.growing_capsules import GrowingCapsule

    scenario = options["scenario"]
    text = read_text(Path(scenario)) if is_file(scenario) else ""
    status = options["refusal_status"]
    with GrowingCapsule(service, options["capsule"], text, status, options["secrets"]) as capsule:
        yield capsule


def _print_check(
    worlds: Iterable["HostedWorld"],
    before: Mapping[str, int],
    expected: Sequence[str],
    *,
    idle_is_fine: bool,
) -> list["RunProblem"]:
    """Print what nobody expects of each world that this run has used, and return it."""
    from mockserver.cli.run_check import lines_of, never_refused, problems_of

    problems = [
        problem
        for hosted in worlds
        for since in [before.get(hosted.key, 0)]
        # A world that this run has made counts without any request: its stubs may be unused.
        if not since or hosted.journal.last_sequence > since
        for problem in problems_of(hosted, since, expected, idle_is_fine=idle_is_fine)
    ]
    if not idle_is_fine:
        # By the whole run: a refusal may be met in any of its worlds.
        problems += never_refused(worlds, expected)
    for line in first_lines(list(lines_of(problems)), _MOST_LINES):
        click.echo(line, err=True)
    return problems


def _print_journals(worlds: Iterable["HostedWorld"], problems: Sequence["RunProblem"]) -> None:
    from mockserver.worlds.journal_text import readable_journal

    failing = {problem.world for problem in problems}
    journals = ((hosted.key, hosted.journal) for hosted in worlds if hosted.key in failing)
    _print_by_world("requests", ((key, readable_journal(journal)) for key, journal in journals))


def _print_by_world(what: str, told: Iterable[tuple[str, object]]) -> None:
    from mockserver.cli.run_check import printable_lines

    for key, text in told:
        click.echo(f"{what} of world {key}:", err=True)
        click.echo("\n".join(printable_lines(str(text))), err=True)


def _print_audits(worlds: Iterable["HostedWorld"], *, exit_claims: bool) -> list["RunProblem"]:
    """Print what the audit finds in each world, and return it."""
    from mockserver.cli.run_check import RunProblem
    from mockserver.worlds.audit import judge

    audits = [(hosted.key, judge(hosted, exit_claims=exit_claims)) for hosted in worlds]
    _print_by_world("audit", ((key, it) for key, it in audits if it.findings or it.unjudged))
    if not any(result.findings for _, result in audits):
        orders = counted(sum(result.judged for _, result in audits), "order")
        click.echo(f"audit: all is well with {orders}", err=True)
    return [RunProblem(key, "audit", str(finding)) for key, result in audits for finding in result]


def _print_lint(
    worlds: Iterable["HostedWorld"], rules: "LintSettings", expected: Sequence[str]
) -> list["RunProblem"]:
    """Print what lint finds in each world; return what is more than a note."""
    from mockserver.cli.run_check import RunProblem, expected_in
    from mockserver.worlds.lint import lint, summary

    results = [
        (hosted.key, lint(hosted, rules, without=expected_in(hosted, expected)))
        for hosted in worlds
    ]
    _print_by_world("lint", ((key, it) for key, it in results if it.findings or it.lost))
    click.echo(summary([result for _, result in results]), err=True)
    return [
        RunProblem(key, "lint", str(finding))
        for key, result in results
        for finding in result.serious
    ]


def _client_clock(
    service: "Service",
    client: "HostedWorld",
    command: Sequence[str],
    tls: "ssl.SSLContext | None",
) -> AbstractContextManager["PagedWorld | None"]:
    """Return what lets a command move the clock of its world, where that is a clock for clients."""
    from mockserver.clock import ClockMode

    if client.world.time.clock.mode is not ClockMode.CLIENT:
        return nullcontext()
    if tls is not None:
        raise click.UsageError(
            "--tls-cert: a clock for clients is asked by plain HTTP; take another --clock"
        )
    from mockserver.survive.flows import clock_page

    return clock_page(service, client, command)


def _environment(url: str, cert: Path | None) -> dict[str, str]:
    """Return where a command finds the server at an address, and the certificate to trust."""
    environment = {**os.environ, **child_processes.addressed(url)}
    if cert is not None:
        # Absolute: the command may work in another folder.
        environment["CROSSCHAIN_MOCK_CACERT"] = str(cert.absolute())
    return environment


def _exit_code_of(
    command: Sequence[str], environment: Mapping[str, str], client: "HostedWorld"
) -> int:
    """Run a command to its end and return its exit code, 128 + n where signal n ended it.

    Triggers of its world may send it signals.
    """
    early: list[int] = []
    started = futures.Future[Child]()
    # A trigger of the world may end its client, as a machine that fails does: even by its first
    # call, which waits for the start to be over.
    client.send_signal = lambda number: started.result().send(number)
    with _signals(early.append) as deliver_to:
        try:
            child = Child(command, environment)
        except (OSError, ValueError) as error:
            started.cancel()
            raise CannotStart.of(command[0], error) from None
        deliver_to(child.send)
        started.set_result(child)
        # What came while the command was being started, and could not get it yet.
        for number in early:
            child.send(number)
        code = child.wait()
        for process in child.left:
            click.echo(printable(f"run: the command has left {process} behind"), err=True)
        return code


@contextmanager
def _signals(first: Callable[[int], None]) -> Iterator[Callable[[Callable[[int], None]], None]]:
    """Hand signals to `first`, and later to whoever is named, in place of ending this process."""
    receivers = [first]

    def receive(number: int, frame: FrameType | None) -> None:
        if not is_typed(number):
            receivers[-1](number)

    # Signals that were ignored from the start, as under nohup, stay ignored.
    taken = [
        signal_number
        for signal_number in _FORWARDED
        if signal.getsignal(signal_number) is not signal.SIG_IGN
    ]
    before = {number: signal.signal(number, receive) for number in taken}
    try:
        yield receivers.append
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


GRACE_SECONDS = 10.0
"""How long a command may take to end after a signal, before it is killed with its processes."""

_POLL_SECONDS = 0.05
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
_ENDING = frozenset(
    getattr(signal, name)
    for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM")
    if hasattr(signal, name)
)
# Time for what a command has started to end with it, before it is called left behind.
_LEFT_SECONDS = 0.3


class Child:
    """A started command. Away from a terminal it leads a process group of its own.

    On a terminal it stays in the group that the terminal signals, so that it can read from there.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        """Start a command. Raises `OSError` where it cannot be."""
        self._grace = grace_seconds
        # In a terminal the command stays in our group: it could not read the terminal from another.
        self._leads = hasattr(os, "killpg") and not _reads_terminal()
        self._mark = secrets.token_hex(8)
        environment = child_processes.for_client(environment, self._mark)
        self._killer: threading.Timer | None = None
        self.left: list[str] = []
        """What goes on after a command that has ended by itself."""
        self._process = subprocess.Popen(  # noqa: S603 (the command of the user)
            command, env=environment, process_group=0 if self._leads else None
        )
        self._guard = self._start_guard()

    def send(self, number: int) -> None:
        """Send a signal to the command and what it started; one that ends starts the grace."""
        self._signal(number)
        if number in _ENDING and self._killer is None:
            self._killer = threading.Timer(self._grace, self._kill)
            # It must not keep this process alive when the command has ended at once.
            self._killer.daemon = True
            self._killer.start()

    def wait(self) -> int:
        """Return the exit code, 128 + n where signal n ended it, when all is over."""
        code = self._process.wait()
        if self._killer is not None:
            self._wait_for_group()
            self._killer.cancel()
        if self._guard is not None:
            self._guard.kill()
            self._guard.communicate()
        self.left = [] if self._killer is not None else self._left_behind()
        return 128 - code if code < 0 else code

    def _signal(self, number: int) -> None:
        if self._leads:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)
        else:
            # To the command alone: this process is in the same group.
            self._process.send_signal(number)
        if number in _ENDING or number == _KILL:
            # What has left the group, for a session of its own, gets the end as well.
            child_processes.send_marked(self._mark, number)

    def _kill(self) -> None:
        self._signal(_KILL)

    def _wait_for_group(self) -> None:
        """Wait for what the command started and left behind, until it ends or is killed."""
        # A second more than the killer takes, so that what it kills is seen to end.
        ends = time.monotonic() + self._grace + 1
        while time.monotonic() < ends and (self._has_group() or child_processes.marked(self._mark)):
            time.sleep(_POLL_SECONDS)

    def _has_group(self) -> bool:
        if not self._leads:
            return False
        try:
            os.killpg(self._process.pid, 0)
        except OSError:
            return False
        return True

    def _left_behind(self) -> list[str]:
        """Return what the command has started and goes on without it, as people know it."""
        ends = time.monotonic() + _LEFT_SECONDS
        while (left := child_processes.marked(self._mark)) and time.monotonic() < ends:
            time.sleep(_POLL_SECONDS)
        return [f"{child_processes.named(pid)!r} ({pid})" for pid in left]

    def _start_guard(self) -> "subprocess.Popen[bytes] | None":
        if not hasattr(os, "killpg"):
            return None
        kind, leader = "group" if self._leads else "process", str(self._process.pid)
        words = (kind, leader, str(self._grace), self._mark)
        # It reads from a pipe that ends with this process, and then ends the command, even after
        # SIGKILL.
        return subprocess.Popen(  # noqa: S603 (this interpreter)
            [sys.executable, "-I", "-S", child_processes.__file__, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def _reads_terminal() -> bool:
    """Whether this process may read from the terminal, which then signals its group."""
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError, AttributeError):
        return False


def is_typed(number: int) -> bool:
    """Whether a signal was typed: then the terminal has sent it to the command as well."""
    return number in (signal.SIGINT, getattr(signal, "SIGQUIT", None)) and _reads_terminal()
