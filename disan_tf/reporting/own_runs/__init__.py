"""A user's own runs: reading them, comparing some, and a table of many."""
