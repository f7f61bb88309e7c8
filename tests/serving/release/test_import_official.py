"""Checkpoints of the authors' TensorFlow 1 code as models of ours."""

import functools
import re
import sys

import numpy as np
import pytest
import tensorflow as tf

import disan_tf
from disan_tf.common.errors import exit_status
from disan_tf.runs.bundle import load_bundle
from disan_tf.serving.release import import_official as command
from disan_tf.serving.release.import_official import import_official
from disan_tf.serving.release.official_checkpoint import OfficialCheckpoint
from disan_tf.serving.release.official_variables import is_weight
from tests.support.errors import user_error
from tests.support.golden import checkpoints, official
from tests.support.golden.pairs import SENTENCES
from tests.support.golden.resan import use_uniforms
from tests.support.runs.training import load_config

RELU = {"encoder.activation": "relu", "task.activation": "relu"}
BASE = "official,without_hard_attention"
# golden file -> config, variant, further options: the rows of the table in disan_tf/serving
NETWORKS = {
    "snli_disan.npz": ("disan_snli", "official", {}),
    "snli_exp_emb_dir_mul_attn.npz": ("disan_snli", "official", {}),
    "snli_exp_emb_attn.npz": ("disan_snli", "official,additive", {}),
    "snli_exp_emb_mul_attn.npz": ("disan_snli", "official,source2token", {}),
    "snli_exp_bi_lstm_mul_attn.npz": ("disan_snli", "official,bi_lstm", RELU),
    "snli_exp_emb_self_mul_attn.npz": ("disan_snli", "official,without_directions", {}),
    "sst_disan.npz": ("disan_sst", "official", {}),
    "sst_exp_emb_dir_mul_attn.npz": ("disan_sst", "official", {}),
    "snli_hw_resan_gs10.npz": ("resan_snli", "official", {}),
    "snli_hw_resan_exp_gs10.npz": ("resan_snli", "official", {"encoder.unselected": "mean"}),
    "snli_hw_resan_base_gs10.npz": ("resan_snli", BASE, {}),
    "sick_resan_mse_gs10.npz": ("resan_sick", "official", {}),
    "sick_resan_kl_gs10.npz": ("resan_sick", "official", {"task.loss": "kl"}),
    "sick_resan_base_mse_gs10.npz": ("disan_sick", "official", {}),
}
SICK_BASE = {"sick_resan_base_mse_gs10.npz": ("resan_sick", BASE, {})}
WEIGHT = "disan/output/pre_output/bias"


def _config(name, network):
    """The network's config with the small sizes of the golden file."""
    config_name, variant, options = network
    arrays, meta = official.load(name)
    weights = official.by_our_path(arrays)
    config = load_config(config_name, variant).copy_and_resolve_references().unlock()
    dim = meta["word_embedding_length"]
    bias = weights.get("forward_block.attention_bias", weights.get("forward_lstm.bias"))
    config.update_from_flattened_dict(
        {
            "embedding.dim": dim,
            "data.embedding_dim": dim,
            "task.hidden_units": len(weights["head.hidden.dense.bias"]),
            **options,
        }
    )
    if "units" in config.encoder:
        units = dim if bias is None else len(bias) // (4 if "bi_lstm" in name else 1)
        config.encoder.units = units
    return config.lock()


def _write_words(path, count, first=0):
    path.write_text("".join(f"word{number}\n" for number in range(first, first + count)))
    return path


def _write_vectors(path, rows, first):
    """A vector file with the fixed words of a golden file, and with a word that is trained."""
    lines = [
        f"word{first + place} {' '.join(map(repr, row.tolist()))}" for place, row in enumerate(rows)
    ]
    lines.insert(1, " ".join(["word0"] + ["9.0"] * rows.shape[1]))
    path.write_text("\n".join(lines) + "\n")
    return path


def _import(name, network, folder, change=lambda arrays: arrays):
    """Imports a golden file's weights with all that stands beside them; returns the folder."""
    weights = checkpoints.variables(name)
    saved = change({**weights, **checkpoints.others(weights)})
    checkpoint = checkpoints.write(folder / "model.ckpt", saved)
    (table,) = [array for key, array in weights.items() if key.endswith("/emb_mat")]
    fixed = official.load(name)[0]["in/glove_fixed_mat"]
    words = _write_words(folder / "words.txt", len(table))
    vectors = _write_vectors(folder / "vectors.txt", fixed, len(table))
    import_official(checkpoint, words, _config(name, network), folder / "model", vectors)
    return folder / "model"


