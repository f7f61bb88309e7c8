"""What more training data would give: accuracy against the number of training examples."""
