"""Training: the loop, optimizers, checkpoints, callbacks."""
