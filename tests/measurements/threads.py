"""How many threads a measurement uses; TensorFlow is imported only once they are set."""


def set_threads(threads: int) -> None:
    """Sets the threads of TensorFlow's operations, before it computes anything."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)


def machine(threads: int) -> dict:
    """What `describe_machine` says of a process with so many threads."""
    from disan_tf.benchmark.timing import describe_machine

    set_threads(threads)
    return describe_machine()
