"""disan_tf/common/options.py: names, types and values of options, and errors."""

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Optional

import pytest
from ml_collections import ConfigDict

from disan_tf.common.checks import check_at_least, check_choice
from disan_tf.common.errors import UserError
from disan_tf.common.options import chosen, options_of, read_section
from tests.support.errors import user_error


def cook(dish: str, minutes: int, salt: float = 0.5, hot: bool = True, lid: Optional[int] = None):
    check_choice("dish", dish, ("soup", "stew"))
    check_at_least("minutes", minutes, 1)


def serve(
    plates: Sequence[int] = (),
    spoons: Sequence[tuple[int, int]] = (),
    tray: Optional[Mapping] = None,
):
    """Takes what `cook` does not."""


class Pan:
    def __init__(self, size: int = 3, **kwargs):
        super().__init__(**kwargs)


class Wok(Pan):
    def __init__(self, depth: int, **kwargs):
        super().__init__(**kwargs)


def refusal(**values):
    section = {"dish": "soup", "minutes": 5, **values}
    return user_error(read_section, "meal", section, "a cook", cook, serve)


def test_values_that_fit_pass():
    read_section("meal", {"dish": "soup", "minutes": 5, "salt": 1, "lid": None}, "a cook", cook)
    both = ConfigDict({"dish": "stew", "minutes": 1, "spoons": ((1, 2),), "tray": {"size": 3}})
    read_section("meal", both, "a cook", cook, serve)


@pytest.mark.parametrize(
    "values, sentence",
    [
        ({"minuts": 5}, "--config.meal.minuts=5 is not an option of a cook; did you mean minutes?"),
        ({"wine": 1}, "--config.meal.wine=1 is not an option of a cook, which takes dish, hot, li"),
        ({"minutes": "5"}, "--config.meal.minutes='5' must be a whole number."),
        ({"minutes": 5.0}, "--config.meal.minutes=5.0 must be a whole number."),
        ({"minutes": 2**31}, f"--config.meal.minutes={2**31} must be at most 2,147,483,647."),
        (
            {"plates": (1, 2**31)},
            f"--config.meal.plates=(1, {2**31}) must be at most 2,147,483,647.",
        ),
        ({"minutes": True}, "--config.meal.minutes=True must be a whole number."),
        ({"salt": float("nan")}, "--config.meal.salt=nan must be a finite number."),
        ({"salt": float("inf")}, "--config.meal.salt=inf must be a finite number."),
        ({"salt": "much"}, "--config.meal.salt='much' must be a finite number."),
        ({"hot": 1}, "--config.meal.hot=1 must be True or False."),
        ({"dish": 3}, "--config.meal.dish=3 must be a string."),
        ({"lid": 0.5}, "--config.meal.lid=0.5 must be a whole number or None."),
        ({"plates": 2}, "--config.meal.plates=2 must be a tuple of whole numbers."),
        ({"plates": (1, "2")}, "--config.meal.plates=(1, '2') must be a tuple of whole numbers."),
        ({"spoons": ((1,),)}, "--config.meal.spoons=((1,),) must be a tuple of pairs of whole num"),
        ({"tray": 3}, "--config.meal.tray=3 must be a section of options or None."),
        ({"dish": "suop"}, "--config.meal.dish=suop must be soup or stew; did you mean soup?"),
        ({"dish": "salad"}, "--config.meal.dish=salad must be soup or stew."),
        ({"minutes": 0}, "--config.meal.minutes=0 must be at least 1."),
    ],
)
def test_a_wrong_value_is_named_with_what_it_may_be(values, sentence):
    assert refusal(**values).startswith(sentence)


def test_sizes_of_a_model_are_bounded():
    read_section("encoder", {"size": 2**16}, "a pan", Pan)
    with pytest.raises(UserError, match="^--config.encoder.size=65537 must be at most 65,536.$"):
        read_section("encoder", {"size": 2**16 + 1}, "a pan", Pan)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"salt": 1e12}, "--config.meal.salt=1000000000000.0 must be at most 1,000,000."),
        ({"salt": 2 * 10**9}, "--config.meal.salt=2000000000 must be at most 1,000,000."),
        ({"salt": -1e300}, "--config.meal.salt=-1e+300 must be at least -1,000,000."),
        ({"salt": 1e-300}, "--config.meal.salt=1e-300 must be 0, or at least 1e-30 away from it."),
        (
            {"minutes": -(2**31)},
            "--config.meal.minutes=-2147483648 must be at least -2,147,483,647.",
        ),
        (
            {"spoons": ((1, 2**31),)},
            "--config.meal.spoons=((1, 2147483648),) must be at most 2,147,483,647.",
        ),
    ],
)
def test_numbers_that_float32_cannot_compute_with_are_refused(values, sentence):
    assert refusal(**values) == sentence


@pytest.mark.parametrize("salt", [0.0, -0.0, 1e-30, -1e6, 10**6])
def test_other_numbers_pass(salt):
    read_section("meal", {"dish": "soup", "minutes": 2**31 - 1, "salt": salt}, "a cook", cook)


def test_an_option_without_a_default_must_be_there():
    with pytest.raises(UserError, match="^--config.meal.minutes is missing; a cook needs it.$"):
        read_section("meal", {"dish": "soup"}, "a cook", cook)


def test_names_are_checked_before_types_and_these_before_values():
    assert "minuts" in refusal(minuts=1, salt="much", dish="salad")
    assert "salt" in refusal(salt="much", dish="salad")


def test_a_class_takes_the_options_of_its_bases_too():
    assert list(options_of(Wok)) == ["depth", "size"]


def test_what_is_given_already_is_no_option():
    assert list(options_of(functools.partial(Wok, depth=3))) == ["size"]
    with pytest.raises(UserError, match="depth=2 is not an option of a wok, which takes size"):
        read_section("pan", {"depth": 2}, "a wok", functools.partial(Wok, depth=3))


def test_a_component_is_chosen_by_name():
    dishes = {"soup": cook, "stew": serve}
    assert chosen(dishes, "meal", {"name": "stew"}) is serve
    with pytest.raises(UserError, match=re.escape("--config.meal.name=stewed must be soup or st")):
        chosen(dishes, "meal", {"name": "stewed"})
    with pytest.raises(UserError, match="^--config.meal.name is missing; name soup or stew.$"):
        chosen(dishes, "meal", {})
