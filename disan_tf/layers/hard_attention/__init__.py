"""Hard attention: samplers that select tokens, and soft attention between selected tokens."""
