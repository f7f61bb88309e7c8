"""Heads, which turn vectors of sentences (or of words) into logits: one for each paper."""
