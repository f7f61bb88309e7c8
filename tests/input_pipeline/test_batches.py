"""Batches: padded on the right, each label with its sentence, no corpus inside the graph."""

import numpy as np
import tensorflow as tf

from disan_tf.input_pipeline import Split, evaluation_batches, make_dataset, plan_batches
from tests.support.corpora.pairs import pair_split, score_split


def _split(sentences):
    """Labels are the examples' numbers times ten."""
    lengths = [len(sentence) for sentence in sentences]
    return Split(
        fields=("sentence",),
        ids={"sentence": np.array([word for sentence in sentences for word in sentence], np.int32)},
        offsets={"sentence": np.cumsum([0, *lengths]).astype(np.int64)},
        labels=10 * np.arange(len(sentences), dtype=np.int32),
        example_ids=np.array([b"%d" % number for number in range(len(sentences))]),
    )


SENTENCES = [[5], [2, 3, 4], [9, 8], [7], [6, 5, 4, 3]]


def test_sentences_are_padded_on_the_right_to_the_longest():
    (batch,) = make_dataset(_split(SENTENCES), np.array([[1, 0, 2]]))
    assert batch["sentence"].dtype == tf.int32
    assert batch["sentence"].numpy().tolist() == [[2, 3, 4], [5, 0, 0], [9, 8, 0]]


def test_each_sentence_keeps_its_label_and_index():
    (batch,) = make_dataset(_split(SENTENCES), np.array([[4, 0, 1]]))
    assert batch["label"].dtype == tf.int32
    assert batch["index"].dtype == tf.int64
    assert batch["label"].numpy().tolist() == [40, 0, 10]
    assert batch["index"].numpy().tolist() == [4, 0, 1]


def test_the_smaller_batch_has_no_filling():
    _, batch = make_dataset(_split(SENTENCES), np.array([[4, 1], [2, -1]]))
    assert {name: value.numpy().tolist() for name, value in batch.items()} == {
        "sentence": [[9, 8]],
        "label": [20],
        "index": [2],
    }


def _random_split(examples):
    generator = np.random.default_rng(6)
    return _split([generator.integers(1, 99, size=1 + k % 11) for k in range(examples)])


def test_a_whole_epoch_gives_back_every_sentence():
    split = _random_split(100)
    seen = {}
    for batch in make_dataset(split, plan_batches(split.lengths, 8, 3, seed=1, epoch=0)):
        columns = (batch[key].numpy() for key in ("sentence", "label", "index"))
        for row, label, index in zip(*columns):
            assert label == 10 * index
            seen[index] = row[: split.lengths[index]].tolist()
            assert not row[split.lengths[index] :].any()
    ids, starts = split.ids["sentence"], split.offsets["sentence"]
    assert seen == {k: ids[starts[k] : starts[k + 1]].tolist() for k in range(100)}


def test_the_batch_function_holds_no_copy_of_the_corpus():
    split = _random_split(3000)
    dataset = make_dataset(split, evaluation_batches(split.lengths, 8))
    # TensorFlow has no public way to see a dataset's function.
    (gather,) = (function for parent in dataset._inputs() for function in parent._functions())
    constants = [
        tf.make_ndarray(node.attr["value"].tensor).size
        for node in gather.function.graph.as_graph_def().node
        if node.op == "Const"
    ]
    assert constants and max(constants) < 10
    sizes = [tensor.shape.num_elements() for tensor in gather.function.captured_inputs]
    arrays = (split.ids["sentence"], split.offsets["sentence"], split.labels)
    assert sorted(sizes) == sorted(map(len, arrays))


def test_each_sentence_of_a_pair_is_padded_to_the_longest_of_its_field():
    split = pair_split([[2, 3, 4], [5], [6, 7]], [[8], [9, 2], [3]])
    (batch,) = make_dataset(split, np.array([[2, 1, 0]]))
    assert batch["premise"].numpy().tolist() == [[6, 7, 0], [5, 0, 0], [2, 3, 4]]
    assert batch["hypothesis"].numpy().tolist() == [[3, 0], [9, 2], [8, 0]]
    assert batch["label"].numpy().tolist() == split.labels[[2, 1, 0]].tolist()
    assert sorted(batch) == ["hypothesis", "index", "label", "premise"]


def test_scores_stay_numbers():
    split = score_split([[2, 3, 4], [5]], [[8], [9, 2]])
    (batch,) = make_dataset(split, np.array([[1, 0]]))
    assert batch["label"].dtype == tf.float32
    assert batch["label"].numpy().tolist() == split.labels[[1, 0]].tolist()
    assert batch["sentence_b"].numpy().tolist() == [[9, 2], [8, 0]]
