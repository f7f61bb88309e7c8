"""The papers' tables with our results beside them."""
