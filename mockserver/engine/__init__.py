"""The engine of worlds: pure values and functions that know no HTTP, no contract and no files."""
