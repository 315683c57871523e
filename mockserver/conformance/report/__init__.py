"""Reports: the result of a run, for people and for programs of a pipeline.

`report_files.py` has the table of formats, `model.py` what they all read, with secrets masked.
JUnit, SARIF and annotations of GitHub are in `ci_formats.py`.
"""
