"""One conversation with a service: what may leave, how it leaves, and what came back."""
