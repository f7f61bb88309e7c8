"""Prepared corpora -> batches of token ids."""

from disan_tf.input_pipeline.batch_plan import (
    Batches,
    BatchPlan,
    draw_examples,
    evaluation_batches,
    padding_share,
    plan_batches,
)
from disan_tf.input_pipeline.batches import make_dataset
from disan_tf.input_pipeline.corpus import PreparedCorpus, Split, WordFeatures

__all__ = ["BatchPlan", "Batches", "PreparedCorpus", "Split", "WordFeatures"]
__all__ += ["draw_examples", "evaluation_batches", "make_dataset", "padding_share", "plan_batches"]
