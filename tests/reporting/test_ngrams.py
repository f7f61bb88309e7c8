"""disan_tf/reporting/ngrams.py against Kneser-Ney smoothing by dictionaries and hand counts."""

from collections import Counter
from functools import cached_property
from types import SimpleNamespace

import numpy as np
import pytest

from data_prep.prepare import prepare
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.reporting import ngrams
from disan_tf.reporting.ngrams import BEGIN, END, kneser_ney, perplexities
from tests.support.corpora.readers import make_options

WORDS = 100  # begin, end, unknown, and 97 others
UNKNOWN, NEVER = 2, 99  # the last is in no training sentence


class SlowKneserNey:
    """Interpolated trigrams with modified discounts (Chen and Goodman 1999)."""

    def __init__(self, sentences):
        trigrams = Counter(gram for sentence in sentences for gram in trigrams_of(sentence))
        bigrams = Counter(gram[1:] for gram in trigrams)  # once for each word before it
        unigrams = Counter(gram[1:] for gram in bigrams)
        self.counts = [unigrams, bigrams, trigrams]

    @cached_property
    def discounts(self):
        """By order, and by count from 0 to 3."""
        computed = []
        for counts in self.counts:
            n = Counter(counts.values())
            y = n[1] / (n[1] + 2 * n[2])
            computed.append([0.0, *(k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3))])
        return computed

    def probability(self, word, history):
        """p(word | history), a tuple of at most two words."""
        shorter = self.probability(word, history[1:]) if history else 1 / (WORDS - 1)
        following = {
            gram[-1]: count
            for gram, count in self.counts[len(history)].items()
            if gram[:-1] == history
        }
        if not following:
            return shorter
        discount = self.discounts[len(history)]
        total = sum(following.values())
        own = following.get(word, 0)
        rest = sum(discount[min(count, 3)] for count in following.values())
        return max(own - discount[min(own, 3)], 0) / total + rest / total * shorter

    def perplexity(self, sentences):
        logs = [
            np.log(self.probability(gram[-1], gram[:-1]))
            for sentence in sentences
            for gram in trigrams_of(sentence)
        ]
        return np.exp(-np.mean(logs))


def trigrams_of(sentence):
    padded = (BEGIN, BEGIN, *sentence, END)
    return list(zip(padded, padded[1:], padded[2:]))


def stream(sentences):
    return np.array([word for each in sentences for word in (BEGIN, BEGIN, *each, END)])


def draw(generator, count):
    """Sentences of 0 to 7 words; few words are frequent, and the last is never drawn."""
    shares = 1.0 / np.arange(1, NEVER - UNKNOWN + 1)
    return [
        generator.choice(np.arange(UNKNOWN, NEVER), length, p=shares / shares.sum()).tolist()
        for length in generator.integers(0, 8, count)
    ]


@pytest.fixture(scope="module")
def train():
    return draw(np.random.default_rng(1), 200)


def log_likelihood(train, words):
    """ln p of what follows two begins; no end is predicted but one that stands there."""
    text = np.array([BEGIN, BEGIN, *words])
    return -len(words) * np.log(kneser_ney(stream(train), text, WORDS)) if words else 0.0


def corpus_of(**splits):
    """A stand-in for a prepared corpus, of sentences of word ids from 1."""

    def split(name):
        ends = np.cumsum([0, *map(len, splits[name])])
        return SimpleNamespace(
            ids={"sentence": np.concatenate(splits[name]).astype(np.int32)},
            offsets={"sentence": ends},
        )

    most = max(map(max, splits["train"]))
    return SimpleNamespace(words=(most - 1, 0), split=split)


# Trigrams


def test_the_text_of_these_tests_needs_every_discount(train):
    for discounts in SlowKneserNey(train).discounts:
        assert all(0 < discounts[k] < k for k in (1, 2, 3))


def test_perplexity_is_that_of_the_definition(train):
    text = [*draw(np.random.default_rng(2), 40), [NEVER, 3, NEVER], []]
    expected = SlowKneserNey(train).perplexity(text)
    assert kneser_ney(stream(train), stream(text), WORDS) == pytest.approx(expected, rel=1e-9)


def test_single_probabilities_are_those_of_the_definition(train):
    slow = SlowKneserNey(train)
    for word in (END, UNKNOWN, 3, 40, NEVER):
        computed = np.exp(log_likelihood(train, [3, 4, word]) - log_likelihood(train, [3, 4]))
        assert computed == pytest.approx(slow.probability(word, (3, 4)), rel=1e-9)


@pytest.mark.parametrize(
    "history", [[], [3], [NEVER], [3, 4], [UNKNOWN, UNKNOWN], [55, 3], [3, NEVER], [NEVER, NEVER]]
)
def test_probabilities_of_all_that_may_follow_sum_to_one(train, history):
    before = log_likelihood(train, history)
    logs = [log_likelihood(train, [*history, word]) - before for word in range(WORDS)[END:]]
    assert np.sum(np.exp(logs)) == pytest.approx(1.0, abs=1e-9)


def test_a_text_without_rare_n_grams_has_a_finite_perplexity():
    train = [[3, 4]] * 10
    computed = kneser_ney(stream(train), stream([[3, 5]]), WORDS)
    assert np.isfinite(computed) and computed > kneser_ney(stream(train), stream([[3, 4]]), WORDS)


def test_trigrams_know_text_in_which_the_word_before_decides_the_next():
    generator = np.random.default_rng(3)
    following = generator.permutation(40)
    sentences = []
    for word, length in zip(generator.integers(0, 40, 240), generator.integers(3, 9, 240)):
        sentences.append([])
        for _ in range(length):
            sentences[-1].append(1 + word)
            word = following[word]
    corpus = corpus_of(train=sentences[:200], dev=sentences[200:])
    computed = perplexities(corpus, ["dev"])
    assert computed["unigram"]["dev"] > 20 and computed["trigram"]["dev"] < 5


# Unigrams


def test_unigrams_are_relative_frequencies_with_one_added():
    # With one added: 3 ends, 1 unknown word, 4 times the word 2, 2 times the word 3; 10 in all.
    corpus = corpus_of(train=[[2, 2, 3], [2]], dev=[[3, 1]], test=[[2], [2, 2]])
    computed = perplexities(corpus)["unigram"]
    assert computed["dev"] == pytest.approx((0.2 * 0.1 * 0.3) ** (-1 / 3))
    assert computed["test"] == pytest.approx((0.4 * 0.3 * 0.4 * 0.4 * 0.3) ** (-1 / 5))


# The command


@pytest.fixture
def prepared(tmp_path):
    """A prepared text of the words "soup" and "hot" in any order."""
    generator = np.random.default_rng(4)
    lines = [" ".join(generator.choice(["soup", "hot"], 5)) for _ in range(200)]
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts/shard.txt").write_text("\n".join(lines))
    shares = {"dev_share": 0.1, "test_share": 0.1, "split_seed": 1}
    chosen = make_options("text", texts="texts", repetitions=True, longest=0, **shares)
    return prepare(chosen, tmp_path, tmp_path / "prepared")


def test_the_command_prints_a_line_for_each_model(prepared, capsys):
    assert ngrams.main([f"--prepared={prepared}"]) == 0
    computed = perplexities(PreparedCorpus(prepared))
    assert capsys.readouterr().out.splitlines() == [
        f"{name} dev {by_split['dev']:.2f} test {by_split['test']:.2f}"
        for name, by_split in computed.items()
    ]
    assert list(computed) == ["unigram", "trigram"]
