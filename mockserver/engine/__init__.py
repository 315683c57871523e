"""The simulated world: pure values and functions that know no HTTP, no contract and no files.

`world.py` ties it together. `quotes.py` and `aggregates.py` compute quotes with the rates of
`pricing.py`; `submission.py` makes orders, `courses.py` and `orders.py` say which status they have
when; `outages.py` and `calendar.py` suspend chains.
"""
