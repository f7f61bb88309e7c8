"""Trained models as SavedModels, TFLite, ONNX and official biLM files."""
