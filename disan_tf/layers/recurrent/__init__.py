"""Recurrent layers that read a sequence in one direction."""
