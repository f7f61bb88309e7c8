"""Heads, which turn sentence (or word) vectors into logits, one for each paper."""
