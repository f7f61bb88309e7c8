"""How long things take here, measured beside the authors' formulation of them."""
