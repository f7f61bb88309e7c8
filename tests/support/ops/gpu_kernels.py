"""Where a graph's operations and tensors would be on a machine with a GPU.

All facts come from TensorFlow's registry of kernels, which needs no GPU: the wheels of `tensorflow`
for Linux on PyPI hold the GPU kernels, and register them wherever they are loaded. A kernel reads
and writes the device's memory, except for the arguments that the registry lists as
`host_memory_arg`. A kernel of type "DEFAULT" serves every device without a kernel of its own; most
are for int32 and have all arguments in host memory.

The placement is TensorFlow's, in short: functions are inlined, an operation without a GPU kernel
and an operation in `tf.device("CPU:0")` run on the host. Constants are left out: they do not wait.
"""

import functools
import itertools
from collections.abc import Iterator
from typing import NamedTuple, Optional

import tensorflow as tf
from tensorflow.python.framework import kernels

_DEVICES = ("GPU", "DEFAULT")  # in the order of TensorFlow's choice
_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_CONDITIONALS = ("If", "StatelessIf")
_LOOPS = ("While", "StatelessWhile")
_REMOVED = ("Identity", "NoOp")  # before a graph runs
_HOST = "/device:CPU:0"  # in `on_host`; a variable's operations also name its job
# Operations whose results' shapes depend on what is in the device's memory.
_DATA_DEPENDENT = ("DynamicPartition", "Unique", "UniqueV2", "UniqueWithCounts", "Where")

NO_KERNEL, TO_HOST, UNKNOWN_SHAPE = "no kernel", "to host", "unknown shape"


def has_gpu_kernels() -> bool:
    """Returns whether the installed TensorFlow holds GPU kernels."""
    return any(kernel.device_type == "GPU" for kernel in _kernels("MatMul"))


class Finding(NamedTuple):
    """An operation for which the host cannot run ahead of the GPU.

    Attributes:
      kind: `NO_KERNEL`; `TO_HOST`, an input that lies in the GPU's memory and is read by the host;
        or `UNKNOWN_SHAPE`, a result whose shape the host must wait for.
      operation: type and first dtype, such as "Equal int32".
      argument: dtype and shape of the input, such as "int32[?, 3]"; "" without one.
      numbers: how many numbers the input has; -1 if that depends on the batch.
      name: the operation's name in its graph.
    """

    kind: str
    operation: str
    argument: str
    numbers: int
    name: str


def findings(function) -> set[Finding]:
    """Returns a concrete function's findings; its int32 arguments come from the host."""
    placement, graph = _Placement(), function.graph
    placement.place(graph, [tensor.dtype == tf.int32 for tensor in graph.inputs])
    return placement.findings


