"""C++ operations, compiled for the CPU that they run on."""

from disan_tf.ops.native import gradients as gradients  # for its registrations
