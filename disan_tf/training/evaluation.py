"""The scores of a trained model on one split, as a dictionary and as text."""

from disan_tf.errors import UserError
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.input_pipeline.format import VOCABULARY
from disan_tf.metrics import classification, perplexity, relatedness
from disan_tf.metrics.text_tables import table
from disan_tf.training.bundle import Bundle
from disan_tf.training.methods import final_evaluation_step
from disan_tf.training.outputs import run_split

_KINDS = {  # by the model's criterion
    "accuracy": classification,
    "pearson": relatedness,
    "log_likelihood": perplexity,
}


def evaluate(bundle: Bundle, corpus: PreparedCorpus, split_name: str) -> dict:
    """Scores a model on one split.

    Returns:
      A dictionary that JSON can hold: "config" and "step" (of the checkpoint), "split",
      "examples", "loss" (weight decay included), "criterion" (the score that chose the
      checkpoint on dev), and what `summarise` returns, of `disan_tf.metrics.classification`,
      `disan_tf.metrics.relatedness` or `disan_tf.metrics.perplexity`.

    Raises:
      UserError: the corpus has other classes or words than the model, or not the split.
    """
    check_corpus(bundle, corpus)
    split, model = corpus.split(split_name), bundle.model
    step = final_evaluation_step(bundle.config, model)
    outcome = run_split(step, split, model.reads, bundle.config.evaluate.batch_size)
    answers = model.predictions(outcome.outputs).numpy()
    return {
        "config": bundle.info["name"],
        "step": bundle.info["scores"]["step"],
        "split": split_name,
        "examples": len(split),
        "loss": outcome.loss,
        "criterion": model.criterion,
        **_KINDS[model.criterion].summarise(split, answers, bundle.classes),
    }


def check_corpus(bundle: Bundle, corpus: PreparedCorpus) -> None:
    """Raises UserError where the corpus' labels or ids mean something else to the model."""
    remedy = "prepare the corpus with the `data` values of the model's config.json"
    if corpus.classes != bundle.classes:
        raise UserError(
            f"{corpus.directory} has the classes {', '.join(corpus.classes)}, the model in "
            f"{bundle.directory} has {', '.join(bundle.classes)}; {remedy}."
        )
    theirs, ours = corpus.vocabulary, bundle.vocabulary
    if theirs != ours:
        shared = min(len(theirs), len(ours))
        line = next((k for k in range(shared) if theirs[k] != ours[k]), shared)
        words = [repr(words[line]) if line < len(words) else "no word" for words in (theirs, ours)]
        raise UserError(
            f"{corpus.directory / VOCABULARY} and {bundle.directory / VOCABULARY} "
            f"differ at line {line + 1} ({words[0]} and {words[1]}); {remedy}."
        )


def render(report: dict) -> str:
    """`evaluate`'s dictionary as tables for people."""
    kind = _KINDS[report["criterion"]]
    headline = (
        f"{report['config']}, step {report['step']:,}, on {report['split']}: "
        f"{report['examples']:,} examples\n{kind.headline(report)}, loss {report['loss']:.4f}"
    )
    return "\n\n".join([headline, *map(table, kind.tables(report))])
