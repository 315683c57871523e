"""Answers in the form in which a recorded service gave them, from templates of a scenario."""

from mockserver.responders.templates.answering import templated

__all__ = ["templated"]
