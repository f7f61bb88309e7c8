"""All figures of the five papers: what they show, and how ours are drawn or why there is none."""

from dataclasses import dataclass
from functools import partial
from typing import Callable, Optional

from disan_tf.reporting.figures import curves, masks, sentences, vectors

# Sources of figures: see `PaperFigure.source`.
LINES, VECTORS, RESULTS, LOSSES, CODE = "lines", "vectors", "results", "losses", "code"
_DRAWING = "a drawing of how it works, without numbers of a model"
_UNRELEASED = "a picture of a trained {}, and no such model is released here"


@dataclass(frozen=True)
class PaperFigure:
    """A paper's figure.

    Attributes:
      paper: "DiSAN", "ReSAN", "DSA", "DRCN" or "ELMo-DiSAN".
      number: its number in the paper.
      shows: a description of its content.
      model: the model that the paper draws.
      source: `LINES` or `VECTORS` of `attend`, recorded `RESULTS`, `LOSSES` of a run, or `CODE`
        alone; "" = it cannot be drawn.
      draw: draws the source; returns None where the source has too little data.
      needs: a description of the data that it needs, or why it cannot be drawn.
      differs: how our picture differs from the paper's, whatever the model.
      variant: for `LOSSES`, the trained variant of `configs/drcn_snli.py`.
      runs: for `RESULTS`, returns the names of the drawn results.
    """

    paper: str
    number: int
    shows: str
    model: str = ""
    source: str = ""
    draw: Optional[Callable] = None
    needs: str = _DRAWING
    differs: str = ""
    variant: str = ""
    runs: Optional[Callable] = None

    @property
    def name(self) -> str:
        """The name of its files, such as "disan_figure_6"."""
        return f"{self.paper.lower().replace('-', '_')}_figure_{self.number}"

    @property
    def encoder(self) -> str:
        """The `config.encoder.name` of the models that it can show."""
        return self.paper.lower()


_SCALE = (
    "Rows attend to columns; grey cells cannot be attended to. A word with a single word to attend "
    "to gives it all, and does not count for the scale of the colours."
)
_disan = partial(PaperFigure, "DiSAN", model="DiSAN on SNLI", source=LINES)
_resan = partial(PaperFigure, "ReSAN", model="ReSAN on SNLI", source=LINES)
_PAIRS = ("a contradiction", "an entailment", "a neutral pair")


def _co_attention(number: int) -> PaperFigure:
    """Returns one of Figures 3 to 8: two for each pair, one for each reading sentence."""
    line, field = divmod(number - 3, 2)
    reader = ("the premise reads the hypothesis", "the hypothesis reads the premise")[field]
    shows = f"attention matrices of {_PAIRS[line]}: {reader}"
    return PaperFigure("DRCN", number, shows, needs=_UNRELEASED.format("DRCN"))


def _losses(number: int, variant: str, result: str) -> PaperFigure:
    """Returns Figure 2 or 9, of a variant's training; `result` names its recorded run."""
    return PaperFigure(
        "DRCN",
        number,
        f"training and dev loss by epoch of {variant}",
        f"DRCN ({variant}) on SNLI",
        LOSSES,
        curves.losses,
        needs=f"the work directory of a run of drcn_snli, variant {variant}",
        differs=f"Our losses hold the weight decay too. The recorded run is `{result}`. Its result "
        "has no losses by epoch: only a new training by its command draws them again.",
        variant=variant,
    )


FIGURES = (
    PaperFigure("DiSAN", 1, "traditional and multi-dimensional attention"),
    PaperFigure("DiSAN", 2, "directional self-attention"),
    PaperFigure(
        "DiSAN",
        3,
        "the three positional masks",
        "no model: Eq. 16 to 18",
        CODE,
        masks.positional_masks,
        differs="Rows attend to columns.",
    ),
    PaperFigure("DiSAN", 4, "the architecture of DiSAN"),
    PaperFigure(
        "DiSAN",
        5,
        "accuracy on SST against sentence length",
        "DiSAN, mean of five runs",
        RESULTS,
        curves.accuracy_against_length,
        needs="a recorded run of disan_sst",
        differs="The paper prints no numbers, so its curves, and those of LSTMs that it took from "
        "Tai et al., are not repeated.",
        runs=curves.runs_by_length,
    ),
    _disan(
        6,
        "attention of two sentences, forward and backward",
        draw=sentences.attention_matrices,
        needs="a DiSAN, and two sentences",
        differs=_SCALE,
    ),
    _disan(7, "fusion gates of the same", draw=sentences.gates, needs="a DiSAN, and two sentences"),
    _disan(
        8,
        "source2token weights of a word in two contexts",
        draw=sentences.word_in_contexts,
        needs='a DiSAN, and two lines with the same "word"',
    ),
    PaperFigure("ReSAN", 1, "reinforced self-attention"),
    _resan(
        2,
        "selected heads and dependents, and attention, of two sentences",
        draw=sentences.selected_matrices,
        needs="a trained ReSAN, and two sentences",
        differs="Black squares are selected tokens: heads above the columns, dependents beside the "
        "rows. Both directions stand side by side.",
    ),
    _resan(
        3,
        "fusion gates of the same",
        draw=sentences.gates,
        needs="a trained ReSAN, and two sentences",
        differs="Black squares are selected heads.",
    ),
    PaperFigure("DSA", 1, "the architecture"),
    PaperFigure(
        "DSA",
        2,
        "dynamic weight vectors of 1,000 sentences",
        "Single DSA on SNLI",
        VECTORS,
        vectors.weight_vectors,
        needs="a trained DSA, and --input of at least 50 sentences",
        differs="The vectors are those of the first attention.",
    ),
    PaperFigure(
        "DSA",
        3,
        "what each of several attentions weighs",
        needs=_UNRELEASED.format("DSA of several attentions"),
    ),
    PaperFigure(
        "DSA",
        4,
        "what a single attention weighs",
        "Single DSA on SNLI",
        LINES,
        sentences.single_attention,
        needs="a trained DSA of one attention",
        differs="The paper's sentences stand in its picture alone; ours are those of DiSAN and "
        "ReSAN.",
    ),
    PaperFigure("DRCN", 1, "the architecture"),
    _losses(2, "B-Ca-Cs-M", "drcn_snli_glove_100d_B_Ca_Cs_M"),
    *map(_co_attention, range(3, 9)),
    _losses(9, "Cs", "drcn_snli_glove_100d_Cs"),
    PaperFigure("ELMo-DiSAN", 1, "a labelled tree of SST"),
    PaperFigure("ELMo-DiSAN", 2, "self-attention"),
    PaperFigure("ELMo-DiSAN", 3, "the architecture of a biLM"),
    PaperFigure("ELMo-DiSAN", 4, "the architecture of ELMo"),
    PaperFigure("ELMo-DiSAN", 5, "the architecture of DiSAN"),
    PaperFigure(
        "ELMo-DiSAN",
        6,
        "test accuracy by epoch with GloVe and with ELMo",
        "DiSAN on SST",
        RESULTS,
        curves.accuracy_against_epochs,
        needs="recorded runs of elmo_disan_sst",
        differs="The curve with ELMo needs the official ELMo weights, which have not been run "
        "here; our own small biLM stands in for them. Bands reach from the worst seed to the best.",
        runs=curves.runs_by_epoch,
    ),
)
