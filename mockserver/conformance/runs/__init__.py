"""A whole run: `planner.py` chooses the requests, `runner.py` sends them and judges the answers."""
