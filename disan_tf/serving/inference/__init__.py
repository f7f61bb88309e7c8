"""Predictions, sentence vectors and attention of trained models."""
