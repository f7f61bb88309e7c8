"""Monitoring of a training: console, TensorBoard and pictures."""