class _Placement:
    """Places the tensors of graphs: True = host memory, False = the GPU's, None = constant."""

    def __init__(self):
        self.findings = set()

    def place(self, graph, arguments: list) -> list:
        """Places the tensors of a graph with these arguments; returns its results' places."""
        places = {tensor.ref(): place for tensor, place in zip(graph.inputs, arguments)}
        for operation in _in_order(graph):
            inputs = [places[tensor.ref()] for tensor in operation.inputs]
            results = self._results(graph, operation, inputs)
            places.update(zip((tensor.ref() for tensor in operation.outputs), results))
        return [places[tensor.ref()] for tensor in graph.outputs]

    def _results(self, graph, operation, inputs):
        def body(name):
            return graph._get_function(operation.get_attr(name).name).graph

        if operation.type == "Const":
            return [None]
        if operation.type in _REMOVED:
            return inputs
        if operation.type in _CALLS:
            return self.place(body("f"), inputs)
        if operation.type in _CONDITIONALS:
            return self._conditional(operation, inputs, body("then_branch"), body("else_branch"))
        if operation.type in _LOOPS:
            return self._loop(operation, inputs, body("cond"), body("body"))
        return self._kernel(operation, inputs)

    def _conditional(self, operation, inputs, *branches):
        self._read(operation, operation.inputs[0], inputs[0])
        inputs = self._through("Switch", operation, operation.inputs[1:], inputs[1:])
        results = zip(*(self.place(branch, inputs) for branch in branches))
        return self._through("Merge", operation, operation.outputs, map(_join, results))

    def _loop(self, operation, inputs, condition, body):
        places = self._through("Enter", operation, operation.inputs, inputs)
        while True:  # until no iteration moves a variable to the GPU
            self._read(operation, condition.outputs[0], *self.place(condition, places))
            results = map(_join, zip(places, self.place(body, places)))
            results = self._through("Merge", operation, operation.outputs, results)
            if results == places:
                return results
            places = results

    def _through(self, kind, operation, tensors, places):
        """Returns the places of tensors behind the kernels of the control flow."""
        moved = []
        for tensor, place in zip(tensors, places):
            kernel = _matching(kind, {"T": tensor.dtype.base_dtype.as_datatype_enum})
            is_host = bool({"data", "inputs"} & set(kernel.host_memory_arg))
            if is_host:
                self._read(operation, tensor, place)
            moved.append(is_host)
        return moved

    def _kernel(self, operation, inputs):
        kernel = kernel_of(operation)
        if operation.device == _HOST or kernel is None:
            if kernel is None and operation.device != _HOST:
                self._add(NO_KERNEL, operation)
            for tensor, place in zip(operation.inputs, inputs):
                self._read(operation, tensor, place)
            return [True] * len(operation.outputs)
        host = set(kernel.host_memory_arg)
        if operation.type in _DATA_DEPENDENT and not host:
            self._add(UNKNOWN_SHAPE, operation)
        arguments = _names(operation, operation.op_def.input_arg)
        for tensor, place, name in zip(operation.inputs, inputs, arguments):
            if name in host:
                self._read(operation, tensor, place)
        return [name in host for name in _names(operation, operation.op_def.output_arg)]

    def _read(self, operation, tensor, place):
        """Adds a finding if the host reads a tensor that the GPU has."""
        if place is False and tensor.dtype not in (tf.resource, tf.variant):
            self._add(TO_HOST, operation, tensor)

    def _add(self, kind, operation, tensor=None):
        tensors = [*operation.inputs, *operation.outputs]
        dtypes = [each.dtype.name for each in tensors if each.dtype != tf.resource]
        described = " ".join([operation.type, *dtypes[:1]])
        argument, numbers = "", 0
        if tensor is not None:
            argument = f"{tensor.dtype.name}{tensor.shape}".replace("None", "?")
            numbers = tensor.shape.num_elements()
        numbers = -1 if numbers is None else numbers
        self.findings.add(Finding(kind, described, argument, numbers, operation.name))


def _in_order(graph) -> Iterator[tf.Operation]:
    """Yields the operations, each after those that make its inputs; no arguments."""
    made = {tensor.ref() for tensor in graph.inputs}
    waiting = [each for each in graph.get_operations() if each.type != "Placeholder"]
    while waiting:  # a gradient adds inputs to operations that are older than these inputs
        still = []
        for operation in waiting:
            if made.issuperset(tensor.ref() for tensor in operation.inputs):
                made.update(tensor.ref() for tensor in operation.outputs)
                yield operation
            else:
                still.append(operation)
        waiting = still


def _join(places) -> Optional[bool]:
    """Returns the place of a tensor that one of several operations makes: a GPU, if any may."""
    return next((place for place in (False, True) if place in places), None)


def kernel_of(operation: tf.Operation) -> Optional[object]:
    """Returns the kernel that a GPU has for an operation; None without one."""
    attributes = operation.node_def.attr.items()
    return _matching(operation.type, {name: it.type for name, it in attributes if it.type})


def _matching(kind, dtypes):
    for device in _DEVICES:
        fitting = [
            kernel
            for kernel in _kernels(kind)
            if kernel.device_type == device and not kernel.label and _fits(kernel, dtypes)
        ]
        if fitting:
            return max(fitting, key=lambda kernel: kernel.priority)
    return None


def _fits(kernel, dtypes):
    return all(
        dtypes.get(limit.name) in (None, *limit.allowed_values.list.type)
        for limit in kernel.constraint
    )


@functools.cache
def _kernels(kind):
    return list(kernels.get_registered_kernels_for_op(kind).kernel)


def _names(operation, arguments) -> Iterator[str]:
    """Yields the argument's name for each tensor; some arguments are lists of tensors."""
    for argument in arguments:
        count = 1
        if argument.number_attr:
            count = operation.get_attr(argument.number_attr)
        elif argument.type_list_attr:
            count = len(operation.get_attr(argument.type_list_attr))
        yield from itertools.repeat(argument.name, count)
