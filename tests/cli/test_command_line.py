"""run.py from outside: what it does, and one sentence with status 2 for every mistake."""

import importlib.metadata
import inspect
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import disan_tf
from data_prep.synthetic.treebank import write_treebank
from disan_tf.cli import command_line
from disan_tf.cli.command_line import defined_flags
from disan_tf.cli.modes import MODES
from disan_tf.common.errors import UserError
from disan_tf.common.process import owned
from tests.support.models.bundles import make_bundle
from tests.support.processes import run_program
from tests.support.runs.command import needs_sighup
from tests.support.runs.command import run_forked as run
from tests.support.runs.training import ROOT

TINY = "--config=configs/disan_sst.py:tiny"


def run_alone(*arguments):
    """Runs the command line in a process of its own, which takes longer.

    What TensorFlow from 2.16 on says about CUDA as it is imported is taken out of its messages.
    """
    outcome = run_program(sys.executable, "run.py", *arguments, timeout=300)
    notices = r"(WARNING: All log messages before absl|[EW]0{4} ).*\n"
    outcome.stderr = re.sub(f"^{notices}", "", outcome.stderr, flags=re.MULTILINE)
    return outcome


def assert_refused(outcome, *words):
    assert outcome.returncode == 2, outcome.stderr
    assert outcome.stderr.startswith("run.py: ") and outcome.stderr.count("\n") == 1
    for word in words:
        assert word in outcome.stderr


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_treebank(folder, 0, {"train": 60, "dev": 40, "test": 40})
    return folder


