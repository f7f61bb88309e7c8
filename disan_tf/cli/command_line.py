"""The command line: parses flags and config, runs the mode. Only this module reads `FLAGS`."""

import atexit
import gc
import inspect
import os
import re
import signal
import sys
from pathlib import Path
from typing import Optional

from absl import app, flags, logging
from ml_collections import ConfigDict, config_flags

from disan_tf.cli.flag_errors import (
    INTERNAL,
    check_repetitions,
    check_shared,
    check_tuples,
    explain,
    log_failure,
)
from disan_tf.cli.help import HELP_FLAGS, STAND_INS, help_text, parameters_of, welcome
from disan_tf.cli.modes import MODES
from disan_tf.common import installation, ownership, process
from disan_tf.common.checks import join_choices
from disan_tf.common.errors import Stopped, UserError
from disan_tf.common.errors import explain as explain_failure
from disan_tf.common.options import DTYPES
from disan_tf.common.paths import expand

FLAGS = flags.FLAGS
_PATHS = ("workdir", "data_dir", "prepared_dir", "checkpoint", "init_from", "input", "output")
OF_ALL_MODES = ("mode", "debug", "allow_module", "jit_cache")
_AFTER_A_STOP = {  # mode -> what the same command does after a signal; the others begin again
    "train": "resumes at the last checkpoint",
    "reproduce": "resumes at the last checkpoint",
}
config_flags.DEFINE_config_file(
    "config", None, "Config file, or name of a released config; `:variant` may follow."
)
flags.DEFINE_enum("mode", "train", MODES, "Mode of the program.")
flags.DEFINE_string("workdir", None, "Folder of a training; the same command resumes there.")
flags.DEFINE_string("data_dir", "data", "Folder of raw corpora and word vectors.")
flags.DEFINE_string("prepared_dir", None, "Prepared corpora (default: <workdir>/prepared).")
flags.DEFINE_string("checkpoint", None, "Work directory or released model (default: --workdir).")
flags.DEFINE_list("seeds", [], "Seeds to train with, such as 1,2,3; prints mean and deviation.")
flags.DEFINE_list("folds", [], "Folds to train: numbers, or `all`.")
flags.DEFINE_string(
    "init_from", None, "Model or work directory to start training with; `auto` chooses a model."
)
flags.DEFINE_list("runs", None, "Runs to compare: work directories, series or recorded results.")
flags.DEFINE_bool("pictures", True, "Write pictures of attention and confusions to TensorBoard.")
flags.DEFINE_string("split", "test", "Split to score: train, dev, test or mismatched.")
flags.DEFINE_string("input", "-", "Text, JSON, TSV or CSV, also gzipped; - is standard input.")
flags.DEFINE_string("row", None, "Row of a paper, such as disan/sick (default: list the rows).")
flags.DEFINE_bool("released", False, "Score the released model of a row instead of training.")
flags.DEFINE_bool("baseline", None, "Score two baselines too, logistic regressions on TF-IDF.")
flags.DEFINE_enum(
    "input_format", None, ("text", "jsonl", "tsv", "csv"), "Format of --input (default: by name)."
)
flags.DEFINE_string("input_encoding", "utf-8", "Encoding of --input, such as cp1252.")
flags.DEFINE_list("text_column", [], "Columns of the texts (default: the columns of the training).")
flags.DEFINE_enum("output_format", None, ("jsonl", "csv"), "Format of --output (default: by name).")
flags.DEFINE_bool("escape_formulas", False, "Quote CSV cells that a spreadsheet would execute.")
flags.DEFINE_bool("explain", False, "Add the five words of the largest weights to predictions.")
flags.DEFINE_integer("top_k", None, "Number of most probable classes to print (default: all).", 1)
flags.DEFINE_enum("dtype", "float32", DTYPES, "Data type in which a trained model computes.")
flags.DEFINE_enum("vector_dtype", "float32", ("float32", "float16"), "Data type of vectors.")
flags.DEFINE_string("host", "127.0.0.1", "Address to serve at; 0.0.0.0 = all network interfaces.")
flags.DEFINE_integer("port", 8000, "Port to serve at; 0 = a free port.", 0, 65535)
flags.DEFINE_integer("max_request_tokens", 4096, "Tokens that a request may have.", 1, 1 << 20)
flags.DEFINE_integer(
    "max_text_tokens", 2048, "Tokens that a text of a request may have.", 1, 1 << 20
)
flags.DEFINE_float("timeout", 30, "Seconds that a POST request may take.", 0.001, 3600)
flags.DEFINE_float("shutdown_delay", 0, "Seconds from SIGTERM to the closing of the port.", 0, 3600)
flags.DEFINE_enum(
    "log_level", "info", ("debug", "info", "warning", "error"), "Log this level and above."
)
flags.DEFINE_enum("format", "saved_model", ("saved_model", "tflite", "onnx"), "Export format.")
flags.DEFINE_integer(
    "max_tokens", None, "Truncate texts to this many tokens (predict, encode: 10,000).", 1
)
flags.DEFINE_string("output", None, "Output file of predict, encode and benchmark; else a folder.")
flags.DEFINE_list("figures", [], "Figures to draw, such as disan_figure_6 (default: all).")
flags.DEFINE_list("benchmark_parts", [], "Benchmarks to run: core, step, epoch, encoders, memory.")
flags.DEFINE_integer("repetitions", 9, "Number of timings of each function.", 1)
flags.DEFINE_list("allow_module", [], "Modules to import for models whose encoder they define.")
flags.DEFINE_string("jit_cache", None, "Folder of XLA's programs for GPUs; '' = none.")
flags.DEFINE_bool("debug", False, "Show TensorFlow's log and the tracebacks of errors.")


