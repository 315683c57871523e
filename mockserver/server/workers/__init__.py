"""One server of several processes: each world lives in exactly one, chosen by its name.

A process that is reached first hands the connection over to the one that has the world, with the
bytes that were read; see docs/decisions/workers.md. Imported by `serve --workers` alone.
"""
