"""Texts as people hold them in Python."""

from collections import namedtuple
from enum import Enum
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from disan_tf.serving.inference.inputs import (
    check_count,
    is_single,
    read_input,
    read_inputs,
)
from disan_tf.serving.inference.records import SINGLE, usual_columns

PAIR = usual_columns(("premise", "hypothesis"))
TEXTS = ["a film", "a plot"]
PAIR_NAMES = ("sentence1", "premise", "sentence2", "hypothesis")
FRAME = pd.DataFrame({"id": [7, 8], "hypothesis": ["one", "two"], "premise": TEXTS})
Named = namedtuple("Named", ["hypothesis", "premise"])


class Dataset:
    """A table as `datasets` has them: rows are records, columns come by name."""

    column_names = ["label", "text"]

    def __getitem__(self, name):
        return {"text": TEXTS, "label": [0, 1]}[name]

    def __iter__(self):
        raise AssertionError("columns are read by name")


@pytest.mark.parametrize(
    "inputs",
    [
        TEXTS,
        (text for text in TEXTS),
        [text.encode() for text in TEXTS],
        list(Enum("Texts", {"FIRST": TEXTS[0], "SECOND": TEXTS[1]}, type=str)),
        np.array(TEXTS, object),
        np.array(TEXTS)[:, None],
        tf.constant(TEXTS),
        list(tf.constant(TEXTS)),
        pd.Series(TEXTS, index=[5, 3]),
        pd.Series(TEXTS, dtype="category"),
        pd.DataFrame({"label": [1, 0], "text": TEXTS}, index=[1, 1]),
        pd.DataFrame({"column_names": ["x", "y"], "text": TEXTS}),
        {"text": tf.constant(TEXTS)},
        [{"label": 1, "text": text} for text in TEXTS],
        np.array([(text, 1) for text in TEXTS], [("text", "U9"), ("label", int)]),
        [row for _, row in pd.DataFrame({"text": TEXTS}).iterrows()],
        list(pd.DataFrame({"text": TEXTS}).itertuples()),
        [SimpleNamespace(as_py=lambda text=text: text) for text in TEXTS],  # as Arrow's scalars
        Dataset(),
    ],
    ids=lambda inputs: type(inputs).__name__,
)
def test_texts_are_read_from_what_people_hold(inputs):
    assert [record["text"] for record in read_inputs(inputs)] == TEXTS


@pytest.mark.parametrize(
    "tensors",
    [
        TEXTS,
        np.array(TEXTS)[:, None],
        (TEXTS, [0, 1]),
        (TEXTS, ["bad", "good"], [0.5, 1.0]),
        {"text": TEXTS, "label": [[1, 0], [0, 1]]},
        ({"text": TEXTS}, [0, 1]),
    ],
    ids=str,
)
@pytest.mark.parametrize("size", [0, 1, 3])
def test_texts_are_read_from_tensorflow_datasets_with_and_without_batches_and_labels(tensors, size):
    dataset = tf.data.Dataset.from_tensor_slices(tensors)
    dataset = dataset.batch(size) if size else dataset
    assert [record["text"] for record in read_inputs(dataset)] == TEXTS


@pytest.mark.parametrize(
    "tensors",
    [
        (TEXTS, ["one", "two"]),
        ((TEXTS, ["one", "two"]), [0, 1]),
        list(zip(TEXTS, ["one", "two"])),
        (list(zip(TEXTS, ["one", "two"])), ["no", "yes"]),
        {"hypothesis": ["one", "two"], "premise": TEXTS},
    ],
    ids=str,
)
@pytest.mark.parametrize("size", [0, 1, 3])
def test_pairs_are_read_from_tensorflow_datasets(tensors, size):
    dataset = tf.data.Dataset.from_tensor_slices(tensors)
    dataset = dataset.batch(size) if size else dataset
    records = read_inputs(dataset, PAIR)
    values = [tuple(record[name] for name in PAIR_NAMES if name in record) for record in records]
    assert values == [("a film", "one"), ("a plot", "two")]


@pytest.mark.parametrize("labels", [[], [[0, 1]], [["no", "yes"], [0.5, 1.0]]], ids=len)
@pytest.mark.parametrize("size", [0, 1, 3])
def test_two_columns_and_labels_are_read_from_tensorflow_datasets(labels, size):
    dataset = tf.data.Dataset.from_tensor_slices((TEXTS, ["one", "two"], *labels))
    records = read_inputs(dataset.batch(size) if size else dataset, PAIR)
    assert [record["hypothesis"] for record in records] == ["one", "two"]


