"""Chooses and writes a corpus' vocabulary and its vectors."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from data_prep import vocabulary as vocabularies
from data_prep.corpora import subsets
from data_prep.vocabulary import Vocabulary
from data_prep.write_corpus import save
from disan_tf.common.atomic import write_atomically
from disan_tf.input_pipeline.corpus_format import EMBEDDINGS, Keys
from disan_tf.text import word_vectors
from disan_tf.text.lookup import UNKNOWN_ID, VOCABULARY
from disan_tf.text.tokenizer import lowercase
from disan_tf.text.tokenizer_rules import sign_escapes
from disan_tf.text.word_vectors import PREFIX, WordVectors

_SHOWN = 10  # words without a vector, and lines that are not UTF-8


def write_vocabulary(
    options,
    folder: Path,
    words: Sequence[str],
    training_counts: np.ndarray,
    vector_files: Sequence[Path],
) -> tuple[np.ndarray, dict]:
    """Writes `vocabulary.txt` and `embeddings.npy`.

    Args:
      options: has `lowercase`; `vectors`, the name of the vector file ("" draws every vector);
        `embedding_dim`; `vector_dim`, the dimension of the file's vectors, which drawn numbers
        fill up to `embedding_dim`, absent or 0 if equal; `fixed_words` ("corpus": dev and test
        words with a vector; "all", and for a released model: the whole vector file); `oov`,
        see `data_prep.vocabulary.OOV`; `seed`; `min_count`, absent or 1 for no limit: rarer
        training words without a vector are unknown; and `unescaped`, whether words that the
        tokenizer escapes may get the vectors of the plain words, absent or False for no.
      folder: the prepared corpus.
      words: `[tokens]`, the distinct tokens as they are looked up, the training split's tokens
        first.
      training_counts: `<int64>[training tokens]`, their frequencies in the training split.
      vector_files: the vector file, or nothing; and the list of words to which it is restricted.

    Returns:
      The word ids of the tokens, `<int32>[tokens]`, and entries for the manifest.

    Raises:
      UserError: the vector file is malformed.
    """
    vectors = _read_vectors(options, vector_files, words)
    counts: Counter[str] = Counter()
    for word, count in zip(words, training_counts.tolist()):
        counts[word] += count
    least = options.get("min_count", 1)
    training = {word: count for word, count in counts.items() if count >= least}
    vocabulary = vocabularies.build(
        training,
        words,
        vectors.by_word,
        _extra_words(options, vectors.by_word),
        options.get("unescaped", False),
    )
    matrix = vocabularies.embeddings(
        vocabulary, vectors.by_word, options.embedding_dim, options.oov, options.seed
    )
    save(folder, EMBEDDINGS, matrix)
    write_atomically(folder / VOCABULARY, "".join(f"{word}\n" for word in vocabulary.words))
    ids = vocabulary.ids()
    token_ids = np.array([ids.get(word, UNKNOWN_ID) for word in words], np.int32)
    return token_ids, _describe(options, vocabulary, vectors, training)


def _read_vectors(options, files: Sequence[Path], words: Iterable[str]) -> WordVectors:
    """Reads the vectors that these words may need, or all vectors if all are kept."""
    if not files:
        return WordVectors({}, 0)
    unescaped = options.get("unescaped", False)
    variants = {each for word in words for each in word_vectors.spellings(word, unescaped)}
    wanted = (lambda word: True) if _keeps_all(options) else variants.__contains__
    if len(files) > 1:
        known = subsets.read_words(files[1])
        return word_vectors.read(
            files[0],
            word_vectors.dimension(options),
            lambda word: word in known and wanted(word),
        )
    return word_vectors.read(files[0], word_vectors.dimension(options), wanted)


def _keeps_all(options) -> bool:
    """Returns whether words that only the vectors have are kept, since new texts may have them."""
    return options.fixed_words == "all" or options.vectors.startswith(PREFIX)


def _extra_words(options, vectors: Iterable[str]) -> Mapping[str, str]:
    """Returns the vector file's words by their looked-up forms, if all are kept."""
    if not _keeps_all(options):
        return {}
    origins = list(vectors)
    extra: dict[str, str] = {}
    for word, origin in zip(lowercase(origins) if options.lowercase else origins, origins):
        extra.setdefault(word, origin)
    if options.get("unescaped"):
        escapes = sign_escapes(options.lowercase).items()
        extra.update({escape: extra[sign] for escape, sign in escapes if sign in extra})
    return extra


def _without_vector(vocabulary: Vocabulary, training: Mapping[str, int]) -> dict[str, int]:
    """Returns the most frequent training words without a vector, with their counts."""
    sources = dict(zip(vocabulary.words, vocabulary.sources))
    lacking = Counter({word: n for word, n in training.items() if sources[word] is None})
    return dict(lacking.most_common(_SHOWN))


def _not_utf8(vectors: WordVectors) -> dict:
    """Returns the number of skipped lines in the vector file, and the first line numbers."""
    return {"count": len(vectors.not_utf8), "lines": list(vectors.not_utf8[:_SHOWN])}


def _describe(
    options, vocabulary: Vocabulary, vectors: WordVectors, training: Mapping[str, int]
) -> dict:
    return {
        Keys.TRAINABLE_WORDS: vocabulary.trainable,
        Keys.FIXED_WORDS: len(vocabulary.words) - vocabulary.trainable,
        Keys.VECTORS: {
            "file": options.vectors,
            "rows": vectors.rows,
            **({"blank_lines": vectors.blank} if vectors.blank else {}),
            **({"not_utf8": _not_utf8(vectors)} if vectors.not_utf8 else {}),
            "training_words_found": vocabulary.training_words_found(),
            "training_tokens_covered": round(vocabulary.coverage(training), 4),
            **({"without": _without_vector(vocabulary, training)} if options.vectors else {}),
        },
    }
