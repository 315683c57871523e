"""Requests made of the inventory and the contract: valid, negative and alternative ones."""
