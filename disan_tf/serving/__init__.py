"""Trained models at work: lines of text in and out, SavedModels, released models."""
