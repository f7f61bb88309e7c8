"""Scores of frozen sentence vectors on SentEval's transfer tasks."""
