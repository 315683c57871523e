"""Bounds that options set: of `serve` and `run`, one for each settable row of the limits."""

import subprocess
import sys

import pytest

from mockserver import limits

CLIENT = """
import json, os, urllib.request
url = os.environ["CROSSCHAIN_MOCK_URL"]
def call(path, method="GET", body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return error.read().decode()
for _ in range(5):
    call("/v1/getChain")
journal = call("/__mock/journal")
print(len(journal["entries"]), journal["dropped"])
print(call("/w/one/__mock/clock")["mode"])
print(call("/w/two/__mock/clock"))
stub = {"operation": "v2.getChain", "response": {"refusal": "internal-error"}}
call("/__mock/stubs", "POST", stub)
print(call("/__mock/stubs", "POST", stub))
"""


def command(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "mockserver", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_options_set_bounds() -> None:
    bounds = ("--journal-entries=3", "--most-worlds=2", "--most-stubs=1", "--journal-bytes=1MiB")
    done = command("run", "--no-check", *bounds, "--", sys.executable, "-c", CLIENT)
    assert done.returncode == 0, done.stderr
    kept, clock, refused, stubs = done.stdout.splitlines()
    assert kept == "3 2"
    assert clock == "real"
    assert "there are 2 worlds already" in refused
    assert "there are 1 stubs already" in stubs


@pytest.mark.parametrize("name", ["serve", "run"])
def test_each_settable_bound_is_an_option(name: str) -> None:
    shown = command(name, "--help").stdout
    assert [option for option in limits.SETTABLE if f"--{option} " not in shown] == []


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--journal-entries=0", "expected a whole number, from 1"),
        ("--journal-entries=3MiB", "expected a whole number, from 1"),
        ("--journal-bytes=lots", "expected a size such as 64MiB"),
        ("--journal-bytes=9999999GiB", "from 1 to 1099511627776"),
    ],
)
def test_a_wrong_bound_is_a_usage_error(option: str, sentence: str) -> None:
    done = command("serve", option)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
