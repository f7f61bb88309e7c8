"""What frozen vectors of sentences are worth: the transfer tasks of SentEval."""
