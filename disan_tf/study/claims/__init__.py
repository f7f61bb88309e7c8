"""The papers' empirical claims, each with our figures and a computed verdict."""
