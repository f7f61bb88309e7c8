"""Labels: the order of classes, and class numbers."""

import numpy as np
import pytest

from disan_tf.text.labels import class_numbers, order_classes


@pytest.mark.parametrize(
    "labels, expected",
    [
        (["10", "9", "1"], ("1", "9", "10")),
        (["b", "10", "9"], ("10", "9", "b")),
        (["3", "nan", "1", "2"], ("1", "2", "3", "nan")),
        (["inf", "2", "1"], ("1", "2", "inf")),
        (["1.0", "1", "0"], ("0", "1", "1.0")),
        (["2", "-1", "2"], ("-1", "2")),
        (["10", "1_0", "9"], ("10", "1_0", "9")),
    ],
)
def test_order_is_numerical_for_finite_numbers_and_alphabetical_else(labels, expected):
    assert order_classes(labels) == order_classes(labels[::-1]) == expected


def test_class_numbers_of_names_and_of_numbers():
    classes = ("bad", "good")
    assert class_numbers(["good", b"bad", np.str_("good")], classes).tolist() == [1, 0, 1]
    assert class_numbers(np.array([1.0, 0.0]), classes).tolist() == [1, 0]
    assert class_numbers([True, False], classes).tolist() == [1, 0]


def test_numbers_and_truth_values_are_names_where_all_names_are():
    assert class_numbers(np.array([1, 5]), ("1", "2", "3", "4", "5")).tolist() == [0, 4]
    assert class_numbers([1.0, "0"], ("1", "0")).tolist() == [0, 1]
    assert class_numbers([True, np.False_], ("True", "False")).tolist() == [0, 1]
    assert class_numbers([True, False], ("0", "1")).tolist() == [1, 0]
    assert class_numbers([True, np.False_], ("1", "0")).tolist() == [0, 1]
    assert class_numbers([True, False], ("1", "2")).tolist() == [1, 0]
    with pytest.raises(ValueError, match="label 1 is '0', which is not one of the 2 classes '1'"):
        class_numbers([1, 0], ("1", "2"))


def test_whole_numbers_are_names_by_their_value():
    assert class_numbers([1.0, 2, "2.0"], ("2.0", "1.0")).tolist() == [1, 0, 0]
    assert class_numbers([1, "1.0", 0], ("1.0", "1", "0")).tolist() == [1, 0, 2]
    with pytest.raises(ValueError, match="label 0 is '1', which is not one of the 3 classes '1.0'"):
        class_numbers([1], ("1.0", "+1", "0"))  # ambiguous
    assert class_numbers([0, 1, "1_1"], ("1_0", "1_1")).tolist() == [0, 1, 1]  # no numbers
    large = f"{2**53 + 1}", "5"  # whose neighbour has the same floating-point number
    assert class_numbers([2**53 + 1, 5], large).tolist() == [0, 1]
    with pytest.raises(ValueError, match="label 0 is '9007199254740992'"):
        class_numbers([2**53], large)


def test_whole_numbers_are_class_numbers_on_request():
    assert class_numbers([1, "1"], ("1", "0"), numbers_are_names=False).tolist() == [1, 0]
    with pytest.raises(ValueError, match="label 0 is 2, and the 2 classes have the numbers 0 to 1"):
        class_numbers([2], ("1", "2"), numbers_are_names=False)


@pytest.mark.parametrize(
    "label, message",
    [
        ("fine", "label 1 is 'fine', which is not one of the 2 classes 'bad', 'good'."),
        (2, "label 1 is 2, and the 2 classes have the numbers 0 to 1"),
        (-1, "label 1 is -1, and the 2 classes have the numbers 0 to 1"),
        (0.5, r"label 1 is 0.5 \(float\)"),
        (float("nan"), r"label 1 is nan \(float\)"),
        (None, r"label 1 is None \(NoneType\)"),
    ],
)
def test_a_label_of_no_class_is_refused_with_its_position(label, message):
    with pytest.raises(ValueError, match=message):
        class_numbers(["bad", label], ("bad", "good"))
