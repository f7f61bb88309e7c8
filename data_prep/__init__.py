"""Raw corpora and word vectors -> prepared corpora. Preparation runs once and knows no model."""
