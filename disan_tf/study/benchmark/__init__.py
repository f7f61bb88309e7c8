"""Measurements of models' speed on this machine, beside the authors' formulation."""
