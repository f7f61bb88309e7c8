"""Layers that turn word ids or characters into word vectors."""
