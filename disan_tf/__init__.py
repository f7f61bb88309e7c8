"""Attention-only sentence encoders for TensorFlow 2: DiSAN and the papers around it."""

__version__ = "0.1.0"
