"""What the papers' tables report, and ours beside it."""
