"""Pictures for TensorBoard: the attention of a few dev sentences, and dev's confusion matrix."""

from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf
from matplotlib.figure import Figure

from disan_tf import plots
from disan_tf.input_pipeline import PreparedCorpus, make_dataset
from disan_tf.text.lookup import FIRST_WORD_ID

EXAMPLES = 5
_LONGEST = 30  # tokens of a sentence whose words can be read
_PANELS = 6  # matrices of a picture
_INCHES = 3.2  # of a matrix


class AttentionPictures:
    """Draws what a model attends to in five dev examples, the same ones each time.

    Args:
      model: a `SentenceModel`.
      corpus: the prepared corpus.

    Call returns:
      Pairs of a name, "attention/1" and so on, and <uint8>[height, width, 3]. A picture has a heat
      map for each attention between tokens, means over the features, with the heads as rows, and
      one for all that is measured of single tokens: gates, selections, source2token.
    """

    def __init__(self, model, corpus: PreparedCorpus):
        dev = corpus.split("dev")
        batches = choose_examples(dev.lengths)[:, None]
        self._inputs = [
            [batch[name] for name in model.reads] for batch in make_dataset(dev, batches)
        ]
        self._fields = model.fields
        self._words = ["", "?", *corpus.vocabulary][: FIRST_WORD_ID + sum(corpus.words)]
        self._attend = tf.function(
            lambda *inputs: {
                name: tf.reduce_mean(tf.cast(tensor[0], tf.float32), axis=-1)
                for name, tensor in model.attend(*inputs).items()
            },
            input_signature=model.input_specs(), autograph=False,
        )  # fmt: skip

    def __call__(self) -> Iterator[tuple[str, np.ndarray]]:
        for number, inputs in enumerate(self._inputs, start=1):
            tokens = {
                field: [self._words[int(word)] for word in ids[0]]
                for field, ids in zip(self._fields, inputs)
            }
            tensors = {name: mean.numpy() for name, mean in self._attend(*inputs).items()}
            if tensors:  # a language model has none
                yield f"attention/{number}", plots.pixels(draw_attention(tensors, tokens))


class ConfusionPicture:
    """Draws which classes of dev the last evaluation of a `Trainer` took for which.

    Call returns:
      A list with one pair of a name and <uint8>[height, width, 3].
    """

    def __init__(self, trainer):
        self._trainer = trainer

    def __call__(self) -> list[tuple[str, np.ndarray]]:
        model, dev = self._trainer.model, self._trainer.dev
        predictions = model.predictions(self._trainer.dev_outputs).numpy()
        figure = draw_confusion(dev.labels, predictions, self._trainer.corpus.classes)
        return [("confusion", plots.pixels(figure))]


def choose_examples(lengths: np.ndarray) -> np.ndarray:
    """Indices of examples, evenly spaced among those that are short enough to be read."""
    short = np.flatnonzero(lengths <= _LONGEST)
    among = short if len(short) else np.arange(len(lengths))
    return among[np.linspace(0, len(among) - 1, min(EXAMPLES, len(among))).astype(int)]


def draw_attention(tensors: dict[str, np.ndarray], tokens: dict[str, Sequence[str]]) -> Figure:
    """Heat maps of an example's attention, means over the features.

    Args:
      tensors: by the names of `encoder.attend`, of a pair with "<field>_" before them;
        <float32>[head, dependent] or [token].
      tokens: of each field.
    """
    matrices = {name: mean for name, mean in tensors.items() if mean.ndim == 2}
    matrices = dict(list(matrices.items())[:_PANELS])
    strips = {field: _of_tokens(tensors, field, tokens) for field in tokens}
    strips = {field: values for field, values in strips.items() if values}
    columns = max(len(matrices), len(strips), 1)
    figure = Figure(figsize=(_INCHES * columns, 2 * _INCHES), dpi=80)
    grid = figure.subplots(2, columns, squeeze=False)
    for axes in grid.flat:
        axes.set_visible(False)
    for axes, (name, mean) in zip(grid[0], matrices.items()):
        axes.set_visible(True)
        axes.set_title(name, fontsize=8)
        heads, dependents = sides(name, mean.shape, tokens)
        plots.heat_map(axes, mean, heads, dependents, mask_zeros=True)
    for axes, (field, values) in zip(grid[1], strips.items()):
        axes.set_visible(True)
        table = np.stack(list(values.values()))
        table = table / np.maximum(table.max(axis=1, keepdims=True), 1e-9)
        axes.set_title(f"{field}: of each token, by row's largest", fontsize=8)
        plots.heat_map(axes, table, list(values), tokens[field])
    for axes in figure.axes:
        axes.tick_params(labelsize=6)
    figure.subplots_adjust(left=0.12, right=0.98, top=0.95, bottom=0.12, hspace=0.5, wspace=0.5)
    return figure


def _of_tokens(tensors, field, tokens):
    """Short name -> <float32>[token] of a field."""
    prefix = f"{field}_" if len(tokens) > 1 else ""
    return {
        name[len(prefix) :]: mean
        for name, mean in tensors.items()
        if mean.ndim == 1 and name.startswith(prefix)
    }


def sides(name: str, shape, tokens: dict[str, Sequence[str]]) -> tuple[Sequence, Sequence]:
    """The words of the heads and of the dependents of a tensor, which may be two sentences.

    Args:
      name: of the tensor; "<field>_" stands before it in a pair.
      shape: (heads, dependents).
      tokens: of each field.
    """
    if len(tokens) == 1:
        (own,) = tokens.values()
        return own, own
    own = next(field for field in tokens if name.startswith(f"{field}_"))
    (other,) = tokens.keys() - {own}
    dependents = own if name.endswith("attention") else other  # of DRCN: <function>_<layer>
    return tokens[own], tokens[dependents]


def draw_confusion(labels: np.ndarray, predictions: np.ndarray, classes: Sequence[str]) -> Figure:
    """Gold classes as rows, predicted ones as columns; the shade is the share of the gold class.

    Args:
      labels, predictions: class numbers, <int>[examples].
      classes: their names.
    """
    counts = tf.math.confusion_matrix(labels, predictions, len(classes)).numpy()
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    side = 2.2 + 0.42 * len(classes)
    figure = Figure(figsize=(side, side), dpi=100)
    axes = figure.add_subplot()
    plots.heat_map(axes, shares, classes, classes, high=1.0)
    for (row, column), count in np.ndenumerate(counts):
        colour = "black" if shares[row, column] > 0.6 else "white"
        axes.text(column, row, str(count), ha="center", va="center", color=colour, fontsize=7)
    axes.set(xlabel="predicted on dev", ylabel="gold")
    figure.subplots_adjust(left=0.32, bottom=0.32, right=0.97, top=0.97)
    return figure
