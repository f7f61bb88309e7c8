"""The training loop: steps, with logging, evaluation and saving when due, and resumption."""

import functools
import math
import signal
from collections.abc import Sequence
from typing import Callable, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.atomic import sync
from disan_tf.common.errors import Stopped, UserError
from disan_tf.common.process import deferred_signals
from disan_tf.input_pipeline import BatchPlan, PreparedCorpus, evaluation_batches, make_dataset
from disan_tf.models.base import SentenceModel
from disan_tf.runs.bundle import save_bundle
from disan_tf.runs.metrics_log import TrainingLog, format_metrics
from disan_tf.runs.work_directory import WorkDirectory
from disan_tf.training.checkpoints import TrainingState
from disan_tf.training.compilation import BucketedStep, padded_lengths
from disan_tf.training.config import Config
from disan_tf.training.distribution.strategy import STOP, Distribution
from disan_tf.training.methods.back_propagation import BackPropagation
from disan_tf.training.scoring import BestModel, SplitScores, StatisticsUpdate


class Loop:
    """Trains one model in one work directory; the same loop again resumes the training.

    After each step, `run` does the due actions in this order: log, check that weights are finite,
    evaluate, end the epoch, save, stop.

    Args:
      config: the config of the training, resolved into steps.
      model, method: the `SentenceModel`, with its resources, and its training method.
      corpus, plan: the prepared corpus, and the batches of its training examples.
      work: gets `checkpoints/`, `best/` and `metrics.jsonl`.
      devices: the devices and processes, which all do the same steps.

    Attributes:
      callbacks: Keras callbacks. A batch's logs hold `loss`, the model's `batch_score` and the
        training method's other metrics. An evaluation's logs hold `step`, `loss` and the model's
        dev scores. The logs of `on_train_begin` hold the `step` of the last checkpoint, whether the
        training `is_over` there, and `measured`, the metrics of earlier steps that are not logged.
      criterion: the name of the score on dev that selects the model.
    """

    def __init__(
        self,
        config: Config,
        model: SentenceModel,
        method: BackPropagation,
        corpus: PreparedCorpus,
        plan: BatchPlan,
        work: WorkDirectory,
        devices: Distribution,
    ):
        self.config, self.schedule = config, config.train.schedule
        self.model, self.method, self.corpus, self.work = model, method, corpus, work
        self.devices = devices
        self.callbacks: Sequence[tf.keras.callbacks.Callback] = ()
        self.state = TrainingState(work.checkpoints, model, method.saved, devices.is_chief)
        self.train, self.dev, self.plan = corpus.split("train"), corpus.split("dev"), plan
        self.epoch_steps = self.plan.count(0)  # with batch_tokens, later epochs differ a little
        self.log = TrainingLog(work.metrics, self.plan)
        batches = config.train.batch_norm_batches
        self.update_statistics = StatisticsUpdate(batches, model, method, self.train, self.plan)
        watched = {name: corpus.split(name) for name in config.evaluate.splits}
        self.criterion = config.train.selecting_score(model)
        size = config.evaluate.batch_size
        self.scores = SplitScores(size, self.criterion, model, method, self.dev, watched)
        save = functools.partial(save_bundle, model=model, config=config, corpus=corpus)
        self.best = BestModel(work.best, save, self.criterion, self.state)

    def run(self, step: Optional[int] = None) -> dict:
        """Trains until the schedule ends or training stops early.

        Args:
          step: the result of `restore`; None = `restore` is called.

        Returns:
          {"step", "epoch", "best_step", "best_epoch", "criterion" (the name of the score),
          "best_score", "seconds"}, and "compilations" in this process, if XLA compiles.

        Raises:
          UserError: the loss or a weight is not finite (the last good checkpoint stays), a
            checkpoint is damaged, or the best model is gone.
          Stopped: the process received SIGTERM or SIGHUP; the last step has a checkpoint.
        """
        step = self.restore() if step is None else step
        self.best.check_exists()
        self.log.open(step, self.state.measured.numpy(), self.devices.is_chief)
        callbacks = tf.keras.callbacks.CallbackList(
            list(self.callbacks),
            model=self.model,
            epochs=math.ceil(self.schedule.steps / self.epoch_steps),
            steps=self.epoch_steps,
        )
        callbacks.on_train_begin(
            {"step": step, "measured": self.log.formatted(), "is_over": self.is_over(step)}
        )
        if not self.is_over(step):
            self._compile_ahead()
        with deferred_signals() as caught:
            while not self.is_over(step):
                step = self._epoch(step, callbacks, caught)
        self._stop(caught(), step)  # a signal during the last evaluation
        callbacks.on_train_end()
        compiler = self.method.compiler
        return {
            "step": step,
            "epoch": self.plan.epochs(step),
            "best_step": int(self.state.best_step),
            "best_epoch": self.plan.epochs(int(self.state.best_step)),
            "criterion": self.criterion,
            "best_score": float(self.state.best_score),
            "seconds": self.log.seconds(),
            **({"compilations": compiler.compilations} if compiler.jit_compile else {}),
        }

    def restore(self) -> int:
        """Restores the newest checkpoint; returns its step, or 0. All workers must call this."""
        return self.state.restore(self.devices.by_chief(self.state.newest))

    def _compile_ahead(self) -> None:
        """If XLA is used, compiles the steps for the lengths of the first epoch and of dev."""
        variables, train_step = None, getattr(self.method, "train_step", None)
        planned = self.plan.batches(0)[: self.schedule.steps]
        evaluation = evaluation_batches(self.dev.field_lengths, self.scores.batch_size)
        steps = (
            (train_step, self.train, planned),
            (self.method.evaluation_step, self.dev, evaluation),
        )
        for step, split, batches in steps:
            if isinstance(step, BucketedStep):
                variables = variables or [*self.model.variables, *_slots(self.method)]
                batch = next(iter(make_dataset(split, batches[:1])))
                tensors = [batch[name] for name in (*self.model.reads, "label")]
                step.prepare(tensors, padded_lengths(split.lengths, batches), variables)

    def batches(self, step: int) -> tf.data.Dataset:
        """Returns the remaining batches of the epoch after `step` steps."""
        epoch, done = self.plan.locate(step)
        return self.devices.dataset(self.train, self.plan.batches(epoch)[done:])

    def _epoch(self, step: int, callbacks, caught: Callable[[], int]) -> int:
        """Trains until the end of the epoch or of the training; returns the step."""
        epoch, _ = self.plan.locate(step)
        callbacks.on_epoch_begin(epoch)
        for batch in self.batches(step):
            callbacks.on_train_batch_begin(step)
            names = *self.model.reads, "label"
            inputs = self.devices.inputs(batch, names, bool(caught()))  # and whether a signal came
            metrics = self.method.train(step, *inputs)
            others_stop = metrics.pop(STOP, False)  # the same in all workers
            if self.log.begins_phase(metrics):
                self._log_training(step)  # a line holds one phase
            self.log.steps.append(metrics)
            step += 1
            callbacks.on_train_batch_end(step - 1, format_metrics(metrics))
            alone = self.devices.workers == 1
            stop = caught() if alone else others_stop and (caught() or signal.SIGTERM)
            self._after_step(step, callbacks, stop)
            if self.is_over(step):
                break
        callbacks.on_epoch_end(epoch)
        return step

    def _after_step(self, step: int, callbacks, stop: int) -> None:
        """Does the due actions after a step in this order; nothing is saved after a bad loss."""
        save = self.schedule.is_saved(step) or stop
        if self.schedule.is_logged(step):
            self._log_training(step)
        if save and not all(np.all(np.isfinite(it)) for it in self.model.trainable_weights):
            raise self._not_finite(f"A weight is not finite after step {step}")
        if self.schedule.is_evaluated(step):
            self._evaluate(step, callbacks)
        if self.plan.locate(step)[1] == 0:
            self.method.end_epoch()
        if save:
            self._save(step)
        self._stop(stop, step)

    def _stop(self, number: int, step: int) -> None:
        """Raises Stopped if a signal came; `number` is 0 otherwise."""
        if number:
            raise Stopped(
                f"stopped by {signal.Signals(number).name} after step {step:,}, saved in "
                f"{self.work.checkpoints}; the same command resumes from it.",
                128 + number,
            )

    def _log_training(self, step: int) -> None:
        """Writes a line with the mean metrics of the steps since the last line."""
        means, skipped = self.log.means()
        if not math.isfinite(means["loss"]):
            first = step - len(self.log.steps) + 1
            raise self._not_finite(f"The loss is not finite between steps {first} and {step}")
        extra = self.method.extra_metrics(means)
        self.log.write(step, "train", {**means, **extra, "skipped_steps": skipped})
        self.log.steps.clear()

    def _not_finite(self, problem: str) -> UserError:
        step, folder = int(self.state.step), self.work.checkpoints
        saved = f"the checkpoint of step {step} in {folder} is whole"
        kept = saved if step else "no checkpoint was saved"
        return UserError(
            f"{problem}; {kept}: try a smaller train.learning_rate, or dtype float32, in a new "
            "workdir."
        )

    def _evaluate(self, step: int, callbacks) -> None:
        """Scores the watched splits, and dev, which chooses the best model."""
        callbacks.on_test_begin()
        self.update_statistics()
        scores, best = self.devices.by_chief(lambda: self._score_and_keep(step))
        self.best.record(*best)
        self.method.evaluated(step, scores["dev"])
        for name, metrics in scores.items():
            self.log.write(step, name, metrics)
        dev = scores.pop("dev")
        with self.method.averaged_weights():  # pictures show the model that the scores judge
            callbacks.on_test_end({"step": step, **dev, "watched": scores})

    def _score_and_keep(self, step: int) -> tuple[dict, tuple[int, float]]:
        """Keeps the best model; returns the scores by split, and the best step and score."""
        with self.method.averaged_weights():
            dev = self.scores.score_dev()
            scores = {
                "dev": {**dev, **self.scores.score_dev_selections()},
                **self.scores.score_watched(),
            }
            # Last, because a run whose best step has no line for dev in the log cannot be read.
            self.best.keep(step, dev, self.method.may_choose)
        return scores, self.best.recorded()

    def _save(self, step: int) -> None:
        self.state.step.assign(step)
        self.state.measured.assign(self.log.dump())
        self.devices.by_chief(self._write_checkpoint)

    def _write_checkpoint(self) -> None:
        """Saves the state when the disk has the logs of its steps, which no later run repeats."""
        for path in (self.work.metrics, self.work.tensorboard):
            if path.exists():
                sync(path)
        self.state.save()

    def is_over(self, step: int) -> bool:
        """Returns whether the training ends at a step."""
        return self.schedule.is_over(step, int(self.state.best_step))


def _slots(method) -> list[tf.Variable]:
    """Returns the variables of all optimizers of a training method, inside averages too."""
    kind = tf.keras.optimizers.legacy.Optimizer
    optimizers = [saved for saved in method.saved.values() if isinstance(saved, kind)]
    optimizers += [inner for it in optimizers if (inner := getattr(it, "_optimizer", None))]
    return [variable for optimizer in optimizers for variable in optimizer.variables()]
