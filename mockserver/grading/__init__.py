"""How good is a client's test suite? `grade` runs it against one break of the service at a time.

- `grade.py`: the runs, and what came of each break.
- `flows.py`: suites of pytest, which are forked once their plugins are imported.
- `report.py`: the score, and of what survived: what changed, what it may cost, what notices it.

The server's part, which puts a break into each world, is `server/graded.py`.
"""
