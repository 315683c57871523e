"""Signatures of the service and of its clients, as public material shows them."""
