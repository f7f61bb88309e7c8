"""Word ids, or characters, to word vectors."""
