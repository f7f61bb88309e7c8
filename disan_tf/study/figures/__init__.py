"""The papers' figures, drawn from our models and runs."""
