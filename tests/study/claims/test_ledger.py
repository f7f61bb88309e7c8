"""The ledger: the papers' claims, each verdict from small results, and what prevents one."""

import copy
import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from disan_tf.common.errors import UserError
from disan_tf.metrics.differences import Interval, Predictions, difference
from disan_tf.study.claims.conditions import other_trainings
from disan_tf.study.claims.evidence import (
    Benchmark,
    Lengths,
    Measured,
    Parameters,
    Recall,
    Selection,
    Untested,
)
from disan_tf.study.claims.ledger import (
    LARGER,
    NOT_SUPPORTED,
    NOT_TESTED,
    SUPPORTED,
    UNDECIDED,
    Claim,
    Entry,
    render_claims,
)
from disan_tf.study.claims.rows import LOWER_IS_BETTER, Finding, Rows
from disan_tf.study.papers import read_of_all, read_section
from disan_tf.study.results import Records
from tests.support.runs.finished import DATA, config_of

EXAMPLES = 1000
LABELS = np.zeros(EXAMPLES, np.uint8)
MODELS = ("DiSAN", "Bi-LSTM with s2t self-attention")
ROWS = Rows("disan_table_2", MODELS)
CLAIM = Claim("It leads.", "Table 2", ROWS, "a qualification")
CLAIMS = read_of_all("claims", tuple[Claim, ...])


def _predictions_of(share):
    """Predictions of which exactly this share is correct."""
    return Predictions((np.arange(EXAMPLES) >= share * EXAMPLES).astype(np.uint8), LABELS)


def _series(encoder, shares):
    """A result with one member for each share of correct test examples."""
    about = {"fold": None, "steps": 30, "dev_curve": [[30, 0.5]]}
    members = [
        {"seed": seed, "scores": {"test": {"accuracy": share}}, **about}
        for seed, share in enumerate(shares, start=1)
    ]
    scores = {split: {"accuracy": float(np.mean(shares))} for split in ("dev", "test")}
    config = config_of(encoder=encoder)
    config["data"]["lowercase"], config["task"] = False, {"hidden_units": 16}
    about = {"data": DATA, "parameters": 1000, "best_epoch": 2.0}
    spread = float(np.std(shares, ddof=1)) if len(shares) > 1 else None
    about["standard_deviation"] = {"test": {"accuracy": spread}}
    return {"config": config, "members": members, "mean": scores, **about}


def _records(ours, others):
    results = {"ours": _series("disan", ours), "others": _series("bi_lstm", others)}
    kept = {"ours": [*map(_predictions_of, ours)], "others": [*map(_predictions_of, others)]}
    return Records(results, kept, {})


def _judge(finding, no_cost=False):
    return Entry(Claim("", "", ROWS, no_cost=no_cost), finding).verdict


@pytest.fixture
def records():
    return _records((0.60, 0.61), (0.50, 0.51))


@pytest.mark.parametrize(
    "ours, others, verdict",
    [
        ((0.60, 0.61, 0.62), (0.50, 0.51, 0.52), LARGER),  # the paper's lead is 1.77 points
        ((0.50, 0.51, 0.52), (0.60, 0.61, 0.62), NOT_SUPPORTED),
        ((0.50, 0.60, 0.70), (0.49, 0.59, 0.69), UNDECIDED),  # within the variation over seeds
    ],
)
def test_a_clear_lead_of_several_seeds_decides(ours, others, verdict):
    assert _judge(ROWS.find(_records(ours, others))) == verdict


def test_one_seed_on_both_sides_is_undecided_and_the_cell_says_so():
    finding = ROWS.find(_records((0.6,), (0.5,)))
    assert finding.interval.low > 0 and finding.covers == "one seed: examples only"
    assert _judge(finding) == UNDECIDED and Entry(CLAIM, finding).reason == "one seed"


