"""Trained models -> SavedModels that answer without this package."""

from disan_tf.export.saved_model import export_saved_model

__all__ = ["export_saved_model"]
