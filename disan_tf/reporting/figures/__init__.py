"""The figures of the papers, drawn of our models and runs."""
