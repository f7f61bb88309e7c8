"""Plain text for language models: one tokenised sentence a line, in any number of `.txt` files."""

from pathlib import Path

import numpy as np

from data_prep.corpora.corpus import Corpus, Example
from data_prep.sentence_tokenizer import SentenceTokenizer
from disan_tf.common.checks import check_at_least
from disan_tf.common.errors import UserError
from disan_tf.common.files import read_lines


def check_options(
    texts: str,
    repetitions: bool,
    longest: int,
    dev_share: float,
    test_share: float,
    split_seed: int,
) -> None:
    """Checks the options of `read`; raises ValueError, e.g. for shares that leave a part empty."""
    check_at_least("longest", longest, 0)
    if min(dev_share, test_share) <= 0 or dev_share + test_share >= 1:
        raise ValueError(
            f"dev_share={dev_share} and --config.data.test_share={test_share} must be above 0 and "
            "leave something to train on."
        )
    check_at_least("split_seed", split_seed, 0)


# MultiNLI's sentences are among the texts of the recorded language model, so this is
# `multinli.TOKENIZER_VERSION`.
TOKENIZER_VERSION = 1

CHECKS = (check_options,)
FIELDS = ("sentence",)
SPLITS = ("train", "dev", "test")


def files(data_dir: Path, options) -> list[Path]:
    """Returns the existing shards, sorted by name; raises UserError without any."""
    folder = Path(data_dir) / options.texts
    paths = sorted(folder.glob("*.txt"))
    if not paths:
        raise UserError(
            f"{folder} holds no .txt file; put shards there, one tokenised sentence a line "
            "(python -m data_prep.training_texts writes shards from the corpora)."
        )
    return paths


def read(data_dir: Path, options) -> Corpus:
    """Reads the shards of a folder, and draws dev and test lines.

    Args:
      data_dir: folder that holds `<options.texts>/*.txt`, in UTF-8.
      options: has `texts`, `repetitions` (False keeps the first of equal lines), `longest` (lines
        with more tokens are dropped; 0 = no limit), `dev_share` and `test_share` (shares of the
        kept lines), `split_seed` (decides which lines are dev and test), and `tokenizer`.

    Raises:
      UserError: no shard, or a line that is not UTF-8.
    """
    paths = files(data_dir, options)
    names, texts = [], []
    for path in paths:
        for number, line in read_lines(path):
            names.append(f"{path.stem}-{number}")
            texts.append(line)
    kept, dropped = _select(SentenceTokenizer.of(options)(texts), options)
    corpus = Corpus("text", FIELDS, ("text",), {}, {}, paths, unit="lines")
    parts = _parts(len(kept), options)
    for number, split in enumerate(SPLITS):
        rows = [row for row, part in zip(kept, parts) if part == number]
        corpus.splits[split] = [Example(names[row], (tokens,), 0) for row, tokens in rows]
        read = len(texts) if split == "train" else len(rows)
        corpus.count(split, read, read, dropped=dropped if split == "train" else {}, kept=len(rows))
    return corpus


def _select(sentences, options):
    """Returns (row, tokens) of the kept lines, and the number of dropped lines by reason."""
    kept, seen, dropped = [], set(), {"blank": 0, "too long": 0, "repetition": 0}
    for row, tokens in enumerate(sentences):
        if not tokens:
            dropped["blank"] += 1
        elif options.longest and len(tokens) > options.longest:
            dropped["too long"] += 1
        elif not options.repetitions and tokens in seen:
            dropped["repetition"] += 1
        else:
            seen.add(tokens)
            kept.append((row, tokens))
    return kept, dropped


def _parts(count, options):
    """Returns each line's split as a number, `<int64>[lines]`."""
    shares = options.dev_share, options.test_share
    order = np.random.default_rng(options.split_seed).permutation(count)
    dev, test = (round(share * count) for share in shares)
    return np.where(order < dev, 1, np.where(order < dev + test, 2, 0))
