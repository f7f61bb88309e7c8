"""Small grammars that write corpora in the official formats."""
