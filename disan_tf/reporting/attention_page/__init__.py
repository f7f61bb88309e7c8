"""The attention page: what `attend` wrote, to look at in a browser."""
