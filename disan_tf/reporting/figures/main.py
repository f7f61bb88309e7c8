"""`--mode=figures`: draws the papers' figures with captions, and lists them all.

<output>/README.md                                  all figures: their files, or why none
<output>/<model>/disan_figure_6.svg, .png, .md      a figure of a model's attention
<output>/disan_figure_5.svg, .png, .md              a figure of runs
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from disan_tf.common.errors import UserError
from disan_tf.common.files import read_json, write_atomically
from disan_tf.common.options import check_choice, join_choices
from disan_tf.common.plots import save_picture
from disan_tf.reporting.attended import read_lines
from disan_tf.reporting.figures.captions import caption, figures_readme
from disan_tf.reporting.figures.catalogue import CODE, FIGURES, LINES, LOSSES, RESULTS, VECTORS
from disan_tf.reporting.paper_tables.all_tables import find_row
from disan_tf.reporting.results import describe_members
from disan_tf.runs.metrics_log import MetricsLog
from disan_tf.runs.work_directory import read_config

_OF_MODELS = (LINES, VECTORS)
_COMMAND = "python run.py --mode=figures"


class DrawnModel(NamedTuple):
    """The model in a figure.

    Attributes:
      name: the name of the released model, or of its config.
      config: its config.
      step: the training step of its weights.
      lines: a description of the sentences it reads.
      command: the command that draws the figure again.
    """

    name: str
    config: Mapping
    step: int
    lines: str
    command: str

    def describe(self) -> str:
        """Returns encoder, corpus and step, for a caption."""
        data = self.config["data"]
        vectors = data["vectors"] or "no file of vectors"
        return (
            f"`{self.name}`, the encoder {self.config['encoder']['name']} on the corpus "
            f"{data['corpus']}{_share(self.config)}, words of {data['embedding_dim']} dimensions "
            f"({vectors}), step {self.step:,}; {self.lines}"
        )


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
    own = [name for owner, name in available if owner == encoder]
    if names and not set(names) & set(own):
        raise UserError(
            f"--figures={','.join(names)} is not of {encoder}; choose {join_choices(own)}."
        )
    return encoder


def draw_model(folder: Path, model: DrawnModel, output: Path, names: Sequence[str]) -> None:
    """Draws the figures of a model's attention in some lines.

    Args:
      folder: the output folder of `attend`.
      model: the model.
      output: gets a folder with the model's name.
      names: names of the figures; none = all figures of the model's paper.
    """
    vectors = folder / "weight_vectors.json"
    sources = {
        LINES: list(read_lines(folder)),
        VECTORS: read_json(vectors, "attend again") if vectors.exists() else {},
    }
    for figure in FIGURES:
        is_drawable = figure.encoder == model.config["encoder"]["name"] and figure.source in sources
        if is_drawable and (not names or figure.name in names):
            source, own = sources[figure.source], output / model.name
            _draw(figure, source, own, model.describe(), model.command)
    write_atomically(output / "README.md", figures_readme(output))


def draw_runs(
    results: dict[str, dict], runs: Sequence[Path], output: Path, names: Sequence[str]
) -> None:
    """Draws the figures of recorded results and work directories.

    Args:
      results: see `disan_tf.reporting.result_files.read_results`.
      runs: work directories.
      output: gets the figures.
      names: names of the figures; none = all.
    """
    for figure in FIGURES:
        if names and figure.name not in names:
            continue
        if figure.source == RESULTS:
            _draw(figure, results, output, _describe_runs(figure, results))
        if figure.source == CODE:
            _draw(figure, None, output, "the code")
        if figure.source == LOSSES:
            run = _run_of(figure.variant, runs)
            records = MetricsLog.read(run / "metrics.jsonl") if run else []
            subject = f"the run {run.name}{_share(read_config(run))}" if run else "no run"
            _draw(figure, records, output, subject, f"{_COMMAND} --workdir=runs")
    write_atomically(output / "README.md", figures_readme(output))


def draw_results(results: dict[str, dict], output: Path) -> None:
    """Draws the figures of recorded results alone, where there are any, and prints nothing.

    Args:
      results: see `disan_tf.reporting.result_files.read_results`.
      output: gets the figures.
    """
    for figure in FIGURES:
        if figure.source == RESULTS and (picture := figure.draw(results)):
            _save(figure, picture, output, _describe_runs(figure, results), _COMMAND)


def _draw(figure, source, folder: Path, subject: str, command: str = _COMMAND) -> None:
    picture = figure.draw(source)
    if picture is None:
        print(f"{figure.name}: not drawn; it needs {figure.needs}")
        return
    _save(figure, picture, folder, subject, command)
    print(folder / f"{figure.name}.svg")


def _save(figure, picture, folder: Path, subject: str, command: str) -> None:
    save_picture(picture, folder / figure.name)
    write_atomically(folder / f"{figure.name}.md", caption(figure, subject, command))


def _share(config) -> str:
    """Describes how many examples a model was trained on, unless it is the whole corpus."""
    examples = config["train"].get("examples")
    return f", {examples:,} training examples" if examples else ""


def _describe_runs(figure, results) -> str:
    runs = (f"`{name}` ({describe_members(results[name])})" for name in figure.runs(results))
    return f"recorded runs, {', '.join(runs)}"


def _run_of(variant, runs):
    """Returns a work directory with an evaluated DRCN of this variant, or None."""
    for run in runs:
        place = find_row(read_config(run))
        if place and (place[1].config, place[1].variant) == ("drcn_snli", variant):
            return run
    return None