def run() -> None:
    """Runs the command in `sys.argv`; prints a failure in one line.

    The exit status of a user's mistake is 2. For an error in our code, the status is
    `INTERNAL` and a log gets the traceback; `--debug` prints the traceback instead.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:  # closed: the next opened file would get its number
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, open(os.devnull, "w" if number else "r"))  # noqa: SIM115
    atexit.register(gc.freeze)  # else Python collects TensorFlow's garbage at exit
    debug = any(re.fullmatch("--?debug(=(t|true|1))?", word, re.I) for word in sys.argv)
    if debug:
        os.environ[process.LOG_LEVEL] = "0"
    process.handle_signals(installation.program(), _after_a_stop)
    try:
        app.run(main, flags_parser=_parse)
    except Stopped as stopped:
        _leave(stopped.message, stopped.code)
    except KeyboardInterrupt:
        _leave(f"stopped; {_after_a_stop()}.", process.INTERRUPTED)
    except BrokenPipeError:  # the reader has closed the pipe: `run.py --help | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if debug:
            raise
        sentence = explain_failure(error)
        if sentence is None:
            _leave(log_failure(error, FLAGS["workdir"].value), INTERNAL)
        _leave(sentence, 2)


def _after_a_stop() -> str:
    return f"the same command {_AFTER_A_STOP.get(FLAGS['mode'].value, 'starts over')}"


def _leave(sentence: str, status: int) -> None:
    print(f"{installation.program()}: {sentence}", file=sys.stderr)
    sys.exit(status)


def main(_) -> None:
    """Calls the function of --mode with the flags that it takes."""
    logging.set_verbosity(logging.WARNING)
    mode = MODES[FLAGS.mode]
    for flag in defined_flags():
        try:  # TensorFlow opens only paths in UTF-8
            str(flag.value).encode("utf-8")
        except UnicodeEncodeError:
            printable = str(flag.value).encode("utf-8", "replace").decode()
            raise UserError(f"--{flag.name}={printable} is not UTF-8; rename the path.") from None
        if flag.value != flag.value:
            raise UserError(f"--{flag.name}={flag.value} must be a number.")
        is_empty = flag.value == [] or flag.value == "" and flag.name in _PATHS
        if is_empty and flag.present:
            raise UserError(f"--{flag.name}= is empty; give it a value, or leave the flag out.")
        if flag.value is not None and flag.name in _PATHS:
            flag.value = expand(flag.value, flag.name)
        if flag.name == "runs":
            flag.value = flag.value and [expand(name, flag.name) for name in flag.value]
        if flag.present and flag.name not in [*OF_ALL_MODES, *parameters_of(mode)]:
            takers = join_choices(name for name in MODES if flag.name in parameters_of(MODES[name]))
            raise UserError(f"--{flag.name} is not a flag of --mode={FLAGS.mode}, but of {takers}.")
    keep_compiled(FLAGS.jit_cache)
    if FLAGS.allow_module:
        from disan_tf.encoders.custom import allow_modules  # imports TensorFlow

        allow_modules(FLAGS.allow_module)
    parameters = inspect.signature(mode).parameters.values()
    values = {parameter.name: _value(parameter) for parameter in parameters}
    for name, stream in (("input", sys.stdin), ("output", sys.stdout)):
        if values.get(name) == "-" and getattr(stream, "name", "") == os.devnull:
            raise UserError(f"standard {name} is closed; name a file with --{name}.")
    mode(**values)
    sys.stdout.flush()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the results are written


def keep_compiled(folder: Optional[str]) -> None:
    """Lets XLA keep its programs for GPUs in a folder, unless TF_XLA_FLAGS is set.

    Raises:
      UserError: other users can write to the folder of --jit_cache, whose programs would run here;
        TF_XLA_FLAGS is set too; or XLA cannot read the folder's name.
    """
    if folder and "TF_XLA_FLAGS" in os.environ:
        raise UserError(f"--jit_cache={folder} and TF_XLA_FLAGS are both set; unset one of them.")
    if folder == "" or "TF_XLA_FLAGS" in os.environ:
        return
    try:
        path = Path(expand(folder, "jit_cache")) if folder else installation.cache_folder("xla")
    except RuntimeError:  # there is no home folder
        return
    if " " in str(path):  # TensorFlow takes the rest for another flag
        if folder:
            raise UserError(
                f"--jit_cache={folder} has a space in its path, at which XLA ends it; name a "
                "folder without spaces."
            )
        return
    if reason := ownership.why_not_private(path.resolve()):
        if folder:
            raise UserError(
                f"--jit_cache={folder} contains code, but {reason}; make a folder that only you "
                "can write to (mkdir -m 700), or run chmod go-w on the folder that is named."
            )
        return
    os.environ["TF_XLA_FLAGS"] = (
        f"--tf_xla_persistent_cache_directory={path} --tf_xla_persistent_cache_device_types=GPU"
    )


def defined_flags() -> list[flags.Flag]:
    """Returns the flags defined above, without the overrides of config values."""
    return [flag for flag in FLAGS.flags_by_module_dict()[__name__] if "." not in flag.name]


def _value(parameter: inspect.Parameter):
    """Returns the value of a parameter's flag or its default; raises UserError without either."""
    value, name, workdir = FLAGS[parameter.name].value, parameter.name, FLAGS.workdir
    needed = parameter.default is inspect.Parameter.empty
    if name == "prepared_dir" and value is None and workdir:
        return f"{workdir}/prepared"
    if not needed and not FLAGS[name].present:
        return parameter.default
    if name == "checkpoint" and value is None and workdir:
        return Path(workdir)
    if value is None and needed:
        name = f"{STAND_INS[name]} or --{name}" if name in STAND_INS else name
        raise UserError(f"--mode={FLAGS.mode} needs --{name}; see {installation.command()} --help.")
    return value


