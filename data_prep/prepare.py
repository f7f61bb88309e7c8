"""Raw corpus + word vectors -> prepared corpus, a directory of memory-mappable arrays.

It holds, for every split and text field:

    train.sentence.ids.npy      <int32>[tokens]        the token ids of all examples, end to end
    train.sentence.offsets.npy  <int64>[examples + 1]  example k is ids[offsets[k]:offsets[k + 1]]
    train.label.npy             <int32>[examples], or <float32>[examples] where labels are scores
    train.example_id.npy        <S>[examples]          UTF-8
    train.genre.npy             <S>[examples]          UTF-8, "" unknown; where genres are told

of pairs, where `word_features` are asked for, and `sentence` stands for a field:

    train.sentence.spelling.npy <int32>[tokens]        the row of `spellings` of each token
    train.sentence.match.npy    <uint8>[tokens]        1: the pair's other sentence has its stem or
                                                       its lemma

of corpora that a biLM reads:

    train.sentence.spelling.npy <int32>[tokens]        the row of `spellings` of each token

where the `contexts` of phrases are asked for too

    train.contexts.spelling.npy <int32>[tokens]        the same of the sentences that they are from
    train.contexts.offsets.npy  <int64>[sentences + 1]
    train.contexts.places.npy   <int32>[examples, 2]   each example's sentence, and its first token

and for the corpus:

    vocabulary.txt              one word a line; the line k, from 0, is id k + 2
    embeddings.npy              <float32>[trainable + fixed, dim], row k is id k + 2
    manifest.json               options, counts, and the digest of every input
    spellings.npy               <uint8>[rows, word_length], ids of `disan_tf.text.spelling`: row 0
                                is zeros, the others are the distinct tokens in their own case;
                                <uint16>, ids of `disan_tf.text.character_ids`, for a biLM
    bilm_options.json           the biLM's official files
    bilm_weights.hdf5
    forms.tsv                   a line for each word: the word, its stem, its lemma, with tabs
                                between; other words are their own stems and lemmas
"""

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

from data_prep import bilm_files, word_forms, word_vectors
from data_prep import vocabulary as vocabularies
from data_prep.check_options import check_options
from data_prep.corpora import READERS, SHARDS, Corpus
from data_prep.corpora.overlap import overlap_warnings
from data_prep.fingerprints import fingerprint, is_unchanged
from data_prep.manifest import FORMAT, describe
from data_prep.vocabulary import Vocabulary
from data_prep.word_features import write_word_features
from data_prep.word_vectors import WordVectors
from data_prep.write_corpus import index_tokens, save, write_split
from disan_tf.errors import UserError
from disan_tf.files import read_json, write_atomically, write_json
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
    check_options(options)
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


def report(manifest: dict) -> str:
    """A few lines for people: what was read, kept and dropped, and what the vectors cover."""
    lines = [f"{manifest['corpus']}: {', '.join(manifest['classes'])}"]
    unit = manifest.get("unit", "trees")  # the first manifests, all of SST, name none
    lines += [_count_line(*item, unit) for item in manifest["counts"].items()]
    vectors = manifest["vectors"]
    lines.append(
        f"  words: {manifest['trainable_words']:,} trainable, {manifest['fixed_words']:,} fixed; "
        f"vectors ({vectors['file'] or 'none'}) cover {vectors['training_words_found']:,} training "
        f"words, {vectors['training_tokens_covered']:.1%} of the training tokens"
    )
    return "\n".join(lines + [f"  warning: {warning}" for warning in manifest["warnings"]])


def _count_line(split: str, counts: dict, unit: str) -> str:
    shown = (unit, "expected", "dropped", "kept")
    others = [f"{count:,} {name}, " for name, count in counts.items() if name not in shown]
    dropped = [f"{count:,} {reason}" for reason, count in counts["dropped"].items() if count]
    return (
        f"  {split}: {counts[unit]:,} {unit} (official count {counts['expected']:,}, difference "
        f"{counts[unit] - counts['expected']:+,}), {''.join(others)}"
        f"dropped {', '.join(dropped) or 'none'}, kept {counts['kept']:,}"
    )


def _digest(options) -> str:
    content = {
        "format": FORMAT,
        "options": options.to_dict(),
        "tokenizer_version": VERSIONS[options.tokenizer],
    }
    if options.get("word_features"):
        content["word_forms"] = word_forms.versions()
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


def _is_current(target: Path, data_dir: Path, options) -> bool:
    """Whether `target` was prepared from what now lies in `data_dir`."""
    if not (target / "manifest.json").is_file():
        return False
    manifest = read_json(target / "manifest.json", f"delete {target} and prepare again")
    recorded = {data_dir / name: each for name, each in manifest["inputs"].items()}
    shards = SHARDS[options.corpus](data_dir, options) if options.corpus in SHARDS else []
    if not {path.resolve() for path in shards} <= {path.resolve() for path in recorded}:
        return False
    return all(is_unchanged(path, each) for path, each in recorded.items())


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
    manifest["trainable_words"] = vocabulary.trainable
    manifest["fixed_words"] = len(vocabulary.words) - vocabulary.trainable
    flags, about = write_word_features(options, folder, index, corpus.fields)
    manifest.update(about)
    spelt = bool(bilm or options.get("word_bytes"))
    if bilm:
        manifest.update(bilm_files.write_bilm(options.bilm, bilm, folder, index.tokens))
    elif spelt:
        about = bilm_files.write_characters(options.word_bytes, folder, index.tokens)
        manifest.update(about)
    manifest["splits"] = {
        split: write_split(folder, split, corpus, index, token_ids, flags, spelt)
        for split in corpus.splits
    }
    manifest["vectors"] = {
        "file": options.vectors,
        "rows": vectors.rows,
        "training_words_found": vocabulary.training_words_found(),
        "training_tokens_covered": round(vocabulary.coverage(training), 4),
    }
    manifest["inputs"] = {
        Path(os.path.relpath(path, data_dir)).as_posix(): fingerprint(path)
        for path in corpus.inputs + vector_files + list(bilm or ())
    }
    write_json(folder / "manifest.json", manifest)


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
    save(folder, "embeddings", matrix)
    lines = "".join(f"{word}\n" for word in vocabulary.words)
    write_atomically(folder / "vocabulary.txt", lines)
