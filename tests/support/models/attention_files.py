"""Folders as `attend` writes them, of models that never were, with random weights."""

import json
from pathlib import Path

import numpy as np

CLASSES = ["negative", "positive"]
_AXES = {2: ["token", "feature"], 3: ["head", "dependent", "feature"]}


def disan(tokens, features=6, generator=None) -> dict:
    """What `DiSAN.attend` gives of a sentence."""
    generator = generator or np.random.default_rng(len(tokens))
    length = len(tokens)
    earlier = np.tril(np.ones([length, length]), -1)
    return {
        "forward_attention": _between(earlier, features, generator),
        "backward_attention": _between(earlier.T, features, generator),
        "forward_gate": generator.random([length, features], np.float32),
        "backward_gate": generator.random([length, features], np.float32),
        "source2token": _shares(generator.random([length, 2 * features]), 0),
    }


def resan(tokens, features=6) -> dict:
    """What `ReSAN.attend` gives: every second token is a head, the first three are dependents."""
    places = np.arange(len(tokens))
    heads, dependents = places % 2 == 0, places < 3
    tensors = disan(tokens, features)
    for name in ("forward_attention", "backward_attention"):
        allowed = (tensors[name].sum(axis=-1) > 0) & heads[:, None] & dependents[None]
        tensors[name] = _between(allowed, features, np.random.default_rng(1))
    return {
        **tensors,
        "selected_heads": heads.astype(np.float32)[:, None],
        "selected_dependents": dependents.astype(np.float32)[:, None],
    }


def dsa(tokens, attentions=3) -> dict:
    """What `DSAEncoder.attend` and `weight_vectors` give, of two iterations."""
    generator, length = np.random.default_rng(len(tokens)), len(tokens)
    return {
        "attention_1": np.full([length, attentions], 1 / length, np.float32),
        "attention": _shares(generator.random([length, attentions]), 0),
        "weight_vectors": generator.random([2, attentions, 4], np.float32),
    }


def drcn(first, second, functions=("bilinear", "cosine"), layers=5) -> list[dict]:
    """What `DRCN.attend_pair` gives."""
    generator, sizes = np.random.default_rng(3), (len(first), len(second))
    return [
        {
            f"{function}_{layer}": _shares(generator.random([*shape, 1]), 1)
            for layer in range(1, layers + 1)
            for function in functions
        }
        for shape in (sizes, sizes[::-1])
    ]


def write_sentence(folder: Path, number: int, tokens, tensors: dict, **record) -> None:
    """A line of a model of single sentences."""
    described = {"text": " ".join(tokens), "tokens": tokens}
    _write(folder, number, {**described, **record}, tensors)


def write_pair(folder: Path, number: int, pair, tensors: list[dict], **record) -> None:
    """A line of a model of premise and hypothesis."""
    fields = ("premise", "hypothesis")
    described = {field: " ".join(tokens) for field, tokens in zip(fields, pair)}
    described.update({f"{field}_tokens": tokens for field, tokens in zip(fields, pair)})
    named = {
        f"{field}_{name}": tensor
        for field, each in zip(fields, tensors)
        for name, tensor in each.items()
    }
    _write(folder, number, {**described, **record}, named)


def _write(folder, number, record, tensors):
    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / f"{number:05d}"
    np.savez_compressed(stem.with_suffix(".npz"), **tensors)
    axes = {name: _AXES[tensor.ndim] for name, tensor in tensors.items()}
    means = {
        f"{name}_mean": tensor.mean(axis=-1).round(6).tolist() for name, tensor in tensors.items()
    }
    answer = {"label": "positive", "probabilities": dict(zip(CLASSES, (0.25, 0.75)))}
    pair = [name[: -len("_tokens")] for name in record if name.endswith("_tokens")]
    sentences = {field: field for field in pair} or {"sentence": "text"}
    names = {"sentences": sentences, "prediction": {name: name for name in answer}}
    written = {**answer, **record, "field_names": names, "axes": axes, **means}
    stem.with_suffix(".json").write_text(json.dumps(written, ensure_ascii=False), "utf-8")


def _between(allowed, features, generator):
    weights = generator.random([*allowed.shape, features]) * (allowed > 0)[..., None]
    return _shares(weights, 1)


def _shares(weights, axis):
    total = weights.sum(axis=axis, keepdims=True)
    return (weights / np.where(total, total, 1.0)).astype(np.float32)
