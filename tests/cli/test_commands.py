"""The commands that print, check and record."""

import json
import re
from pathlib import Path

import click
import pytest
import yaml

from mockserver.cli.command_table import TABLE, command

ROOT = Path(__file__).parents[2]


def test_routes_lists_all_19_operations(call):
    ended = call("routes")
    assert ended.returncode == 0
    assert len(ended.stdout.strip().splitlines()) == 20
    assert "/open/v1/order/submitCrossChain" in ended.stdout
    rows = json.loads(call("routes", "--json").stdout)
    assert [row["id"] for row in rows].count("v2.getBridgeQuote") == 1
    assert len(rows) == 19


def test_the_observed_dialect_has_more_routes(call):
    rows = json.loads(call("routes", "--json", "--dialect", "observed").stdout)
    assert "v2.getVaultAddress" in [row["id"] for row in rows]


@pytest.mark.parametrize("generation", ["v1", "v2"])
def test_openapi_prints_or_writes_the_document(call, tmp_path, generation):
    printed = call("openapi", generation)
    document = json.loads(printed.stdout)
    assert document["openapi"] == "3.1.0"
    assert len(document["paths"]) == {"v1": 6, "v2": 13}[generation]
    assert call("openapi", generation, "-o", "api.json").returncode == 0
    assert (tmp_path / "api.json").read_text() == printed.stdout


def test_openapi_without_a_generation_has_both(call):
    document = json.loads(call("openapi").stdout)
    assert len(document["paths"]) == 19
    quote = document["paths"]["/v1/getBridgeQuote"]["get"]
    assert quote["operationId"] == "v2.getBridgeQuote"


def test_openapi_lifted_documents_refusals_as_400(call):
    document = json.loads(call("openapi", "v2", "--lifted").stdout)
    assert set(document["paths"]["/v1/getChain"]["get"]["responses"]) == {"200", "400"}


def test_an_output_that_cannot_be_written_is_a_sentence(call):
    ended = call("openapi", "v1", "-o", "no/such/folder/api.json")
    assert ended.returncode == 2
    assert "no/such/folder/api.json" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_assumptions_and_errata_are_listed(call):
    register = json.loads(call("assumptions", "--json").stdout)
    assert register[0]["id"] == "A-001"
    assert all(one["reason"] and one["alternatives"] for one in register)
    assert "A-001" in call("assumptions").stdout
    errata = json.loads(call("errata", "--json").stdout)
    assert errata[0]["id"] == "E-01"
    assert "E-01" in call("errata").stdout


def test_validate_takes_every_shipped_file(call):
    ended = call("validate", str(ROOT / "fixtures"), *map(str, (ROOT / "schemas").glob("*.yaml")))
    assert ended.returncode == 0, ended.stderr
    kinds = set(re.findall(r"a valid ([\w-]+)", ended.stdout))
    assert kinds >= {"scenario", "calendar", "recording", "errata", "assumptions", "endpoints"}


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("format: crosschain-mock/calendar@1\ntitle: t\nwindows: 5\n", ":3: windows", "array"),
        ("format: crosschain-mock/calendar@9\n", ":1: format", "version 9"),
        ("title: [\n", ":2", "not YAML"),
        (
            "format: crosschain-mock/recording@1\ntitle: t\norigin: published\nexchanges: []\n",
            "source",
            "missing",
        ),
    ],
)
def test_validate_names_file_line_and_what_is_right(call, tmp_path, text, place, words):
    (tmp_path / "x.yaml").write_text(text)
    ended = call("validate", "x.yaml")
    assert ended.returncode == 2
    assert f"x.yaml{place}" in ended.stderr or place in ended.stderr
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr


def test_validate_names_every_bad_file_of_many(call, tmp_path):
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text("nothing: here\n")
    ended = call("validate", "a.yaml", "b.yaml", "c.yaml")
    assert ended.returncode == 2
    assert all(name in ended.stderr for name in ("a.yaml:1", "b.yaml:1", "c.yaml: cannot be read"))


def test_doctor_finds_the_installation_well(run):
    ended = run("doctor")
    assert ended.returncode == 0, ended.stdout
    assert "crosschain-mock" in ended.stdout
    assert "BAD" not in ended.stdout


def test_doctor_finds_another_distribution_with_our_import_name(run, tmp_path):
    other = tmp_path / "mockserver_client-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: mockserver-client\nVersion: 1.0\n"
    )
    (other / "top_level.txt").write_text("mockserver\n")
    ended = run("doctor")
    assert ended.returncode == 1
    assert "mockserver-client" in ended.stdout


