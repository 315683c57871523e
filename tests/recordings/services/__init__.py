"""Three small services, written from the interface description alone, and flows that a client takes through them.

They differ in what the description leaves open: forms of ids and hashes, texts of amounts, words of statuses, forms of
refusals, ordinary headers, compressed answers.
"""
