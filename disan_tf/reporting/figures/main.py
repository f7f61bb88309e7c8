"""`--mode=figures`: draws the papers' figures with captions, and lists them all.

<output>/README.md                                  all figures: their files, or why none
<output>/<model>/disan_figure_6.svg, .png, .md      a figure of a model's attention
<output>/disan_figure_5.svg, .png, .md              a figure of runs
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Callable, NamedTuple

from disan_tf.common.errors import UserError
from disan_tf.common.files import read_lines, write_atomically
from disan_tf.common.options import check_choice, join_choices
from disan_tf.common.plots import save_picture
from disan_tf.common.tables import markdown_table
from disan_tf.reporting.figures import runs
from disan_tf.reporting.papers import find_row
from disan_tf.reporting.results import describe_members
from disan_tf.runs.metrics_log import MetricsLog
from disan_tf.runs.work_directory import read_config

LINES, VECTORS, RESULTS, LOSSES, CODE = "lines", "vectors", "results", "losses", "code"
_OF_MODELS = (LINES, VECTORS)  # what `attend` writes
OF_RUNS = {  # name in the catalogue -> function, which returns None for too little data
    "positional_masks": runs.positional_masks,
    "losses": runs.losses,
    "accuracy_against_length": runs.accuracy_against_length,
    "accuracy_against_epochs": runs.accuracy_against_epochs,
}
_DRAWN_RUNS = {
    "accuracy_against_length": runs.runs_by_length,
    "accuracy_against_epochs": runs.tested_runs,
}
_FOLDER = Path(__file__).parent
_EXAMPLES = _FOLDER / "examples.jsonl"  # DiSAN Sec. 5.4, ReSAN Sec. 5.3; DSA's are of this corpus
_COMMAND = "python run.py --mode=figures"
_INTRODUCTION = """# The papers' figures, drawn from our models and runs

    python run.py --mode=figures --checkpoint=disan_trec
    python run.py --mode=figures --workdir=runs

The first command draws a model's attention in its paper's example sentences, or in the lines of
`--input`, into a folder with the model's name. The second draws the figures of runs, as
`--mode=report` does for recorded runs. A caption names the model and how our figure differs from
the paper's. Pictures named for a table show its runs' dev scores by epoch and test accuracy by
length. The colours can be read in grey and by the colour-blind.

