"""Raw corpus + word vectors -> prepared corpus, see `disan_tf.input_pipeline.format`."""

import contextlib
import gc
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from data_prep import bilm_files, stems_and_lemmas, word_vectors
from data_prep import vocabulary as vocabularies
from data_prep.corpora import READERS, SHARDS, Corpus
from data_prep.corpora.overlap import overlap_warnings
from data_prep.fingerprints import fingerprint, is_unchanged
from data_prep.manifest import describe
from data_prep.vocabulary import Vocabulary
from data_prep.word_features import check_options, write_word_features
from data_prep.word_vectors import WordVectors
from data_prep.write_corpus import index_tokens, save, write_split
from disan_tf.errors import UserError
from disan_tf.files import write_atomically, write_json
from disan_tf.input_pipeline.format import (
    EMBEDDINGS,
    FORMAT,
    MANIFEST,
    VOCABULARY,
    Keys,
    read_manifest,
)
from disan_tf.text.lookup import UNKNOWN_ID
from disan_tf.text.tokenizer import VERSIONS, lowercase


def prepare(options, data_dir: Path, prepared_dir: Path) -> Path:
    """Prepares a corpus, or finds it prepared from the same inputs.

    Args:
      options: ConfigDict with `corpus` and the options of its reader, `tokenizer`, `lowercase`,
        `vectors` (below `data_dir`; "" draws every vector), `embedding_dim`, `fixed_words`
        ("corpus": dev and test words with a vector; "all": the whole vector file), `oov`, `seed`;
        `word_features`, absent or False for none, with `word_length`, the characters kept of
        a word; and `bilm`, absent or "" for none, the name of a biLM's files, see
        `data_prep.bilm_files.find`, or `word_bytes`, absent or 0 for none, the length of the words
        that a biLM in training reads; and `min_count`, absent or 1 for none: rarer training words
        without a vector are unknown.
      data_dir: the raw corpora and vectors.
      prepared_dir: where the prepared corpora lie.

    Returns:
      `<prepared_dir>/<corpus>-<digest of the options>`.

    Raises:
      UserError: bad options, missing or malformed inputs. Nothing is left behind then.
    """
    _check_options(options)
    data_dir, prepared_dir = Path(data_dir), Path(prepared_dir)
    target = prepared_dir / f"{options.corpus}-{_digest(options)}"
    if _is_current(target, data_dir, options):
        return target
    prepared_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=prepared_dir, prefix=f".{target.name}.") as scratch:
        new, outdated = Path(scratch) / "new", Path(scratch) / "outdated"
        new.mkdir()
        with _garbage_uncollected():
            _write_corpus(options, data_dir, new)
        if _is_current(target, data_dir, options):  # another process was faster
            return target
        if target.exists():
            os.replace(target, outdated)
        os.replace(new, target)
    return target


def _check_options(options) -> None:
    oov, fixed_words = vocabularies.OOV, vocabularies.FIXED_WORDS
    known = {"corpus": READERS, "tokenizer": VERSIONS, "oov": oov, "fixed_words": fixed_words}
    for name, allowed in known.items():
        if options[name] not in allowed:
            raise UserError(
                f"--config.data.{name}={options[name]} is not known; use {' or '.join(allowed)}."
            )
    check_options(options)


def _digest(options) -> str:
    content = {
        "format": FORMAT,
        "options": options.to_dict(),
        "tokenizer_version": VERSIONS[options.tokenizer],
    }
    if options.get("word_features"):
        content["stems_and_lemmas"] = stems_and_lemmas.versions()
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


def _is_current(target: Path, data_dir: Path, options) -> bool:
    """Whether `target` was prepared from what now lies in `data_dir`."""
    if not (target / MANIFEST).is_file():
        return False
    inputs = read_manifest(target)[Keys.INPUTS]
    recorded = {data_dir / name: fingerprint for name, fingerprint in inputs.items()}
    shards = SHARDS[options.corpus](data_dir, options) if options.corpus in SHARDS else []
    if not {path.resolve() for path in shards} <= {path.resolve() for path in recorded}:
        return False
    return all(is_unchanged(path, recorded[path]) for path in recorded)


