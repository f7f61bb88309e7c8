"""How long models take on this machine, beside the authors' formulation of them."""
