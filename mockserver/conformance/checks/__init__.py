"""The rules: what is wrong with the answers of a service.

A file for each subject; a rule is a function with its data beside it. `judge.py` runs
them, `check_decorators.py` counts what was judged, and `all_rules.py` has the list of all rules.
"""
