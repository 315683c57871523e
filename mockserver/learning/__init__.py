"""What recordings say about a service: which assumptions it confirms, and a world made of it.

`register_evidence.py` holds assumptions and errata against recordings, and `seeding/` makes
scenarios of them.
"""
