"""The command `conform selftest`."""

BROKEN = "bridge-whole-tokens"


def test_the_command_says_what_was_found(run):
    ended = run("conform", "selftest", BROKEN, "--mode", "reading", "--seeds", "0", "--told")
    assert ended.returncode == 0, ended.stdout
    assert f"{BROKEN} (reading): " in ended.stdout
    assert "0 missed" in ended.stdout


def test_the_command_names_what_no_break_is_called(run):
    ended = run("conform", "selftest", "bridge-whole-token")
    assert ended.returncode == 2
    assert "did you mean 'bridge-whole-tokens'" in ended.stderr