@pytest.fixture(scope="module")
def workdir(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    less = "--config.train.steps=4", "--config.train.evaluate_every=4", "--nopictures"
    outcome = run_alone(TINY, *less, f"--data_dir={data}", f"--workdir={folder}")
    assert outcome.returncode == 0, outcome.stderr
    assert "5,445 parameters" in outcome.stdout and "tokens per step" in outcome.stdout
    return folder


@pytest.fixture
def trees(tmp_path):
    """A private copy of a treebank for a test to break."""
    write_treebank(tmp_path / "data", 0, {"train": 60, "dev": 40, "test": 40})
    return tmp_path / "data" / "sst" / "trees"


def test_training_fills_the_work_directory(workdir):
    names = {path.name for path in workdir.iterdir()}
    expected = {"config.json", "run.json", "checkpoints", "best", "metrics.jsonl", "tensorboard"}
    assert expected <= names
    described = json.loads((workdir / "run.json").read_text())
    assert described["parameters"] == 5445
    assert described["versions"]["tensorflow"] == importlib.metadata.version("tensorflow")


@pytest.mark.parametrize(
    "options, refused",
    [
        ([], ""),
        (["optimizer=adadelta", "optimizer_options.rho=0.8"], ""),
        (["optimizer=adam"], ""),
        (["optimizer=adam", "optimizer_options.rho=0.8"], "rho=0.8 is not an option of adam"),
    ],
)
def test_another_optimizer_does_not_get_the_options_of_the_configs_own(
    options, refused, data, tmp_path
):
    flags = [f"--config.train.{option}" for option in options]
    command = "--mode=prepare", "--config=configs/dsa_sst.py:tiny", f"--data_dir={data}"
    outcome = run(*command, f"--prepared_dir={tmp_path}", *flags)
    if options:  # the config may also stand in a file of flags
        (tmp_path / "flags").write_text("\n".join(command))
        again = run(f"--flagfile={tmp_path}/flags", f"--prepared_dir={tmp_path}", *flags)
        assert (again.returncode, again.stderr) == (outcome.returncode, outcome.stderr)
    assert outcome.returncode == 2 * bool(refused) and refused in outcome.stderr


def test_evaluation_prints_and_writes_scores(workdir, data):
    outcome = run("--mode=evaluate", f"--workdir={workdir}", f"--data_dir={data}")
    assert outcome.returncode == 0, outcome.stderr
    assert "accuracy" in outcome.stdout
    report = json.loads((workdir / "evaluation" / "test.json").read_text())
    assert report["examples"] == 40


def test_prediction_answers_every_line_in_order(workdir):
    lines = ["the film is good .", "", "its plot was awful ."]
    outcome = run("--mode=predict", f"--workdir={workdir}", text="\n".join(lines) + "\n")
    assert outcome.returncode == 0, outcome.stderr
    answers = [json.loads(line) for line in outcome.stdout.splitlines()]
    assert [answer["text"] for answer in answers] == lines
    assert (answers[1]["label"], answers[1]["blank"]) == (None, True)
    for answer in (answers[0], answers[2]):
        assert sum(answer["probabilities"].values()) == pytest.approx(1.0, abs=1e-5)


def test_attention_tensors_are_written(workdir, tmp_path):
    outcome = run(
        "--mode=attend",
        f"--workdir={workdir}",
        f"--output={tmp_path / 'attention'}",
        text="the film is good .\n",
    )
    assert outcome.returncode == 0, outcome.stderr
    with np.load(tmp_path / "attention" / "00001.npz") as tensors:
        assert tensors["forward_attention"].shape == (5, 5, 16)
    assert outcome.stdout.startswith("1 line in ") and "index.html in a browser" in outcome.stdout
    assert "superb" not in (page := (tmp_path / "attention" / "index.html").read_text())
    assert '"text":["the film is good ."]' in page


def test_figures_of_a_model_are_drawn(workdir, tmp_path):
    flags = ("--mode=figures", f"--checkpoint={workdir}", f"--output={tmp_path / 'figures'}")
    outcome = run(*flags, "--figures=disan_figure_6")
    assert outcome.returncode == 0, outcome.stderr
    drawn = {path.stem for path in (tmp_path / "figures" / "disan_sst").glob("*.svg")}
    assert drawn == {"disan_figure_6"}
    caption = (tmp_path / "figures" / "disan_sst" / "disan_figure_6.md").read_text()
    assert f"`python run.py --mode=figures --checkpoint={workdir}`" in caption


def test_an_export_lies_in_the_work_directory(tmp_path):
    model = make_bundle(tmp_path / "made", encoder={"name": "additive", "units": 4})
    model.rename(tmp_path / "best")
    outcome = run("--mode=export", f"--workdir={tmp_path}")
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stderr.startswith("not compared with predict: ")
    assert (tmp_path / "saved_model" / "1" / "saved_model.pb").is_file()
    assert (tmp_path / "saved_model_ids" / "1" / "saved_model.pb").is_file()


def test_a_benchmark_that_does_not_fit_the_config_is_refused():
    outcome = run("--mode=benchmark", TINY, "--benchmark_parts=epoch")
    assert_refused(outcome, "disan_sst reads single sentences", "--benchmark_parts")


def test_doctor_prints_versions_devices_and_data(data):
    outcome = run("--mode=doctor", f"--data_dir={data}", f"--workdir={data / 'run'}")
    assert outcome.returncode == 0, outcome.stderr
    version = f"tensorflow {importlib.metadata.version('tensorflow')}"
    parts = (version, "Keras 2", "addons: ", "device", "threads", "corpus sst: sst/trees/")
    for part in (*parts, "vectors: none", f"prepared in {data / 'run' / 'prepared'}:\n  none"):
        assert part in outcome.stdout


# First steps


def test_a_command_without_flags_prints_what_to_do_first():
    outcome = run()
    assert outcome.returncode == 0 and not outcome.stderr
    assert "python run.py --mode=models " in outcome.stdout
    assert max(map(len, outcome.stdout.splitlines())) <= 100


def test_the_version_is_printed():
    outcome = run("--version")
    assert outcome.returncode == 0, outcome.stderr
    tensorflow = importlib.metadata.version("tensorflow")
    assert outcome.stdout.startswith(f"disan_tf {disan_tf.__version__}, TensorFlow {tensorflow}, ")


@pytest.mark.parametrize("mode, word", [("models", "disan_trec "), ("configs", "disan_trec: ")])
def test_models_and_configs_are_listed(mode, word):
    outcome = run(f"--mode={mode}")
    assert outcome.returncode == 0, outcome.stderr
    assert f"\n{word}" in outcome.stdout


@pytest.mark.parametrize(
    ("flag", "wanted"),
    [
        ("port=65536", "a whole number of at least 0 and at most 65535."),
        ("port=-1", "a whole number of at least 0 and at most 65535."),
        ("max_request_tokens=0", "a whole number of at least 1 and at most 1048576."),
        ("timeout=inf", "a number of at least 0.001 and at most 3600."),
        ("timeout=nan", "a number."),
        ("repetitions=0", "a whole number of at least 1."),
        ("log_level=loud", "debug, info, warning or error."),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_range(flag, wanted):
    outcome = run("--mode=serve", "--checkpoint=demo", f"--{flag}")
    assert_refused(outcome, f"--{flag} must be {wanted}")


@pytest.fixture(scope="module")
def help_text():
    outcome = run("--help")
    assert outcome.returncode == 0 and not outcome.stderr
    return outcome.stdout


def test_help_has_every_mode_and_every_flag_with_the_modes_that_take_it(help_text):
    groups = help_text.partition("Flags, by the modes that take them:\n\n")[2].split("\n\n")
    for mode in MODES.values():
        assert f"\n  {mode.__name__:11}{inspect.getdoc(mode).splitlines()[0]}\n" in help_text
    for flag in defined_flags():
        parameters = {name: inspect.signature(mode).parameters for name, mode in MODES.items()}
        takers = {name for name in MODES if flag.name in parameters[name]}
        headings = [group.partition(":\n")[0] for group in groups if f"\n  --{flag.name} " in group]
        if flag.name not in command_line.OF_ALL_MODES:
            assert takers and takers <= set(*(heading.split(", ") for heading in headings))
        assert f"--{flag.name}" in help_text


def test_help_tells_what_a_mode_needs(help_text):
    needs = [line.strip() for line in help_text.splitlines() if line.strip().startswith("needs ")]
    assert needs[:3] == [
        "needs --config, --workdir (or --prepared_dir)",
        "needs --config, --workdir",
        "needs --workdir (or --checkpoint and --prepared_dir)",
    ]


def test_help_and_mistakes_need_no_tensorflow():
    command = "import sys, disan_tf.cli.command_line; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command], cwd=ROOT).returncode == 0


# Mistakes in the command


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["train"], "train is not a flag; did you mean --mode=train?"),
        (["--mode=predict", __file__], "is not a flag; did you mean --input=/"),
        (["--released", "true"], "true is not a flag; write flags as --name=value."),
        (["--mode=trian"], "--mode=trian must be prepare, train, evaluate, .*; did you mean train"),
        (["--word_dir=x"], "--word_dir is not a flag; did you mean --workdir?"),
        ([TINY, "--learning-rate=3"], "is not a flag; did you mean --config.train.learning_rate?"),
        ([TINY, "--seed=3"], "did you mean --config.seed, --config.data.seed or --seeds?"),
        (["--output_format=no"], "--output_format=no must be jsonl or csv."),
        (["--top_k=0"], "--top_k=0 must be a whole number of at least 1."),
        ([TINY], "--mode=train needs --workdir; see python run.py --help."),
        (["--mode=compare", "a", "b"], "a is neither a work directory nor a recorded result."),
        (
            ["--mode=compare", "--runs=~/a,b"],
            f"{os.path.expanduser('~')}/a is neither a work directory nor a",
        ),
        (["--mode=prepare", TINY], "--mode=prepare needs --workdir or --prepared_dir; see"),
        (["--mode=doctor", "--seeds=1"], "--seeds is .* --mode=doctor, but of train or reproduce."),
        (["--config=configs/disan_sts.py"], "configs/disan_sts.py does not exist; did you mean co"),
        (["--config=configs/disan_sst.py:tinny"], "has no variant 'tinny'; did you mean tiny?"),
        (["--config.train.steps=3"], "--config.train.steps needs a config file before it"),
        ([TINY, "--config.train.batchsize=3"], "--config.train.batchsize=3 is not an option of co"),
        (
            [TINY, "--config.embedding.dim=9", "--config.data.embedding_dim=8"],
            "--config.embedding.dim=9 and --config.data.embedding_dim=8 set the same option; keep",
        ),
        (
            ["--mode=figures", "--input=a.txt"],
            "--input and --input_format are for the figures of a",
        ),
        ([TINY, "--config.seed=3", "--config.seed=4"], "--config.seed is given twice; keep one"),
        ([TINY, "--config.encoder.heads=8"], "heads=8 is not .*; choose activation, name or units"),
        ([TINY, "--config.train=3"], "--config.train=3 names a section; override its options, bat"),
        ([TINY, "--config.train.batch_size=many"], "batch_size=many must be a whole number."),
        ([TINY, "--config.data.lowercase=maybe"], "lowercase=maybe must be true or false."),
        ([TINY, "--workdir="], "--workdir= is empty; give it a value, or leave the flag out."),
        ([TINY, "--seeds="], "--seeds= is empty; give it a value, or leave the flag out."),
        (["--mode=reproduce", "--released"], "--released scores one model: name its --row"),
        ([TINY, "--workdir=gs://a/b"], "--workdir=gs://a/b is a web address; download the file"),
        (["--mode=predict", "--input=https://a.org/x"], "--input=https://a.org/x is a web address"),
        ([TINY, "--config.evaluate.splits", "a,b"], "splits=a,b must be a tuple, for example"),
        ([TINY, "--config.evaluate.splits=('a',)", "--config.evaluate.splits=('b',)"], "twice"),
    ],
)
def test_a_mistake_in_the_command_is_one_sentence(arguments, sentence):
    outcome = run(*arguments)
    assert_refused(outcome)
    assert re.search(re.escape(sentence).replace(r"\.\*", ".*"), outcome.stderr), outcome.stderr


