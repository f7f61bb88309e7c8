"""The function of `disan_tf.addons` with tensorflow-addons, which only this file imports."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)  # its end-of-life notice
    import tensorflow_addons as tfa


def moving_average(optimizer, decay, warm_up=False):
    return tfa.optimizers.MovingAverage(optimizer, average_decay=decay, dynamic_decay=warm_up)
