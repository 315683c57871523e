"""Requests made from the inventory and the contract: valid, wrong and alternative ones.

`valid.py` makes a request, `probe_table.py` reads the plan (`schemas/probes.yaml`), `negative.py`
and `alternative_forms.py` read `schemas/requests.yaml`.
"""
