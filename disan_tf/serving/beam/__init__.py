"""Predictions and vectors of many sentences: an Apache Beam pipeline around a trained model."""
