"""The reference for speed: DiSAN for SNLI in its authors' formulation, in plain TensorFlow.

Dense [batch, length, length, dim] tensors, an additive -1e30, `tf.nn.softmax`, automatic gradients;
no blocks, no recomputation, no `disan_tf.layers`. The code is as fast as this formulation can be
made here: one compiled function, broadcasting instead of tiled copies, division by c before the
tensors become large, and matrix products of rank 2. (TensorFlow multiplies a rank-3 tensor by a
matrix as a batch product, whose gradient makes the whole step three times as slow.)
"""

from operator import attrgetter

import tensorflow as tf

# Settings of `tf.train.AdadeltaOptimizer(0.5)` and the moving average in the authors' code.
LEARNING_RATE, RHO, EPSILON, DECAY = 0.5, 0.95, 1e-8, 0.999
_FORBIDDEN = -1e30
_WORDS_START = 2  # ids 0 and 1 are the zero vector
_PAIR = [tf.TensorSpec([None, None], tf.int32, name=name) for name in ("premise", "hypothesis")]
_LABEL = tf.TensorSpec([None], tf.int32, name="label")


def dense_attention(head, dependent, value, mask, *, direction: str, scale: float = 5.0):
    """Computes DiSAN's Eq. 15 and 11 for one direction, "forward" (i < j) or "backward" (i > j).

    `head`, `dependent`, `value` and the result are <float32>[batch, length, dim], `mask` is
    <bool>[batch, length], `scale` is c of Eq. 15. A token that may attend to nothing has 0.
    """
    positions = tf.range(tf.shape(mask)[1])
    compare = {"forward": tf.less, "backward": tf.greater}[direction]
    pairs = compare(positions[None, :], positions[:, None])[None] & mask[:, None, :]
    pairs = tf.cast(pairs, tf.float32)[..., None]  # [batch, head, dependent, 1]
    inner = (dependent / scale)[:, None, :, :] + (head / scale)[:, :, None, :]
    logits = scale * tf.tanh(inner) + (1.0 - pairs) * _FORBIDDEN
    weights = tf.nn.softmax(logits, axis=2) * pairs
    return tf.reduce_sum(weights * value[:, None, :, :], axis=2)


class DenseDisan:
    """Premise and hypothesis, <int32>[batch, length], 0 = padding -> logits <float32>[batch, 3].

    Args:
      model: DiSAN for SNLI, in float32; its weights are used, and nothing else of it.
      config: its config.
    """

    def __init__(self, model: tf.keras.Model, config):
        self.variables, self._model = model.trainable_variables, model
        self.decayed = [weight for weight in self.variables if "dense/kernel" in weight.name]
        self.dropout, self.l2 = config.train.dropout, config.train.l2
        self.activation = tf.keras.activations.get(config.encoder.activation)

    def __call__(self, premise, hypothesis, training: bool = False):
        """Computes the logits; in training, dropout acts on the input of every linear map."""
        p, h = (self.encode(ids, training=training) for ids in (premise, hypothesis))
        features = tf.concat([p, h, p - h, p * h], axis=-1)
        hidden = self.activation(self._linear("head.hidden", features, training))
        return self._linear("head.logits", hidden, training)

    def encode(self, ids, training: bool = False):
        """Computes sentence vectors, <float32>[batch, 2 * units]."""
        mask = tf.not_equal(ids, 0)
        x = tf.gather(self._weight("embedding.trained"), tf.maximum(ids - _WORDS_START, 0))
        x *= tf.cast(ids >= _WORDS_START, tf.float32)[:, :, None]
        forward = self._directional("forward", x, mask, training)
        backward = self._directional("backward", x, mask, training)
        return self._source2token(tf.concat([forward, backward], axis=-1), mask, training)

    def _directional(self, direction, x, mask, training):
        """Computes Eq. 14 to 20."""
        block = f"encoder.{direction}_block"
        h = self.activation(self._linear(f"{block}.input_map", x, training))
        dropped = self._drop(h, training)
        dependent = self._product(f"{block}.dependent_map.kernel", dropped)
        head = self._product(f"{block}.head_map.kernel", dropped)
        head += self._weight(f"{block}.attention_bias")
        s = dense_attention(head, dependent, h, mask, direction=direction)
        gate = self._linear(f"{block}.fusion_gate.token_map", h, training)
        gate += self._linear(f"{block}.fusion_gate.context_map", s, training)
        gate = tf.sigmoid(gate + self._weight(f"{block}.fusion_gate.bias"))
        return (gate * h + (1.0 - gate) * s) * tf.cast(mask, tf.float32)[:, :, None]

    def _source2token(self, u, mask, training):
        """Computes Eq. 12 and 13."""
        hidden = self._linear("encoder.source2token.token_map", u, training)
        logits = self._linear("encoder.source2token.score_map", self.activation(hidden), training)
        logits += (1.0 - tf.cast(mask, tf.float32)[:, :, None]) * _FORBIDDEN
        return tf.reduce_sum(tf.nn.softmax(logits, axis=1) * u, axis=1)

    def _linear(self, name, x, training):
        product = self._product(f"{name}.dense.kernel", self._drop(x, training))
        return product + self._weight(f"{name}.dense.bias")

    def _product(self, name, x):
        kernel = self._weight(name)
        flat = tf.matmul(tf.reshape(x, [-1, kernel.shape[0]]), kernel)
        return tf.reshape(flat, tf.concat([tf.shape(x)[:-1], kernel.shape[1:]], axis=0))

    def _drop(self, x, training):
        return tf.nn.dropout(x, self.dropout) if training else x

    def _weight(self, name):
        return attrgetter(name)(self._model)


def make_dense_train_step(model: DenseDisan):
    """Returns the authors' whole training step, with their optimizer and moving average.

    It is traced once: premise, hypothesis <int32>[batch, length], label <int32>[batch] -> loss
    <float32>[].
    """
    variables = model.variables
    optimizer = tf.keras.optimizers.legacy.Adadelta(LEARNING_RATE, rho=RHO, epsilon=EPSILON)
    optimizer._create_all_weights(variables)
    average = tf.train.ExponentialMovingAverage(DECAY)
    average.apply(variables)  # creates its variables, which the traced function may not do

    @tf.function(input_signature=[*_PAIR, _LABEL], autograph=False)
    def train_step(premise, hypothesis, label):
        with tf.GradientTape() as tape:
            logits = model(premise, hypothesis, training=True)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logits)
            decay = tf.add_n([tf.nn.l2_loss(kernel) for kernel in model.decayed])
            loss = tf.reduce_mean(losses) + model.l2 * decay
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables))
        average.apply(variables)
        return loss

    return train_step


def make_dense_inference(model: DenseDisan):
    """Returns a traced-once function (premise, hypothesis) -> logits, without dropout."""
    return tf.function(model.__call__, input_signature=_PAIR, autograph=False)
