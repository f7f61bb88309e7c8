"""Recurrent layers, which read a sentence in one direction, as TensorFlow 1 defines them."""
