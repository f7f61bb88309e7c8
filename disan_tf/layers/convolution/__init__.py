"""Convolutions over the tokens of a sentence."""
