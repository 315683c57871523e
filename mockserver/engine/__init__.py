"""The simulated world: pure values and functions that know no HTTP, no contract and no files.

`world.py` ties it together. `transfer_quotes.py` and `swap_quotes.py` compute quotes with the rates
of `pricing.py`; `submission.py` makes orders, `order_courses.py` and `orders.py` say which status
they have when; `outages.py` and `outage_calendar.py` suspend chains.
"""
