"""The rules: what is wrong with the answers of a service.

A file for each subject, with functions whose rows stand in `schemas/rules.yaml`. `judge.py` runs
them and counts what was judged, `catalog.py` has the list of all rules.
"""
