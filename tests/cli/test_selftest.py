"""The command `conform selftest`."""

import os
import re
import signal
import subprocess

import pytest

from tests.cli.conftest import command, everything

BROKEN = "bridge-whole-tokens"


def test_the_command_says_what_was_found(run):
    ended = run("conform", "selftest", BROKEN, "--mode", "reading", "--seeds", "0", "--told")
    assert ended.returncode == 0, ended.stdout
    assert f"{BROKEN} (reading): " in ended.stdout
    assert "0 missed" in ended.stdout
    assert "reading alone found 100.0 % of 1 with 0 submissions" in ended.stdout


@pytest.mark.deep
def test_nothing_is_said_of_a_mode_that_was_not_tried(run):
    ended = run("conform", "selftest", BROKEN, "--mode", "submitting", "--seeds", "0")
    assert ended.returncode == 0, ended.stdout
    assert ended.stdout.splitlines()[1].split() == ["exchange", "1", "1", "-", "-"]
    assert "reading" not in ended.stdout.splitlines()[-1]


def test_the_command_names_what_no_break_is_called(call):
    ended = call("conform", "selftest", "bridge-whole-token")
    assert ended.returncode == 2
    assert "did you mean 'bridge-whole-tokens'" in ended.stderr


@pytest.mark.deep
@pytest.mark.parametrize("processes", [1, 2])
def test_an_interruption_ends_it_at_once_and_keeps_what_was_tried(processes):
    ours, theirs = os.openpty()
    line = command("conform", "selftest", BROKEN, "--mode", "reading", "--seeds", "30")
    line += ["--processes", str(processes)]
    with subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=theirs, start_new_session=True
    ) as popen:
        os.close(theirs)
        shown = b""
        while b" of 31 trials\r" not in shown:
            shown += os.read(ours, 4096)
        # Ctrl-C goes to all processes of a terminal's group.
        os.killpg(popen.pid, signal.SIGINT)
        popen.send_signal(signal.SIGINT)
        err = (shown.decode() + everything(ours)).strip()
        assert popen.wait(60) == 130
        assert popen.stdout is not None
        out = popen.stdout.read().decode()
    first, _, rest = err.partition("\n")
    trials = "31 trials of 1 break, 0 controls and the mock as it is"
    assert first.strip().startswith(f"{trials}, {processes} at a time; about ")
    assert rest.lstrip("\r").startswith("1 of 31 trials")
    assert re.search(r"interrupted after \d+ of 31 trials", rest)
    assert "31 of 31" not in rest
    assert "Traceback" not in err
    # What was tried until then is told.
    assert re.search(r"^\d breaks? in \d trials?, 0 missed; 0 of controls and", out, re.MULTILINE)