@pytest.mark.parametrize("ours, others", [((0.6,), (0.5, 0.5)), ((0.6, 0.6), (0.5,))])
def test_one_seed_takes_the_spread_of_the_tables_series_whose_seeds_vary_most(ours, others):
    records = _records(ours, others)

    def add(name, encoder, shares):
        records.results[name] = _series(encoder, shares)
        records.predictions[name] = [*map(_predictions_of, shares)]

    add("steady", "additive", (0.3, 0.31))
    add("varied", "source2token", (0.3, 0.36))
    add("elsewhere", "multi_head", (0.3, 0.5))
    records.results["elsewhere"]["config"]["train"]["batch_size"] = 4
    finding = ROWS.find(records)
    assert finding.covers == "examples and another model's seeds"
    deviation = 100 * np.std((0.3, 0.36), ddof=1)
    text = (
        f"the interval takes the spread over seeds from varied (standard deviation {deviation:.2f})"
    )
    assert finding.remarks == (text,)
    entry = Entry(CLAIM, finding)
    assert entry.verdict == LARGER
    assert entry.reason == "at equal steps, with another model's spread over seeds"
    alone = difference(records.predictions["ours"], records.predictions["others"], "accuracy")
    assert np.ptp(finding.interval[1:]) > 1.3 * np.ptp(alone[0][1:])


def test_a_spread_comes_from_the_conditions_of_one_of_the_two_runs():
    records = _records((0.6,), (0.5, 0.52))
    records.results["elsewhere"] = _series("additive", (0.3, 0.5))
    records.predictions["elsewhere"] = [*map(_predictions_of, (0.3, 0.5))]
    for highway, run in enumerate(records.results.values()):
        run["config"]["task"]["highway"] = highway
    (spread, _) = replace(ROWS, apart=("task.highway",)).find(records).remarks[::-1]
    assert spread.startswith("the interval takes the spread over seeds from others")


@pytest.mark.parametrize(
    "part, option, value, words",
    [
        ("train", "steps", 60, "trained for 30 steps and for 60 steps"),
        ("train", "batch_size", 4, "train.batch_size 2 and 4"),
        ("train", "batch_norm_batches", 9, "train.batch_norm_batches 0 and 9"),
        ("train", "optimizer", "adadelta", ""),  # of a record without this option
        ("task", "highway", True, "task.highway False and True"),
        ("task", "highway", False, ""),  # a layer that is switched off is no difference
        ("task", "hidden_units", 7, "task.hidden_units 16 and 7"),
        ("data", "lowercase", True, "data.lowercase False and True"),
        ("train", "clip_norm", 5.0, "train.clip_norm 0.0 and 5.0"),
        ("train", "clip_norm", 0.0, ""),
        ("embedding", "trainable", False, "embedding.trainable True and False"),
        ("embedding", "dropout", 0.1, ""),  # an option that the other embedding does not have
    ],
)
def test_different_conditions_are_undecided_and_named(records, part, option, value, words):
    for run in records.results.values():
        run["config"]["embedding"]["trainable"] = True
    records.results["others"]["config"][part][option] = value
    finding = ROWS.find(records)
    assert finding.unequal == words and (_judge(finding) == UNDECIDED) == bool(words)
    assert Entry(CLAIM, finding).reason == ("different conditions" if words else "at equal steps")
    if part == "task":  # where the paper's two models differ too
        equal = Rows("disan_table_2", MODELS, apart=(f"task.{option}",)).find(records)
        assert equal.unequal == "" and _judge(equal) == LARGER
        assert equal.remarks == ((f"the models differ as in the paper: {words}",) if words else ())


def test_a_verdict_says_at_which_steps_it_holds(records):
    entry = Entry(CLAIM, ROWS.find(records))
    assert (entry.verdict, entry.reason) == (LARGER, "at equal steps")
    for run in records.results.values():
        run["config"]["train"].update(patience=2, steps=31)  # both stopped after 30 steps
    entry = Entry(CLAIM, ROWS.find(records))
    assert (entry.verdict, entry.reason) == (LARGER, "when patience ended")
    records.results["others"]["members"][0]["steps"] = 31
    assert ROWS.find(records).unequal == "trained until patience ended and for 31 steps"
    records.results["ours"]["members"][1]["steps"] = 31
    entry = Entry(CLAIM, ROWS.find(records))
    assert (entry.verdict, entry.reason) == (LARGER, "when patience or the steps ended")


