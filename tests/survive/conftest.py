"""What all searches of the tests share."""

import pytest


@pytest.fixture(scope="session")
def byte_code_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("byte-code")


@pytest.fixture(autouse=True)
def byte_code(monkeypatch, byte_code_folder):
    """Keep byte code between searches, as an installation does: to compile takes most of one."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(byte_code_folder))
