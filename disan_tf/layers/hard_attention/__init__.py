"""Hard attention: samplers that choose tokens, and soft attention between the chosen ones."""
