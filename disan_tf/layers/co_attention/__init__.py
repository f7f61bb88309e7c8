"""Attention between two sentences: the functions of the multiway DRCN, and their combination."""
