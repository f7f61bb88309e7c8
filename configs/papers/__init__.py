"""The settings that a paper's experiments share."""
