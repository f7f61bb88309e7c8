"""A placement of a graph on a GPU, from TensorFlow's kernel registry, without a GPU.

The registry lists the kernels that are compiled into the wheel. TensorFlow's Linux wheels on PyPI
hold the GPU kernels, also on machines without a GPU. A kernel has its arguments in the device's
memory, except for those that the registry names as `host_memory_arg`. Kernels of the device type
"DEFAULT" serve every device without a kernel of its own.
"""

import functools
import itertools
from collections.abc import Iterator
from typing import NamedTuple, Optional

import tensorflow as tf
from tensorflow.python.framework import kernels

DEVICES = ("GPU", "DEFAULT")  # in the order of TensorFlow's choice
CALLS = ("PartitionedCall", "StatefulPartitionedCall")
CONDITIONALS = ("If", "StatelessIf")
LOOPS = ("While", "StatelessWhile")
HOST = "/device:CPU:0"  # of `on_host`; a variable's operations name the variable's machine too
ARGUMENTS = ("Placeholder", "_Arg", "_Retval")


def has_gpu_kernels() -> bool:
    """Returns whether the installed TensorFlow holds GPU kernels."""
    return any(kernel.device_type == "GPU" for kernel in _kernels("MatMul"))


class Finding(NamedTuple):
    """An operation that a GPU does not compute, or a tensor that it reads or writes elsewhere.

    Attributes:
      kind: "no kernel", "to host" (a tensor of the device's memory is an input in host memory),
        "to device" (the reverse), or "data-dependent shape".
      operation: type and dtype, such as "GreaterEqual int32".
      argument: name of the argument; "" without one.
      shape: shape of the tensor, as text; "" without one.
      where: name of the operation in its graph.
    """

    kind: str
    operation: str
    argument: str
    shape: str
    where: str


# Operations whose output shapes are known only after they have read the device's memory.
DATA_DEPENDENT = ("Where", "Unique", "UniqueV2", "DynamicPartition", "UniqueWithCounts")


def findings(function) -> set[Finding]:
    """Returns all `Finding`s of a concrete function whose integer arguments lie in host memory."""
    placement = Placement()
    graph = function.graph
    placement.place(graph, [tensor.dtype == tf.int32 for tensor in graph.inputs])
    return placement.findings


