"""Scores of trained models, and reports of them."""