"""


class PaperFigure(NamedTuple):
    """A paper's figure, as `catalogue.jsonl` describes it.

    Attributes:
      paper, number: such as "DiSAN" and 6.
      shows: a description of its content.
      model: the model that the paper draws.
      source: what it shows: "lines" or "vectors" of `attend`, recorded "results", "losses" of a
        run, or "code"; "" = it cannot be drawn.
      draw: the name of the function that draws it.
      needs: the data that it needs, or why it cannot be drawn.
      differs: how our picture differs from the paper's, whatever the model.
      variant: for losses, the trained variant of `configs/drcn_snli.py`.
    """

    paper: str
    number: int
    shows: str
    model: str = ""
    source: str = ""
    draw: str = ""
    needs: str = "a drawing of how it works, without numbers of a model"
    differs: str = ""
    variant: str = ""

    @property
    def name(self) -> str:
        """The name of its files, such as "disan_figure_6"."""
        return f"{self.paper.lower().replace('-', '_')}_figure_{self.number}"

    @property
    def encoder(self) -> str:
        """The `config.encoder.name` of the models that it can show."""
        return self.paper.lower()


class DrawnModel(NamedTuple):
    """The model in a figure, and how it was drawn."""

    name: str  # of the released model, or of its config
    config: Mapping
    step: int  # of its weights
    lines: str  # a description of the sentences it reads
    command: str  # draws the figure again

    def describe(self) -> str:
        """Returns encoder, corpus and step, for a caption."""
        data = self.config["data"]
        vectors = data["vectors"] or "no file of vectors"
        return (
            f"`{self.name}`, the encoder {self.config['encoder']['name']} on the corpus "
            f"{data['corpus']}{_share(self.config)}, words of {data['embedding_dim']} dimensions "
            f"({vectors}), step {self.step:,}; {self.lines}"
        )


def _read(path: Path) -> list[dict]:
    return [json.loads(text) for _, text in read_lines(path)]


FIGURES = tuple(PaperFigure(**entry) for entry in _read(_FOLDER / "catalogue.jsonl"))


def write_examples(
    path: Path, paper: str, fields: Sequence[str], text_name: Callable[[str], str]
) -> None:
    """Writes a paper's example sentences as JSON lines for a model with these fields.

    The paper's sentences come in twos: a line holds one sentence, or both if there are two fields.

    Args:
      path: the path of the file.
      paper: a value of "papers" in `examples.jsonl`.
      fields: the model's fields.
      text_name: returns the name of a field's text in a record.
    """
    lines = []
    for example in _read(_EXAMPLES):
        if paper in example["papers"]:
            word = {"word": example["word"]} if "word" in example else {}
            for start in range(0, 2, len(fields)):
                sentences = example["sentences"][start : start + len(fields)]
                lines.append({**dict(zip(map(text_name, fields), sentences)), **word})
    write_atomically(path, "".join(json.dumps(line) + "\n" for line in lines))


def check_names(names: Sequence[str], has_model: bool) -> None:
    """Raises UserError for an unknown figure, or one that cannot be drawn.

    Args:
      names: names of figures.
      has_model: whether a model was named.
    """
    figures = {figure.name: figure for figure in FIGURES}
    for name in names:
        try:
            source = figures[check_choice("--figures", name, figures)].source
        except ValueError as error:
            raise UserError(str(error)) from None
        if not source:
            raise UserError(f"--figures={name} is {figures[name].needs}; choose another one.")
        if source in _OF_MODELS and not has_model:
            raise UserError(f"--figures={name} shows a model's attention; add --checkpoint.")


def drawable(encoder: str, names: Sequence[str]) -> str:
    """Returns the paper whose figures show an encoder's attention, as named in `examples.jsonl`.

    Args:
      encoder: `config.encoder.name`.
      names: names of the figures to draw; none = all.

    Raises:
      UserError: the encoder has no figure, or none with that name.
    """
    available = [(figure.encoder, figure.name) for figure in FIGURES if figure.source in _OF_MODELS]
    if encoder not in dict(available):
        raise UserError(
            f"no paper has figures of the attention of {encoder}; choose a model of "
            f"{', '.join(sorted(dict(available)))}, or look at it with --mode=attend."
        )
    drawn = [name for owner, name in available if owner == encoder]
    if names and not set(names) & set(drawn):
        raise UserError(
            f"--figures={','.join(names)} is not of {encoder}; choose {join_choices(drawn)}."
        )
    return encoder


def draw_model(
    drawings: Mapping[str, Callable],
    sources: Mapping,
    model: DrawnModel,
    output: Path,
    names: Sequence[str],
) -> None:
    """Draws the figures of a model's attention in some lines.

    Args:
      drawings: see `disan_tf.serving.attention_page.figures.DRAWINGS`.
      sources: "lines", see `disan_tf.serving.attention_page.attended.read_lines`, and "vectors",
        the content of `weight_vectors.json`, or {} where there is none.
      model: the model.
      output: gets a folder with the model's name.
      names: names of the figures; none = all figures of the model's paper.
    """
    for figure in FIGURES:
        is_drawable = figure.encoder == model.config["encoder"]["name"] and figure.source in sources
        if is_drawable and (not names or figure.name in names):
            folder = output / model.name
            picture = drawings[figure.draw](sources[figure.source])
            _save(figure, picture, folder, model.describe(), model.command)
    write_atomically(output / "README.md", figures_readme(output))


def draw_runs(
    results: dict[str, dict], folders: Sequence[Path], output: Path, names: Sequence[str]
) -> None:
    """Draws the figures of recorded results and work directories.

    Args:
      results: see `disan_tf.reporting.result_files.read_results`.
      folders: work directories.
      output: gets the figures.
      names: names of the figures; none = all.
    """
    for figure in FIGURES:
        if figure.source not in (RESULTS, LOSSES, CODE) or (names and figure.name not in names):
            continue
        subject, source, command = "the code", None, _COMMAND
        if figure.source == RESULTS:
            subject, source = _describe_runs(figure, results), results
        if figure.source == LOSSES:
            run = _run_of(figure.variant, folders)
            source = MetricsLog.read(run / "metrics.jsonl") if run else []
            subject = f"the run {run.name}{_share(read_config(run))}" if run else "no run"
            command = f"{_COMMAND} --workdir=runs"
        _save(figure, OF_RUNS[figure.draw](source), output, subject, command)
    write_atomically(output / "README.md", figures_readme(output))


def draw_results(results: dict[str, dict], output: Path) -> None:
    """Draws the figures of recorded results that there are, and prints nothing."""
    for figure in FIGURES:
        if figure.source == RESULTS and (picture := OF_RUNS[figure.draw](results)):
            subject = _describe_runs(figure, results)
            _save(figure, picture, output, subject, _COMMAND, quiet=True)


def caption(figure: PaperFigure, subject: str, command: str) -> str:
    """Returns a picture's caption in Markdown: the figure, the model or runs, the command."""
    lines = [
        f"# Figure {figure.number} of the {figure.paper} paper\n",
        f"![{figure.shows}]({figure.name}.png)\n",
        f"{figure.shows[0].upper()}{figure.shows[1:]} ([SVG]({figure.name}.svg)).\n",
        f"- ours: {subject}",
        f"- the paper's: {figure.model}",
        *([f"- {figure.differs}"] if figure.differs else []),
        f"- drawn by `{command}`",
    ]
    return "\n".join(lines) + "\n"


