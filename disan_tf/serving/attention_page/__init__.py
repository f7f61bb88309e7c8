"""The attention page, which displays the files of `attend` in a browser."""
