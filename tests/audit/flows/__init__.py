"""Flows of clients, written from the interface description alone, and what each does to money."""
