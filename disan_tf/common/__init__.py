"""Modules that every folder may import and that import no other folder."""
