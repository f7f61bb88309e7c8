"""Predictions and vectors of many sentences: an Apache Beam pipeline around a trained model."""

FORMATS = ("text", "jsonl", "tfrecord")  # input formats
SHARD_BYTES = 1 << 23  # input bytes for an output shard
