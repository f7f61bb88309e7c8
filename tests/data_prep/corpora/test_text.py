"""data_prep/corpora/text.py: shards, dropped lines, held-out parts; and its options."""

from collections import Counter

import numpy as np
import pytest

from data_prep.corpora import text
from data_prep.prepare import prepare
from disan_tf.input_pipeline import PreparedCorpus
from tests.support.corpora.readers import make_options
from tests.support.models.bilm import official_ids

LINES = [f"Soup number {number} of day {number % 7}" for number in range(200)]
ODD_LINES = ["Hot soup", "", "Cold tea", "  ", "Hot soup", "Tea is far too hot", "Cold  tea"]


def options(**changed):
    values = {"texts": "texts", "repetitions": False, "longest": 0, "split_seed": 1}
    return make_options("text", **{**values, "dev_share": 0.1, "test_share": 0.25, **changed})


def write(data_dir, **shards):
    """Writes `texts/<name>.txt` of lines, by default one shard of `LINES`."""
    folder = data_dir / "texts"
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in (shards or {"shard": LINES}).items():
        content = "".join(f"{line}\n" for line in lines)
        (folder / f"{name}.txt").write_text(content, encoding="utf-8")
    return data_dir


def names(corpus, split):
    return [example.example_id for example in corpus.splits[split]]


def everything(corpus):
    """All kept sentences by example id."""
    examples = [example for split in text.SPLITS for example in corpus.splits[split]]
    return {example.example_id: " ".join(example.sentences[0]) for example in examples}


def test_shards_are_read_in_the_order_of_their_names_and_name_their_lines(tmp_path):
    write(tmp_path, **{letter: ["", f"Soup {letter}", "Tea"] for letter in "gcaheidbf"})
    (tmp_path / "texts/README.md").write_bytes(b"\xff")
    corpus = text.read(tmp_path, options())
    expected = {f"{letter}-2": f"Soup {letter}" for letter in "abcdefghi"}
    assert everything(corpus) == {**expected, "a-3": "Tea"}
    for split in text.SPLITS:
        assert names(corpus, split) == sorted(names(corpus, split))
    assert [path.stem for path in corpus.inputs] == list("abcdefghi")
    assert corpus.fields == ("sentence",)


@pytest.mark.parametrize(
    "changed, kept, dropped",
    [
        ({"longest": 4}, (1, 3), {"blank": 2, "too long": 1, "repetition": 2}),
        ({"longest": 5}, (1, 3, 6), {"blank": 2, "too long": 0, "repetition": 2}),
        ({"longest": 0}, (1, 3, 6), {"blank": 2, "too long": 0, "repetition": 2}),
        ({"repetitions": True}, (1, 3, 5, 6, 7), {"blank": 2, "too long": 0, "repetition": 0}),
    ],
)
def test_blank_too_long_and_repeated_lines_are_dropped_and_counted(
    tmp_path, changed, kept, dropped
):
    corpus = text.read(write(tmp_path, shard=ODD_LINES), options(**changed))
    assert sorted(everything(corpus)) == [f"shard-{number}" for number in kept]
    assert corpus.counts["train"]["lines"] == 7 and corpus.counts["train"]["dropped"] == dropped
    assert sum(entry["kept"] for entry in corpus.counts.values()) == len(kept)


def test_the_shares_are_those_of_the_lines_drawn_by_the_split_seed_from_everywhere(tmp_path):
    write(tmp_path)
    corpus, again, other = (text.read(tmp_path, options(split_seed=seed)) for seed in (1, 1, 2))
    sizes = {"train": 130, "dev": 20, "test": 50}
    assert {split: len(names(corpus, split)) for split in text.SPLITS} == sizes
    assert {split: counts["kept"] for split, counts in corpus.counts.items()} == sizes
    drawn = [name for split in text.SPLITS for name in names(corpus, split)]
    assert sorted(drawn) == sorted(f"shard-{number}" for number in range(1, 201))
    numbers = [int(name.split("-")[1]) for name in names(corpus, "dev") + names(corpus, "test")]
    assert min(Counter(number // 51 for number in numbers).values()) > 5  # of four quarters
    for split in text.SPLITS:
        assert names(corpus, split) == names(again, split) != names(other, split)
    few = text.read(write(tmp_path, shard=LINES[:10]), options(dev_share=0.1, test_share=0.28))
    assert [len(names(few, split)) for split in text.SPLITS] == [6, 1, 3]  # rounded


def test_a_new_shard_is_prepared_again_and_the_same_ones_elsewhere_are_not(tmp_path):
    data_dir = tmp_path / "data"
    write(tmp_path / "elsewhere", first=LINES[:100])
    data_dir.mkdir()
    (data_dir / "vectors.txt").write_text("soup 0.5 0.25\n", encoding="utf-8")
    chosen = options(texts="../elsewhere/texts", vectors="vectors.txt")
    before = PreparedCorpus(prepare(chosen, data_dir, tmp_path / "prepared"))
    (before.directory / "mine").touch()
    assert (prepare(chosen, data_dir, tmp_path / "prepared") / "mine").exists()
    sizes = [len(before.split("train"))]
    write(tmp_path / "elsewhere", second=LINES[100:])
    after = PreparedCorpus(prepare(chosen, data_dir, tmp_path / "prepared"))
    assert [*sizes, len(after.split("train"))] == [65, 130]


def test_spellings_are_the_official_character_ids_of_the_tokens_in_their_own_case(tmp_path):
    lines = ["Hot soup", "hot Tea", "naïve cooks", "Extraordinarily long", "tea"] * 4
    chosen = options(word_bytes=7, repetitions=True, lowercase=True)
    folder = prepare(chosen, write(tmp_path, shard=lines), tmp_path / "prepared")
    spellings, raw = np.load(folder / "spellings.npy"), text.read(tmp_path, chosen)
    assert spellings.dtype == np.uint16 and not spellings[0].any()
    assert len(spellings) == 1 + 9  # distinct tokens
    corpus = PreparedCorpus(folder)
    assert corpus.bilm is None and corpus.split("train").features.match is None
    for split in text.SPLITS:
        rows = corpus.split(split).features.spelling["sentence"]
        expected = [official_ids(token, 7) for token in raw.tokens(split)]
        np.testing.assert_array_equal(spellings[rows], expected)


def test_words_rarer_than_the_least_count_are_unknown(tmp_path):
    tokens = list(text.read(write(tmp_path), options()).tokens("train"))
    counts = Counter(tokens)
    least = counts["3"]  # as often as that: the bound itself stays
    corpus = PreparedCorpus(prepare(options(min_count=least), tmp_path, tmp_path / "prepared"))
    kept = {word for word, count in counts.items() if count >= least}
    assert {"soup", "3"} <= {word.lower() for word in kept} and len(kept) < len(counts)
    assert set(corpus.vocabulary) == {word.lower() for word in kept}
    unknown = np.array(corpus.split("train").ids["sentence"]) == 1
    np.testing.assert_array_equal(unknown, [token not in kept for token in tokens])
