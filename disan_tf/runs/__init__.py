"""The record of a training: work directory, bundle, metrics log and summaries."""
