"""The compiled training step and evaluation step."""

from typing import Optional

import tensorflow as tf

from disan_tf.ops.batch_share import part_of_all, part_of_mean
from disan_tf.training.compilation import Compiler
from disan_tf.training.distribution.strategy import compiled_step, summed
from disan_tf.training.optimizers import summed_values


def make_train_step(
    model,
    optimizer,
    clip_norm: float = 0.0,
    compiler: Optional[Compiler] = None,
    rows: Optional[int] = None,
):
    """Returns the training step: one optimizer step on the model's loss + weight decay.

    Under a loss-scale optimizer a step whose gradients overflow changes nothing and lowers the
    scale. For other arguments see `apply_gradients` and `compiled_step`.

    Returns:
      A `compiled_step`: the model's inputs (`model.reads`), labels <`model.label_dtype`>[batch]
      -> a dictionary with the batch's "loss", `model.batch_score_name`, and "skipped_steps" (1 if
      the step changed nothing), all <float32>[].
    """

    def train_step(*batch):
        *ids, label = batch
        with tf.GradientTape() as tape:
            outputs = model(*ids, training=True)
            loss = part_of_mean(model.training_loss(outputs, label))
            loss += part_of_all(sum(added_losses(model)))
            objective = scaled(optimizer, loss)
        gradients = tape.gradient(objective, model.trainable_variables)
        score = part_of_mean(model.batch_score(outputs, label))
        measured = {"loss": loss, model.batch_score_name: score}
        gradients, measured = summed(gradients, measured)
        _, skipped = apply_gradients(optimizer, gradients, model.trainable_variables, clip_norm)
        return {**measured, "skipped_steps": skipped}

    return compiled_step(train_step, batch_signature(model), compiler, rows)


def make_evaluation_step(
    model,
    how: Optional[str] = None,
    samples: int = 1,
    compiler: Optional[Compiler] = None,
    rows: Optional[int] = None,
):
    """Returns a step: inputs, labels -> (outputs <float32>[batch, classes], loss <float32>[]).

    It takes the same arguments as the training step, and applies no dropout.

    Args:
      model, compiler, rows: see `make_train_step`.
      how: the way hard attention selects tokens, see
        `disan_tf.layers.hard_attention.samplers.Sampler.select`; None = the encoder's own way.
      samples: the number of selections; if above 1, the outputs are the logarithms of the mean
        probabilities.
    """

    def evaluation_step(*batch):
        *ids, label = batch
        outputs = [_outputs(model, ids, how) for _ in range(samples)]
        outputs = outputs[0] if samples == 1 else _log_mean_probabilities(outputs)
        return outputs, model.batch_loss(outputs, label) + sum(added_losses(model))

    return (compiler or Compiler()).compile(evaluation_step, batch_signature(model), rows)


def make_selection_step(model, how: str):
    """Returns a step: inputs, labels -> (shares <float32>[batch, 2], 0), as an evaluation step.

    The shares are the fractions of real tokens selected as heads and as dependents, averaged over
    an example's sentences. The model's encoder has samplers; `how`: see `make_evaluation_step`.
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
    """Computes ln mean_k softmax(logits_k) for a list of logits <float32>[batch, classes]."""
    logs = tf.stack([tf.nn.log_softmax(logits) for logits in outputs])
    return tf.reduce_logsumexp(logs, axis=0) - tf.math.log(float(len(outputs)))


def batch_signature(model) -> list:
    """Returns the specs of the model's inputs and of the labels."""
    return [*model.input_specs(), tf.TensorSpec([None], model.label_dtype, name="label")]


def scaled(optimizer, loss: tf.Tensor) -> tf.Tensor:
    """Returns the loss to differentiate, scaled if the optimizer scales losses."""
    return optimizer.get_scaled_loss(loss) if _scales(optimizer) else loss


def apply_gradients(
    optimizer, gradients: list, weights: list, clip_norm: float = 0.0
) -> tuple[tf.Tensor, tf.Tensor]:
    """Updates the weights by the gradients of a `scaled` loss, `summed` over the replicas.

    Gradients are clipped here, not by Keras, in which only the outermost optimizer clips: a moving
    average or a loss-scale optimizer around another optimizer would switch its clipping off.
    Gradients with a global norm above `clip_norm` are scaled down to it; 0 = no clipping. The norm
    is computed from the `summed_values`, which the optimizer applies.

    Returns:
      The gradients' norm before clipping, and 1 if they overflowed and no weight changed, else 0;
      both <float32>[].
    """
    if _scales(optimizer):
        gradients = optimizer.get_unscaled_gradients(gradients)
    norm, moves = tf.linalg.global_norm([*map(summed_values, gradients)]), gradients
    if clip_norm:
        moves, _ = tf.clip_by_global_norm(gradients, clip_norm, use_norm=norm)
    optimizer.apply_gradients(zip(moves, weights), experimental_aggregate_gradients=False)
    if not _scales(optimizer):
        return norm, tf.constant(0.0)
    # Whether all gradients are finite, as the loss-scale optimizer checks internally.
    dense = [tf.convert_to_tensor(getattr(gradient, "values", gradient)) for gradient in gradients]
    finite = tf.reduce_all([tf.reduce_all(tf.math.is_finite(gradient)) for gradient in dense])
    return norm, tf.cast(tf.logical_not(finite), tf.float32)


def _scales(optimizer):
    return isinstance(optimizer, tf.keras.mixed_precision.LossScaleOptimizer)


def added_losses(model) -> tuple[tf.Tensor, tf.Tensor]:
    """Sums the losses that layers add: other layers' and the samplers' sums, both <float32>[].

    Layers add l2 * 0.5 * ||W||^2 for their matrices, and a bottleneck's reconstruction in training.
    """
    samplers = [loss for sampler in model.samplers for loss in sampler.losses]
    total, hard = (
        tf.add_n(losses) if losses else tf.constant(0.0) for losses in (model.losses, samplers)
    )
    return total - hard if samplers else total, hard
