"""The README of a released model, from its config, its scores and its corpus."""

from typing import Optional

from disan_tf.serving.presets import describe_task

_INPUTS = {1: "sentences.txt", 2: "pairs.txt"}  # by the number of sentences
_CORPORA = {  # config.data.corpus -> its description
    "sst": "the Stanford Sentiment Treebank (Socher et al. 2013), film reviews",
    "snli": "the Stanford Natural Language Inference corpus (Bowman et al. 2015; CC BY-SA 4.0), "
    "captions of photographs",
    "multinli": "the Multi-Genre Natural Language Inference corpus (Williams et al. 2018)",
    "sick": "SICK of SemEval-2014 (Marelli et al. 2014; CC BY-NC-SA 3.0), captions of photographs "
    "and videos",
    "cr": "customer reviews (Hu and Liu 2004)",
    "mpqa": "the MPQA opinion corpus (Wiebe et al. 2005)",
    "subj": "the subjectivity data (Pang and Lee 2004), sentences about films",
    "trec": "TREC questions (Li and Roth 2002)",
}
_LICENCES = {  # config.data.corpus -> its licence
    "snli": "CC BY-SA 4.0",
    "multinli": "the terms of the Open American National Corpus, and others for fiction",
    "sick": "CC BY-NC-SA 3.0, no commercial use",
    "mpqa": "academic and research use only",
    **dict.fromkeys(("sst", "cr", "subj", "trec"), "its authors state no licence"),
}
_SYNTHETIC = "a synthetic treebank"
_LICENCE = """
GloVe's vectors (Pennington et al. 2014) are in the public domain (PDDL 1.0). The model contains no
sentence of the corpus, but the corpus' licence may restrict its use.
"""


def model_card(
    name: str,
    model: type,
    info: dict,
    scores: dict,
    command: str,
    vectors: Optional[dict] = None,
    series: Optional[dict] = None,
) -> str:
    """Returns the model card in Markdown.

    Args:
      name: the folder's name.
      model, info: the model's class, and the content of its `model.json`.
      scores: its criterion on dev and test.
      command: the command that trained it.
      vectors: the vector file's entry in the manifest of the corpus; None if there is none.
      series: the recorded result of its series of trainings; None without one.
    """
    rows, fold = _rows(model, info, scores, vectors, series), info["config"]["data"].get("fold")
    member = f"seed {info['config']['seed']}" + f" and fold {fold}" * (fold is not None)
    temperature = info["scores"].get("temperature")
    calibration = "Probabilities are not calibrated."
    if temperature is not None:
        calibration = (
            f"Probabilities are calibrated on dev, with the temperature {temperature:.3f}."
        )
    table = "".join(f"| {title} | {content} |\n" for title, content in rows.items())
    return f"""# {name}

This command trained the model with the config `{info["name"]}`:

    {command}

Its weights are from step {info["scores"]["step"]:,} of {member}, the best on dev.

| | |
|---|---|
{table}
    python run.py --mode=predict --checkpoint={name} --input={_INPUTS[len(model.fields)]}
    python run.py --mode=export --checkpoint={name} --output=exported

The second command writes SavedModels. The process that loads the SavedModel of text must
`import tensorflow_text` ([export](../../disan_tf/serving/README.md#export)).

Out-of-vocabulary words map to one token. {calibration} Expect lower scores on
sentences unlike the training data. `model.json` has the digests of all files.
{_LICENCE if vectors else ""}"""


def _rows(model, info, scores, vectors, series) -> dict[str, str]:
    """Returns the card's table, see `model_card`."""
    corpus, trained = info["config"]["data"]["corpus"], info["words"][0]
    score = "accuracy" if model.criterion == "accuracy" else "Pearson's r"
    dev, test = (_show(model.criterion, scores[split]) for split in ("dev", "test"))
    rows = {
        "task": describe_task(model, info["classes"]),
        "trained on": _SYNTHETIC if info["name"] == "demo" else _CORPORA.get(corpus, corpus),
        **licence_row("" if info["name"] == "demo" else corpus),
        "parameters": f"{info['parameters']:,}, and {sum(info['words']):,} word vectors",
        score: f"{dev} on dev, {test} on test",
        **(_series_row(model.criterion, series) if series else {}),
    }
    if vectors:
        kept = "fixed"
        if info["config"]["embedding"]["trainable"]:
            kept = (
                f"the vectors of the {trained:,} training words were trained, the others are fixed"
            )
        covered = 100 * vectors["training_tokens_covered"]
        rows["word vectors"] = (
            f"{vectors['rows']:,} of GloVe; {kept}; {covered:.1f} % of the training tokens have a "
            "vector"
        )
        rows["precision"] = (
            "weights are stored as float16; the scores were measured with these weights, in float32"
        )
    case = "lower-cased" if info["tokenizer"]["lowercase"] else "case kept"
    return {**rows, "text": f"tokenised as in the Penn Treebank, {case}"}


def licence_row(corpus: str) -> dict[str, str]:
    """Returns the card's row on the licence; no row for a corpus that is not listed."""
    if corpus not in _LICENCES:
        return {}
    statement = "[data statement](../../data_prep/DATA.md#licences)"
    return {"licence": f"treat the weights like the corpus: {_LICENCES[corpus]} ({statement})"}


def _show(criterion: str, score: float) -> str:
    return f"{100 * score:.2f} %" if criterion == "accuracy" else f"{score:.4f}"


def _series_row(criterion, series):
    """Returns the series' test mean and deviation, before rounding; dev chose this training."""
    members = len(series.get("members", [0]))
    text = _show(criterion, series.get("mean", series)["test"][criterion])
    spread = (series.get("standard_deviation") or {}).get("test", {}).get(criterion)
    if spread is not None:
        text += f" (standard deviation {_show(criterion, spread).rstrip(' %')})"
    label = f"mean of {members} trainings" if members > 1 else "before rounding to float16"
    return {label: f"{text} on test"}
