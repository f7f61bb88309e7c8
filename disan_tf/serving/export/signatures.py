"""The functions behind the signatures of exported models, for ids and for text."""

import functools
from collections.abc import Mapping, Sequence
from typing import Callable, NamedTuple, Optional

import tensorflow as tf

from disan_tf.models.base import SENTENCE, prefix_of
from disan_tf.ops.tracing import compilable
from disan_tf.runs.bundle import Bundle
from disan_tf.serving.export.row_blocks import in_row_blocks
from disan_tf.serving.inference.encode import vector_size
from disan_tf.serving.inference.lines import NO_KNOWN_WORD
from disan_tf.serving.inference.records import text_name, tokens_name
from disan_tf.text import TextToIds


class Method(NamedTuple):
    """A function of a model, and the form of its inputs and outputs.

    Attributes:
      function: ids and word features -> <float32>[batch, size], traced once for all exports.
      size: the size of a row of its result.
      describe: the result -> the outputs by name.
      fields: the sentences that it reads.
      specs: the specs of its inputs.
    """

    function: Callable
    size: int
    describe: Callable[[tf.Tensor], dict]
    fields: Sequence[str]
    specs: Sequence[tf.TensorSpec]


class Graphs(NamedTuple):
    """The functions of an exported model, not yet traced.

    Attributes:
      signatures: the `tf.function`s of the signatures by name.
      function: encodes a whole batch, as the loaded object does; None without sentence vectors.
    """

    signatures: Mapping[str, Callable]
    function: Optional[Callable]


def make_function(function: Callable, specs: Sequence[tf.TensorSpec]) -> Callable:
    """Makes a `tf.function` of inputs with these specs, which have names."""
    return tf.function(function, input_signature=specs, autograph=False)


def methods_of(bundle: Bundle) -> dict[str, Method]:
    """Returns the methods of a model with `attention_form="saved"`, by signature."""
    model, specs = bundle.model, bundle.model.signatures()

    def encode(*inputs):
        return tf.cast(model.encode(*inputs, training=False), tf.float32)

    encode = _traced_once(encode, specs.get("encode"))

    def predict(*inputs):
        if model.fields == SENTENCE:  # reuses the graph of the signature "encode"
            outputs = model.head(encode(*inputs), training=False)
        else:
            outputs = model(*inputs, training=False)
        logits, lacking = (tf.cast(it, tf.float32) for it in (outputs, model.lacks_words(*inputs)))
        return tf.concat([logits, lacking[:, None]], axis=1)

    def describe(outputs):
        return {**_describe(outputs[:, :-1], bundle), NO_KNOWN_WORD: outputs[:, -1] > 0.5}

    predict, size = _traced_once(predict, specs["call"]), len(bundle.classes) + 1
    methods = {"serving_default": Method(predict, size, describe, model.fields, specs["call"])}
    if "encode" in specs:
        size, described = vector_size(bundle), lambda vectors: {"vectors": vectors}
        methods["encode"] = Method(encode, size, described, SENTENCE, specs["encode"])
    return methods


def _traced_once(function, specs):
    """Returns a function that is traced once, into a graph that several graphs call."""

    @functools.cache
    def graph():
        with tf.init_scope():  # it captures nothing of the graph that calls it
            return make_function(function, specs).get_concrete_function()

    def call(*tensors):
        return graph()(*tensors)

    return functools.update_wrapper(call, function)


def graphs_of_ids(methods: Mapping[str, Method], max_tokens: Optional[int]) -> Graphs:
    """Makes the functions of ids <int32>[batch, length] and word features.

    They read `max_tokens` of a sentence and return `truncated` <bool>[batch]; None = all. XLA can
    compile the function of the object itself: it has neither blocks of rows nor shapes that depend
    on the data.
    """
    signatures = {
        name: make_function(_in_blocks_of_ids(method, max_tokens), method.specs)
        for name, method in methods.items()
    }
    method = methods.get("encode")

    def encode(*inputs):
        with compilable():
            return method.function.__wrapped__(*(tensor[:, :max_tokens] for tensor in inputs))

    return Graphs(signatures, method and make_function(encode, method.specs))


def _in_blocks_of_ids(method: Method, max_tokens):
    count = len(method.fields)

    def of_ids(*inputs):
        lengths = tf.stack([_ends(ids) for ids in inputs[:count]], axis=1)
        cut = [tensor[:, :max_tokens] for tensor in inputs]

        def of_rows(rows, widths):
            return method.function(
                *(tf.gather(x, rows)[:, : widths[k % count]] for k, x in enumerate(cut))
            )

        return _in_blocks(method, of_rows, lengths, max_tokens)

    return of_ids


def graphs_of_text(
    bundle: Bundle,
    methods: Mapping[str, Method],
    text_to_ids: TextToIds,
    max_tokens: Optional[int],
    attend_tokens: int,
) -> Graphs:
    """Makes the functions of text <string>[batch]; see `graphs_of_ids`.

    `attend` rejects texts of more than `attend_tokens` tokens.
    """
    signatures = {
        name: make_function(
            _in_blocks_of_text(method, text_to_ids, max_tokens), _text_specs(method.fields)
        )
        for name, method in methods.items()
    }
    attend = _attention_of_text(bundle.model, text_to_ids, max_tokens, attend_tokens)
    signatures["attend"] = make_function(attend, _text_specs(bundle.model.fields))
    method = methods.get("encode")

    def encode(text):
        words = text_to_ids.tokens(text)[:, :max_tokens]
        return _zero_blanks(method.function(*text_to_ids.inputs(words)), words.row_lengths())

    return Graphs(signatures, method and make_function(encode, _text_specs(SENTENCE)))


