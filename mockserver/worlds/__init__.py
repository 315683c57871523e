"""Worlds as a server hosts them: made, kept, dumped, with the journal of their traffic."""
