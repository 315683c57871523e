"""Reports: what a run came to, for people and for the programs of a pipeline."""
