"""`recordings scan` proves a folder clean, or names the places."""

import json
import shutil

from mockserver import resources

CLEAN = """\
format: crosschain-mock/recording@2
title: t
origin: captured
source: a test
exchanges:
- name: one
  operation: v2.getChain
  request: {method: GET, path: /v1/getChain}
  response:
    status: 200
    body:
      code: 0
      note: NOTE
"""
SECRET = "".join(("kQ83hfLw", "Pz72mNcbVx"))


def test_the_shipped_recordings_are_clean(call):
    ended = call("recordings", "scan", str(resources.fixtures() / "recordings"))
    assert (ended.returncode, ended.stdout) == (0, "")


def test_a_secret_is_named_with_file_line_and_place_and_never_shown(call, tmp_path):
    (tmp_path / "a.yaml").write_text(CLEAN.replace("NOTE", f"Bearer {SECRET}"))
    ended = call("recordings", "scan", str(tmp_path))
    assert ended.returncode == 1
    assert "a.yaml:13: response.body.note: in one: it has the form of a secret" in ended.stdout
    assert SECRET not in ended.stdout + ended.stderr
    found = json.loads(call("recordings", "scan", str(tmp_path), "--json").stdout)
    assert found["secrets"][0]["line"] == 13


def test_a_named_text_is_found_in_other_files_and_in_archives(call, tmp_path):
    (tmp_path / "log.txt").write_text("one\n" + b"plain words".hex() + "\n")
    ended = call("recordings", "scan", str(tmp_path), "--secret", "plain words")
    assert (ended.returncode, "log.txt:2" in ended.stdout) == (1, True)
    assert call("recordings", "scan", str(tmp_path)).returncode == 0
    packed = shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, "log.txt")
    ended = call("recordings", "scan", packed, "--secret", "plain words")
    assert (ended.returncode, "packed.zip/log.txt:2" in ended.stdout) == (1, True)


def test_what_cannot_be_read_is_said(call, tmp_path):
    assert call("recordings", "scan", str(tmp_path / "none")).returncode == 2
    (tmp_path / "a.yaml").write_text(CLEAN.replace("title: t\n", ""))
    ended = call("recordings", "scan", str(tmp_path))
    assert (ended.returncode, "title" in ended.stderr) == (2, True)
