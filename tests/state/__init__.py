"""Worlds on a disk."""