def _text_specs(fields):
    return [tf.TensorSpec([None], tf.string, name=text_name(field)) for field in fields]


def _in_blocks_of_text(method: Method, text_to_ids, max_tokens):
    def of_text(*texts):
        read = [*map(text_to_ids.tokens, texts)]
        lengths = tf.stack([words.row_lengths() for words in read], axis=1)
        cut = [words[:, :max_tokens] for words in read]

        def of_rows(rows, _):
            return method.function(*text_to_ids.inputs(*(tf.gather(words, rows) for words in cut)))

        outputs = _in_blocks(method, of_rows, tf.cast(lengths, tf.int32), max_tokens)
        if "vectors" in outputs:
            outputs["vectors"] = _zero_blanks(outputs["vectors"], lengths[:, 0])
        return outputs

    return of_text


def _zero_blanks(vectors, lengths):
    """Returns vectors <float32>[batch, dim], with zeros for texts that have no token."""
    return tf.where(lengths[:, None] > 0, vectors, 0.0)


def _in_blocks(method, of_rows, lengths, max_tokens):
    """Computes a method's outputs in row blocks; with `max_tokens` also `truncated`."""
    read = tf.clip_by_value(lengths, 1, max_tokens or lengths.dtype.max)
    outputs = method.describe(in_row_blocks(of_rows, read, method.size))
    return {**outputs, **_truncated(lengths, max_tokens)}


def _truncated(lengths, max_tokens) -> dict:
    return {"truncated": tf.reduce_any(lengths > max_tokens, axis=1)} if max_tokens else {}


def _ends(ids):
    """Returns the position after the last token of each row, <int32>[batch]."""
    positions = tf.range(1, tf.shape(ids)[1] + 1)
    return tf.maximum(0, tf.reduce_max(tf.where(ids != 0, positions, 0), axis=1))


def converted_function(bundle: Bundle, max_tokens: Optional[int]) -> Callable:
    """Makes a function of ids that returns numbers alone, for a whole batch.

    All models have "probabilities", relatedness models "score", sentence models "vectors".
    """
    model = bundle.model

    def predict(*inputs):
        cut, numbers = [tensor[:, :max_tokens] for tensor in inputs], {}
        with compilable():
            if model.fields == SENTENCE:
                numbers["vectors"] = model.encode(*cut, training=False)
                outputs = model.head(numbers["vectors"], training=False)
            else:
                outputs = model(*cut, training=False)
            numbers.update(_describe(tf.cast(outputs, tf.float32), bundle))
        numbers = {
            name: tf.cast(tensor, tf.float32)
            for name, tensor in numbers.items()
            if tensor.dtype.is_floating and name != "logits"
        }
        lengths = tf.stack([_ends(ids) for ids in inputs], axis=1)
        return {**numbers, **_truncated(lengths, max_tokens)}

    return make_function(predict, model.signatures()["call"])


def _describe(outputs, bundle):
    """Returns `serving_default`'s outputs for logits <float32>[batch, classes]."""
    if bundle.model.label_dtype.is_floating:
        predictions = bundle.model.predictions(outputs)
        return {"score": predictions, "probabilities": tf.nn.softmax(outputs)}
    return describe_classes(outputs, bundle.model, bundle.classes)


def describe_classes(outputs, model, classes: Sequence[str]) -> dict[str, tf.Tensor]:
    """Returns the outputs of an exported classifier for logits <float32>[batch, classes]."""
    names = tf.constant(classes, tf.string)
    return {
        "class": tf.gather(names, model.predictions(outputs)),
        "class_names": tf.tile(names[None], [tf.shape(outputs)[0], 1]),
        "logits": outputs,
        "probabilities": tf.nn.softmax(outputs),
    }


def _attention_of_text(model, text_to_ids, max_tokens, limit):
    """Makes a function: texts -> each sentence's tokens, and means of attention tensors.

    The tensors are 0 for heads and tokens that are padding. A mean over the features keeps the
    result small: the tensors themselves have [batch, length, length, dim] numbers.
    """

    def attend(*texts):
        read = [*map(text_to_ids.tokens, texts)]
        lengths = tf.stack([words.row_lengths() for words in read], axis=1)
        read = [words[:, :max_tokens] for words in read]
        longest = tf.reduce_max(tf.stack([words.bounding_shape(1) for words in read]))
        fits = tf.debugging.assert_less_equal(
            read[0].nrows() * longest**2,
            tf.constant(limit**2, tf.int64),
            f"attend holds numbers for every two tokens: it takes one text of up to {limit} "
            f"tokens, or several of which number * length^2 is at most {limit**2}; send fewer or "
            "shorter ones.",
        )
        with tf.control_dependencies([fits]):
            inputs = [tf.identity(tensor) for tensor in text_to_ids.inputs(*read)]
        tensors, result = model.attend(*inputs), {}
        for field, words, ids in zip(model.fields, read, inputs):
            result[tokens_name(field)] = words.to_tensor("", shape=tf.shape(ids, tf.int64))
            for name, tensor in tensors.items():
                if name.startswith(prefix_of(field)):
                    mean = tf.reduce_mean(tensor, axis=-1)
                    mask = ids != 0 if mean.shape.rank == 2 else (ids != 0)[:, :, None]
                    result[name] = tf.where(mask, mean, 0.0)
        return {**result, **_truncated(lengths, max_tokens)}

    return attend
