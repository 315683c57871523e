"""The package is built with the programs and documents of the tests of generators."""

from tests.generators.conftest import documents, npm_folder

__all__ = ["documents", "npm_folder"]
