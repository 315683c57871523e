"""The audit: money that was doubled, lost or is stuck, as careful and sloppy clients leave it."""
