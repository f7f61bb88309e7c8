"""The settings that the experiments of a paper share."""
