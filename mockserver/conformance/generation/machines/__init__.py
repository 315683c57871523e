"""The state machines: what a client does in any order, and a model of what must hold meanwhile."""
