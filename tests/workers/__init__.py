"""One server of several processes."""
