"""A second service and its faults, written from the interface description alone.

Nobody who wrote these files had read a rule of the conformance suite: what the suite finds here is
what it finds at services that nobody here wrote.
"""