def _curve(last, evaluations=30):
    """A dev curve that rises by `last` in a line over the last third of its steps."""
    third = evaluations / 3
    steps = range(1, evaluations + 1)
    return [[step, 0.1 + last * max(0, step - 2 * third) / third] for step in steps]


@pytest.mark.parametrize(
    "curves, gain, scope",
    [
        ((0.02, 0.03), "+2.50", ""),  # the interval's lower limit is about 7 points
        ((0.03, 0.07), "+5.00", "at equal steps"),
        ((-0.02, -0.02), "-2.00", ""),
    ],
)
def test_equal_steps_are_no_condition_if_the_weaker_model_hardly_gains(
    records, curves, gain, scope
):
    for side, rises in (("ours", (0.5, 0.5)), ("others", curves)):
        for member, rise in zip(records.results[side]["members"], rises):
            member["dev_curve"] = _curve(rise)
    finding = ROWS.find(records)
    assert 0.05 < finding.interval.low < 0.09
    assert (finding.gain_on_dev, Entry(CLAIM, finding).reason) == (gain, scope)
    turned = Rows(ROWS.table, MODELS[::-1]).find(records)  # the first model is the weaker one
    assert (turned.gain_on_dev, Entry(CLAIM, turned).reason) == (gain, scope)
    records.results["others"]["members"][0]["dev_curve"] = _curve(0.0, evaluations=27)
    finding = ROWS.find(records)  # nine evaluations in the last third
    assert (finding.gain_on_dev, Entry(CLAIM, finding).reason) == ("", "at equal steps")


def test_other_trainings_of_the_same_model_have_their_scores_and_differences(records):
    longer, padded = (copy.deepcopy(records.results["others"]) for _ in range(2))
    for member, steps in zip(longer["members"], (50, 70)):
        member["steps"] = steps
    longer["config"]["train"].update(steps=70, batch_size=4, moving_average=0.999)
    padded["config"]["data"]["vector_dim"] = 100
    results = {**records.results, "longer": longer, "padded": padded}
    kept = {**records.predictions, "longer": [*map(_predictions_of, (0.7, 0.7))]}
    longer["mean"]["test"]["accuracy"] = 0.7
    finding = ROWS.find(records._replace(results=results, predictions=kept))
    name = "Bi-LSTM with s2t self-attention"
    longest, wider = finding.remarks
    assert longest.startswith(
        f"{name} after 50 to 70 steps with averaged weights: 70.00 (0.71), difference -9.50 ("
    )
    assert wider == f"{name} with vectors padded to 300 dimensions: 50.50 (0.71), difference +10.00"
    assert finding.runs == ("ours", "others") and _judge(finding) == LARGER
    assert dict(other_trainings(results["others"], results)).keys() == {"longer", "padded"}
    longer["config"]["encoder"]["name"] = "disan"  # the first model, whose lead it makes
    finding = ROWS.find(records._replace(results=results, predictions=kept))
    assert finding.remarks[0].startswith(
        "DiSAN after 50 to 70 steps with averaged weights: 70.00 (0.71), "
    )
    longer["config"]["encoder"]["units"] = 7
    assert dict(other_trainings(results["others"], results)).keys() == {"padded"}


def test_trials_of_both_models_have_a_remark_and_decide_nothing(records):
    plain = ROWS.find(records)
    for name, share in (("ours", 0.4), ("others", 0.7)):
        trial = _series(records.results[name]["config"]["encoder"]["name"], (share, share))
        trial["config"]["data"]["rebalance"] = True
        records.results[f"{name}_trial"] = trial
        records.predictions[f"{name}_trial"] = [_predictions_of(share)] * 2
    finding = ROWS.find(records)
    (remark,) = finding.remarks
    how = "trained with data.rebalance=true, dtype=None"
    assert remark.startswith(f"{how}: 40.00 (0.00) and 70.00 (0.00), difference -30.00 (-3")
    assert finding == replace(plain, remarks=(remark,))


