"""The papers' figures of attention: DiSAN's 6 to 8, ReSAN's 2 and 3, DSA's 2 and 4.

A function that draws the output of `attend` returns None where it has too few lines.
"""

from collections.abc import Sequence
from functools import partial
from typing import Optional

import numpy as np
from matplotlib.figure import Figure

from disan_tf.common import plots
from disan_tf.serving.attention_page.attention_files import LineAttention, Sentence

_SENTENCES = 2  # sentences in a figure, as in the papers
_NUMBERED = 12  # most words of a sentence whose cells hold numbers
_MOST = 4  # sentences in DSA's figure
_CELL = 0.42  # inches, at most
_MAP, _STRIP = 3.8, 8.0  # inches: the widest matrix, and the widest strip of cells
_LABEL = 54.0  # points of a label for each inch of its cell
_FEWEST_VECTORS = 50  # sentences in DSA's Figure 2


def attention_matrices(lines: Sequence[LineAttention], selected: bool = False) -> Optional[Figure]:
    """Draws DiSAN Fig. 6: forward and backward attention of two sentences, feature means.

    With `selected` it draws ReSAN Fig. 2: heads are columns, and squares mark the selections. If a
    sentence is long, the colours of each row span 0 to its largest weight.
    """
    sentences = _first(lines)
    if not sentences:
        return None
    cell = min(_CELL, _MAP / _longest(sentences))
    side = 1.4 + cell * _longest(sentences)
    figure = plots.new_figure(2 * side + 0.8, len(sentences) * side)
    panels = figure.subplots(len(sentences), 2, squeeze=False)
    by_row = _longest(sentences) > _NUMBERED and not selected
    label = "probability / largest of its row" if by_row else "probability, mean of the features"
    for row, sentence in zip(panels, sentences):
        names = _named(sentence, "_attention")
        weights = [sentence.mean(f"{name}_attention") for name in names]
        high = max(map(plots.contested, weights)) or 1.0
        for axes, name, matrix in zip(row, names, weights):
            axes.set_title(f"{name} attention", fontsize=10)
            if selected:
                image = _draw_selected_matrix(axes, matrix, sentence, high)
            else:
                image = _draw_matrix(axes, matrix, sentence, high, by_row)
            axes.tick_params(labelsize=min(10.0, _LABEL * cell))
        extend = "neither" if by_row else "max"
        figure.colorbar(image, ax=row, label=label, shrink=0.8, extend=extend)
    return figure


selected_attention = partial(attention_matrices, selected=True)


def gates(lines: Sequence[LineAttention]) -> Optional[Figure]:
    """Draws DiSAN Fig. 7, ReSAN Fig. 3: the fusion gates of two sentences, feature means.

    The colours span the gates' range, since most gates lie close to each other.
    """
    sentences = _first(lines)
    if not sentences:
        return None
    figure, panels = _strips(sentences, 2.2, 1.9)
    names = [_named(sentence, "_gate") for sentence in sentences]
    values = [
        np.stack([sentence.mean(f"{name}_gate") for name in gates])
        for sentence, gates in zip(sentences, names)
    ]
    every = np.concatenate([gate.ravel() for gate in values])
    low, high = every.min(), every.max()
    for axes, sentence, gates, gate in zip(panels, sentences, names, values):
        labels = [f"{name} gate" for name in gates]
        image = plots.heat_map(axes, gate, labels, sentence.tokens, low=low, high=high, digits=2)
        if "selected_heads" in sentence.tensors:
            _mark_selected(axes, sentence, "selected_heads", above=True)
    figure.colorbar(image, ax=panels, label="fusion gate F (1 = the word itself)", shrink=0.8)
    return figure


def word_in_contexts(lines: Sequence[LineAttention]) -> Optional[Figure]:
    """Draws DiSAN Fig. 8: a word's source2token weights in two sentences, for every feature."""
    marked = [sentence for line in lines for sentence in line.sentences() if _place(sentence) >= 0]
    pairs = list(zip(marked[::2], marked[1::2]))
    if not pairs:
        return None
    figure = plots.new_figure(9.0, 1.9 * len(pairs))
    panels = figure.subplots(len(pairs), squeeze=False)[:, 0]
    for axes, pair in zip(panels, pairs):
        vectors = [sentence.tensors["source2token"][_place(sentence)] for sentence in pair]
        first, second = (" ".join(sentence.tokens) for sentence in pair)
        title = f'"{pair[0].record["word"]}" in 1: {first}; 2: {second}\n'
        title += f"(Pearson's r of both {np.corrcoef(vectors)[0, 1]:.2f})"
        image = plots.heat_map(axes, np.stack(vectors), ["1", "2"], ())
        axes.set_title(title, fontsize=9, parse_math=False)
        figure.colorbar(image, ax=axes, label="weight")
    panels[-1].set_xlabel("feature of the source2token attention")
    return figure


