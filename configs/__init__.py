"""One file for each experiment: `get_config(variant)` -> ConfigDict."""
