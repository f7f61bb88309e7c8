"""Command line of disan_tf: `python run.py --mode=train --config=configs/disan_sst.py ...`."""

import sys

from absl import app, flags, logging
from ml_collections import config_flags

from disan_tf.configuration import explain
from disan_tf.errors import UserError

FLAGS = flags.FLAGS
MODES = ("prepare", "train", "evaluate", "predict", "attend", "export", "doctor", "benchmark")
config_flags.DEFINE_config_file("config", None, "Config file, with `:variant` after its name.")
flags.DEFINE_enum("mode", "train", MODES, "What to do.")
flags.DEFINE_string("workdir", None, "Everything that a training writes; reruns resume there.")
flags.DEFINE_string("data_dir", "data", "Raw corpora and word vectors.")
flags.DEFINE_string("prepared_dir", None, "Prepared corpora; default: <workdir>/prepared.")
flags.DEFINE_string("checkpoint", None, "A work directory, or a name of checkpoints/manifest.tsv.")
flags.DEFINE_enum("split", "test", ("train", "dev", "test"), "What `evaluate` scores.")
flags.DEFINE_string("input", "-", "Text lines or JSONL for `predict` and `attend`; - = stdin.")
flags.DEFINE_enum("input_format", None, ("text", "jsonl"), "Default: by the input's name.")
flags.DEFINE_string("output", None, "File of `predict` and `benchmark`, folder of the others.")
flags.DEFINE_list("benchmark_parts", [], "Of core, step, epoch, memory, threads.")
flags.DEFINE_integer("repetitions", 9, "How often `benchmark` runs each function.")


def main(_) -> None:
    """Dispatches on --mode; the modes live in libraries that tests can call."""
    from disan_tf import modes  # TensorFlow is loaded only after the flags are right

    logging.set_verbosity(logging.WARNING)
    if FLAGS.mode == "doctor":
        modes.doctor(FLAGS.data_dir)
    elif FLAGS.mode == "benchmark":
        modes.benchmark(_required("config"), FLAGS.output, FLAGS.benchmark_parts, FLAGS.repetitions)
    elif FLAGS.mode == "prepare":
        modes.prepare(_required("config").data, FLAGS.data_dir, _prepared_dir())
    elif FLAGS.mode == "train":
        modes.train(_required("config"), FLAGS.data_dir, _prepared_dir(), _required("workdir"))
    elif (checkpoint := FLAGS.checkpoint or FLAGS.workdir) is None:
        raise UserError(f"--mode={FLAGS.mode} needs --workdir or --checkpoint.")
    elif FLAGS.mode == "evaluate":
        folder = FLAGS.output or f"{_required('workdir')}/evaluation"
        modes.evaluate(checkpoint, FLAGS.split, FLAGS.data_dir, _prepared_dir(), folder)
    elif FLAGS.mode == "predict":
        modes.predict(checkpoint, FLAGS.input, FLAGS.output or "-", FLAGS.input_format)
    elif FLAGS.mode == "attend":
        modes.attend(checkpoint, FLAGS.input, _required("output"), FLAGS.input_format)
    else:
        modes.export(checkpoint, FLAGS.output or _required("workdir"))


def _required(name):
    if (value := getattr(FLAGS, name)) is None:
        raise UserError(f"--mode={FLAGS.mode} needs --{name}.")
    return value


def _prepared_dir():
    return FLAGS.prepared_dir or f"{_required('workdir')}/prepared"


def _parse(argv):
    """Flags; a mistake in them, or in what they name, is the user's."""
    try:
        arguments, _ = FLAGS(argv), getattr(FLAGS.config, "name", None)  # only now is it loaded
        return arguments
    except (flags.Error, ValueError, AttributeError, KeyError, TypeError, OSError) as error:
        raise UserError(f"{explain(error)}; see --help.") from None


if __name__ == "__main__":
    try:
        app.run(main, flags_parser=_parse)
    except UserError as error:
        print(f"run.py: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit("run.py: stopped; the same command goes on where the last checkpoint stands.")
