"""C++ operations, compiled for the CPU that they run on."""

# Imported for their registrations.
from disan_tf.ops.native import gradients as gradients
from disan_tf.ops.native import recurrence_gradients as recurrence_gradients
from disan_tf.ops.native import second_gradients as second_gradients
