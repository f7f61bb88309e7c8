"""disan_tf/common/errors.py: which failures are one sentence, and which are ours to mend."""

import errno
import os

import pytest
import tensorflow as tf

from disan_tf.common.errors import UserError, exit_status, explain


def test_the_sentence_of_a_user_error_is_its_own():
    assert explain(UserError("a.txt, line 3: no label; add one.")) == (
        "a.txt, line 3: no label; add one."
    )


def test_what_a_damaged_file_holds_is_not_told_at_length():
    for letter, shown in (("x", "x"), ("\0", r"\x00")):
        told = explain(UserError(f"a.txt, line 3: {letter * 10**6} is no label; add one."))
        assert 1400 < len(told) < 1600
        assert told.startswith(f"a.txt, line 3: {shown}")
        assert told.endswith(f"{shown} is no label; add one.")


def test_a_sentence_is_one_line_that_a_terminal_can_show():
    told = explain(UserError("a.txt: 'b\0\x1b[2J\n\udc80é' is no label; add one."))
    assert told == r"a.txt: 'b\x00\x1b[2J\n\udc80é' is no label; add one."


@pytest.mark.parametrize(
    "number, remedy",
    [
        (errno.ENOSPC, "free some space"),
        (errno.EACCES, "choose a path that you may use"),
        (errno.ENOTDIR, "a file is in the place of a folder"),
        (errno.ELOOP, "its links lead in a circle"),
        (errno.EIO, "check the disk or the network"),
        (errno.ETXTBSY, "another program uses it"),
        (errno.EINTR, "try again"),
    ],
)
def test_the_operating_system_is_quoted_with_path_and_remedy(number, remedy):
    error = OSError(number, os.strerror(number), "runs/x")
    assert explain(error).startswith(f"runs/x: {os.strerror(number)}; {remedy}")


def test_the_arguments_of_a_layer_are_left_out_of_its_error():
    class Large(tf.keras.layers.Layer):
        def call(self, inputs):
            raise tf.errors.ResourceExhaustedError(None, None, "OOM when allocating a tensor")

    with pytest.raises(tf.errors.ResourceExhaustedError, match="Call arguments") as caught:
        Large()(tf.ones([1]))
    assert explain(caught.value) == (
        "There is not enough memory (OOM when allocating a tensor); use smaller batches or a "
        "smaller model."
    )


def test_a_library_may_hide_the_number_in_its_message():
    text = "unable to write\n(file write failed: errno = 28, error message = 'No space left')"
    assert "; free some space" in explain(OSError(text))


def test_tensorflow_tells_of_a_full_disk_in_words():
    node = "{{function_node __wrapped__SaveV2_dtypes_1_device_/job:localhost/device:CPU:0}}"
    text = f"{node} x.index; No space left on device [Op:SaveV2]"
    error = tf.errors.ResourceExhaustedError(None, None, text)
    assert explain(error) == (
        "x.index; No space left on device; free some space, or choose another folder."
    )


def test_too_little_memory_is_said_with_what_needs_it():
    assert explain(MemoryError()) == (
        "There is not enough memory; use smaller batches or a smaller model."
    )
    error = tf.errors.ResourceExhaustedError(None, None, "OOM when allocating [5,5]")
    assert explain(error).startswith("There is not enough memory (OOM when allocating [5,5]);")


@pytest.mark.parametrize(
    "error", [ValueError("x"), KeyError("x"), tf.errors.InvalidArgumentError(None, None, "rank")]
)
def test_other_errors_are_ours_to_mend(error):
    assert explain(error) is None


def test_a_command_ends_with_the_sentence_and_status_2(capsys, tmp_path):
    assert exit_status(lambda: None) == 0
    assert exit_status((tmp_path / "missing").read_text) == 2
    assert capsys.readouterr().err == (
        f"{tmp_path}/missing: No such file or directory; check the path.\n"
    )
    with pytest.raises(ZeroDivisionError):
        exit_status(lambda: 1 / 0)
