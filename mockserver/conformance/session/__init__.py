"""One conversation with a service: `permit.py` says what may be sent, `transport.py` sends it."""