def _with_config_files(argv: list[str]) -> list[str]:
    """Returns the arguments with the names of bundled configs replaced by their paths."""
    arguments = list(argv)
    for number, argument in enumerate(argv):
        name, equals, value = argument.partition("=")
        if name in ("--config", "-config"):
            if equals:
                arguments[number] = f"{name}={installation.find_config(value)}"
            elif number + 1 < len(argv):
                arguments[number + 1] = installation.find_config(argv[number + 1])
    return arguments


def _parse(argv: list[str]) -> list[str]:
    """Parses the flags and loads the config; exits after a help text or the version."""
    is_help = set(argv) & set(HELP_FLAGS)
    if len(argv) == 1 or is_help or "--version" in argv:
        text = help_text(MODES, defined_flags()) if is_help else installation.version()
        print(welcome() if len(argv) == 1 else text)
        sys.exit()
    installation.import_configs()
    argv = _with_config_files(argv)
    check_repetitions(argv)
    try:
        rest, _ = FLAGS(argv), getattr(FLAGS.config, "name", None)  # this loads the config
    except Exception as error:  # a config is Python and can raise anything
        raise UserError(explain(error, argv, FLAGS)) from None
    if FLAGS.config is not None and not isinstance(FLAGS.config, ConfigDict):
        raise UserError("get_config of --config must return a ConfigDict.")
    if FLAGS.config is not None:
        check_tuples(argv, FLAGS.config)
        check_shared(FLAGS["config"].override_values, FLAGS.config)
        _drop_optimizer_options()
    if len(rest) > 1 and FLAGS.mode == "compare" and not FLAGS["runs"].present:
        FLAGS["runs"].parse(rest[1:])
        return rest[:1]
    if len(rest) > 1:
        raise UserError(f"{rest[1]} is not a flag; {_remedy(rest[1])}")
    return rest


def _drop_optimizer_options() -> None:
    """Removes the options of the config's optimizer if the command line chooses another one."""
    flag, section = FLAGS["config"], "train.optimizer_options"
    train = FLAGS.config.get("train", ConfigDict())
    given, options = flag.override_values, train.get("optimizer_options")
    if not options or "train.optimizer" not in given:
        return
    if flag.parser.parse(flag.config_filename).train.optimizer != train.optimizer:
        with FLAGS.config.unlocked():
            for name in [name for name in options if f"{section}.{name}" not in given]:
                del options[name]


def _remedy(word: str) -> str:
    """Returns a hint for an argument that is not a flag."""
    name = word.partition("=")[0]
    if word in MODES:
        return f"did you mean --mode={word}?"
    if name in FLAGS or name.startswith("config."):
        return f"did you mean --{word}?"
    if os.path.isfile(word) and "input" in parameters_of(MODES[FLAGS.mode]):
        return f"did you mean --input={word}?"
    return "write flags as --name=value."
