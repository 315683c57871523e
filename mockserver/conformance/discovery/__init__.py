"""What a service offers, read from its own answers."""
