"""Judgements on runs in which nothing went wrong."""
