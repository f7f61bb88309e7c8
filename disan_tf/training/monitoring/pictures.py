"""Draws pictures for TensorBoard: attention in a few dev examples, and dev's confusion matrix."""

from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf
from matplotlib.figure import Figure

from disan_tf.common import plots
from disan_tf.input_pipeline import PreparedCorpus, make_dataset
from disan_tf.text.lookup import FIRST_WORD_ID

EXAMPLES = 5
_LONGEST = 30  # tokens in a sentence whose words can be read
_PANELS = 6  # matrices in a picture
_INCHES = 3.2  # width and height of a matrix


class AttentionPictures:
    """Draws a model's attention in five fixed dev examples.

    Args:
      model: a `SentenceModel`.
      corpus: the prepared corpus.

    A call returns pairs of a name, "attention/1" and so on, and <uint8>[height, width, 3]. A
    picture has a heat map for each attention between tokens (means over the features, heads as
    rows), and one for all values of single tokens: gates, selections, source2token.
    """

    def __init__(self, model, corpus: PreparedCorpus):
        dev = corpus.split("dev")
        batches = choose_examples(dev.lengths)[:, None]
        self._inputs = [
            [batch[name] for name in model.reads] for batch in make_dataset(dev, batches)
        ]
        self._fields, self._pictures = model.fields, {}
        self._words = ["", "?", *corpus.vocabulary][: FIRST_WORD_ID + sum(corpus.words)]
        self._attend = tf.function(
            lambda *inputs: {
                name: tf.reduce_mean(tf.cast(tensor[0], tf.float32), axis=-1)
                for name, tensor in model.attend(*inputs).items()
            },
            input_signature=model.input_specs(),
            autograph=False,
        )

    def __call__(self) -> Iterator[tuple[str, np.ndarray]]:
        for number, inputs in enumerate(self._inputs, start=1):
            tokens = {
                field: [self._words[int(word)] for word in ids[0]]
                for field, ids in zip(self._fields, inputs)
            }
            tensors = {name: mean.numpy() for name, mean in self._attend(*inputs).items()}
            if tensors:  # empty for a language model
                if number not in self._pictures:
                    self._pictures[number] = AttentionPicture(tensors, tokens)
                yield f"attention/{number}", self._pictures[number](tensors)


class ConfusionPicture:
    """Draws a `Loop`'s last confusion matrix on dev; see `AttentionPictures`."""

    def __init__(self, loop):
        self._loop = loop

    def __call__(self) -> list[tuple[str, np.ndarray]]:
        model, dev = self._loop.model, self._loop.dev
        predictions = model.predictions(self._loop.scores.dev_outputs).numpy()
        figure = draw_confusion(dev.labels, predictions, self._loop.corpus.classes)
        return [("confusion", plots.pixels(plots.drawn(figure)))]


def choose_examples(lengths: np.ndarray) -> np.ndarray:
    """Returns indices of examples, evenly spaced among the examples of readable length."""
    short = np.flatnonzero(lengths <= _LONGEST)
    pool = short if len(short) else np.arange(len(lengths))
    return pool[np.linspace(0, len(pool) - 1, min(EXAMPLES, len(pool))).astype(int)]


class AttentionPicture:
    """Heat maps of one example: the words are drawn once, the cells at every call.

    Drawing the cells alone takes 5 ms instead of 0.14 s of processor time for 15 words.

    Args:
      tensors: means over the features by the names in `encoder.attend`, for a pair with the prefix
        "<field>_"; <float32>[head, dependent] or [token].
      tokens: the tokens of each field.

    A call takes the tensors of an evaluation and returns <uint8>[height, width, 3].
    """

    def __init__(self, tensors: dict[str, np.ndarray], tokens: dict[str, Sequence[str]]):
        matrices = [name for name, mean in tensors.items() if mean.ndim == 2][:_PANELS]
        self._strips = {field: _token_tensors(tensors, field, tokens) for field in tokens}
        columns = max(len(matrices), len(tokens))
        figure = Figure(figsize=(_INCHES * columns, 2 * _INCHES), dpi=80)
        self._images = {}
        grid, width = figure.add_gridspec(2, columns), columns // len(tokens)
        for number, name in enumerate(matrices):
            axes = figure.add_subplot(grid[0, number])
            self._add(axes, name, *sides(name, tokens), name)
        for number, (field, names) in enumerate(self._strips.items()):
            if names:
                axes = figure.add_subplot(grid[1, number * width : (number + 1) * width])
                self._add(axes, field, list(names), tokens[field], f"{field}, by row's largest")
        figure.subplots_adjust(0.12, 0.12, 0.98, 0.95, hspace=0.5, wspace=0.5)
        self._canvas = plots.drawn(figure)
        self._empty = self._canvas.copy_from_bbox(figure.bbox)

    def _add(self, axes, name, rows, columns, title):
        axes.set_title(title, fontsize=8)
        nothing = np.zeros([len(rows), len(columns)])
        image = plots.heat_map(axes, nothing, rows, columns, high=1.0, mask_zeros=True)
        axes.tick_params(labelsize=6)
        self._images[name] = image

    def __call__(self, tensors: dict[str, np.ndarray]) -> np.ndarray:
        self._canvas.restore_region(self._empty)
        for name, image in self._images.items():
            if name in self._strips:
                rows = np.stack([tensors[tensor] for tensor in self._strips[name].values()])
                image.set_data(rows / np.maximum(rows.max(axis=1, keepdims=True), 1e-9))
            else:
                image.set_data(np.ma.masked_equal(tensors[name], 0.0))
                image.set_clim(0.0, plots.contested(tensors[name]) or 1.0)
            image.axes.draw_artist(image)
        return plots.pixels(self._canvas)


def _token_tensors(tensors, field, tokens):
    """Returns a dictionary: short name -> name of a field's tensor with one value a token."""
    prefix = f"{field}_" if len(tokens) > 1 else ""
    return {
        name[len(prefix) :]: name
        for name, mean in tensors.items()
        if mean.ndim == 1 and name.startswith(prefix)
    }


def sides(name: str, tokens: dict[str, Sequence[str]]) -> tuple[Sequence, Sequence]:
    """Returns the words of a tensor's heads and dependents, which may be in two sentences.

    The tensor's name has the prefix "<field>_" in a pair; `tokens` has the tokens of each field.
    """
    if len(tokens) == 1:
        (field_of_heads,) = tokens.values()
        return field_of_heads, field_of_heads
    field_of_heads = next(field for field in tokens if name.startswith(f"{field}_"))
    (other,) = tokens.keys() - {field_of_heads}
    # Encoders name it "..._attention"; DRCN "<function>_<layer>", towards the other sentence.
    return tokens[field_of_heads], tokens[field_of_heads if name.endswith("attention") else other]


def draw_confusion(labels: np.ndarray, predictions: np.ndarray, classes: Sequence[str]) -> Figure:
    """Draws gold classes as rows and predicted classes as columns, shaded by the row's share."""
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