def test_a_remark_names_a_classifier_that_the_recorded_run_of_the_row_lacks(records):
    recorded = _series("disan", (0.6, 0.6))
    recorded["config"]["task"]["hidden_units"] = 300
    records.results[ROWS.rows[0].recorded] = recorded
    finding = ROWS.find(records)
    assert finding.runs == ("ours", "others")  # under equal conditions
    name, words = ROWS.rows[0].recorded, "DiSAN was trained with task.hidden_units=16; the run that"
    assert finding.remarks == (f"{words} its row names, {name}, with 300",)


def test_a_squared_error_is_better_if_it_is_lower():
    rows = Rows("resan_table_3", ("ReSAN", "DiSAN"), column="MSE")
    labels = np.linspace(1, 5, EXAMPLES).astype(np.float32)
    records = _records((0.5, 0.5), (0.5, 0.5))
    encoders = {"resan": {"unselected": "mean", "shared": False, "sampling": "parallel"}}
    for side, encoder, error in (("ours", "resan", 0.5), ("others", "disan", 1.0)):
        run = records.results[side]
        run["config"].update(name="resan_sick", encoder={"name": encoder, "activation": "elu"})
        run["config"]["encoder"].update(encoders.get(encoder, {}))
        run["config"]["task"] = {"highway": False}
        run["mean"]["test"] = {"mse": error**2, "pearson": 1.0}
        records.predictions[side] = [Predictions(labels + error, labels)] * 2
    finding = rows.find(records)
    assert finding.gain == "-0.7500 (-0.7500 to -0.7500; seeds and examples)"
    assert finding.interval == pytest.approx((0.75, 0.75, 0.75)) and _judge(finding) == LARGER


def test_without_predictions_there_is_no_interval_and_no_decision(records):
    finding = ROWS.find(records._replace(predictions={}))
    assert finding.interval is None and finding.covers == "no interval: predictions were not kept"
    assert _judge(finding) == UNDECIDED and finding.gain == "+10.00"


def test_a_missing_run_is_named_and_not_tested(records):
    del records.results["others"]
    finding = ROWS.find(records)
    assert _judge(finding) == NOT_TESTED
    assert finding.missing == "Bi-LSTM with s2t self-attention: not run"
    assert finding.ours == "DiSAN 60.50 (0.71)"
    few = Rows("disan_table_2", MODELS, examples=7).find(_records((0.6,), (0.5,)))
    assert _judge(few) == NOT_TESTED and few.missing == "runs on 7 training examples: not run"


@pytest.mark.parametrize(
    "low, high, verdict",
    [(-0.002, 0.001, SUPPORTED), (-0.009, -0.004, NOT_SUPPORTED), (-0.004, -0.001, UNDECIDED)],
)
def test_a_claim_of_no_cost_has_a_margin(low, high, verdict):
    finding = Finding("", value=0.0, interval=Interval(0.0, low, high))
    assert _judge(finding, no_cost=True) == verdict


@pytest.mark.parametrize(
    "low, high, verdict",
    [(0.021, 0.05, LARGER), (0.019, 0.05, SUPPORTED), (-0.05, -0.03, NOT_SUPPORTED)],
)
def test_a_lead_above_the_papers_is_a_verdict_of_its_own(low, high, verdict):
    finding = Finding("", value=0.0, interval=Interval(0.0, low, high), lead=0.02)
    assert _judge(finding) == verdict
    assert _judge(finding, no_cost=True) == verdict.partition(";")[0]  # it claims no lead


def test_the_papers_lead_has_the_direction_of_better_scores():
    assert ROWS.lead == pytest.approx(0.5172 - 0.4995)
    squared = Rows("resan_table_3", ("ReSAN", "DiSAN"), column="MSE")
    assert squared.lead == pytest.approx(0.2879 - 0.2623)
    assert Rows("elmo_disan_table_1", ("DiSAN + small biLM", "DiSAN + GloVe")).lead is None


def test_an_encoder_as_wide_as_its_vectors_is_named_where_the_paper_has_wider_ones():
    records = _records((0.60, 0.61), (0.50, 0.51))
    rows = Rows("disan_table_2", ("DiSAN", "Word Embedding with additive attention"))
    others = records.results["others"]["config"]
    others["encoder"] = {"name": "additive"}
    assert rows.find(records).remarks == ()
    others["data"]["embedding_dim"] = 100
    (remark,) = rows.find(records).remarks
    name = "Word Embedding with additive attention"
    assert remark == f"{name} is 100 wide (1,000 parameters), in the paper 300"


