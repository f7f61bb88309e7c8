"""Cached layers: they are the biLM's, each sentence once, and an interrupted cache goes on."""

import concurrent.futures
import errno
import json
import re
import shutil
from collections import namedtuple

import numpy as np
import pytest

from disan_tf.common.errors import UserError
from disan_tf.common.process import locked
from disan_tf.elmo import cache
from disan_tf.elmo.cache import cache_layers, find_sentences, plan_batches
from disan_tf.elmo.official_files import load_bilm
from disan_tf.input_pipeline import PreparedCorpus, evaluation_batches, make_dataset
from tests.support.corpora.elmo import elmo_config, elmo_corpus

FEW = {"layers": 1, "highways": 1, "filters": [(2, 3)]}  # of the biLM, which is traced soon


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A corpus with a finished cache, and its biLM, which no test changes."""
    corpus = elmo_corpus(tmp_path_factory.mktemp("made"), **FEW)
    bilm = load_bilm(*corpus.bilm)
    cache_layers(corpus, bilm)
    return corpus.directory, bilm


@pytest.fixture
def corpus(made, tmp_path):
    path = tmp_path / "prepared" / made[0].name
    return PreparedCorpus(shutil.copytree(made[0], path))


@pytest.fixture
def cached(made, tmp_path):
    """The corpus with the finished cache."""
    return PreparedCorpus(shutil.copytree(made[0].parent, tmp_path / "cached") / made[0].name)


@pytest.fixture
def bilm(made):
    return made[1]


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(cache, "BATCH_TOKENS", 64)
    monkeypatch.setattr(cache.plan_batches, "__defaults__", (64,))


def test_batches_have_the_layers_of_their_sentences(cached, bilm):
    corpus = cached.with_layers(cache_layers(cached, bilm))
    for name in corpus.splits:
        split = corpus.split(name)
        for batch in make_dataset(split, evaluation_batches(split.field_lengths, 7)):
            mask = batch["sentence"] != 0
            expected = bilm(batch["sentence_characters"], mask=mask)
            actual = batch["sentence_layers"]
            assert actual.dtype == np.float16 and actual.shape == expected.shape
            np.testing.assert_allclose(actual, expected, rtol=2e-3, atol=1e-3)


def test_each_distinct_sentence_is_there_once_in_the_order_of_appearance(tmp_path):
    config = elmo_config()
    config.data.repetitions = True
    corpus = elmo_corpus(tmp_path, config)
    sentences = find_sentences(corpus)
    keys = [tuple(row.tolist()) for row in sentences.rows]
    assert len(set(keys)) == len(keys) < sum(len(corpus.split(name)) for name in corpus.splits)
    np.testing.assert_array_equal(sentences.starts, np.cumsum([0, *map(len, keys)]))
    appearance = []
    for name in corpus.splits:
        split = corpus.split(name)
        offsets, spelling = split.offsets["sentence"], split.features.spelling["sentence"]
        found = [tuple(spelling[a:b].tolist()) for a, b in zip(offsets, offsets[1:])]
        assert [keys[k] for k in sentences.numbers[name, "sentence"]] == found
        appearance += found
    assert list(dict.fromkeys(appearance)) == keys


def test_cut_phrases_have_the_layers_of_their_words_in_the_sentence(tmp_path):
    config = elmo_config()
    config.data.contexts = True
    corpus = elmo_corpus(tmp_path, config, **FEW)
    bilm = load_bilm(*corpus.bilm)
    own, cut = (cache_layers(corpus, bilm, phrases) for phrases in ("own", "cut"))
    train, vocabulary = corpus.split("train"), corpus.vocabulary
    layers, contexts = cut.split("train", ["sentence"]), corpus.contexts("train")
    sentences = {}
    for number, (name, start) in enumerate(zip(train.example_ids, layers.starts["sentence"])):
        tree, _, node = name.decode().partition(".")
        ids = train.ids["sentence"][slice(*train.offsets["sentence"][number : number + 2])]
        words = [vocabulary[k - 2] for k in ids]
        found = layers.vectors[start : start + len(words)]
        if not node:
            sentences[tree] = words, found
    whole = own.split("train", ["sentence"])
    for number, name in enumerate(train.example_ids):
        tree = name.decode().partition(".")[0]
        if tree not in sentences:
            continue  # the same sentence stood in a tree before
        words, found = sentences[tree]
        begin = contexts.places[number, 1]
        length = int(train.lengths[number])
        start = layers.starts["sentence"][number]
        np.testing.assert_array_equal(
            layers.vectors[start : start + length], found[begin : begin + length]
        )
    roots = [k for k, name in enumerate(train.example_ids) if b"." not in name]
    for k in roots:  # whole sentences are the same in both
        a, b, n = layers.starts["sentence"][k], whole.starts["sentence"][k], int(train.lengths[k])
        np.testing.assert_allclose(layers.vectors[a : a + n], whole.vectors[b : b + n], atol=1e-3)
    assert len(layers.vectors) < len(whole.vectors) / 2


def test_batches_are_sorted_by_length_and_within_the_budget(corpus):
    sentences = find_sentences(corpus)
    plan = plan_batches(sentences, 64)
    lengths = np.diff(sentences.starts)
    assert sorted(np.concatenate(plan)) == list(range(len(lengths)))
    assert (np.diff(lengths[np.concatenate(plan)]) >= 0).all()
    for batch in plan:
        assert len(batch) == 1 or len(batch) * (lengths[batch].max() + 2) <= 64
    assert len(plan_batches(sentences, 1)) == len(lengths)


def test_a_second_training_finds_the_cache(cached, bilm):
    layers = cache_layers(cached, bilm).folder / "layers.npy"
    written = layers.stat().st_mtime_ns
    assert cache_layers(cached, bilm).folder == layers.parent
    assert layers.stat().st_mtime_ns == written


def _bytes(folder):
    """What the files of a finished cache hold."""
    return {path.name: path.read_bytes() for path in folder.glob("*.npy")}


class Stopped(Exception):
    """Stands for a kill."""


def test_an_interrupted_cache_goes_on_and_becomes_the_same_file(
    corpus, bilm, small_batches, monkeypatch
):
    whole = cache_layers(corpus, bilm).folder
    expected = _bytes(whole)
    shutil.rmtree(whole)
    monkeypatch.setattr(cache, "FLUSH_SECONDS", -1.0)  # notes its progress after each batch
    encode_batch, numbers, at = cache._encode_batch, [], 5

    def stop(*arguments):
        if len(numbers) == at:
            raise Stopped
        numbers.append(0)
        encode_batch(*arguments)

    monkeypatch.setattr(cache, "_encode_batch", stop)
    with pytest.raises(Stopped):
        cache_layers(corpus, bilm)
    assert not (whole / "cache.json").exists()
    numbers.clear()
    at = 10**6
    layers = cache_layers(corpus, bilm)
    plan = plan_batches(find_sentences(corpus))
    assert 0 < len(numbers) < len(plan)  # the first ones were not computed again
    assert _bytes(layers.folder) == expected
    assert not (whole / "progress.json").exists()


@pytest.mark.parametrize("whole, batches", [(False, None), (True, 10**6)])
def test_a_cut_cache_and_a_damaged_note_of_the_progress_begin_anew(cached, bilm, whole, batches):
    folder = cache_layers(cached, bilm).folder
    expected, layers = _bytes(folder), folder / "layers.npy"
    (folder / "cache.json").unlink()
    if whole:
        np.lib.format.open_memmap(layers, "r+")[:] = 0
    else:
        layers.write_bytes(expected["layers.npy"][: int(0.99 * layers.stat().st_size)])
    count = len(plan_batches(find_sentences(cached)))
    noted = {"batches": batches or count, "of": count}
    (folder / "progress.json").write_text(json.dumps(noted))
    assert _bytes(cache_layers(cached, bilm).folder) == expected


def test_seeds_and_word_vectors_share_a_cache_and_other_sentences_do_not(tmp_path, bilm):
    folders = []
    for seed, vectors, size in ((1, "", 8), (2, "vectors.txt", 8), (1, "", 9)):
        config = elmo_config()
        config.data.seed, config.data.vectors, config.data.embedding_dim = seed, vectors, 2
        (tmp_path / "vectors.txt").write_text("the 0.5 0.25\n")
        shutil.rmtree(tmp_path / "sst", ignore_errors=True)
        corpus = elmo_corpus(tmp_path, config, {"train": size, "dev": 6, "test": 6}, **FEW)
        folders.append(cache_layers(corpus, load_bilm(*corpus.bilm)).folder)
    assert folders[0] == folders[1] != folders[2]
    assert folders[0].parent == tmp_path / "prepared"


def test_of_two_processes_one_waits_for_the_layers_of_the_other(cached, bilm):
    folder = cache_layers(cached, bilm).folder
    (folder / "cache.json").rename(folder / "aside")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with locked(folder / "lock"):  # flock is of an open file, so a thread may stand for it
            waiting = pool.submit(cache_layers, cached, bilm)
            with pytest.raises(concurrent.futures.TimeoutError):
                waiting.result(timeout=1.0)
            before = (folder / "layers.npy").stat().st_mtime_ns
            (folder / "aside").rename(folder / "cache.json")
        waiting.result(timeout=60.0)
    assert (folder / "layers.npy").stat().st_mtime_ns == before


def test_another_biLM_or_precision_has_another_cache(corpus, bilm, tmp_path):
    first = cache_layers(corpus, bilm).folder
    half = load_bilm(*corpus.bilm, dtype="mixed_bfloat16")
    (tmp_path / "other").mkdir()
    other = elmo_corpus(tmp_path / "other", seed=9, **FEW)
    folders = {first.name, cache_layers(corpus, half).folder.name}
    folders.add(cache_layers(other, load_bilm(*other.bilm)).folder.name)
    assert len(folders) == 3


def _left(folder):
    return [path.name for path in (folder / "prepared").glob("elmo-*/*.npy")]


def test_a_disk_that_fills_up_at_once_is_refused(corpus, bilm, monkeypatch, tmp_path):
    def fallocate(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cache.os, "posix_fallocate", fallocate)
    with pytest.raises(UserError, match=r"layers.npy cannot be made \(No space left on device\)"):
        cache_layers(corpus, bilm)
    assert _left(tmp_path) == []


def test_the_need_is_told_and_a_full_disk_is_refused(corpus, bilm, monkeypatch, capsys, tmp_path):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(cache.shutil, "disk_usage", lambda _: usage(1000))
    with pytest.raises(UserError, match="free disk space, name another --prepared_dir, or"):
        cache_layers(corpus, bilm)
    assert _left(tmp_path) == []
    sentences = find_sentences(corpus)
    told = capsys.readouterr().out
    assert f"{len(sentences.rows):,} distinct sentences, {sentences.starts[-1]:,} tokens" in told
    assert re.search(r"2 x 6 numbers, take 0\.\d GB in .* \(0\.0 GB are free\)", told)


def test_a_damaged_cache_is_named_with_the_remedy(cached, bilm):
    folder = cache_layers(cached, bilm).folder
    (folder / "dev.sentence.starts.npy").write_bytes(b"no array")
    with pytest.raises(UserError, match="cannot be read.*delete .* computes it again"):
        cache_layers(cached, bilm).split("dev", ["sentence"])


def test_places_without_layers_are_refused(cached, bilm):
    folder = cache_layers(cached, bilm).folder
    starts = np.load(folder / "dev.sentence.starts.npy")
    starts[0] = 10**9
    np.save(folder / "dev.sentence.starts.npy", starts)
    with pytest.raises(UserError, match="dev.sentence.starts.npy names tokens that have no layers"):
        cached.with_layers(cache_layers(cached, bilm)).split("dev")


@pytest.mark.parametrize("content", ["[]", '{"files": {"layers.npy": []}}'])
def test_a_cache_that_does_not_record_its_files_is_refused(cached, bilm, content):
    folder = cache_layers(cached, bilm).folder
    (folder / "cache.json").write_text(content)
    with pytest.raises(UserError, match="cache.json: .*delete .* computes it again"):
        cache_layers(cached, bilm)


def test_a_note_of_the_progress_that_is_none_is_named(cached, bilm):
    folder = cache_layers(cached, bilm).folder
    (folder / "cache.json").unlink()
    (folder / "progress.json").write_text(json.dumps({"batches": "three", "of": 3}))
    with pytest.raises(UserError, match="progress.json: batches must be a whole number; delete"):
        cache_layers(cached, bilm)
