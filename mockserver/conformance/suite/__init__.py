"""The rules as pytest tests: `pytest --pyargs mockserver.conformance.suite`."""
