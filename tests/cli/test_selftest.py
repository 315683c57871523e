"""The command `conform selftest`."""

BROKEN = "bridge-whole-tokens"


def test_the_command_says_what_was_found(run):
    ended = run("conform", "selftest", BROKEN, "--mode", "reading", "--seeds", "0", "--told")
    assert ended.returncode == 0, ended.stdout
    assert f"{BROKEN} (reading): " in ended.stdout
    assert "0 missed" in ended.stdout
    assert "reading alone found 100.0 % of 1 with 0 submissions" in ended.stdout


def test_nothing_is_said_of_a_mode_that_was_not_tried(run):
    ended = run("conform", "selftest", BROKEN, "--mode", "submitting", "--seeds", "0")
    assert ended.returncode == 0, ended.stdout
    assert ended.stdout.splitlines()[1].split() == ["exchange", "1", "1", "-", "-"]
    assert "reading" not in ended.stdout.splitlines()[-1]


def test_the_command_names_what_no_break_is_called(run):
    ended = run("conform", "selftest", "bridge-whole-token")
    assert ended.returncode == 2
    assert "did you mean 'bridge-whole-tokens'" in ended.stderr
