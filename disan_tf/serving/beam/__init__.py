"""Predictions and vectors of many sentences: an Apache Beam pipeline around a trained model."""

FORMATS = ("text", "jsonl", "tfrecord")  # of the input
SHARD_BYTES = 1 << 23  # of the input, for a shard of the output
