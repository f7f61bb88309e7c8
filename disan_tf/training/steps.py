"""The compiled training step and evaluation step."""

from typing import Optional

import tensorflow as tf

from disan_tf.ops.batch_share import part_of_all, part_of_mean
from disan_tf.training.distribution.replicas import compiled_step, summed


def make_train_step(model, optimizer, clip_norm: float = 0.0):
    """One step of the optimizer on the model's loss + weight decay.

    Args:
      model: a `SentenceModel`.
      optimizer: see `disan_tf.training.optimizers`; under a loss-scale optimizer a step whose
        gradients overflow changes nothing and lowers the scale.
      clip_norm: see `apply_gradients`.

    Returns:
      A `compiled_step` of what the model `reads` and of label [batch] of its `label_dtype`
      -> a dictionary of this batch's <float32>[] "loss", `model.batch_score_name`, and
      "skipped_steps", 1 where the step changed nothing.
    """

    def train_step(*batch):
        *ids, label = batch
        with tf.GradientTape() as tape:
            outputs = model(*ids, training=True)
            loss = part_of_mean(model.loss(outputs, label))
            loss += part_of_all(sum(added_losses(model)))
            objective = scaled(optimizer, loss)
        gradients = tape.gradient(objective, model.trainable_variables)
        score = part_of_mean(model.batch_score(outputs, label))
        measured = {"loss": loss, model.batch_score_name: score}
        gradients, measured = summed(gradients, measured)
        _, skipped = apply_gradients(optimizer, gradients, model.trainable_variables, clip_norm)
        return {**measured, "skipped_steps": skipped}

    return compiled_step(train_step, batch_signature(model))


def make_evaluation_step(model, how: Optional[str] = None, samples: int = 1):
    """The model's inputs, label -> (outputs <float32>[batch, classes], loss <float32>[]).

    Its arguments are those of the training step; no dropout acts.

    Args:
      model: a `SentenceModel`.
      how: an encoder with hard attention chooses tokens, see
        `disan_tf.layers.hard_attention.sampler.Sampler.select`; None = the encoder's own way.
      samples: with more than one, the outputs are logarithms of the mean of the probabilities of
        so many choices.
    """

    @tf.function(input_signature=batch_signature(model), autograph=False)
    def evaluation_step(*batch):
        *ids, label = batch
        outputs = [_outputs(model, ids, how) for _ in range(samples)]
        outputs = outputs[0] if samples == 1 else _log_mean_probabilities(outputs)
        return outputs, model.loss(outputs, label) + sum(added_losses(model))

    return evaluation_step


def make_selection_step(model, how: str):
    """The model's inputs, label -> (shares <float32>[batch, 2], 0), as an evaluation step.

    The shares are those of the real tokens that are selected as heads and as dependents, means over
    the sentences of an example.

    Args:
      model: a `SentenceModel` whose encoder has samplers.
      how: see `make_evaluation_step`.
    """

    @tf.function(input_signature=batch_signature(model), autograph=False)
    def selection_step(*batch):
        *ids, _ = batch
        chosen = model.select(*ids, how=how)
        shares = [tf.stack([one.head_fraction, one.dependent_fraction], axis=1) for one in chosen]
        return tf.add_n(shares) / len(shares), tf.constant(0.0)

    return selection_step


def _outputs(model, ids, how):
    if how is None:
        return model(*ids, training=False)
    return model(*ids, selections=model.select(*ids, how=how), training=False)


def _log_mean_probabilities(outputs):
    """ln of the mean of softmax(logits) over a list of logits <float32>[batch, classes]."""
    logs = tf.stack([tf.nn.log_softmax(logits) for logits in outputs])
    return tf.reduce_logsumexp(logs, axis=0) - tf.math.log(float(len(outputs)))


def batch_signature(model) -> list:
    """Of the model's inputs, and of the labels."""
    return [*model.input_specs(), tf.TensorSpec([None], model.label_dtype, name="label")]


def scaled(optimizer, loss: tf.Tensor) -> tf.Tensor:
    """What must be differentiated: the loss, or what a loss-scale optimizer makes of it."""
    return optimizer.get_scaled_loss(loss) if _scales(optimizer) else loss


def apply_gradients(
    optimizer, gradients: list, weights: list, clip_norm: float = 0.0
) -> tuple[tf.Tensor, tf.Tensor]:
    """Moves the weights by the gradients of a `scaled` loss, `summed` over the replicas.

    Gradients are clipped here, not by Keras, which clips by the outermost optimizer alone: a moving
    average or a loss-scale optimizer around another one would switch its clipping off.

    Args:
      optimizer: see `disan_tf.training.optimizers`.
      gradients: of `weights`.
      weights: those that move.
      clip_norm: gradients with a greater global norm are scaled down to it; 0 = no clipping.

    Returns:
      The gradients' norm before clipping, and 1 where they overflowed and nothing moved, else 0;
      both <float32>[].
    """
    if _scales(optimizer):
        gradients = optimizer.get_unscaled_gradients(gradients)
    norm, moves = tf.linalg.global_norm(gradients), gradients
    if clip_norm:
        moves, _ = tf.clip_by_global_norm(gradients, clip_norm, use_norm=norm)
    optimizer.apply_gradients(zip(moves, weights), experimental_aggregate_gradients=False)
    skipped = tf.logical_not(_finite(gradients)) if _scales(optimizer) else False
    return norm, tf.cast(skipped, tf.float32)


def _scales(optimizer):
    return isinstance(optimizer, tf.keras.mixed_precision.LossScaleOptimizer)


def _finite(gradients):
    """The loss-scale optimizer's own criterion, which it does not tell."""
    dense = [tf.convert_to_tensor(getattr(gradient, "values", gradient)) for gradient in gradients]
    return tf.reduce_all([tf.reduce_all(tf.math.is_finite(gradient)) for gradient in dense])


def added_losses(model) -> tuple[tf.Tensor, tf.Tensor]:
    """The sums of what layers add to the loss, all others' and the samplers', <float32>[].

    That is l2 * 0.5 * ||W||^2 of their matrices, and in training a bottleneck's reconstruction.
    """
    samplers = [loss for sampler in model.samplers for loss in sampler.losses]
    total, hard = (
        tf.add_n(losses) if losses else tf.constant(0.0) for losses in (model.losses, samplers)
    )
    return total - hard if samplers else total, hard
