"""Misuses: what somebody may get wrong, and the sentence that says what would be right."""