def test_runs_are_chosen_by_conditions_and_not_by_scores(records):
    better = copy.deepcopy(records.results["ours"])
    better["config"]["train"]["batch_size"] = 4
    better["mean"]["test"]["accuracy"] = 0.9
    records.results["better"] = better
    assert ROWS.find(records).runs == ("ours", "others")
    more = copy.deepcopy(records.results["ours"])
    more["members"].append({**more["members"][0], "seed": 3})
    records.results["more"] = more
    assert ROWS.find(records).runs == ("more", "others")


def test_recorded_runs_are_compared_before_runs_like_them(records):
    for row, name in zip(ROWS.rows, ("ours", "others")):
        for alike in (f"a_{name}", row.recorded):
            records.results[alike] = records.results[name]
            records.predictions[alike] = records.predictions[name]
    assert ROWS.find(records).runs == tuple(row.recorded for row in ROWS.rows)


def test_several_seeds_of_both_models_come_before_more_training_examples(records):
    for name, encoder in (("more", "disan"), ("most", "bi_lstm")):
        records.results[name] = _series(encoder, (0.7,))
    for run in (records.results["ours"], records.results["others"]):
        run["config"]["train"]["examples"] = DATA["training_examples"] // 2
    assert ROWS.find(records).runs == ("ours", "others")
    del records.results["ours"]["members"][1]
    assert ROWS.find(records).runs == ("more", "most")


def test_equal_options_come_before_those_in_which_the_papers_models_differ(records):
    rows = Rows("disan_table_2", MODELS, apart=("task.highway",))
    records.results["others"]["config"]["task"]["highway"] = True
    assert rows.find(records).runs == ("ours", "others")
    records.results["single"] = _series("bi_lstm", (0.5,))
    assert rows.find(records).runs == ("ours", "single")


