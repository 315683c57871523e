"""A sixth service, written from the interface description and public facts alone.

It is healthy; `--fault NAME` turns one fault on, and `--variation NAME` one thing that the
description leaves open. It is not tuned to any checker.
"""
