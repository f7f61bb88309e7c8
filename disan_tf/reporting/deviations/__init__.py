"""The settings in which our runs differ from the papers, one module for each paper."""