@contextlib.contextmanager
def _garbage_uncollected() -> Iterator[None]:
    """Spares Python the search for cycles among millions of tuples: a quarter of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _write_corpus(options, data_dir: Path, folder: Path) -> None:
    """Reads, indexes and writes everything, the manifest last."""
    vector_files = [word_vectors.find(data_dir, options.vectors)] if options.vectors else []
    bilm = options.get("bilm") and bilm_files.find(data_dir, options.bilm)
    corpus = _read_corpus(options, data_dir)
    index = index_tokens(corpus)
    words = _normalised(index.tokens, options)
    vectors = _read_vectors(options, vector_files, words)
    training = _word_counts(words, index.training_counts)
    least = options.get("min_count", 1)
    training = {word: count for word, count in training.items() if count >= least}
    vocabulary = _build_vocabulary(options, training, words, vectors)
    _write_vocabulary(options, folder, vocabulary, vectors)
    ids = vocabulary.ids()
    token_ids = np.array([ids.get(word, UNKNOWN_ID) for word in words], np.int32)
    manifest = describe(options, corpus)
    manifest[Keys.TRAINABLE_WORDS] = vocabulary.trainable
    manifest[Keys.FIXED_WORDS] = len(vocabulary.words) - vocabulary.trainable
    flags, about = write_word_features(options, folder, index, corpus.fields)
    manifest.update(about)
    has_spellings = bool(bilm or options.get("word_bytes"))
    if bilm:
        manifest.update(bilm_files.write_bilm(options.bilm, bilm, folder, index.tokens))
    elif has_spellings:
        about = bilm_files.write_characters(options.word_bytes, folder, index.tokens)
        manifest.update(about)
    manifest[Keys.SPLITS] = {
        split: write_split(folder, split, corpus, index, token_ids, flags, has_spellings)
        for split in corpus.splits
    }
    manifest[Keys.VECTORS] = {
        "file": options.vectors,
        "rows": vectors.rows,
        "training_words_found": vocabulary.training_words_found(),
        "training_tokens_covered": round(vocabulary.coverage(training), 4),
    }
    manifest[Keys.INPUTS] = {
        Path(os.path.relpath(path, data_dir)).as_posix(): fingerprint(path)
        for path in corpus.inputs + vector_files + list(bilm or ())
    }
    write_json(folder / MANIFEST, manifest)


def _read_corpus(options, data_dir: Path) -> Corpus:
    corpus = READERS[options.corpus](data_dir, options)
    for split, examples in corpus.splits.items():
        if not examples:
            raise UserError(
                f"split {split} of {corpus.name} has no examples left; "
                "check its files and the options that drop examples."
            )
    corpus.warnings += overlap_warnings(corpus)
    return corpus


def _word_counts(words: Sequence[str], token_counts: np.ndarray) -> dict[str, int]:
    """How often each word occurs; `token_counts` are those of the first tokens, `words` of all."""
    counts: dict[str, int] = {}
    for word, count in zip(words, token_counts.tolist()):
        counts[word] = counts.get(word, 0) + count
    return counts


def _normalised(words: Sequence[str], options) -> Sequence[str]:
    return lowercase(words) if options.lowercase else words


def _read_vectors(options, files: list[Path], words: Iterable[str]) -> WordVectors:
    """The vectors that these words may need, or all of them if all are to be kept."""
    if not files:
        return WordVectors({}, 0)
    spellings = set(chain.from_iterable(map(vocabularies.spellings, words)))
    wanted = (lambda word: True) if options.fixed_words == "all" else spellings.__contains__
    return word_vectors.read(files[0], options.embedding_dim, wanted)


def _build_vocabulary(
    options, training: Iterable[str], words: Iterable[str], vectors: WordVectors
) -> Vocabulary:
    extra = {}
    if options.fixed_words == "all":
        origins = list(vectors.by_word)
        for word, origin in zip(_normalised(origins, options), origins):
            extra.setdefault(word, origin)
    return vocabularies.build(training, words, vectors.by_word, extra)


def _write_vocabulary(options, folder: Path, vocabulary: Vocabulary, vectors: WordVectors) -> None:
    matrix = vocabularies.embeddings(
        vocabulary, vectors.by_word, options.embedding_dim, options.oov, options.seed
    )
    save(folder, EMBEDDINGS, matrix)
    lines = "".join(f"{word}\n" for word in vocabulary.words)
    write_atomically(folder / VOCABULARY, lines)
