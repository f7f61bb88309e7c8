"""Exact parameter counts, without embeddings. A config that is missing here fails."""

from pathlib import Path

import pytest
import tensorflow as tf
from training_runs import ROOT, load_config

from disan_tf.encoders import DiSAN
from disan_tf.layers import DirectionalSelfAttention, Source2Token
from disan_tf.tasks import build_model, count_parameters

# (config, variant) -> parameters; the reference notes have 1,806,000 for the authors' SST model.
COUNTS = {
    ("disan_sst", ""): 1_806_005,
    ("disan_sst", "official"): 1_806_000,
    ("disan_sst", "binary"): 1_805_102,
    ("disan_sst", "sentence"): 1_806_005,
    ("disan_sst", "tiny"): 5_445,
    ("disan_snli", ""): 2_345_403,  # as the notes have it
    ("disan_snli", "official"): 2_345_403,
    ("disan_snli", "tiny"): 6_947,
    ("demo", ""): 83_010,
}


def _parameters(layer, dim):
    layer.build([None, None, dim])
    return sum(int(tf.size(weight)) for weight in layer.trainable_weights)


def test_a_disa_block_of_300_units_has_451500():
    assert _parameters(DirectionalSelfAttention(), 300) == 451_500


def test_source2token_of_600_units_has_721200():
    assert _parameters(Source2Token(), 600) == 721_200


def test_the_encoder_has_two_blocks_and_source2token():
    assert _parameters(DiSAN(), 300) == 2 * 451_500 + 721_200 == 1_624_200


@pytest.mark.parametrize("name, variant", COUNTS)
def test_a_config_has_its_parameters(name, variant):
    config = load_config(name, variant)
    model = build_model(config, (10, 3), config.data.get("classes", 3))  # SNLI has three
    assert count_parameters(model) == COUNTS[name, variant]


def test_every_config_and_variant_has_an_entry():
    found = set()
    for path in Path(ROOT / "configs").glob("*.py"):
        found.add((path.stem, ""))
        known = _variants(path.stem)
        found |= {(path.stem, variant) for variant in known}
    assert found == set(COUNTS)


def _variants(name):
    """The variants that the error about an unknown one lists."""
    with pytest.raises(ValueError, match="has no variant 'no such'") as error:
        load_config(name, "no such")
    return [word for word in str(error.value).split(" it has ")[1].split(", ") if word]
