"""Metrics of predictions: functions from the NumPy arrays of a whole split to numbers."""
