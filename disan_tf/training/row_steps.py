"""Optimizers' steps on rows of a table, in shapes that do not depend on the data, for XLA."""

import tensorflow as tf

from disan_tf.ops.tracing import is_jit_compiled


class RowSteps:
    """Mixin of Keras' legacy optimizers: takes sparse gradients under XLA too.

    A sparse step changes the rows of the batch, weights and slots. Keras finds the distinct rows,
    whose number depends on the batch. Under XLA each occurrence of a row computes the row's step
    from the sum of its gradients, so several occurrences write equal values.

    Attributes:
      row_slots: the names of the slots that `step_rows` reads; None = the optimizer's step on a
        dense gradient changes the same rows (Adam, RMSProp).
    """

    row_slots = None

    def step_rows(self, gradients, values, *slots, **settings):
        """Returns new values and slots of rows, all <float>[rows, dim]."""
        raise NotImplementedError

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices, apply_state=None):
        if not is_jit_compiled():
            return super()._resource_apply_sparse_duplicate_indices(
                grad, handle, indices, apply_state=apply_state
            )
        if self.row_slots is None:
            dense = tf.math.unsorted_segment_sum(grad, indices, handle.shape[0])
            return self._resource_apply_dense(dense, handle, apply_state=apply_state)
        tables = [handle, *(self.get_slot(handle, name) for name in self.row_slots)]
        indices, sums = sums_of_rows(grad, indices)
        key = handle.device, handle.dtype.base_dtype
        settings = (apply_state or {}).get(key) or self._fallback_apply_state(*key)
        rows = self.step_rows(sums, *(tf.gather(table, indices) for table in tables), **settings)
        return tf.group(
            *(
                table.scatter_update(tf.IndexedSlices(new, indices))
                for table, new in zip(tables, rows)
            )
        )


def sums_of_rows(values: tf.Tensor, rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the row numbers in ascending order, and for each the sum of its row's values.

    Args:
      values: <float>[occurrences, dim].
      rows: <int>[occurrences].

    Returns:
      <int>[occurrences] and <float>[occurrences, dim].
    """
    order = tf.argsort(rows, stable=True)
    rows, values = tf.gather(rows, order), tf.gather(values, order)
    is_new = tf.pad(tf.cast(rows[1:] != rows[:-1], tf.int32), [[1, 0]])
    numbers = tf.cumsum(is_new)
    sums = tf.math.unsorted_segment_sum(values, numbers, tf.size(rows))
    return rows, tf.gather(sums, numbers)
