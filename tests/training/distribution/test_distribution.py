"""Replicas that share batches make the steps of one process; shares, clusters, refusals."""

import json
import re
import subprocess

import numpy as np
import pytest
import tensorflow as tf
import yaml

from disan_tf.cli.loading import read_config
from disan_tf.common.errors import UserError
from disan_tf.input_pipeline import Batches
from disan_tf.training.distribution import cluster
from disan_tf.training.distribution.strategy import make_shared_dataset, shares_of
from tests.support.corpora.pairs import make_pair_corpus
from tests.support.runs.replicated import compare
from tests.support.runs.training import ROOT, load_config, tiny_config

slow = pytest.mark.slow


@slow
@pytest.mark.parametrize(
    ("name", "replicas", "twice"),
    [
        ("disan_sst", 2, True),  # two runs of the replicas have the same bits
        ("disan_sst", 3, False),  # of the last batch some have no example
        ("resan_snli", 2, False),
        ('resan_snli:{"unselected": "drop"}', 2, False),
        ("dsa_snli", 3, False),
        ('drcn_snli:{"bottleneck_units": 8}', 2, False),
    ],
)
def test_replicas_make_the_steps_of_one_device_each_time(name, replicas, twice, tmp_path):
    differences = compare(name, tmp_path, replicas, twice=twice)
    assert differences["replicas"] == replicas
    assert differences["weights"] < 1e-5 and differences["train"] < 1e-5
    assert differences["dev"] < (1e-4 if name.startswith("drcn") else 1e-5)  # see UNDETERMINED


@slow
def test_the_loss_is_scaled_on_replicas_too(tmp_path):
    differences = compare("disan_sst", tmp_path, dtype="mixed_float16")
    assert differences["train"] < 1e-2  # of half precision


@pytest.mark.parametrize("replicas", [2, 7])
def test_every_example_is_in_one_share(replicas):
    batches = np.array([[5, 6, 7, 8, 9], [1, 2, -1, -1, -1], [3, -1, -1, -1, -1]])
    shares = shares_of(batches, replicas)
    for batch, numbers in zip(batches, shares):
        rows = [batch[first : first + n] for n, first, _, is_real in numbers if is_real]
        np.testing.assert_array_equal(np.concatenate(rows), batch[batch >= 0])
        assert np.ptp([len(row) for row in rows]) <= 1
        assert all(n == 1 and first == 0 for n, first, _, is_real in numbers if not is_real)
    np.testing.assert_array_equal(shares[:, :, 2], [[5] * replicas, [2] * replicas, [1] * replicas])


def test_shares_are_padded_as_the_global_batch(tmp_path):
    split = make_pair_corpus(tmp_path / "corpus").split("train")
    batches = Batches(16, 1, 0, 0).plan(split.field_lengths, 1).batches(0)
    whole = list(make_shared_dataset(split, batches, 1, range(1)))
    shares = list(make_shared_dataset(split, batches, 4, range(4)))
    for (batch,), parts in zip(whole, shares):
        real = [part for part in parts if part["share"][3]]
        for name in ("premise", "hypothesis", "label", "index"):
            joined = tf.concat([part[name] for part in real], axis=0)
            np.testing.assert_array_equal(joined, batch[name])


def test_a_cluster_that_nothing_describes_is_refused(monkeypatch):
    for name in ("TF_CONFIG", "SLURM_PROCID"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UserError, match="multi_worker needs the addresses of the workers: set TF_"):
        cluster.make_distribution("multi_worker")


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '{"cluster": {"worker": ["a:1"]}}',
        '{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 1}}',
        '{"cluster": {"worker": ["a:1"]}, "task": {"type": "boss", "index": 0}}',
        '{"cluster": {"worker": ["a:1"], "ps": ["b:1"]}, "task": {"type": "worker", "index": 0}}',
    ],
)
def test_a_cluster_that_is_described_wrongly_is_refused(monkeypatch, text):
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(UserError, match="TF_CONFIG"):
        cluster.make_distribution("multi_worker")


@pytest.mark.parametrize("gpus", [None, ""])
def test_slurm_tells_who_the_workers_are(monkeypatch, gpus):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if gpus is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", gpus)
    variables = {
        "PROCID": "2",
        "STEP_NUM_TASKS": "3",
        "STEP_NODELIST": "n[1-2]",
        "STEP_TASKS_PER_NODE": "2,1",
    }
    for name, value in variables.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    resolver = cluster.find_workers()
    assert resolver.cluster_spec().as_dict() == {"worker": ["n1:8888", "n1:8889", "n2:8888"]}
    assert (resolver.task_type, resolver.task_id) == ("worker", 2)
    monkeypatch.delenv("SLURM_STEP_NODELIST")
    with pytest.raises(UserError, match="Slurm does not describe the workers"):
        cluster.find_workers()


def test_an_unknown_distribution_is_refused():
    config = tiny_config(distribution="mirorred")
    with pytest.raises(UserError, match="train.distribution=mirorred must be .*mean mirrored"):
        read_config(config)


@pytest.mark.parametrize("name", ["elmo_disan_sst", "bilm"])
def test_what_cannot_be_distributed_yet_is_refused(name):
    config = load_config(name)
    config.train.distribution = "mirrored"
    with pytest.raises(UserError, match="distribution=mirrored cannot train with the embedding"):
        read_config(config)


def _file_of_the_page(language):
    page = (ROOT / "docs/how_to/several_machines.md").read_text(encoding="utf-8")
    (content,) = re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    return content


def test_the_pods_of_the_page_find_each_other():
    service, job = yaml.safe_load_all(_file_of_the_page("yaml"))
    spec, name = job["spec"], job["metadata"]["name"]
    assert service["spec"]["selector"] == {"job-name": name}
    assert service["metadata"]["name"] == spec["template"]["spec"]["subdomain"]
    (container,) = spec["template"]["spec"]["containers"]
    (value,) = (it["value"] for it in container["env"] if it["name"] == "TF_CONFIG")
    described = json.loads(value.replace("$(INDEX)", "1"))
    hosts = [f"{name}-{k}.{name}:8888" for k in range(spec["completions"])]
    assert described["cluster"] == {"worker": hosts}
    assert described["task"] == {"type": "worker", "index": 1}


def test_the_script_of_the_page_is_one_for_bash():
    done = subprocess.run(["bash", "-n"], input=_file_of_the_page("bash"), text=True)
    assert done.returncode == 0
