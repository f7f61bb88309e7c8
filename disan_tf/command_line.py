"""The command line: flags, the config, and the mode that they ask for."""

import inspect
import sys

from absl import app, flags, logging
from ml_collections import config_flags

from disan_tf.errors import UserError

FLAGS = flags.FLAGS
MODES = (
    "prepare", "train", "evaluate", "predict", "attend", "export", "report", "doctor", "benchmark",
)  # fmt: skip
config_flags.DEFINE_config_file("config", None, "Config file, with `:variant` after its name.")
flags.DEFINE_enum("mode", "train", MODES, "What to do.")
flags.DEFINE_string("workdir", None, "Everything that a training writes; reruns resume there.")
flags.DEFINE_string("data_dir", "data", "Raw corpora and word vectors.")
flags.DEFINE_string("prepared_dir", None, "Prepared corpora; default: <workdir>/prepared.")
flags.DEFINE_string("checkpoint", None, "A work directory, or a name of checkpoints/manifest.tsv.")
flags.DEFINE_list("seeds", [], "`train` runs once with each and gives mean and deviation.")
flags.DEFINE_list("folds", [], "The same for the folds of a corpus: numbers, or `all`.")
flags.DEFINE_string("split", "test", "What `evaluate` scores: train, dev, test, or mismatched.")
flags.DEFINE_string("input", "-", "Lines, JSONL or a table for `predict`, `attend`; - = stdin.")
flags.DEFINE_enum("input_format", None, ("text", "jsonl", "tsv"), "Default: by the input's name.")
flags.DEFINE_enum("output_format", "jsonl", ("jsonl", "kaggle", "glue"), "What `predict` writes.")
flags.DEFINE_string("output", None, "File of `predict` and `benchmark`, folder of the others.")
flags.DEFINE_list("benchmark_parts", [], "Of core, step, epoch, encoders, memory, threads.")
flags.DEFINE_integer("repetitions", 9, "How often `benchmark` runs each function.")


def main(_) -> None:
    """Calls the function of `disan_tf.modes` that --mode names with the flags that it takes."""
    from disan_tf import modes  # TensorFlow is loaded only after the flags are right

    logging.set_verbosity(logging.WARNING)
    parameters = inspect.signature(mode := getattr(modes, FLAGS.mode)).parameters.values()
    mode(**{parameter.name: _value(parameter) for parameter in parameters})


def _value(parameter):
    """The flag of a parameter's name, or its default; without one the flag must be given."""
    value, name = FLAGS[parameter.name].value, parameter.name
    if name == "checkpoint" and value is None:
        value, name = FLAGS.workdir, "workdir or --checkpoint"
    elif name == "prepared_dir" and value is None:
        value, name = FLAGS.workdir and f"{FLAGS.workdir}/prepared", "workdir"
    if value is None and parameter.default is inspect.Parameter.empty:
        raise UserError(f"--mode={FLAGS.mode} needs --{name}.")
    return parameter.default if value is None else value


def _parse(argv):
    """Flags; a mistake in them, or in what they name, is the user's."""
    try:
        arguments, _ = FLAGS(argv), getattr(FLAGS.config, "name", None)  # only now is it loaded
        return arguments
    except (flags.Error, ValueError, AttributeError, KeyError, TypeError, OSError) as error:
        raise UserError(f"{explain(error)}; see --help.") from None


def explain(error: Exception) -> str:
    """The sentence inside an error of ml_collections, which wraps errors and their tracebacks."""
    while error.args and isinstance(error.args[0], Exception):
        error = error.args[0]
    message = error.args[0] if isinstance(error, KeyError) else str(error)
    return " ".join(message.rsplit("Error: ", 1)[-1].split()).rstrip(".")


def run() -> None:
    """Runs what `sys.argv` asks for; a mistake of the user's is one line and exit status 2."""
    try:
        app.run(main, flags_parser=_parse)
    except UserError as error:
        print(f"run.py: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit("run.py: stopped; the same command goes on where the last checkpoint stands.")
