"""The rules: what is wrong with the answers of a service."""
