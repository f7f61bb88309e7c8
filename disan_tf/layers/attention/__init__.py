"""Soft attention over the tokens of a sentence, and the fusion gate."""