@pytest.mark.parametrize(
    "content, words",
    [
        ("def get_config(:\n", ["bad.py: invalid syntax (bad.py, line 1)"]),
        ("def get_config():\n    return missing\n", ["bad.py, line 2: name 'missing' is not"]),
        ("def get_config():\n    return {}\n", ["get_config of --config must return a ConfigDict"]),
    ],
    ids=["syntax", "name", "dictionary"],
)
def test_a_mistake_in_a_config_file_is_named_with_its_line(tmp_path, content, words):
    (tmp_path / "bad.py").write_text(content)
    assert_refused(run(f"--config={tmp_path / 'bad.py'}", f"--workdir={tmp_path / 'run'}"), *words)


# Failures of the operating system


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--mode=predict", "--output={}/file/x"], "file cannot be written"),
        (["--mode=predict", "--output={}/" + "x" * 300], "File name too long"),
        (["--mode=predict", "--input={}/loop"], "Too many levels of symbolic links"),
        (["--mode=predict", "--output={}/loop/x"], "/loop"),
        (["--mode=attend", "--output={}/x", "--input={}/file/y"], "Not a directory"),
    ],
)
def test_a_path_that_cannot_be_used_is_one_sentence(arguments, sentence, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    outcome = run("--checkpoint=demo", *(it.format(tmp_path) for it in arguments), text="good\n")
    assert_refused(outcome, sentence)


@pytest.mark.parametrize("name", ["loop", "file/x"])
def test_a_work_directory_that_cannot_be_is_one_sentence(name, data, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    assert_refused(run(TINY, f"--data_dir={data}", f"--workdir={tmp_path / name}"), name)


# Errors in our code


BUG = """import sys, disan_tf.cli.modes as modes
def models(): raise ZeroDivisionError("a\\033[2J")
modes.MODES["models"] = lambda workdir=None: models()
sys.argv = ["run.py", "--mode=models", *sys.argv[1:]]
from disan_tf.cli.command_line import run
run()"""


def _run_bug(*arguments, **variables):
    return run_program(sys.executable, "-c", BUG, *arguments, env={**os.environ, **variables})


@pytest.mark.parametrize("place", ["workdir", "absent"])
def test_an_error_in_our_code_is_a_sentence_with_a_log(place, tmp_path):
    folder = "workdir" if place == "workdir" else "temporary"
    for name in {"temporary", folder}:
        (tmp_path / name).mkdir()
    outcome = _run_bug(f"--workdir={tmp_path / place}", TMPDIR=str(tmp_path / "temporary"))
    assert outcome.returncode == os.EX_SOFTWARE and outcome.stderr.count("\n") == 1
    (log,) = (tmp_path / folder).glob("disan_tf-error-*.log")
    assert outcome.stderr == (
        r"run.py: internal error, ZeroDivisionError: a\x1b[2J. Please report it; the traceback is "
        f"in {log}.\n"
    )
    text = log.read_text()
    assert "Traceback" in text and "in models" in text and "TensorFlow" in text
    assert "run.py --mode=models" in text and log.stat().st_mode & 0o077 == 0


def test_debug_shows_the_traceback_of_an_error_in_our_code(tmp_path):
    outcome = _run_bug("--debug=true", TMPDIR=str(tmp_path))
    assert outcome.returncode == 1 and "ZeroDivisionError" in outcome.stderr
    assert "Traceback" in outcome.stderr and [*tmp_path.iterdir()] == []


# Streams


def test_a_reader_that_leaves_after_all_lines_is_no_failure():
    reader, writer = os.pipe()
    error_reader, error_writer = os.pipe()
    command = [sys.executable, "run.py", "--mode=predict", "--checkpoint=demo"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=writer, stderr=error_writer
    ) as process:
        for number in (writer, error_writer, error_reader):
            os.close(number)
        process.stdin.write(b"good\n\n")
        process.stdin.flush()
        with os.fdopen(reader, "rb") as lines:
            assert json.loads(lines.readline())["text"] == "good"
            assert json.loads(lines.readline())["blank"]
        process.stdin.close()  # the remark on the blank line has no reader
        assert process.wait() == 0


HANG_UP = """import os, signal, sys
sys.argv = ["run.py", "--mode=models"]
from disan_tf.cli.command_line import run
try:
    run()
finally:
    os.kill(os.getpid(), signal.SIGHUP)"""


@needs_sighup
def test_a_terminal_that_closes_after_the_work_is_no_failure():
    outcome = run_program(sys.executable, "-c", HANG_UP)
    assert (outcome.returncode, outcome.stderr) == (0, "")


@pytest.mark.parametrize("closed, flag", [(">&-", "--output"), ("<&-", "--input")])
def test_a_closed_standard_stream_is_one_sentence(closed, flag):
    command = f"{sys.executable} run.py --mode=predict --checkpoint=demo {closed}"
    outcome = run_program("sh", "-c", command)
    assert_refused(outcome, f"standard {flag[2:]} is closed; name a file with {flag}")


def test_another_encoding_of_the_input_is_read(workdir, tmp_path):
    (tmp_path / "in.csv").write_bytes(b"text\ncaf\xe9\n")
    flags = ["--mode=predict", f"--workdir={workdir}", f"--input={tmp_path / 'in.csv'}"]
    assert_refused(run(*flags), "line 2: byte 0xe9", "--input_encoding=cp1252")
    outcome = run(*flags, "--input_encoding=latin-1")
    assert json.loads(outcome.stdout)["text"] == "café"


def test_two_trainings_do_not_share_a_work_directory(data, tmp_path):
    with owned(tmp_path):
        outcome = run(TINY, f"--data_dir={data}", f"--workdir={tmp_path}")
    assert_refused(outcome, f"{tmp_path} is being written by process {os.getpid()}")
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_a_broken_tree_is_named_with_its_line(trees, tmp_path):
    (trees / "train.txt").write_bytes(b"(3 (2 the) (3 good))\n(2 (2 caf\xe9) (3 good))\n")
    outcome = run(TINY, f"--data_dir={tmp_path / 'data'}", f"--workdir={tmp_path / 'run'}")
    assert_refused(outcome, "train.txt", "line 2", "0xe9", "UTF-8")
    assert not list((tmp_path / "run" / "prepared").iterdir())


def test_an_unknown_checkpoint_is_refused_with_the_known_names():
    assert_refused(run("--mode=predict", "--checkpoint=nobody"), "nobody", "released model (demo")


def test_a_workdir_is_a_folder_also_if_it_is_named_like_a_released_model(tmp_path):
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo/config.json").touch()
    script = f"import os; os.chdir({str(tmp_path)!r}); from disan_tf.cli.command_line import run; "
    (tmp_path / "run.py").write_text(f"{script} run()")
    outcome = run("--mode=predict", "--workdir=demo", program=str(tmp_path / "run.py"))
    assert_refused(outcome, "demo holds a training that was never evaluated")


def test_a_folder_without_a_model_is_refused_by_its_own_name():
    outcome = run("--mode=predict", "--workdir=nothing")
    assert_refused(outcome, "run.py: nothing is neither a work directory with a trained model nor")
    assert "--checkpoint" not in outcome.stderr


def test_programs_for_gpus_are_kept_in_a_folder_of_this_user(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("TF_XLA_FLAGS", raising=False)
    command_line.keep_compiled("")
    assert "TF_XLA_FLAGS" not in os.environ
    command_line.keep_compiled(None)
    flags_of_xla = dict(flag.split("=") for flag in os.environ.pop("TF_XLA_FLAGS").split())
    folder = tmp_path / "disan_tf/xla"
    assert flags_of_xla["--tf_xla_persistent_cache_directory"] == str(folder)
    assert flags_of_xla["--tf_xla_persistent_cache_device_types"] == "GPU"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    command_line.keep_compiled(None)
    assert "TF_XLA_FLAGS" not in os.environ
    with pytest.raises(UserError, match=f"--jit_cache=.* but {folder} can be written by others"):
        command_line.keep_compiled(str(folder))
    folder.chmod(0o700)
    folder.parent.chmod(0o777)
    command_line.keep_compiled(None)
    assert "TF_XLA_FLAGS" not in os.environ
    for path in (folder, folder.with_name("new")):
        with pytest.raises(UserError, match=f"but {folder.parent} can be written by others"):
            command_line.keep_compiled(str(path))
    with pytest.raises(
        UserError, match="--jit_cache=a b has a space in its path, at which XLA ends it"
    ):
        command_line.keep_compiled("a b")
    monkeypatch.setenv("TF_XLA_FLAGS", "--other")
    command_line.keep_compiled(None)
    assert os.environ["TF_XLA_FLAGS"] == "--other"
    with pytest.raises(UserError, match="--jit_cache=.* and TF_XLA_FLAGS are both set; unset one"):
        command_line.keep_compiled(str(tmp_path))
