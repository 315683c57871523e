"""What recordings say about a service: how it changed, and which assumptions it confirms.

`drift.py` compares recordings, `register.py` assumptions and errata with them, and `seeding/` makes
scenarios of them.
"""