def test_the_generated_pages_are_fresh(call):
    ended = call("reference", str(ROOT / "docs" / "reference"), "--check")
    assert ended.returncode == 0, ended.stdout


def test_a_stale_page_is_found_and_written_anew(call, tmp_path):
    assert call("reference", "pages").returncode == 0
    page = tmp_path / "pages" / "v2.md"
    fresh = page.read_text()
    page.write_text(fresh.replace("getChain", "getChains"))
    stale = call("reference", "pages", "--check")
    assert (stale.returncode, stale.stdout) == (1, "stale: pages/v2.md\n")
    call("reference", "pages")
    assert page.read_text() == fresh


def test_the_shipped_recordings_come_out_byte_for_byte(call):
    ended = call("recordings", "simulate", "--check", str(ROOT / "fixtures" / "recordings"))
    assert ended.returncode == 0, ended.stdout


def test_a_changed_recording_is_found_and_made_anew(call, tmp_path):
    shipped = (ROOT / "fixtures" / "recordings" / "v2" / "getPrice.yaml").read_text()
    file = tmp_path / "mine.yaml"
    file.write_text(shipped.replace("'0.11'", "'0.12'"))
    assert call("recordings", "simulate", "--check", "mine.yaml").returncode == 1
    assert call("recordings", "simulate", "mine.yaml").returncode == 0
    assert file.read_text() == shipped


def test_every_operation_has_a_recorded_success_and_a_refusal():
    seen: dict[str, set[bool]] = {}
    for path in (ROOT / "fixtures" / "recordings").rglob("*.yaml"):
        recording = yaml.safe_load(path.read_text())
        if recording["origin"] == "simulation":
            for exchange in recording["exchanges"]:
                code = exchange["response"]["body"].get("code")
                seen.setdefault(exchange["operation"], set()).add(code in (0, 200))
    documented = [key for key, both in seen.items() if both == {True, False}]
    assert len(documented) >= 19


@pytest.mark.parametrize("arguments", [["--help"], ["serve", "--help"], ["--version"]])
def test_help_is_there(call, arguments):
    ended = call(*arguments)
    assert ended.returncode == 0
    assert "crosschain-mock" in ended.stdout


def test_an_unknown_command_exits_2(call):
    ended = call("sevre")
    assert ended.returncode == 2
    assert "sevre" in ended.stderr


@pytest.mark.parametrize("given", ["[::1]", "::1", "fe80::1%lo", "localhost", "0.0.0.0"])  # noqa: S104
def test_a_host_may_be_an_address_in_brackets(given):
    params = command("serve").make_context("serve", ["--host", given]).params
    assert params["host"] == given.strip("[]")


def test_clients_look_where_a_server_listens():
    listens = command("serve").make_context("serve", []).params
    looks = command("clock show").make_context("show", []).params
    assert looks["url"] == f"http://{listens['host']}:{listens['port']}"


NOTHING_WITHOUT = {
    *("--advertise", "--app-keys-file", "--control-token", "--epoch", "--fall-through", "--record"),
    *("--token", "--upstream-v1", "--upstream-v2", "--v1", "--v2"),
    # What narrows a search, a verdict or an outage down.
    *("--at-least", "--at-most", "--chain", "--exactly", "--for", "--from", "--method"),
    *("--operation", "--path", "--reason", "--since", "--token-symbol", "--until", "--within"),
}
"""Options without which nothing happens in their place; files are the same."""
FILES = ("file", "directory", "path")


def test_the_help_shows_every_default():
    shown = 0
    for path in TABLE["commands"]:
        found = command(path)
        for parameter in found.params:
            if not isinstance(parameter, click.Option) or parameter.is_flag or parameter.hidden:
                continue
            record = parameter.get_help_record(click.Context(found, info_name=path))
            assert record is not None
            _, text = record
            unneeded = parameter.required or parameter.multiple or parameter.type.name in FILES
            if not unneeded and parameter.opts[-1] not in NOTHING_WITHOUT:
                assert "default" in text.lower(), (path, parameter.opts, text)
            # `0` stands for not at all; a hidden option is no part of any help.
            if not isinstance(parameter.default, str | int) or parameter.default in (0, "", "0"):
                continue
            assert f"{parameter.default}" in text, (path, text)
            assert "default" in text.lower(), (path, text)
            shown += 1
    assert shown > 30
