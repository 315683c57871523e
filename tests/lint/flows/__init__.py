"""Journals for lint, played by clients that were written before its rules were read."""
