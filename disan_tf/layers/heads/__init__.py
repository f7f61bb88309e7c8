"""What turns sentence vectors into logits, one head for each paper."""