def test_a_claim_without_a_comparison_shows_the_run_with_most_examples_then_vectors_then_seeds():
    records = _records((0.50,), (0.40,))
    quoted = Untested("a model of another paper", "51.2", ROWS.table, "DiSAN")

    def add(name, shares, covered, examples=0):
        run = _series("disan", shares)
        run["data"] = {**DATA, "training_tokens_covered": covered}
        run["config"]["train"]["examples"] = examples
        records.results[name] = run

    add("fewer examples", (0.70, 0.71), 1.0, DATA["training_read"] // 2)
    assert quoted.find(records).ours == "50.00"
    add("more vectors", (0.30,), 0.98)
    assert quoted.find(records).ours == "30.00"
    add("more seeds", (0.20, 0.20), 0.98)
    assert quoted.find(records).ours == "20.00 (0.00)"
    assert _judge(quoted.find(records)) == NOT_TESTED
    assert quoted.find(records).paper == "51.72 and 51.2"


def test_a_published_score_is_a_constant_beside_ours_and_decides_nothing():
    records = _records((0.90, 0.91), (0.50,))
    quoted = Untested(
        "a model of another paper", "51.2 (0.9)", ROWS.table, "DiSAN", "other vectors"
    )
    finding = quoted.find(records)
    half = 100 * 1.96 * np.hypot(np.sqrt(0.905 * 0.095 / EXAMPLES), 0.01 / 2)
    value, low, high = (100 * part for part in finding.interval)
    assert value == pytest.approx(90.5 - 51.2)
    assert low == pytest.approx(value - half, abs=0.6) and high == pytest.approx(
        value + half, abs=0.6
    )
    assert finding.gain.endswith("; seeds and examples)") and finding.gain.startswith("+39.30 (+3")
    entry = Entry(CLAIM, finding)
    assert (entry.verdict, entry.reason) == (NOT_TESTED, "not comparable: other vectors")
    finding = quoted.find(records._replace(predictions={}))
    assert finding.covers == "seeds only" and 0.37 < finding.interval.low < finding.interval.value


def test_fewer_parameters_are_supported_and_more_are_not():
    records = _records((0.5,), (0.5,))
    evidence = Parameters("disan_table_1", MODELS)
    for run in records.results.values():
        run["config"] = {**run["config"], "name": "disan_snli"}
        run["config"]["data"].update(corpus="snli", classes=None)
    records.results["ours"]["parameters"] = 900
    assert _judge(evidence.find(records)) == SUPPORTED
    records.results["ours"]["parameters"] = 1100
    assert _judge(evidence.find(records)) == NOT_SUPPORTED


@pytest.mark.parametrize(
    "ours, verdict",
    [((10, 9, 11), SUPPORTED), ((30, 29, 31), NOT_SUPPORTED), ((20, 15, 25), UNDECIDED)],
)
def test_times_are_judged_by_their_ranges(ours, verdict):
    keys = ("median_ms", "min_ms", "max_ms")
    times = {"a": dict(zip(keys, ours)), "b": dict(zip(keys, (21, 19, 22)))}
    records = Records({}, {}, {"file": {"machine": {"processor": "P", "threads": 2}, **times}})
    benchmark = Benchmark("", "file", "a", "b", ("our C++ kernel",) * 2)
    finding = benchmark.find(records)
    assert _judge(finding) == verdict and finding.ours == f"{ours[0]:.1f} ms and 21.0 ms"
    assert _judge(benchmark.find(Records({}, {}, {}))) == NOT_TESTED


def test_a_verdict_on_times_names_the_kernel_that_one_model_has():
    speed = {"pairs_per_second": 20, "min": 19, "max": 22}
    record = {"machine": {"processor": "P", "threads": 2}, "speeds": [speed, {**speed, "max": 20}]}
    record["speeds"][1].update(pairs_per_second=10, min=9, max=11)
    records = Records({}, {}, {"file": record})

    def reason(*kernels):
        finding = Benchmark("", "file", "speeds/0", "speeds/1", kernels).find(records)
        assert finding.gain == "2.00 times (1.73 to 2.44)"
        return Entry(CLAIM, finding).reason

    assert reason("our C++ kernel", "our C++ kernel") == "on a CPU"
    assert reason("our C++ kernel", "TensorFlow's") == "with our C++ kernel on a CPU"
    record["machine"]["gpu"] = "Some GPU"
    assert reason("our C++ kernel", "our C++ kernel") == ""


def test_times_of_two_benchmarks_need_the_same_machine():
    times = {"median_ms": 10, "min_ms": 9, "max_ms": 11}
    one, other = ({"machine": {"processor": "P", "threads": 2}, "a": times} for _ in range(2))
    other["a"] = {key: 2 * value for key, value in times.items()}
    benchmark = Benchmark("", "one", "a", "a", ("our C++ kernel",) * 2, second_file="other")
    assert benchmark.find(Records({}, {}, {"one": one})).missing == "benchmark other: not run"
    finding = benchmark.find(Records({}, {}, {"one": one, "other": other}))
    assert finding.ours == "10.0 ms and 20.0 ms" and _judge(finding) == SUPPORTED
    assert finding.runs == ("benchmarks/one.json", "benchmarks/other.json")
    other["machine"]["gpu"] = "none"  # which older benchmarks do not record
    assert benchmark.find(Records({}, {}, {"one": one, "other": other})).unequal == ""
    other["machine"]["threads"] = 4
    finding = benchmark.find(Records({}, {}, {"one": one, "other": other}))
    assert finding.unequal == "another threads" and _judge(finding) == UNDECIDED


def test_a_remark_names_processors_that_differ_and_selected_fractions(records):
    for side, processor in (("ours", "P"), ("others", "Q")):
        for number, member in enumerate(records.results[side]["members"]):
            assert ROWS.find(records).remarks == ()  # unknown machines
            member["machine"] = {"processor": processor, "gpu": ("none", "Some GPU")[number]}
    assert ROWS.find(records).remarks == ("trained on P or Some GPU and on Q or Some GPU",)
    for member in records.results["others"]["members"]:
        member["machine"]["processor"] = "P"
    assert ROWS.find(records).remarks == ()
    for member, heads in zip(records.results["ours"]["members"], (0.704, 0.968)):
        member["scores"]["test"].update(head_fraction=heads, dependent_fraction=0.5)
    (remark,) = ROWS.find(records).remarks
    assert remark == "DiSAN selects 70.4 to 96.8 % of the heads and 50.0 % of the dependents"


@pytest.mark.parametrize(
    "shows, gain, verdict",
    [
        ("no cost", "-10.00", NOT_SUPPORTED),
        ("few tokens", "+15.00", SUPPORTED),
        ("more dependents", "+30.00", SUPPORTED),
    ],
)
def test_selections_are_averaged_over_models_and_vary_over_seeds(shows, gain, verdict):
    test = {"accuracy": 0.5, "all_accuracy": 0.6, "head_fraction": 0.2, "dependent_fraction": 0.5}
    run = _series("resan", (0.5, 0.5))
    run["config"].update(name="resan_snli")
    run["config"]["data"].update(corpus="snli", classes=None)
    run["config"]["encoder"].update(
        activation="elu", unselected="mean", shared=False, sampling="parallel"
    )
    for member in run["members"]:
        member["scores"] = {"test": test}
    finding = Selection("", shows).find(Records({"resan": run}, {}, {}))
    assert finding.gain.startswith(f"{gain} ({gain} to {gain}; ")
    assert (finding.seeds, _judge(finding)) == ("2 models", verdict)
    assert finding.covers.endswith(f"expected sign in {2 * (gain[0] == '+')} of 2 models")
    assert _judge(Selection("", shows).find(Records({}, {}, {}))) == NOT_TESTED
    for member in run["members"]:
        member["seed"] = 1  # two models that may share their first steps
    finding = Selection("", shows).find(Records({"resan": run}, {}, {}))
    assert finding.interval is None and _judge(finding) == UNDECIDED


def test_a_score_that_was_not_kept_by_example_has_an_interval_over_seeds():
    rows = Rows("drcn_table_1", ("B-Ca-Cs-M", "Cs"), column="dev loss")
    records = _records((0.5, 0.5), (0.5, 0.5))
    losses = {"ours": (0.40, 0.42), "others": (0.50, 0.52)}
    for (side, values), functions in zip(losses.items(), rows.models):
        run = records.results[side]
        encoder = {"name": "drcn", "functions": functions, "recurrence": "rnn"}
        encoder.update(aggregation="words", bottleneck_units=0)
        run["config"].update(name="drcn_snli", encoder=encoder, task={"hypothesis_only": False})
        run["mean"]["dev"]["loss"] = np.mean(values)
        run["standard_deviation"]["dev"] = {"loss": np.std(values, ddof=1)}
        for member, value in zip(run["members"], values):
            member["scores"]["dev"] = {"loss": value}
    finding = rows.find(records)
    assert (finding.covers, finding.value) == ("seeds only", pytest.approx(0.1))
    assert 0.06 < finding.interval.low < 0.1 and _judge(finding) == SUPPORTED  # the paper has .117
    del records.results["ours"]["members"][1]
    assert _judge(rows.find(records)) == UNDECIDED


def test_a_recall_counts_the_examples_of_one_class():
    records = _records((0.5, 0.5), (0.5, 0.5))
    labels = np.arange(EXAMPLES, dtype=np.uint8) % 5
    right, wrong = Predictions(labels, labels), Predictions((labels + 1) % 5, labels)
    half = Predictions(np.where(labels == 2, labels, (labels + 1) % 5).astype(np.uint8), labels)
    for side, kept in (("ours", half), ("others", wrong)):
        run = records.results[side]
        run["config"].update(name="elmo_disan_sst", embedding={"name": "words"})
        records.predictions[side] = [kept, kept]
    models = "DiSAN + GloVe", "DiSAN + random vectors"
    records.results["others"]["config"]["data"]["vectors"] = ""
    recall = {
        label: Recall("elmo_disan_table_1", models, label=label).find(records)
        for label in ("neutral", "positive")
    }
    assert recall["neutral"].ours == "100.00 and 0.00" and _judge(recall["neutral"]) == SUPPORTED
    assert recall["positive"].ours == "0.00 and 0.00" and _judge(recall["positive"]) == UNDECIDED
    records.predictions["others"] = [right, right]
    found = Recall("elmo_disan_table_1", models, label="positive").find(records)
    assert _judge(found) == NOT_SUPPORTED
    with pytest.raises(ValueError, match="no class good"):
        Recall("elmo_disan_table_1", models, label="good")


def test_accuracies_by_length_have_an_interval_that_is_not_paired(records):
    rows = Lengths(ROWS.table, MODELS, lengths="5-11")
    assert _judge(rows.find(records)) == NOT_TESTED
    for side, accuracy in (("ours", 0.6), ("others", 0.5)):
        part = {"sentences": 400.0, "accuracy": accuracy, "standard_deviation": 0.02}
        records.results[side]["by_length"] = {"5-11": part}
    finding = rows.find(records)
    half = 1.96 * np.sqrt(2 * 0.02**2 / 2 + (0.6 * 0.4 + 0.5 * 0.5) / 400)
    assert finding.interval == pytest.approx((0.1, 0.1 - half, 0.1 + half), abs=1e-5)
    assert finding.covers == "seeds and examples, not paired"
    assert finding.ours == "60.00 and 50.00" and finding.remarks == ("400 sentences",)
    part["standard_deviation"] = None  # of a series with one training
    assert _judge(rows.find(records)) == NOT_TESTED


def test_a_measurement_that_decides_nothing_says_why():
    entry = Entry(CLAIM, Measured("6 times", "a step", "6.6 times", "a reason").find(None))
    assert (entry.verdict, entry.reason) == (UNDECIDED, "a reason")


def test_the_margin_of_a_claim_without_cost_is_marked_as_post_hoc(records):
    entries = [Entry(replace(CLAIM, no_cost=no_cost), ROWS.find(records)) for no_cost in (0, 1)]
    pages = render_claims({"a paper": entries})
    plain, costless = csv.DictReader(io.StringIO(pages["claims.csv"]))
    assert (plain["limit"], costless["limit"]) == ("0", "-0.003 (post hoc)")
    assert "post hoc" not in plain["remarks"]
    assert costless["remarks"].endswith("the margin of -0.3 points is post hoc")


# The claims of the papers


def test_no_paper_has_a_claim_twice_and_the_first_row_leads_in_it():
    for claims in CLAIMS.values():
        assert len({claim.text for claim in claims}) == len(claims)
    for claim in (claim for claims in CLAIMS.values() for claim in claims):
        evidence = claim.evidence
        if type(evidence) is Rows and all(evidence.figures):
            ours, other = (float(figure.split()[0]) for figure in evidence.figures)
            lower = evidence.score.key in LOWER_IS_BETTER
            assert (other > ours if lower else ours > other) or claim.no_cost, claim.text


@pytest.mark.parametrize(
    "evidence, reason",
    [
        ("{kind: rows, table: t, models: [a, b]}", "no table t with a model a"),
        ("{kind: rows, table: disan_table_2, models: [DiSAN, b]}", "no table disan_table_2 with a"),
        ("{kind: rows, table: disan_table_2, models: [DiSAN]}", "needs two models and a column of"),
        ("{kind: rows, table: disan_table_2, models: [DiSAN, DiSAN], column: a}", "a column of"),
        ("{kind: untested, paper: p, missing: m, table: disan_table_2}", "with a model"),
        ("{kind: benchmark, paper: p, file: f, first: a, second: b, kernels: [c]}", "must name"),
        ("{kind: lengths, table: disan_table_2, models: [DiSAN]}", "needs two models"),
        ("{kind: rumour}", "claims.evidence.kind must be one of"),
    ],
)
def test_a_wrong_reference_is_refused_with_its_line(tmp_path, evidence, reason):
    text = f"claims:\n  - text: It leads.\n    place: Table 1\n    evidence: {evidence}\n"
    (tmp_path / "disan.yaml").write_text(text)
    with pytest.raises(UserError, match=f"disan.yaml, line 4: .*{reason}"):
        read_section("disan", "claims", tuple[Claim, ...], tmp_path)