class Placement:
    """The memory of every tensor in a graph, as after TensorFlow has inlined all functions."""

    def __init__(self):
        self.findings = set()

    def place(self, graph: tf.Graph, arguments: list[bool]) -> list[bool]:
        """Places a graph whose arguments lie in host memory or not; returns its outputs' places."""
        places = {tensor.ref(): place for tensor, place in zip(graph.inputs, arguments)}
        for operation in _in_order(graph):
            if operation.type in ARGUMENTS:
                continue
            inputs = [places.get(tensor.ref(), False) for tensor in operation.inputs]
            outputs = self._outputs(graph, operation, inputs)
            places.update(zip((tensor.ref() for tensor in operation.outputs), outputs))
        return [places.get(tensor.ref(), False) for tensor in graph.outputs]

    def _outputs(self, graph, operation, inputs):
        body = functools.partial(_function, graph, operation)
        if operation.type in CALLS:
            return self.place(body("f"), inputs)
        if operation.type in CONDITIONALS:
            self._check_predicate(operation, operation.inputs[0], inputs[0])
            moved = self._moved("Switch", operation, operation.inputs[1:], inputs[1:])
            branches = [self.place(body(name), moved) for name in ("then_branch", "else_branch")]
            outputs = [all(places) for places in zip(*branches)]
            return self._moved("Merge", operation, operation.outputs, outputs)
        if operation.type in LOOPS:
            return self._loop(operation, inputs, body("cond"), body("body"))
        return self._kernel_outputs(operation, inputs)

    def _loop(self, operation, inputs, condition, body):
        places = self._moved("Enter", operation, operation.inputs, inputs)
        while True:  # a variable that any iteration makes on the device lies there
            (place,) = self.place(condition, places)
            self._check_predicate(operation, condition.outputs[0], place)
            after = [all(pair) for pair in zip(places, self.place(body, places))]
            after = self._moved("Merge", operation, operation.outputs, after)
            if after == places:
                return after
            places = after

    def _check_predicate(self, operation, tensor, place):
        """Adds a finding if the host must read from the device which way the control flow goes."""
        if place is False:
            self._add("to host", operation, "predicate", tensor)

    def _moved(self, kind, operation, tensors, places):
        """Returns the places after the control flow's kernels, which differ by dtype."""
        moved = []
        for tensor, place in zip(tensors, places):
            if tensor.dtype in (tf.resource, tf.variant):
                moved.append(place)
                continue
            kernel = _matching(kind, {"T": tensor.dtype.as_datatype_enum})
            host = kernel is not None and bool({"data", "inputs"} & set(kernel.host_memory_arg))
            if host and place is False:
                self._add("to host", operation, kind, tensor)
            moved.append(host)
        return moved

    def _kernel_outputs(self, operation, inputs):
        if operation.type == "Const":
            return [None]
        if operation.type in ("Identity", "NoOp"):
            return inputs  # TensorFlow removes them
        if operation.device == HOST:
            return self._on_host(operation, inputs)
        kernel = kernel_of(operation)
        if kernel is None:
            self._add("no kernel", operation)
            return [True] * len(operation.outputs)
        host = set(kernel.host_memory_arg)
        if operation.type in DATA_DEPENDENT:
            self._add("data-dependent shape", operation)
        names = _argument_names(operation, operation.op_def.input_arg)
        for name, tensor, place in zip(names, operation.inputs, inputs):
            if tensor.dtype == tf.resource or place in (None, name in host):
                continue
            self._add("to device" if place else "to host", operation, name, tensor)
        return [name in host for name in _argument_names(operation, operation.op_def.output_arg)]

    def _on_host(self, operation, inputs):
        for tensor, place in zip(operation.inputs, inputs):
            if tensor.dtype != tf.resource and place is False:
                self._add("to host", operation, "", tensor)
        return [True] * len(operation.outputs)

    def _add(self, kind, operation, argument="", tensor=None):
        shape = "" if tensor is None else f"{tensor.dtype.name}{_shape(tensor)}"
        described = f"{operation.type} {_dtype(operation)}"
        self.findings.add(Finding(kind, described, argument, shape, operation.name))


def kernel_of(operation: tf.Operation) -> Optional[object]:
    """Returns the operation's kernel on a GPU; None without one."""
    attributes = operation.node_def.attr
    types = {name: value.type for name, value in attributes.items() if value.type}
    return _matching(operation.type, types)


def _matching(kind, types):
    for device in DEVICES:
        fitting = [
            kernel
            for kernel in _kernels(kind)
            if kernel.device_type == device and not kernel.label and _admits(kernel, types)
        ]
        if fitting:
            return max(fitting, key=lambda kernel: kernel.priority)
    return None


def _admits(kernel, types):
    return all(
        types.get(limit.name) in (None, *limit.allowed_values.list.type)
        for limit in kernel.constraint
    )


@functools.cache
def _kernels(kind):
    return list(kernels.get_registered_kernels_for_op(kind).kernel)


def _argument_names(operation, arguments) -> Iterator[str]:
    """Returns the name of the argument of each tensor; an argument may be a list of tensors."""
    for argument in arguments:
        count = 1
        if argument.number_attr:
            count = operation.get_attr(argument.number_attr)
        elif argument.type_list_attr:
            count = len(operation.get_attr(argument.type_list_attr))
        yield from itertools.repeat(argument.name, count)


def _in_order(graph) -> list[tf.Operation]:
    """Returns the operations, producers first."""
    return graph.get_operations()


def _function(graph, operation, attribute):
    return graph._get_function(operation.get_attr(attribute).name).graph


def _shape(tensor):
    if tensor.shape.rank is None:
        return "[...]"
    return str(tensor.shape.as_list()).replace("None", "?")


def _dtype(operation):
    for tensor in (*operation.inputs, *operation.outputs):
        if tensor.dtype != tf.resource:
            return tensor.dtype.name
    return ""
