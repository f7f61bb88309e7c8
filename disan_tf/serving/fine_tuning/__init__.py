"""Trained models with new classes, trained further on a user's texts."""