@pytest.mark.parametrize("is_batch", [True, False])
def test_datasets_of_unknown_shapes_are_read(is_batch):
    def once(*columns):  # a generator that cannot be read twice
        rows = iter([columns] if is_batch else list(zip(*columns)))
        return lambda: (row if len(columns) > 1 else row[0] for row in rows)

    make = tf.data.Dataset.from_generator
    single = make(once(TEXTS), output_types=tf.string)
    assert [record["text"] for record in read_inputs(single)] == TEXTS
    pairs = make(once(TEXTS, ["one", "two"]), output_types=(tf.string, tf.string))
    records = read_inputs(pairs, PAIR)
    assert [record["hypothesis"] for record in records] == ["one", "two"]
    assert read_inputs(make(lambda: iter([]), output_types=tf.string)) == []


def test_lists_of_tokens_in_a_dataset_are_no_batches():
    dataset = tf.data.Dataset.from_tensors({"tokens": TEXTS})
    assert read_inputs(dataset) == [{"tokens": TEXTS}]


@pytest.mark.parametrize(
    "inputs",
    [
        [["a film", "one"], ("a plot", "two")],
        zip(TEXTS, ["one", "two"]),
        tf.constant([["a film", "one"], ["a plot", "two"]]),
        FRAME,
        FRAME.to_dict("records"),
        FRAME.rename(columns={"premise": "sentence1", "hypothesis": "sentence2"}),
        [Named("one", "a film"), Named("two", "a plot")],
        FRAME.to_records(),
        list(FRAME[["hypothesis", "premise"]].to_records(index=False)),
        [row for _, row in FRAME[["hypothesis", "premise"]].iterrows()],
    ],
    ids=lambda inputs: type(inputs).__name__,
)
def test_pairs_are_read_by_position_or_by_name(inputs):
    found = []
    for record in read_inputs(inputs, PAIR):
        by_name = {"sentence1": "premise", "sentence2": "hypothesis"}
        named = {by_name.get(name, name): value for name, value in record.items()}
        found.append((named["premise"], named["hypothesis"]))
    assert found == [("a film", "one"), ("a plot", "two")]


@pytest.mark.parametrize("tokens", [("a", "film"), np.array(["a", "film"]), [b"a", b"film"]])
def test_records_keep_their_tokens(tokens):
    (record,) = read_inputs([{"tokens": tokens, "text": None}])
    assert record == {"tokens": ["a", "film"]}


class Cell(SimpleNamespace):
    """A list as Arrow has it."""

    def as_py(self):
        return self.value


def test_tables_and_records_have_the_same_tokens():
    records = [{"text": "a film", "tokens": ["A", "film"]}, {"text": "b"}, {"tokens": ["c"]}]
    expected = [["A", "film"], "b", ["c"]]
    columns = {name: [record.get(name) for record in records] for name in ("text", "tokens")}
    arrow = [tokens and Cell(value=tokens) for tokens in columns["tokens"]]
    series = [tokens and pd.Series(tokens) for tokens in columns["tokens"]]
    tables = [pd.DataFrame(records), *({**columns, "tokens": it} for it in (arrow, series))]
    tables.append(pd.DataFrame({**columns, "text": pd.array(columns["text"], dtype="string")}))
    for inputs in (records, columns, *tables):
        found = read_inputs(inputs)
        assert [SINGLE.find_tokens(it, "sentence") or it["text"] for it in found] == expected
    assert read_inputs(pd.DataFrame({"tokens": [["a"], ["b"]]})) == [
        {"tokens": [it]} for it in "ab"
    ]
    assert read_inputs(pd.DataFrame({"text": ["a"], "tokens": [1]})) == [{"text": "a"}]
    tensors = {"text": ["a", "b"], "tokens": [tf.constant(["A", "a"]), None]}
    assert read_inputs(tensors) == [
        {"text": "a", "tokens": ["A", "a"]},
        {"text": "b", "tokens": None},
    ]
    with pytest.raises(ValueError, match='item 0: "tokens" is not a list of strings'):
        read_inputs(pd.DataFrame({"tokens": [1]}))
    with pytest.raises(ValueError, match=r"item 1, 'text', is nan \(float\)"):
        read_inputs(pd.DataFrame({"text": ["a", np.nan]}))


