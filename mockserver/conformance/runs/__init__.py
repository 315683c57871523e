"""A whole run: options, plan, journal, and what it came to."""
