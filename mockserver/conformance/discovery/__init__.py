"""What a service offers, read from its own answers: `inventory.py` has chains and tokens."""
