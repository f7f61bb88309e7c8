"""A lower bound on DiSAN's training step on a GPU, from its operations and bytes.

    python -m tests.measurements.gpu_arithmetic

prints the table of checkpoints/FINDINGS.md: for batches of SNLI's config at several lengths, the
arithmetic of the matrix products, and the memory that the attention core moves in its portable
form, without XLA. Nothing is measured; a card's data sheet turns the numbers into times.
"""

from typing import NamedTuple

import tensorflow as tf

from configs.disan_snli import get_config
from disan_tf.benchmark.matmuls import step_products, total_flops
from disan_tf.ops.blockwise import lean_backward, lean_forward
from disan_tf.ops.devices import GPU_BLOCK_NUMBERS

LENGTHS = ((15, 8), (40, 40), (400, 400))
CLASSES = 3
PARAMETERS = 2_345_403  # without word vectors, see tests/test_parameter_counts.py
UPDATE_PASSES = 7  # Adadelta reads gradient, weight and two sums, and writes all but the gradient
BYTES = 4


class Step(NamedTuple):
    """The work of a step.

    Attributes:
      gflop: floating-point operations of the matrix products, in 10^9.
      pairs: pairs of tokens, times features, for which attention is computed.
      core_gb: bytes that the attention core reads and writes, in 10^9.
      update_gb: bytes that the optimizer reads and writes, in 10^9.
    """

    gflop: float
    pairs: int
    core_gb: float
    update_gb: float

    def milliseconds(self, tflops: float, gb_per_second: float) -> float:
        """Returns the least time on a card of this arithmetic rate and this memory's rate."""
        moved = self.core_gb + self.update_gb
        return 1e3 * (self.gflop / (1e3 * tflops) + moved / gb_per_second)


def step_work(lengths: tuple) -> Step:
    """Computes the work of a step whose sentences all have these lengths."""
    config = get_config()
    batch, units = config.train.batch_size, config.encoder.units
    pairs = sum(2 * batch * units * computed_pairs(length, batch * units) for length in lengths)
    flops = total_flops(step_products(config, lengths, CLASSES), backward=True)
    core = pairs * sum(core_passes()) * BYTES
    return Step(flops / 1e9, pairs, core / 1e9, PARAMETERS * UPDATE_PASSES * BYTES / 1e9)


def computed_pairs(length: int, numbers: int) -> int:
    """Counts one direction's pairs of tokens in all blocks, which skip most forbidden pairs.

    Args:
      length: tokens of a sentence.
      numbers: sentences times features.
    """
    size = max(1, min(GPU_BLOCK_NUMBERS // (numbers * length), length))
    # Heads of a block attend to the tokens before its last head.
    return sum(size * min(first + size - 1, length) for first in range(0, length, size))


def core_passes() -> tuple[int, int]:
    """Counts how often the core reads or writes a tensor of all pairs, forward and backward."""
    token = tf.TensorSpec([2, None, 3], tf.float32)
    mask = tf.TensorSpec([2, None], tf.bool)
    options = {"direction": "forward", "scale": 5.0}
    functions = (lean_forward, [*[token] * 3, mask]), (lean_backward, [*[token] * 6, mask])
    counts = []
    for function, arguments in functions:
        traced = tf.function(lambda *it, f=function: f(*it, **options), autograph=False)
        graph = traced.get_concrete_function(*arguments).graph
        (loop,) = (each for each in graph.get_operations() if each.type.endswith("While"))
        body = graph._get_function(loop.get_attr("body").name).graph
        operations = [each for each in body.get_operations() if each.type != "Identity"]
        tensors = [tensor for each in operations for tensor in (*each.inputs, *each.outputs)]
        counts.append(sum(map(_is_of_pairs, tensors)))
    return tuple(counts)


def _is_of_pairs(tensor) -> bool:
    """Returns whether the shape is [batch, heads, dependents, features], with no axis of 1."""
    return tensor.shape.rank == 4 and 1 not in tensor.shape.as_list()


def table() -> str:
    """Renders the page's table."""
    lines = [
        "| lengths | products, GFLOP | pairs x features, 10^6 | attention core, GB | optimizer, GB "
        "| at 20 TFLOP/s and 1,500 GB/s, at least |",
        "|---|---|---|---|---|---|",
    ]
    for lengths in LENGTHS:
        step = step_work(lengths)
        cells = [f"{step.gflop:,.0f}", f"{step.pairs / 1e6:,.0f}", f"{step.core_gb:,.1f}"]
        cells += [f"{step.update_gb:.2f}", f"{step.milliseconds(20, 1500):,.1f} ms"]
        lines.append(f"| {' | '.join(['/'.join(map(str, lengths)), *cells])} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(f"passes of the core, forward and backward: {core_passes()}")
    print(table())
