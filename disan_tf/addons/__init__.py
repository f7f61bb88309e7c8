"""Moving averages of weights, with or without tensorflow-addons (TFA).

TFA is no longer developed, and its last release goes with TensorFlow 2.15. Only this module imports
TFA. `MovingAverage` is the same optimizer without TFA; a training can switch between the two.
"""

import functools
import warnings

import tensorflow as tf

from disan_tf.common import keras_version

keras_version.check()


@functools.cache
def optimizer_class() -> type:
    """Returns TFA's optimizer if TFA can be imported, otherwise ours, of the same name."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # TFA's end-of-life notice
            from tensorflow_addons import optimizers
    except ImportError:
        return MovingAverage
    return optimizers.MovingAverage


def moving_average(
    optimizer, decay: float, warm_up: bool = False
) -> tf.keras.optimizers.legacy.Optimizer:
    """Wraps `optimizer` to keep exponential moving averages of the weights.

    After each step average = decay * average + (1 - decay) * weight, from the initial weight on;
    `assign_average_vars(variables)` gives variables the values of their averages. With `warm_up`
    the decay after t steps is at most (1 + t) / (10 + t): short trainings forget their start.
    """
    return optimizer_class()(optimizer, average_decay=decay, dynamic_decay=warm_up)


class MovingAverage(tf.keras.optimizers.legacy.Optimizer):
    """An optimizer that keeps moving averages of the weights, with TFA's variables and names."""

    def __init__(self, optimizer, average_decay, dynamic_decay=False, name="MovingAverage"):
        super().__init__(name)
        self._optimizer = optimizer
        self._decay, self._warms_up = average_decay, dynamic_decay
        self._track_trackable(optimizer, "awg_optimizer")  # the name in TFA's checkpoints

    def assign_average_vars(self, variables):
        """Gives each variable the value of its average."""
        for variable in variables:
            variable.assign(self.get_slot(variable, "average"))

    def apply_gradients(self, grads_and_vars, name=None, **kwargs):
        self._optimizer._iterations = self.iterations  # one count of steps, as in TFA
        return super().apply_gradients(grads_and_vars, name, **kwargs)

    @property
    def learning_rate(self):
        """The wrapped optimizer's learning rate, a variable."""
        return self._optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value):
        self._optimizer.learning_rate = value

    @property
    def weights(self):
        return self._weights + self._optimizer.weights

    def get_config(self):
        wrapped = tf.keras.optimizers.serialize(self._optimizer)
        decays = {"average_decay": self._decay, "dynamic_decay": self._warms_up}
        return {**super().get_config(), "optimizer": wrapped, **decays}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        wrapped = tf.keras.optimizers.deserialize(
            config["optimizer"], custom_objects, use_legacy_optimizer=True
        )
        return cls(wrapped, config["average_decay"], config["dynamic_decay"], config["name"])

    def _create_hypers(self):
        self._optimizer._create_hypers()

    def _create_slots(self, var_list):
        self._optimizer._create_slots(var_list)
        for variable in var_list:
            self.add_slot(variable, "average", variable.read_value())

    def _prepare_local(self, var_device, var_dtype, apply_state):
        self._optimizer._prepare_local(var_device, var_dtype, apply_state)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        step = self._optimizer._resource_apply_dense(grad, var, apply_state=apply_state)
        return self._update_average(var, step)

    def _resource_apply_sparse_duplicate_indices(self, grad, var, indices, apply_state=None):
        step = self._optimizer._resource_apply_sparse_duplicate_indices(
            grad, var, indices, apply_state=apply_state
        )
        return self._update_average(var, step)

    def _update_average(self, variable, step):
        with tf.control_dependencies([step]):
            average = self.get_slot(variable, "average")
            return tf.keras.backend.moving_average_update(average, variable, self._current_decay())

    def _current_decay(self):
        if not self._warms_up:
            return self._decay
        step = tf.cast(self.iterations, tf.float32)
        return tf.minimum(self._decay, (1.0 + step) / (10.0 + step))
