"""Vectors of sentences: how fast ours are computed beside what a user would take instead.

    python -m pip install fasttext-wheel
    python -m tests.measurements.beside_others [--checkpoint=disan_snli] [--threads=2] \\
      [--output=checkpoints/benchmarks/measurements/beside_others.json]

prints as JSON the sentences a second (the median of rounds that take turns, each in a process of
its own that has warmed up) and the highest memory of a process, of

- "in process": `disan_tf.load(checkpoint).encode`, from text;
- "exported": the signature `encode` of the SavedModel, from text, 256 sentences a call;
- "MiniLM size": a transformer encoder of 6 layers of 384 units with 12 heads, random weights, in
  ONNX Runtime with the fused operators that its optimizer makes of such models; float32;
- "Bi-LSTM": word vectors of 300, a Keras `Bidirectional(LSTM(300))`, maximum over time;
- "fastText": `get_sentence_vector`, the average of 300-dimensional vectors that it has trained on
  the sentences themselves, from text.

The sentences are random words in the lengths of SNLI's. MiniLM and the Bi-LSTM get ids, one a word,
sorted by length, 64 a batch: their tokenizers, and that MiniLM's makes more pieces than there are
words, cost them nothing here. What is not installed is left out with the reason.
"""

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Callable

import numpy as np

from disan_tf.benchmark.timing import in_new_process, peak
from disan_tf.common.files import write_json
from tests.measurements.threads import machine, set_threads

SENTENCES = 8192
BATCH = 64
CALL = 256
MINILM = {"layers": 6, "units": 384, "heads": 12, "inner": 1536, "words": 30_522, "longest": 512}


def main() -> None:
    """Prints what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", default="disan_snli")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS))
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    runs = {form: [] for form in options.forms}
    texts = in_new_process(_make_texts, options.checkpoint)
    for _ in range(options.rounds):
        for form, each in runs.items():
            each.append(in_new_process(_measure, form, options.checkpoint, texts, options.threads))
    found = {
        "checkpoint": options.checkpoint,
        "machine": in_new_process(machine, options.threads),
        "sentences": SENTENCES,
        "forms": {form: _summary(each) for form, each in runs.items()},
    }
    print(json.dumps(found, indent=2))
    if options.output:
        write_json(options.output, found)


def _summary(runs) -> dict:
    if isinstance(runs[0], str):
        return {"left out": runs[0]}
    rates, peaks = zip(*runs)
    return {
        "sentences_per_second": round(statistics.median(rates)),
        "peak_gib": round(max(peaks), 2),
    }


def _measure(form, checkpoint, texts, threads):
    """Sentences a second and the peak of this process; or why there are none."""
    try:
        encode = FORMS[form](checkpoint, texts, threads)
    except ImportError as error:
        return str(error)
    times = []
    for _ in range(3):
        started = time.perf_counter()
        assert len(encode()) == SENTENCES
        times.append(time.perf_counter() - started)
    return SENTENCES / min(times[1:]), peak()


def _make_texts(checkpoint) -> list[str]:
    """Words that the checkpoint knows, the frequent ones more often, in the lengths of SNLI's."""
    from disan_tf.benchmark.epoch import snli_shaped_split
    from disan_tf.serving.release.released import find_bundle
    from disan_tf.text.lookup import UNKNOWN_ID

    generator = np.random.default_rng(1)
    lengths = generator.choice(snli_shaped_split(seed=1).field_lengths.ravel(), SENTENCES)
    words = (find_bundle(checkpoint) / "vocabulary.txt").read_text("utf-8").splitlines()
    places = generator.geometric(1e-3, [SENTENCES, lengths.max()]) + UNKNOWN_ID
    return [" ".join(words[k] for k in row[:n]) for row, n in zip(places, lengths)]


def _in_process(checkpoint, texts, threads) -> Callable:
    import disan_tf

    set_threads(threads)
    model = disan_tf.load(checkpoint)
    return lambda: model.encode(texts)


def _exported(checkpoint, texts, threads) -> Callable:
    import tensorflow as tf
    import tensorflow_text  # noqa: F401  registers the tokenizer's operations

    set_threads(threads)
    with tempfile.TemporaryDirectory() as folder:
        loaded = tf.saved_model.load(in_new_process(_export, checkpoint, folder))
    step = loaded.signatures["encode"]

    def encode():
        calls = (texts[k : k + CALL] for k in range(0, SENTENCES, CALL))
        return np.concatenate([step(text=tf.constant(call))["vectors"] for call in calls])

    return encode


