"""Graphs without `x[:, None]`, for which TFLite has no operator where lengths are unknown."""

from collections.abc import Sequence

import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

_MASKS = ("new_axis_mask", "begin_mask", "end_mask", "shrink_axis_mask", "ellipsis_mask")


def without_new_axes(traced, specs: Sequence[tf.TensorSpec]):
    """Rewrites a traced function with constants for weights and ExpandDims for new axes.

    Args:
      traced: a concrete function that returns a dictionary.
      specs: the specs of its inputs.

    Returns:
      A concrete function whose inputs have the names of `specs`.
    """
    frozen = convert_variables_to_constants_v2(traced, lower_control_flow=False)
    graph = frozen.graph.as_graph_def()
    _replace(graph.node, "{}")
    for body in graph.library.function:
        _replace(body.node_def, "{}:output:0")
    pruned = tf.compat.v1.wrap_function(
        lambda: tf.compat.v1.import_graph_def(graph, name=""), []
    ).prune([tensor.name for tensor in frozen.inputs], [tensor.name for tensor in frozen.outputs])
    names = sorted(traced.structured_outputs)

    def function(**inputs):
        results = pruned(*(inputs[spec.name] for spec in specs))
        return dict(zip(names, tf.nest.flatten(results)))

    named = {spec.name: spec for spec in specs}
    return tf.function(function, autograph=False).get_concrete_function(**named)


def _replace(nodes, reference: str) -> None:
    """Replaces slices that only add axes by ExpandDims.

    Args:
      nodes: the nodes of a graph or a function.
      reference: the format of a node's name in an input.
    """
    by_name = {node.name: node for node in nodes}
    for node in by_name.values():
        axes = _new_axes(node, by_name)
        source = node.input[0] if axes else None
        for number, axis in enumerate(axes):
            is_last = number == len(axes) - 1
            expanded = node if is_last else nodes.add(name=f"{node.name}/expanded_{number}")
            constant = nodes.add(name=f"{node.name}/axis_{number}", op="Const")
            constant.attr["dtype"].type = tf.int32.as_datatype_enum
            constant.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(axis, tf.int32))
            _make_expand_dims(
                expanded, source, reference.format(constant.name), node.attr["T"].type
            )
            source = reference.format(expanded.name)


def _make_expand_dims(node, source: str, axis: str, element: int) -> None:
    name = node.name
    node.Clear()
    node.name, node.op = name, "ExpandDims"
    node.input.extend([source, axis])
    node.attr["T"].type, node.attr["Tdim"].type = element, tf.int32.as_datatype_enum


def _new_axes(node, by_name) -> list[int]:
    """Returns the axes that a slice adds, ascending; [] for other nodes and partial slices."""
    if node.op != "StridedSlice" or not node.attr["new_axis_mask"].i:
        return []
    new, begin, end, shrink, ellipsis = (node.attr[name].i for name in _MASKS)
    begins, strides = (by_name[node.input[k].split(":")[0]] for k in (1, 3))
    if begins.op != "Const" or strides.op != "Const" or shrink:
        return []
    positions = range(tf.make_ndarray(begins.attr["value"].tensor).size)
    untouched = new | (begin & end) | ellipsis
    if any(not untouched >> k & 1 for k in positions) or ellipsis not in (0, 1):
        return []
    if any(stride != 1 for stride in tf.make_ndarray(strides.attr["value"].tensor)):
        return []
    axes = [k for k in positions if new >> k & 1]
    return axes if not ellipsis else [-1] * len(axes)