def _logits(bundle, arrays):
    """The logits of a golden file's batch, with its uniforms where tokens are selected."""
    keys = SENTENCES if "in/token" not in arrays else ("token",)
    ids = [tf.constant(arrays[f"in/{key}"]) for key in keys]
    options = {}
    if bundle.model.samplers:
        use_uniforms(bundle.model, arrays)
        options["selections"] = bundle.model.select(*ids, how="sample")
    return bundle.model(*ids, **options)


@pytest.mark.parametrize("name, network", [*NETWORKS.items(), *SICK_BASE.items()])
def test_logits_equal_the_authors(name, network, tmp_path):
    bundle = load_bundle(_import(name, network, tmp_path))
    arrays, _ = official.load(name)
    np.testing.assert_allclose(_logits(bundle, arrays), arrays["out/logits"], atol=1e-5, rtol=1e-5)
    assert bundle.info["scores"] == {"step": checkpoints.STEP}


def test_the_model_reads_raw_text(tmp_path):
    folder = _import("snli_disan.npz", NETWORKS["snli_disan.npz"], tmp_path)
    model = disan_tf.load(folder)
    (prediction,) = model.predict([("Word0 word3", "word2 , said word1")])
    assert [*prediction["probabilities"]] == ["contradiction", "neutral", "entailment"]
    ids = load_bundle(folder).text_to_ids()(tf.constant(["Word0 nothing word1-word13"]))
    assert ids.numpy().tolist() == [[2, 1, 3, 1, 15]]  # word13 comes from the vector file


@pytest.fixture
def snli(tmp_path):
    """Function (change, **options) -> the message of an import of SNLI's DiSAN that must fail."""
    name = "snli_disan.npz"

    def refusal(change=lambda arrays: arrays, **options):
        weights = checkpoints.variables(name)
        saved = change({**weights, **checkpoints.others(weights)})
        given = {
            "checkpoint": checkpoints.write(tmp_path / "model.ckpt", saved),
            "words": _write_words(
                tmp_path / "words.txt", len(weights["disan/emb/gene_token_emb_mat/emb_mat"])
            ),
            "config": _config(name, NETWORKS[name]),
            "output": tmp_path / "model",
            **options,
        }
        message = user_error(functools.partial(import_official, **given))
        assert not (tmp_path / "model").exists()
        return message

    return refusal


def test_a_missing_variable_is_named(snli):
    message = snli(lambda arrays: {key: arrays[key] for key in arrays if key != WEIGHT})
    assert "lacks the variable output/pre_logits_linear/bias or output/pre_output/bias" in message
    assert "choose the config of the same network" in message


def test_a_missing_variable_of_a_block_is_named(snli):
    message = snli(
        lambda arrays: {key: arrays[key] for key in arrays if "bw/attention/f_bias" not in key}
    )
    assert "lacks the variable dir_attn_bw/.../attention/f_bias; choose" in message


@pytest.mark.parametrize("name", ["disan/surplus/W", "disan/output/pre_output1/gate/linear_map/W"])
def test_a_surplus_variable_is_named(snli, name):
    message = snli(lambda arrays: {**arrays, name: np.zeros(3, np.float32)})
    assert f"has a variable {name}, and the config's model has no such weight; choose" in message


def test_two_variables_of_one_weight_are_named(snli):
    other = "other/output/pre_output/bias"
    message = snli(lambda arrays: {**arrays, other: arrays[WEIGHT]})
    assert other in message and WEIGHT in message and "two variables for one weight" in message


def test_a_variable_of_another_shape_is_named(snli):
    message = snli(lambda arrays: {**arrays, WEIGHT: np.zeros(99, np.float32)})
    assert message.startswith(WEIGHT) and "shape (99,)" in message
    assert "set --config.embedding.dim, --config.encoder.units" in message


@pytest.mark.parametrize("value", [np.float32(np.nan), np.int32(1)])
def test_a_variable_without_finite_numbers_is_named(snli, value):
    message = snli(
        lambda arrays: {**arrays, WEIGHT: np.full_like(arrays[WEIGHT], value, value.dtype)}
    )
    assert message.startswith(WEIGHT) and "finite" in message


@pytest.mark.parametrize("step", [np.float32("nan"), np.float64("-inf"), "many", True])
def test_a_step_that_is_no_number_is_refused(step, tmp_path):
    path = checkpoints.write(tmp_path / "model.ckpt", {"global_step": np.array(step)})
    message = user_error(OfficialCheckpoint(path).step)
    assert message == (
        f"global_step of --checkpoint={path} must be a finite number; choose another checkpoint."
    )


