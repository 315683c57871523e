"""How good is a client's test suite? `grade` runs it against one break of the service at a time.

- `grade.py`: the runs, and what came of each break.
- `flows.py`: suites of pytest, which are forked once their plugins are imported.
- `break_costs.py`: what an answer was wrong in, what that may cost, and which assertion notices it.
- `report.py`: the score, and each break that survived.

The server's part, which puts a break into each world, is `server/grading.py`.
"""
