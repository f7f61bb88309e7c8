"""Every score of predictions, once; NumPy arrays of a whole split in, numbers out."""
