"""Problems for `disan_tf.ops.elementwise`, and NumPy readings of its equations in float64."""

import numpy as np
import tensorflow as tf

from disan_tf.ops.elementwise import LeakyReLU, bias_activation, fusion_gate, softmax_pool

LEAK = 0.25
ACTIVATIONS = {
    "linear": lambda x: x,
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0.0))),
    "relu": lambda x: np.maximum(x, 0.0),
    "leaky_relu": lambda x: np.where(x > 0, x, LEAK * x),
    "tanh": np.tanh,  # has no native form
}
NATIVE = ("linear", "elu", "relu", "leaky_relu", "gate", "pool")
NAMES = (*ACTIVATIONS, "gate", "pool")


class Problem:
    """Random arguments of one operation.

    Args:
      name: of an activation (after a bias), "gate", or "pool".
      shape: [..., dim] of the tensors; [batch, length, dim] for "gate" and "pool".
      dtype: of the arguments; all numbers are exact in bfloat16.
      size: of the numbers.
    """

    def __init__(self, name, shape, dtype="float32", seed=0, size=2.0):
        generator = np.random.default_rng(seed)
        count = {"gate": 5, "pool": 2}.get(name, 2)
        bias = {"gate": 2, "pool": None}.get(name, 1)
        shapes = [shape[-1:] if number == bias else shape for number in range(count)]
        self.name = name
        self.arguments = [
            tf.cast(tf.cast(size * generator.normal(size=s), tf.bfloat16), dtype) for s in shapes
        ]
        self.mask = generator.random(shape[:-1]) < 0.7
        self.mask[:1] = False  # a sentence without tokens
        results = [shape[0], shape[2]] if name == "pool" else shape
        self.upstream = generator.integers(-9, 10, size=results) / 4  # exact in bfloat16

    def call(self, mask, arguments):
        """The operation of the package."""
        if self.name == "gate":
            return fusion_gate(*arguments, mask)
        if self.name == "pool":
            return softmax_pool(*arguments, mask)
        leaky = self.name == "leaky_relu"
        activation = LeakyReLU(LEAK) if leaky else tf.keras.activations.get(self.name)
        return bias_activation(*arguments, activation)

    def evaluate(self, mask=None, arguments=None):
        """[result, gradient of each argument], the gradients of sum(result * upstream)."""
        mask = tf.constant(self.mask) if mask is None else mask
        arguments = arguments or self.arguments
        with tf.GradientTape() as tape:
            tape.watch(arguments)
            result = self.call(mask, arguments)
            total = tf.reduce_sum(result * tf.constant(self.upstream, result.dtype))
        return [result, *tape.gradient(total, arguments)]

    def reference(self, *arguments):
        """The result by NumPy."""
        if self.name == "gate":
            token, context, bias, h, s = arguments
            gate = (1.0 + np.tanh((token + context + bias) / 2.0)) / 2.0
            return np.where(self.mask[..., None], gate * h + (1.0 - gate) * s, 0.0)
        if self.name == "pool":
            return _pool(*arguments, self.mask)
        return ACTIVATIONS[self.name](arguments[0] + arguments[1])

    def expected(self, gradients=True):
        """The results of `evaluate`, by the reference and its finite differences."""
        exact = [to_numpy(argument) for argument in self.arguments]
        result = self.reference(*exact)
        return [result, *(self._slopes(exact, number) for number in range(len(exact)) if gradients)]

    def _slopes(self, exact, number):
        slopes = np.zeros_like(exact[number])
        for index in np.ndindex(slopes.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [*exact]
                moved[number] = exact[number].copy()
                moved[number][index] += step
                ends.append(np.sum(self.reference(*moved) * self.upstream))
            slopes[index] = (ends[0] - ends[1]) / 2e-6
        return slopes


def _pool(logits, x, mask):
    result = np.zeros([x.shape[0], x.shape[2]])
    for sentence, tokens in enumerate(mask):
        if tokens.any():
            weights = np.exp(logits[sentence, tokens] - logits[sentence, tokens].max(axis=0))
            result[sentence] = np.sum(weights / weights.sum(axis=0) * x[sentence, tokens], axis=0)
    return result


def to_numpy(tensor):
    """<float64>, the shape of the tensor."""
    return np.asarray(tf.cast(tensor, tf.float64))


def assert_gate_rounds(actual, expected, problem, forms=1):
    """The gate's result is rounded as float32 lets `forms` forms of F h + (1 - F) s round.

    With M = max(1, |h|, |s|) and e = 2^-24, the rounding of one operation, a form is off by at most
    6.5 e M: 4 for F, of which the sigmoid may miss 2 e and which counts |h - s| <= 2 M, 1/2 for
    1 - F, and 1 each for the two products together and for their sum. That is relative to h and
    s: where their shares cancel, the result is far smaller than its error in size.
    """
    size = np.maximum(1.0, np.maximum(*(np.abs(to_numpy(it)) for it in problem.arguments[3:])))
    error = np.abs(to_numpy(actual) - to_numpy(expected))
    assert np.max(error / size) <= forms * 6.5 * 2.0**-24


def assert_close(actual, expected, bound):
    """|a - b| <= bound * max(1, |b|) for all pairs of arrays, with NaN in the same places."""
    for number, (ours, theirs) in enumerate(zip(actual, expected)):
        ours, theirs = to_numpy(ours), to_numpy(theirs)
        assert ours.shape == theirs.shape
        error = np.abs(ours - theirs) / np.maximum(1.0, np.abs(theirs))
        np.testing.assert_array_equal(np.isnan(ours), np.isnan(theirs))
        assert np.nanmax(error, initial=0.0) <= bound, (number, np.nanmax(error))