def test_a_network_of_another_config_is_refused(snli):
    message = snli(config=_config("snli_disan.npz", ("resan_snli", "official", {})))
    assert "lacks the variable" in message and "choose the config of the same network" in message
    message = snli(config=load_config("disan_trec"))
    assert "choose a config of DiSAN or ReSAN on snli, sick or sst" in message


@pytest.mark.parametrize(
    "content, phrase",
    [
        ("a\nb\na\n", "has 'a' in lines 1 and 3; list each word once"),
        ("", "is empty; list the words"),
        ("a\nb\n", "has 2 words, and .* has vectors of [0-9]+; list the words of ids 2 and up"),
    ],
)
def test_a_wrong_word_list_is_refused(snli, tmp_path, content, phrase):
    (tmp_path / "list.txt").write_text(content)
    message = snli(words=tmp_path / "list.txt")
    assert re.search(phrase, message), message


@pytest.mark.parametrize("what", ["absent", "cut", "damaged", "empty"])
def test_a_broken_checkpoint_is_refused(snli, tmp_path, what):
    weights = checkpoints.variables("snli_disan.npz")
    prefix = checkpoints.write(tmp_path / "broken.ckpt", weights)
    data, index = tmp_path / "broken.ckpt.data-00000-of-00001", tmp_path / "broken.ckpt.index"
    content = data.read_bytes()
    if what == "absent":
        index.unlink()
    elif what == "cut":
        data.write_bytes(content[:40])
    elif what == "damaged":
        data.write_bytes(bytes(byte ^ 1 for byte in content))
    else:
        index.write_bytes(b"")
    message = snli(checkpoint=prefix)
    assert (
        f"--checkpoint={prefix} cannot be read" in message and "name the common prefix" in message
    )


def test_an_output_that_exists_is_kept(tmp_path):
    (tmp_path / "model").mkdir()
    message = user_error(import_official, "none", "none", None, tmp_path / "model")
    assert "exists already" in message


def test_slots_averages_and_the_step_are_no_weights():
    weights = checkpoints.variables("snli_disan.npz")
    assert all(map(is_weight, weights))
    assert not any(map(is_weight, checkpoints.others(weights)))


def _run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["import_official", *map(str, arguments)])
    return exit_status(lambda: command.main(sys.argv))


def test_the_command_writes_a_model(monkeypatch, tmp_path, capsys):
    name = "snli_disan.npz"
    weights, config = checkpoints.variables(name), _config(name, NETWORKS[name])
    checkpoint = checkpoints.write(tmp_path / "model.ckpt", weights)
    words = _write_words(
        tmp_path / "words.txt", len(weights["disan/emb/gene_token_emb_mat/emb_mat"])
    )
    sizes = {
        "embedding.dim": config.embedding.dim,
        "encoder.units": config.encoder.units,
        "task.hidden_units": config.task.hidden_units,
    }
    status = _run(
        monkeypatch,
        f"--checkpoint={checkpoint}",
        f"--words={words}",
        "--config=configs/disan_snli.py:official",
        *(f"--config.{key}={value}" for key, value in sizes.items()),
        f"--output={tmp_path / 'model'}",
    )
    out, error = capsys.readouterr()
    assert status == 0, error
    assert "disan_snli of step 0" in out and "0 others" in out
    assert disan_tf.load(tmp_path / "model").fields == ("premise", "hypothesis")


@pytest.mark.parametrize(
    "arguments, phrase",
    [
        (["--checkpoint=a", "--output=b"], "--words is missing"),
        (["--checkpoint=a", "--output=b", "--words=c"], "--config is missing"),
        (["--chekpoint=a"], "chekpoint"),
        (["more"], "more is not a flag"),
        (["--config=configs/disan_snli.py:oficial"], "did you mean official?"),
    ],
)
def test_wrong_flags_are_refused_in_a_sentence(monkeypatch, capsys, arguments, phrase):
    assert _run(monkeypatch, *arguments) == 2
    error = capsys.readouterr().err
    assert phrase in error and len(error.splitlines()) == 1


def test_help_names_the_flags(monkeypatch, capsys):
    assert _run(monkeypatch, "--help") == 0
    shown = capsys.readouterr().out
    assert "--words=words.txt" in shown and "--vectors: the vector file" in shown