def single_attention(lines: Sequence[LineAttention]) -> Optional[Figure]:
    """Draws DSA Fig. 4: the weights of a single attention on words."""
    sentences = _first(lines, _MOST)
    if not sentences or sentences[0].tensors["attention"].shape[-1] > 1:
        return None
    figure, panels = _strips(sentences, 2.0, 1.28)
    for axes, sentence in zip(panels, sentences):
        weights = sentence.tensors["attention"].T
        image = plots.heat_map(axes, weights, ["weight"], sentence.tokens, digits=2)
        figure.colorbar(image, ax=axes, label="weight")
    return figure


def weight_vectors(vectors: dict) -> Optional[Figure]:
    """Draws DSA Fig. 2: the dynamic weight vectors of many sentences in two dimensions.

    Args:
      vectors: the content of `weight_vectors.json`, {} where there is none.
    """
    if len(vectors.get("sentences", ())) < _FEWEST_VECTORS:
        return None
    points = np.array([item["coordinates"] for item in vectors["sentences"]])  # [n, attentions, 2]
    first, second = vectors["explained"][0]
    axes = plots.new_figure(5.2, 5.0).add_subplot()
    axes.scatter(*points[:, 0].T, s=9, alpha=0.55, color="#1a5fb4", marker="o", linewidths=0)
    axes.set_xlabel(f"first principal component ({first:.0%} of the variance)")
    axes.set_ylabel(f"second principal component ({second:.0%} of the variance)")
    for draw_zero in (axes.axhline, axes.axvline):
        draw_zero(0, color="0.7", linewidth=0.6, zorder=0)
    return axes.figure


def _first(lines, count=_SENTENCES) -> list[Sentence]:
    """Returns the first sentences whose lines name no word; fewer than two are too few."""
    sentences = [
        sentence for line in lines if "word" not in line.record for sentence in line.sentences()
    ]
    return sentences[:count] if len(sentences) >= _SENTENCES else []


def _strips(sentences: Sequence[Sentence], margin: float, height: float):
    """Returns a figure, and axes below each other, as wide as the longest sentence or a page."""
    width = min(_CELL * _longest(sentences), _STRIP)
    figure = plots.new_figure(margin + width, height * len(sentences))
    return figure, figure.subplots(len(sentences), squeeze=False)[:, 0]


def _longest(sentences: Sequence[Sentence]) -> int:
    return max(len(sentence.tokens) for sentence in sentences)


def _named(sentence: Sentence, ending: str) -> list[str]:
    """Returns tensors' names without an ending that they have: the two blocks' directions."""
    return [name.removesuffix(ending) for name in sentence.tensors if name.endswith(ending)]


def _place(sentence: Sentence) -> int:
    """Returns the position of the word that the sentence's record names; -1 = absent."""
    tokens = [token.casefold() for token in sentence.tokens]
    word = str(sentence.record.get("word", "")).casefold()
    return tokens.index(word) if word in tokens else -1


def _draw_matrix(axes, weights, sentence, high, by_row):
    words, digits = sentence.tokens, 2 if len(sentence.tokens) <= _NUMBERED else None
    axes.set(xlabel="attended to (dependent)", ylabel="attending (head)")
    scale = {"by_row": True} if by_row else {"high": high}
    return plots.heat_map(axes, weights, words, words, digits=digits, mask_zeros=True, **scale)


def _draw_selected_matrix(axes, weights, sentence, high):
    words = sentence.tokens
    axes.set(xlabel="attending (head)", ylabel="attended to (dependent)")
    image = plots.heat_map(axes, weights.T, words, words, high=high, mask_zeros=True)
    _mark_selected(axes, sentence, "selected_heads", above=True)
    _mark_selected(axes, sentence, "selected_dependents", above=False)
    axes.title.set_y(1.06)
    return image


def _mark_selected(axes, sentence, name, above) -> None:
    """Draws a square at each column's top or row's end, black where the token is selected."""
    for place, selected in enumerate(sentence.tensors[name].max(axis=-1)):
        column, row = (place, -0.85) if above else (len(sentence.tokens) - 0.1, place)
        axes.plot(
            column,
            row,
            marker="s",
            markersize=6,
            markeredgecolor="black",
            markerfacecolor="black" if selected else "white",
            clip_on=False,
        )


DRAWINGS = {  # name in `disan_tf/study/figures/catalogue.jsonl` -> function
    "attention_matrices": attention_matrices,
    "selected_attention": selected_attention,
    "gates": gates,
    "word_in_contexts": word_in_contexts,
    "single_attention": single_attention,
    "weight_vectors": weight_vectors,
}
