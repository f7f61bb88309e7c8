"""Raw corpora in the official layouts, a few sentences of our own each."""

from itertools import product
from pathlib import Path

from data_prep.corpora.trec import COARSE, FINE
from data_prep.synthetic.treebank import write_treebank

SICK_HEADER = ("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")
_FOODS = "soup", "rice", "bun", "tea", "stew", "cake", "ham", "fish", "milk", "peas", "jam", "pie"
_JUDGMENTS = (
    ("CONTRADICTION", "1.5", "The {food} isn't hot"),
    ("NEUTRAL", "3.2", "A cook is tasting the {food}"),
    ("ENTAILMENT", "4.9", "The {food} is very hot"),
)


def write_corpora(data_dir: Path) -> Path:
    """Writes CR, MPQA, SUBJ, TREC, SST and SICK; returns the folder."""
    for name in ("custrev", "mpqa", "subj"):
        lines = [
            f"{label} the {food} is {('bad', 'good')[label]} {name}"
            for food, label in product(_FOODS, (0, 1))
        ]
        _write(data_dir / f"polarity/{name}.all", lines)
    for name, foods in (("train_5500.label", _FOODS), ("TREC_10.label", _FOODS[:2])):
        lines = [
            f"{coarse}:{FINE[coarse].split()[0]} which {coarse.lower()} has {food} ?"
            for food, coarse in product(foods, COARSE)
        ]
        _write(data_dir / "trec" / name, lines)
    write_treebank(data_dir, 0, {"train": 40, "dev": 20, "test": 20})
    for name, foods in (("train", _FOODS), ("trial", _FOODS[:3]), ("test_annotated", _FOODS[3:6])):
        _write(data_dir / f"sick/SICK_{name}.txt", _sick_lines(foods))
    return data_dir


def _sick_lines(foods) -> list[str]:
    rows = [
        (f"{food}-{judgment}", f"The {food} is hot", text.format(food=food), score, judgment)
        for food, (judgment, score, text) in product(foods, _JUDGMENTS)
    ]
    return ["\t".join(fields) for fields in (SICK_HEADER, *rows)]


def _write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
