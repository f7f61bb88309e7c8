"""Every score, once."""
