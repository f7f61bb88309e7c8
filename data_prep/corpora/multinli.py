"""Multi-Genre Natural Language Inference corpus (Williams et al. 2018).

The test parts have no public labels. So a seeded half of the matched development part (with the
training part's genres) is "dev", which selects the model, and the other half "test"; the mismatched
development part (other genres) is "mismatched".

The halves divide pairs, not premises, and most premises have three pairs: two in three "test" pairs
share their premise with a "dev" pair.
"""

from pathlib import Path

from data_prep.corpora import nli_files, subsets
from data_prep.corpora.corpus import Corpus
from data_prep.corpora.held_out import divide, held_out
from data_prep.corpora.nli_files import Layout
from disan_tf.common.checks import check_at_least

LAYOUT = Layout(
    title="MultiNLI",
    name="multinli",
    folder="multinli_1.0",
    pairs={"train": 392_702, "dev_matched": 10_000, "dev_mismatched": 10_000},
    labeled={"train": 392_702, "dev_matched": 9_815, "dev_mismatched": 9_832},
)


def check_options(split_seed: int) -> None:
    """Checks `split_seed`, which `nli_files.read` does not take; raises ValueError below 0."""
    check_at_least("split_seed", split_seed, 0)


# Version 2 drops soft hyphens from 170 pairs; the recorded results were trained with the hyphens.
TOKENIZER_VERSION = 1

CHECKS = (nli_files.check_options, subsets.check_options, check_options)
FIELDS = nli_files.FIELDS
SPLITS = ("train", "dev", "test", "mismatched")


def files(data_dir: Path, options) -> list[Path]:
    """Returns the files of the parts and of the subset; raises UserError if one is missing."""
    return LAYOUT.files(data_dir, options)


def read(data_dir: Path, options) -> Corpus:
    """Reads MultiNLI, see `nli_files.read`; the corpus' counts are by file.

    Args:
      data_dir: folder that holds `multinli_1.0/`.
      options: the options of `nli_files.read`, and `split_seed`, which divides the matched pairs
        with a gold label into "dev" (half of each class) and "test".
    """
    corpus = nli_files.read(data_dir, LAYOUT, options, tuple(LAYOUT.pairs))
    matched, mismatched = map(corpus.splits.pop, ("dev_matched", "dev_mismatched"))
    in_dev = held_out([example.label for example in matched], 0.5, options.split_seed)
    test, dev = divide(matched, in_dev)
    corpus.splits.update(dev=dev, test=test)
    corpus.counts["dev_matched"].update({"in dev": len(dev), "in test": len(test)})
    corpus.splits["mismatched"] = mismatched
    return corpus
