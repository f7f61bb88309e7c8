"""Token vectors -> sentence vector: one file for each model of the papers."""

from disan_tf.encoders.disan import DiSAN

ENCODERS = {"disan": DiSAN}

__all__ = ["DiSAN", "ENCODERS"]
