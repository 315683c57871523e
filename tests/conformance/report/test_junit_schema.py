"""Every JUnit file that is written is one that Jenkins takes: it keeps the schema junit-10.xsd."""

from pathlib import Path

import pytest
import xmlschema

from mockserver.conformance.report.report_files import FORMATS
from tests.conformance.report.made import finding, report
from tests.conformance.report.pack import observed
from tests.conformance.report.test_formats import told

__all__ = ["told"]


@pytest.fixture(scope="module")
def jenkins():
    """The schema as Jenkins has it, under its own licence."""
    return xmlschema.XMLSchema(Path(__file__).with_name("junit-10.xsd"))


def offences(schema, text):
    """Return what a schema does not allow in a text."""
    return [f"{error.path}: {error.reason}" for error in schema.iter_errors(text)]


def test_a_report_of_conformance_keeps_it(jenkins, told):
    assert offences(jenkins, FORMATS["junit"](told)) == []


def test_a_report_with_what_is_accepted_keeps_it(jenkins):
    accepted = report(finding("seen otherwise", basis=observed("OAE")))
    assert offences(jenkins, FORMATS["junit"](accepted)) == []


@pytest.mark.parametrize(
    "wrong",
    [
        '<testsuites skipped="1"/>',
        '<testsuite name="a" tests="1" failures="0"/>',
        "<testsuites><testcase name='a'/></testsuites>",
        '<testsuite name="a" tests="1" failures="0" errors="0" time="0.12345"/>',
    ],
)
def test_what_jenkins_refuses_would_be_noticed(jenkins, wrong):
    assert offences(jenkins, wrong)
