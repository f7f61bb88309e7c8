"""Modules that every folder may use and that use none of them."""
