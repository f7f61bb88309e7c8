"""disan_tf/serving/inference/attend.py: the longest text for a given memory."""

import os

import pytest
import tensorflow as tf

from disan_tf.serving.inference import attend
from disan_tf.serving.inference.attend import free_memory, longest_text

SPECS = [tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None, None, 5], tf.int32)]


@tf.function(input_signature=SPECS)
def weights(ids, characters):
    """The tensors of DiSAN of 10 features."""
    length = tf.shape(ids)[1]
    tf.debugging.assert_equal(tf.shape(characters), [1, length, 5])
    return {"attention": tf.zeros([1, length, length, 10]), "gate": tf.zeros([1, length, 10])}


def cost(tokens):
    """4 copies of 4 bytes, and 100 bytes for each mean over the features."""
    return (tokens**2 + tokens) * (4 * 4 * 10 + 100)


@pytest.mark.parametrize("tokens", [1, 7, 100, 20_000])
def test_the_longest_text_is_that_whose_tensors_just_fit(tokens):
    assert longest_text(weights, cost(tokens)) == pytest.approx(tokens, abs=1)
    assert longest_text(weights, int(1.01 * cost(tokens)) + 5) >= tokens


def test_without_memory_no_text_fits_and_with_much_the_search_ends():
    assert longest_text(weights, 0) == 0
    assert longest_text(weights, 10**30) == 10**7


def test_the_free_memory_is_that_of_this_machine():
    assert 0 < free_memory() < os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    ("most", "expected"), [("1000000", 1_000_000 - 400_000 + 100_000), ("300000", 0), ("max", None)]
)
def test_a_container_leaves_what_is_neither_used_nor_cached(tmp_path, monkeypatch, most, expected):
    whole = free_memory()
    (tmp_path / "memory.max").write_text(f"{most}\n")
    (tmp_path / "memory.current").write_text("400000\n")
    (tmp_path / "memory.stat").write_text("anon 300000\ninactive_file 100000\n")
    monkeypatch.setattr(attend, "_CGROUP", tmp_path)
    found = free_memory()
    assert found == expected if expected is not None else found > whole / 2


def test_the_free_memory_is_at_most_that_of_a_gpu(monkeypatch):
    whole = free_memory()
    monkeypatch.setattr(attend, "free_gpu_memory", lambda: 1_000)
    assert free_memory() == 1_000
    monkeypatch.setattr(attend, "free_gpu_memory", lambda: 10**18)
    assert whole / 2 < free_memory() < 10**18