def figures_readme(folder: Path) -> str:
    """Returns the list of the papers' figures, with their files in a folder, or why none."""
    lines = [
        {
            "figure": f"{figure.paper}, {figure.number}",
            "shows": figure.shows,
            "ours": _ours(figure, folder),
        }
        for figure in FIGURES
    ]
    return _INTRODUCTION + markdown_table(lines)


def _ours(figure: PaperFigure, folder: Path) -> str:
    """Returns links to a figure's captions, one per model, or the reason why there are none."""
    captions = {
        path: path.parent.name if path.parent != folder else "our runs"
        for path in sorted(folder.glob(f"**/{figure.name}.md"))
    }
    if captions:
        return ", ".join(f"[{name}]({path.relative_to(folder)})" for path, name in captions.items())
    return f"not yet: needs {figure.needs}" if figure.source else f"none: {figure.needs}"


def _save(figure, picture, folder: Path, subject: str, command: str, quiet: bool = False) -> None:
    if picture is None:
        print(f"{figure.name}: not drawn; it needs {figure.needs}")
        return
    save_picture(picture, folder / figure.name)
    write_atomically(folder / f"{figure.name}.md", caption(figure, subject, command))
    if not quiet:
        print(folder / f"{figure.name}.svg")


def _share(config) -> str:
    """Describes how many examples a model was trained on, unless it is the whole corpus."""
    examples = config["train"].get("examples")
    return f", {examples:,} training examples" if examples else ""


def _describe_runs(figure, results) -> str:
    names = _DRAWN_RUNS[figure.draw](results)
    listed = (f"`{name}` ({describe_members(results[name])})" for name in names)
    return f"recorded runs, {', '.join(listed)}"


def _run_of(variant, folders):
    """Returns a work directory with an evaluated DRCN of this variant, or None."""
    for folder in folders:
        place = find_row(read_config(folder))
        if place and (place[1].config, place[1].variant) == ("drcn_snli", variant):
            return folder
    return None
