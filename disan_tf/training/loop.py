"""The training loop: steps, evaluations, checkpoints, early stop, resume."""

import math
import signal
import time
from pathlib import Path
from typing import Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.errors import Stopped, UserError
from disan_tf.common.signals import deferred
from disan_tf.input_pipeline import BatchPlan, PreparedCorpus, make_dataset
from disan_tf.models.factory import build_model
from disan_tf.models.memory import memory_limit
from disan_tf.runs.bundle import save_bundle
from disan_tf.runs.metrics_log import MetricsLog, NoLog
from disan_tf.runs.run_summary import is_over
from disan_tf.training.checkpoints import TrainingState
from disan_tf.training.distribution.replicas import STOP
from disan_tf.training.distribution.strategy import Distribution
from disan_tf.training.methods import make_method
from disan_tf.training.methods.batch_statistics import make_averaging_step, take_averages
from disan_tf.training.monitoring.step_metrics import dump, format_metrics, load
from disan_tf.training.outputs import run_split
from disan_tf.training.resources import gather_resources
from disan_tf.training.schedule import is_evaluated, is_logged, is_saved


class Trainer:
    """Trains one model in one work directory; the same call again goes on where it stopped.

    Args:
      config: a config of `configs/`.
      corpus: the prepared corpus.
      workdir: gets `checkpoints/`, `best/` and `metrics.jsonl`.
      callbacks: Keras callbacks. Their logs hold for a batch `loss`, the model's `batch_score` and
        what else the method of training measures, and for an evaluation `step`, `loss` and the
        model's scores on dev; those of the beginning hold the `step` of the last checkpoint, and
        `measured`, the logs of the steps up to it that no line of the log has yet.
      distribution: of the training over devices and processes; all of these do the same steps.

    Attributes:
      dev_outputs: of the last evaluation, <float32>[examples, classes].

    Raises:
      UserError: see `gather_resources`.
      MemoryError: the machine cannot hold the model, see `memory_limit`.
    """

    def __init__(
        self,
        config,
        corpus: PreparedCorpus,
        workdir,
        callbacks=(),
        distribution: Optional[Distribution] = None,
    ):
        self.distribution = distribution or Distribution()
        resources, corpus = gather_resources(config, corpus)
        tf.keras.utils.set_random_seed(config.seed)
        self.config = config
        self.corpus = corpus
        self.workdir = Path(workdir)
        with self.distribution.scope():
            with memory_limit(copies=4):
                self.model = build_model(
                    config,
                    resources.words,
                    resources.classes,
                    bilm=resources.bilm,
                    cached=corpus.layers is not None,
                )
            self.model.set_resources(resources)
            self.method = make_method(config, self.model)
        self.state = TrainingState(
            self.workdir / "checkpoints", self.model, self.method.saved, self.distribution.is_chief
        )
        self.train, self.dev = corpus.split("train"), corpus.split("dev")
        self.watched = {name: corpus.split(name) for name in config.evaluate.splits}
        self.plan = BatchPlan(
            self.train.field_lengths,
            config.train.batch_size,
            config.train.window,
            config.seed,
            config.train.batch_tokens,
            config.train.examples,
        )
        self.epoch_steps = self.plan.count(0)  # with batch_tokens, later epochs differ a little
        self._averaging_step = make_averaging_step(self.model)
        self.callbacks = callbacks

    def run(self) -> dict:
        """Trains to `train.steps` or to the early stop.

        Returns:
          {"step", "best_step", "criterion", "best_score", "seconds"}; the criterion names the best
          score on dev.

        Raises:
          UserError: the loss or a weight is not finite (the last good checkpoint stays), a
            checkpoint is damaged, or the best model is gone.
          Stopped: SIGTERM or SIGHUP came; there is a checkpoint of the last step.
        """
        step = self.state.restore(self.distribution.by_chief(self.state.newest))
        self._check_best()
        is_chief = self.distribution.is_chief
        self.log = MetricsLog(self.workdir / "metrics.jsonl", step) if is_chief else NoLog()
        self._started = time.monotonic() - self.log.seconds
        self._step_metrics = load(self.state.measured.numpy())
        callbacks = tf.keras.callbacks.CallbackList(
            list(self.callbacks),
            model=self.model,
            epochs=math.ceil(self.config.train.steps / self.epoch_steps),
            steps=self.epoch_steps,
        )
        metrics = [format_metrics(metrics) for metrics in self._step_metrics]
        callbacks.on_train_begin({"step": step, "measured": metrics})
        with deferred() as self._is_to_stop:
            while not self._finished(step):
                step = self._epoch(step, callbacks)
        callbacks.on_train_end()
        return {
            "step": step,
            "best_step": int(self.state.best_step),
            "criterion": self.model.criterion,
            "best_score": float(self.state.best_score),
            "seconds": self._seconds(),
        }

    def batches(self, step: int) -> tf.data.Dataset:
        """The batches that are left of the epoch in which `step` steps have been done."""
        epoch, done = self.plan.locate(step)
        return self.distribution.dataset(self.train, self.plan.batches(epoch)[done:])

    def _epoch(self, step, callbacks):
        epoch, _ = self.plan.locate(step)
        callbacks.on_epoch_begin(epoch)
        for batch in self.batches(step):
            callbacks.on_train_batch_begin(step)
            names = *self.model.reads, "label"
            inputs = self.distribution.inputs(batch, names, bool(self._is_to_stop()))
            metrics = self.method.train(step, *inputs)
            self._others_stop = metrics.pop(STOP, False)
            if self._step_metrics and metrics.get("phase") != self._step_metrics[0].get("phase"):
                self._log_training(step)  # a line is of one phase
            self._step_metrics.append(metrics)
            step += 1
            callbacks.on_train_batch_end(step - 1, format_metrics(metrics))
            self._after_step(step, callbacks)
            if self._finished(step):
                break
        callbacks.on_epoch_end(epoch)
        return step

    def _after_step(self, step, callbacks):
        """Logs, evaluates and saves when it is time to; nothing is saved after a bad loss."""
        train = self.config.train
        save = is_saved(train, step)
        if is_logged(train, step):
            self._log_training(step)
        alone = self.distribution.workers == 1
        stop = self._is_to_stop() if alone else self._others_stop  # of all by the same step
        if (save or stop) and not self._is_finite():
            raise self._not_finite(f"A weight is not finite after step {step}")
        if is_evaluated(train, step):
            self._evaluate(step, callbacks)
        if self.plan.locate(step)[1] == 0:
            self.method.end_epoch()
        if save or stop:
            self.state.step.assign(step)
            self.state.measured.assign(dump(self._step_metrics))
            self.distribution.by_chief(self.state.save)
        if stop:
            number = self._is_to_stop() or signal.SIGTERM  # that another worker got
            raise Stopped(
                f"stopped by {signal.Signals(number).name} after step {step:,}, which "
                f"{self.workdir / 'checkpoints'} holds; the same command goes on from there.",
                128 + number,
            )

    def _is_finite(self):
        return all(np.all(np.isfinite(weight)) for weight in self.model.trainable_weights)

    def _check_best(self):
        """Raises UserError where the best model was deleted: later ones may not be as good."""
        best = self.workdir / "best"
        if np.isfinite(float(self.state.best_score)) and not (best / "model.json").is_file():
            raise UserError(
                f"{best} is missing, the best model so far, of step {int(self.state.best_step):,}; "
                "restore it, or train again in another --workdir."
            )

    def _log_training(self, step):
        """Means since the last time, and how many steps the loss scaling left out."""
        means = {
            name: float(np.mean([metrics[name] for metrics in self._step_metrics]))
            for name in self._step_metrics[0]
        }
        skipped = round(means.pop("skipped_steps") * len(self._step_metrics))
        if not math.isfinite(means["loss"]):
            first = step - len(self._step_metrics) + 1
            raise self._not_finite(f"The loss is not finite between steps {first} and {step}")
        record = {**means, **self.method.extra_metrics(means), "skipped_steps": skipped}
        epoch = self.plan.epochs(step)
        self.log.write(step=step, epoch=epoch, split="train", **record, seconds=self._seconds())
        self._step_metrics = []

    def _not_finite(self, what):
        return UserError(
            f"{what}; the checkpoint of step {int(self.state.step)} in "
            f"{self.workdir / 'checkpoints'} is whole: try a smaller train.learning_rate, or dtype "
            "float32, in a new workdir."
        )

    def _evaluate(self, step, callbacks):
        """Scores the dev split, which chooses, and the splits that are only watched."""
        callbacks.on_test_begin()
        self._take_averages()
        scores, best = self.distribution.by_chief(lambda: self._score_splits(step))
        self.distribution.copy_counts(self.model)
        self.state.best_step.assign(best[0])
        self.state.best_score.assign(best[1])
        self.method.evaluated(step, scores["dev"])
        for name, metrics in scores.items():
            record = {"epoch": self.plan.epochs(step), "split": name, **metrics}
            self.log.write(step=step, **record, seconds=self._seconds())
        dev = scores.pop("dev")
        callbacks.on_test_end({"step": step, **dev, "watched": scores})

    def _take_averages(self):
        """Those of batch normalisation, of the same batches each time, if the config wants it."""
        batches = self.config.train.get("batch_norm_batches", 0)
        if batches:
            dataset = make_dataset(self.train, self.plan.batches(0)[:batches])
            with self.method.averaged_weights():
                take_averages(self._averaging_step, dataset, self.model.reads)

    def _score_splits(self, step):
        """The scores by split, and step and score of the best model, which is written."""
        with self.method.averaged_weights():
            dev, self.dev_outputs = self._score(self.method.evaluation_step, self.dev)
            self._keep_if_best(step, dev)
            for name, evaluation_step in self.method.other_evaluations.items():
                others, _ = self._score(evaluation_step, self.dev)
                dev.update({f"{name}_{score}": value for score, value in others.items()})
            watched = {
                name: self._score(self.method.evaluation_step, split)[0]
                for name, split in self.watched.items()
            }
        best = int(self.state.best_step), float(self.state.best_score)
        return {"dev": dev, **watched}, best

    def _score(self, evaluation_step, split):
        inputs, batch_size = self.model.reads, self.config.evaluate.batch_size
        outcome = run_split(evaluation_step, split, inputs, batch_size)
        scores = {"loss": outcome.loss, **self.model.scores(outcome.outputs, split.labels)}
        return scores, outcome.outputs

    def _keep_if_best(self, step, scores):
        """A better model is written before its score is recorded."""
        if not self.method.may_choose:
            self.state.best_step.assign(step)  # the early stop counts from here
            return
        score = scores[self.model.criterion]
        if score > float(self.state.best_score):
            scores = {"step": step, f"dev_{self.model.criterion}": score}
            save_bundle(self.workdir / "best", self.model, self.config, self.corpus, scores)
            self.state.best_step.assign(step)
            self.state.best_score.assign(score)

    def _finished(self, step):
        return is_over(self.config.train, step, int(self.state.best_step))

    def _seconds(self):
        return round(time.monotonic() - self._started, 3)
