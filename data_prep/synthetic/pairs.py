"""A small grammar that writes sentence pairs in SNLI's format; a label needs both sentences.

A sentence has an agent, a verb, a patient and perhaps a place:

    premise        The man is chasing the dog in the park.
    entailment     The person is chasing the animal.
    neutral        The fire-fighter is ...           (if the premise says "the person")
    contradiction  The dog is chasing the man.

A part of the hypothesis holds if it equals the premise's part or is more general. It is open if it
is more specific, or if the premise does not mention it. Otherwise it fails. The pair is a
contradiction if a part fails, neutral if none fails and one is open, and else an entailment; a
denial ("isn't") swaps entailment and contradiction. Only the word order distinguishes the agent
from the patient.

Run as `python -m data_prep.synthetic.pairs --data_dir=data`.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple, Optional, Union

from data_prep.synthetic.treebank import write_new
from disan_tf.common.errors import exit_status
from disan_tf.common.paths import home_path

SIZES = {"train": 6000, "dev": 600, "test": 600}

KINDS = {  # general -> specific
    "person": ("man", "woman", "fire-fighter", "child"),
    "animal": ("dog", "cat", "horse", "bird"),
}
GENERAL = {specific: general for general, group in KINDS.items() for specific in group}
NOUNS = (*KINDS, *GENERAL)
VERBS = ("chasing", "watching", "following", "feeding", "leading", "painting")
PLACES = ("", "in the park", "at the station", "on the beach", "near the river")  # "": no place

Tree = Union[str, tuple]  # a word, or the two parts of a binary parse


class Sentence(NamedTuple):
    """Agent, verb, patient, place ("" = none), and whether the sentence is denied."""

    agent: str
    verb: str
    patient: str
    place: str
    denied: bool = False

    def tree(self) -> Tree:
        """Returns the binary parse, with a full stop at its end."""
        predicate: Tree = (self.verb, ("the", self.patient))
        if self.place:
            preposition, article, noun = self.place.split()
            predicate = (predicate, (preposition, (article, noun)))
        copula: Tree = ("is", "n't") if self.denied else "is"
        return (("The", self.agent), ((copula, predicate), "."))

    def text(self) -> str:
        """Returns the sentence as people write it."""
        return " ".join(leaves(self.tree())).replace(" n't", "n't").replace(" .", ".")


def leaves(tree: Tree) -> Iterator[str]:
    """Yields the words of a parse from left to right."""
    if isinstance(tree, str):
        yield tree
    else:
        for part in tree:
            yield from leaves(part)


def bracketed(tree: Tree) -> str:
    """Formats a binary parse as in SNLI, `( The ( dog ... ) )`."""
    return tree if isinstance(tree, str) else f"( {' '.join(map(bracketed, tree))} )"


def relation(premise: Sentence, hypothesis: Sentence) -> str:
    """Returns the gold label of a pair whose premise is not denied."""
    parts = [
        _noun_relation(premise.agent, hypothesis.agent),
        "holds" if hypothesis.verb == premise.verb else "fails",
        _noun_relation(premise.patient, hypothesis.patient),
        _place_relation(premise.place, hypothesis.place),
    ]
    if "fails" in parts:
        return "entailment" if hypothesis.denied else "contradiction"
    if "open" in parts:
        return "neutral"
    return "contradiction" if hypothesis.denied else "entailment"


def _noun_relation(known: str, claimed: str) -> str:
    if claimed in (known, GENERAL.get(known)):
        return "holds"
    return "open" if GENERAL.get(claimed) == known else "fails"


def _place_relation(known: str, claimed: str) -> str:
    if claimed in (known, ""):
        return "holds"
    return "fails" if known else "open"


def draw_pairs(random: Random, size: int, seen: set) -> Sequence[tuple[Sentence, Sentence, str]]:
    """Draws `size` pairs with labels that are not in `seen`, and adds the pairs to `seen`.

    The three labels are equally frequent.
    """
    pairs: list = []
    labels = ("contradiction", "neutral", "entailment")
    while len(pairs) < size:
        agent, patient = random.sample(NOUNS, 2)
        premise = Sentence(agent, random.choice(VERBS), patient, random.choice(PLACES))
        hypothesis = _draw_hypothesis(random, premise)
        label = labels[len(pairs) % len(labels)]
        if relation(premise, hypothesis) == label and (premise, hypothesis) not in seen:
            seen.add((premise, hypothesis))
            pairs.append((premise, hypothesis, label))
    random.shuffle(pairs)
    return pairs


def _draw_hypothesis(random: Random, premise: Sentence) -> Sentence:
    """Draws a variation of the premise: some parts changed, perhaps denied."""
    agent, verb, patient, place, _ = premise
    if random.random() < 0.3:
        agent, patient = patient, agent
    if random.random() < 0.2:
        verb = random.choice(VERBS)
    if random.random() < 0.5:
        place = random.choice(PLACES)
    agent, patient = _vary(random, agent), _vary(random, patient)
    return Sentence(agent, verb, patient, place, random.random() < 0.5)


def _vary(random: Random, noun: str) -> str:
    """Returns the noun, its general word, or a more specific noun."""
    related = KINDS.get(noun, (GENERAL.get(noun),))
    return random.choice((noun, noun, random.choice(related)))


def write_pairs(directory: Path, seed: int, sizes: Mapping[str, int] = SIZES) -> None:
    """Writes `<directory>/snli_1.0/snli_1.0_<split>.jsonl`, no pair twice.

    Args:
      seed: equal seeds and sizes write equal bytes.
      sizes: the number of pairs in each split.

    Raises:
      UserError: another corpus exists there (perhaps the real one, so it is kept).
    """
    seen: set = set()
    texts = {}
    for split, size in sizes.items():
        pairs = draw_pairs(Random(f"{seed}/{split}"), size, seen)
        path = Path(directory) / "snli_1.0" / f"snli_1.0_{split}.jsonl"
        rows = (_row(f"{split}-{number}", *pair) for number, pair in enumerate(pairs, start=1))
        texts[path] = "".join(f"{json.dumps(row)}\n" for row in rows)
    write_new(texts, "corpus")


def _row(name: str, premise: Sentence, hypothesis: Sentence, label: str) -> dict:
    return {
        "gold_label": label,
        "sentence1_binary_parse": bracketed(premise.tree()),
        "sentence2_binary_parse": bracketed(hypothesis.tree()),
        "sentence1": premise.text(),
        "sentence2": hypothesis.text(),
        "pairID": name,
    }


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Writes the corpus; returns the exit status."""
    parser = argparse.ArgumentParser(prog="data_prep.synthetic.pairs", description=__doc__)
    parser.add_argument("--data_dir", type=home_path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    return exit_status(lambda: write_pairs(options.data_dir, options.seed))


if __name__ == "__main__":
    sys.exit(main())
