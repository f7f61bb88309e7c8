"""Raw corpora and word vectors -> prepared corpora. Runs once and knows no model."""
