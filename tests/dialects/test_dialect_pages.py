"""What is generated from the errata: the page of both forms, the reference and OpenAPI of each."""

from mockserver.contract import load
from mockserver.contract.openapi import document
from mockserver.contract.reference_pages import pages

PAGES = pages()
PAGE = PAGES["dialects.md"]


def test_every_erratum_is_shown_with_both_forms():
    for erratum in load().errata:
        section = PAGE.split(f"## {erratum.id}: ")[1].split("\n## ")[0]
        assert section.startswith(f"{erratum.title}\n")
        assert f"| **form** | {erratum.documented} | {erratum.observed} |" in section
        assert ", ".join(erratum.source) in section


def test_a_change_is_shown_before_and_after():
    row = "| `endpoints.yaml#/generations/v1/success/code` | `0` | `200` |"
    assert row in PAGE.splitlines()
    added = "`GET /v1/getVaultAddress`: List the deposit addresses of chains without contracts |"
    assert f"| — | {added}" in PAGE


def test_the_reference_follows_the_dialect():
    assert "`evmAddres`" in PAGES["v1.md"]
    assert "`evmAddress`" in PAGES["v1-observed.md"]
    assert "## getVaultAddress" in PAGES["v2-observed.md"]
    assert "## getVaultAddress" not in PAGES["v2.md"]
    assert "Answer, without envelope:" in PAGES["v1-observed.md"]


def test_openapi_follows_the_dialect():
    documented, observed = (
        document(load(dialect), "v1", version="0") for dialect in ("documented", "observed")
    )
    path = "/open/v1/order/getOrderDetail"
    assert path not in documented["paths"]
    assert path in observed["paths"]
    assert "/sign/getSign" in observed["paths"]
