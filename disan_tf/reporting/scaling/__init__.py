"""Accuracy against the number of training examples, with forecasts for more."""