def _export(checkpoint, folder) -> str:
    from disan_tf.serving.export.saved_model import export_saved_model
    from disan_tf.serving.release.released import find_bundle

    return str(export_saved_model(find_bundle(checkpoint), folder)[0])


def _batches(texts, words):
    """Ids and masks <int32>[BATCH, longest], of sentences sorted by length."""
    generator, lengths = np.random.default_rng(2), np.sort([len(it.split(" ")) for it in texts])
    for part in np.split(lengths, SENTENCES // BATCH):
        mask = np.arange(part.max()) < part[:, None]
        yield generator.integers(2, words, mask.shape, np.int32) * mask, mask.astype(np.int32)


def _bi_lstm(checkpoint, texts, threads) -> Callable:
    del checkpoint
    import tensorflow as tf

    set_threads(threads)
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Embedding(40_000, 300, mask_zero=True),
            tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(300, return_sequences=True)),
            tf.keras.layers.GlobalMaxPooling1D(),
        ]
    )
    step = tf.function(lambda ids: model(ids), reduce_retracing=True)
    batches = [tf.constant(ids) for ids, _ in _batches(texts, 40_000)]
    return lambda: np.concatenate([step(ids) for ids in batches])


def _minilm(checkpoint, texts, threads) -> Callable:
    del checkpoint
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        _transformer().SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    batches = [dict(zip(("ids", "mask"), batch)) for batch in _batches(texts, MINILM["words"])]
    return lambda: np.concatenate([session.run(None, batch)[0] for batch in batches])


def _transformer():
    """An ONNX model: ids, mask <int32>[batch, length] -> mean <float32>[batch, units]."""
    from onnx import TensorProto, helper, numpy_helper

    generator, units, inner = np.random.default_rng(3), MINILM["units"], MINILM["inner"]
    nodes, weights = [], []

    def weight(*shape):
        return constant((0.05 * generator.standard_normal(shape)).astype(np.float32))

    def constant(values):
        weights.append(numpy_helper.from_array(values, f"w{len(weights)}"))
        return weights[-1].name

    def node(kind, *inputs, domain="com.microsoft", **attributes):
        nodes.append(
            helper.make_node(kind, inputs, [f"t{len(nodes)}"], domain=domain, **attributes)
        )
        return nodes[-1].output[0]

    def plain(kind, *inputs, **attributes):
        return node(kind, *inputs, domain="", **attributes)

    tables = [weight(MINILM["words"], units), weight(MINILM["longest"], units)]
    x = node("EmbedLayerNormalization", "ids", "", *tables, "", weight(units), weight(units))
    nodes[-1].output.append("mask_index")
    for _ in range(MINILM["layers"]):
        attended = node(
            "Attention",
            x,
            weight(units, 3 * units),
            weight(3 * units),
            "mask",
            num_heads=MINILM["heads"],
        )
        attended = plain("MatMul", attended, weight(units, units))
        x = node("SkipLayerNormalization", attended, x, *(weight(units) for _ in range(3)))
        hidden = node("BiasGelu", plain("MatMul", x, weight(units, inner)), weight(inner))
        hidden = plain("MatMul", hidden, weight(inner, units))
        x = node("SkipLayerNormalization", hidden, x, *(weight(units) for _ in range(3)))
    axis, real = constant(np.array([1], np.int64)), plain("Cast", "mask", to=TensorProto.FLOAT)
    x = plain("Mul", x, plain("Unsqueeze", real, constant(np.array([2], np.int64))))
    total = plain("ReduceSum", x, axis, keepdims=0)
    mean = plain("Div", total, plain("ReduceSum", real, axis))
    ids, mask = (
        helper.make_tensor_value_info(name, TensorProto.INT32, ["batch", "length"])
        for name in ("ids", "mask")
    )
    answer = helper.make_tensor_value_info(mean, TensorProto.FLOAT, ["batch", units])
    graph = helper.make_graph(nodes, "transformer", [ids, mask], [answer], weights)
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=versions, ir_version=8)


def _fasttext(checkpoint, texts, threads) -> Callable:
    import fasttext

    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.write("\n".join(texts))
        file.flush()
        model = fasttext.train_unsupervised(
            file.name, dim=300, epoch=1, minCount=1, bucket=200_000, thread=threads, verbose=0
        )
    return lambda: [model.get_sentence_vector(text) for text in texts]


FORMS = {
    "in process": _in_process,
    "exported": _exported,
    "MiniLM size": _minilm,
    "Bi-LSTM": _bi_lstm,
    "fastText": _fasttext,
}

if __name__ == "__main__":
    main()