@pytest.mark.parametrize(
    "value, message",
    [
        (None, r"item 1 is None \(NoneType\), not a text; leave it out or convert it to a string"),
        (pd.NA, r"item 1 is <NA> \(NAType\), not a text"),
        (np.float32(2), r"item 1 is .*2.0.* \(float32\), not a text"),
        ("bad \ud800", "item 1 has half of a surrogate pair at character 4"),
        (b"bad \xff", "item 1 has the byte 0xff at 4, which is not UTF-8"),
        (["a", "film"], r"item 1 is \['a', 'film'\] \(list\) with 2 values.*\"tokens\""),
        ({"review": "x"}, 'item 1: there is no "text" or "tokens"'),
        ({"text": 4}, r"item 1, 'text', is 4 \(int\)"),
        ({"tokens": [1]}, r"item 1, 'tokens', is 1 \(int\), not a text"),
        ({"tokens": ["a", "\ud800"]}, "item 1, 'tokens', has half of a surrogate pair at char"),
        ({"tokens": np.array(["\udfff"])}, "item 1, 'tokens', has half of a surrogate pair"),
        ({"tokens": "a film"}, 'item 1: "tokens" is not a list of strings'),
        ({"tokens": tf.constant("a film")}, 'item 1: "tokens" is not a list of strings'),
    ],
)
def test_an_item_that_is_no_text_is_refused_with_position_and_type(value, message):
    with pytest.raises(ValueError, match=message):
        read_inputs(["a film", value])


@pytest.mark.parametrize(
    "inputs, message",
    [
        (b"a film", "not one string"),
        ({7: "a film"}, r"keys 7, is given .* or list\(texts.values\(\)\)"),
        ({"a film", "a plot"}, "a set has no order"),
        (3, r"a list of texts is expected, not 3 \(int\)"),
        (pd.DataFrame({"review": TEXTS}), 'there is no "text" among the columns review; rename'),
        (pd.DataFrame({"text": ["a", None]}), r"item 1, 'text', is None"),
        (pd.DataFrame([TEXTS], columns=["text", "text"]), "two columns are named text"),
    ],
)
def test_what_is_no_list_of_texts_is_refused(inputs, message):
    with pytest.raises(ValueError, match=message):
        read_inputs(inputs)


@pytest.mark.parametrize(
    "inputs, message",
    [
        (TEXTS, "item 0 is one text .*'a film'.*the model reads pairs"),
        ([("a", "b", "c")], "item 0 is 3 texts"),
        ([("a", None)], r"item 0, text 2, is None \(NoneType\)"),
        ([7], r"item 0 is 7 \(int\), not a pair of texts"),
        ((np.array(TEXTS), np.array(TEXTS)), "may be rows or columns"),
        (FRAME[["premise"]], 'no "hypothesis" or "sentence2" among the columns premise'),
        ({"premise": TEXTS, "hypothesis": TEXTS[:1]}, "premise has 2 and hypothesis has 1"),
        ((pd.Series(TEXTS * 2), pd.Series(TEXTS * 2)), r"item 0 is 4 texts.* or zip\(first"),
        ({"premise": "a", "hypothesis": "b"}, "keys premise, hypothesis, is given"),
    ],
)
def test_what_is_no_list_of_pairs_is_refused(inputs, message):
    with pytest.raises(ValueError, match=message):
        read_inputs(inputs, PAIR)


def test_single_texts_are_told_from_lists():
    singles = ["a", b"a", np.str_("a"), np.array("a"), tf.constant("a")]
    assert all(map(is_single, singles))
    assert not any(map(is_single, [["a"], np.array(["a"]), tf.constant(["a"]), {"text": "a"}]))
    assert [read_input(single)["text"] for single in singles] == ["a"] * 5


def test_one_pair_is_read_as_a_tuple_or_by_name():
    expected = {"premise": "a", "hypothesis": "b"}
    assert read_input(("a", "b"), PAIR) == read_input({"hypothesis": "b", "premise": "a"}, PAIR)
    assert read_input(["a", "b"], PAIR) == expected


@pytest.mark.parametrize("size", ["32", 0, True])
def test_a_count_that_is_no_positive_whole_number_is_refused(size):
    with pytest.raises(ValueError, match=f"top_k={size!r} must be a whole number of at least 1"):
        check_count("top_k", size)
