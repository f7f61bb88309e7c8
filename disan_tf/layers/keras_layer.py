"""The differences between Keras 2 and Keras 3 that the layers of this package meet."""

import functools
import inspect
import random
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Optional, Union

import tensorflow as tf

from disan_tf.common.checks import suggestion
from disan_tf.common.keras_version import CHOICE, is_keras_3
from disan_tf.ops.masked_softmax import boolean_mask, check_mask

Activation = Union[str, Callable[[Any], Any], Mapping[str, Any], None]  # see `activation_of`
Initializer = Union[str, Callable[..., Any], Mapping[str, Any], None]  # see `initializer_of`


_ONE_ROW = ("batch or 1", 1)  # see `ConfiguredLayer.input_axes`
_COUNTS = ("tokens", "length")  # last axes of inputs that hold no vectors


class _Keras2Layer(tf.keras.layers.Layer):
    """A layer of Keras 2 that checks the kinds and shapes of its inputs and masks.

    AutoGraph does not convert its call: a subclass needs `tf.cond` and `tf.while_loop` for control
    flow on tensors.
    """

    @tf.autograph.experimental.do_not_convert
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the layer; an input's implicit mask stands in for a keyword mask that is None.

        Keras 2 itself passes on only the first input's mask, as `mask` if that is not given.
        """
        kind: Any = self.__class__
        args, kwargs = _without_masks(self, args, kwargs)
        _check_call(self, args, kwargs)
        if kwargs.get("mask", ...) is None:
            if "mask" in _optional(kind) or "mask" not in _parameters(kind):
                del kwargs["mask"]
            elif args:
                kwargs["mask"] = getattr(args[0], "_keras_mask", None)
        kwargs = _with_implicit_masks(self, args, kwargs)
        inputs, kwargs = _with_boolean_masks(self, args, kwargs)
        return super().__call__(*inputs, **kwargs)

    def build(self, input_shape: tf.TensorShape) -> None:
        """Lets the batch normalisation of a frozen layer keep its averages, as of one frozen later.

        Other sublayers keep their flag, and files their order of weights.
        """
        if not self.trainable:
            for part in self._flatten_layers(include_self=False):
                if isinstance(part, tf.keras.layers.BatchNormalization):
                    part.trainable = False
        super().build(input_shape)


class _Keras3Layer(tf.keras.layers.Layer):
    """A layer of Keras 3 that infers its output and finds its mask as a layer of Keras 2 does."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the layer; without `mask`, the first input's implicit mask is used.

        Keras 3 looks for it only if the call has one tensor.
        """
        args, kwargs = _without_masks(self, args, kwargs)
        _check_call(self, args, kwargs)
        inputs, kwargs = _with_boolean_masks(self, args, kwargs)
        if self._call_has_mask_arg and inputs and kwargs.get("mask") is None:
            place = self.call_signature_parameters.index("mask")
            if len(inputs) <= place:
                mask, x = getattr(inputs[0], "_keras_mask", None), inputs[0]
                while mask is not None and len(mask.shape) >= len(x.shape) > 1:
                    mask = tf.keras.ops.any(mask, axis=-1)  # `TimeDistributed` leaves inner masks
                kwargs["mask"] = mask
        return super().__call__(*inputs, **kwargs)

    def build(self, input_shape: tf.TensorShape) -> None:
        """Freezes the weights of a frozen layer, and adds sublayers in lists to checkpoints.

        Keras 3 freezes only weights that exist when `trainable` is set, and `tf.train.Checkpoint`
        finds no sublayers in its lists and dictionaries.
        """
        if not self.trainable:
            for part in self._flatten_layers(include_self=False):
                part.trainable = False
            for weight in self.weights:
                weight.trainable = False
        for name, value in list(vars(self).items()):
            if isinstance(value, (list, dict)) and not name.startswith("_"):
                parts = value.values() if isinstance(value, dict) else value
                for number, part in enumerate(parts):
                    if isinstance(part, tf.__internal__.tracking.Trackable):
                        self._track_trackable(part, f"{name}_{number}", overwrite=True)
        super().build(input_shape)

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """Traces `call`, as Keras 3 does for layers that do not define `compute_output_shape`.

        Inputs are cast as in a call. A layer that is not built stays so: a copy is traced.
        """
        if not self.built:
            state = random.getstate()  # from which the copy draws its initial weights
            try:
                return type(self).from_config(self.get_config())(*args, **kwargs)
            finally:
                random.setstate(state)
        args, kwargs = tf.nest.map_structure(self._cast, (args, kwargs))
        return super(tf.keras.layers.Layer, self).compute_output_spec(*args, **kwargs)

    def _cast(self, x: Any) -> Any:
        """Returns floats, symbolic or not, with the dtype that a call casts them to."""
        return self.dtype_policy.convert_input(x, self.autocast, self.input_dtype)


class _Keras3Dense(tf.keras.layers.Dense):
    """Keras 3's Dense, whose matrix other layers can read, even after `quantize("int8")`.

    A file's quantised matrix quantises the layer that loads it: our layers make their sublayers
    when they are built, and their configs do not say how those are quantised.
    """

    @property
    def kernel(self) -> tf.Tensor:
        """The matrix as floats."""
        if self.quantization_mode != "int8":
            return super().kernel
        kernel = tf.cast(self._kernel, tf.float32) / tf.cast(self.kernel_scale, tf.float32)
        if self.lora_enabled:
            change = tf.matmul(self.lora_kernel_a, self.lora_kernel_b)
            kernel += self.lora_alpha / self.lora_rank * tf.cast(change, tf.float32)
        return kernel

    def quantize(
        self,
        mode: Optional[str] = None,
        type_check: bool = True,
        config: Optional[dict[str, Any]] = None,
    ) -> None:
        """Makes the matrix int8; other modes raise NotImplementedError, as for other layers."""
        super().quantize(mode, type_check=mode != "int8", config=config)

    def load_own_variables(self, store: Any) -> None:
        """Loads the weights, and quantises the layer if they are quantised."""
        if self.quantization_mode is None and store["0"].dtype == "int8":
            self.quantize("int8")
        super().load_own_variables(store)


def _without_masks(layer: Any, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """Returns a call's arguments without optional masks of None, which are like absent ones.

    Arguments that follow such a mask become keywords.
    """
    optional = _optional(layer.__class__)
    named = list(zip(_parameters(layer.__class__), args))
    absent = [name for name, x in named if x is None and name.endswith("mask") and name in optional]
    if not absent or len(args) > len(named):
        return args, kwargs
    first = [name for name, _ in named].index(absent[0])
    later = {name: x for name, x in named[first:] if name not in absent}
    return args[:first], {**kwargs, **later}


def _check_call(layer: Any, args: Sequence, kwargs: dict[str, Any]) -> None:
    """Raises ValueError for inputs of a wrong kind or shape, before Keras raises a longer error."""
    for x in args:
        _check_kind(layer, x)
    names, axes = _parameters(layer.__class__), layer.input_axes()
    inputs = {**dict(zip(names, args)), **kwargs}
    vectors = {names[0]} if layer.reads_vectors else set()
    for name in vectors | {name for name, each in axes.items() if each[-1] not in _COUNTS}:
        dtype = getattr(inputs.get(name), "dtype", None)
        if dtype is not None and not tf.as_dtype(dtype).is_floating:
            raise ValueError(
                f"{type(layer).__name__}: {name} has the dtype {tf.as_dtype(dtype).name} and the "
                f"shape {tuple(inputs[name].shape)}; it must hold vectors of floats."
            )
    shape = tf.TensorShape(getattr(inputs.get(names[0]), "shape", None))
    if layer.reads_vectors and not layer.built and shape.rank and shape[-1] is None:
        raise ValueError(
            f"{type(layer).__name__}: {names[0]} has the shape {shape}; its last axis, the size of "
            "the vectors, must be known, as in tf.keras.Input([None, 100])."
        )
    _check_shapes(layer, {name: inputs[name] for name in axes if name in inputs}, axes)
    selections = inputs.get("selections")
    if selections is not None and not hasattr(selections, "heads"):
        shown = textwrap.shorten(repr(selections), 80)
        raise ValueError(
            f"{type(layer).__name__}: selections={shown} must be the result of `select`, or None."
        )
    for selected in (*selections.heads, *selections.dependents) if selections else ():
        check_mask(
            f"{type(layer).__name__}: a token mask in selections", selected, inputs[names[0]]
        )


def _check_kind(layer: Any, x: Any) -> None:
    """Raises ValueError for what is no dense tensor, and for a tensor of another Keras."""
    if isinstance(x, (Mapping, tf.SparseTensor)):
        raise ValueError(
            f"{type(layer).__name__} takes dense tensors as arguments, not a {type(x).__name__}."
        )
    if isinstance(getattr(x, "type_spec", x), (tf.RaggedTensor, tf.RaggedTensorSpec)):
        raise ValueError(
            f"{type(layer).__name__} takes no ragged tensors; give x.to_tensor() and "
            "mask=tf.sequence_mask(x.row_lengths())."
        )
    if type(x).__name__ == "KerasTensor" and _package(type(x)) != _package(Layer.__base__):
        raise ValueError(
            f"{type(layer).__name__} is a layer of Keras {'3' if is_keras_3() else '2'}, and "
            "its input belongs to another Keras; use tf.keras.Input of the same program, or "
            f"set {CHOICE}={'2' if is_keras_3() else '3'} before disan_tf is imported."
        )


def _check_shapes(layer: Any, inputs: dict[str, Any], axes: dict[str, tuple[str, ...]]) -> None:
    """Raises ValueError unless inputs have their axes, and one size for each name of an axis."""
    shapes = {name: tf.TensorShape(getattr(x, "shape", None)) for name, x in inputs.items()}
    known = {name: shape for name, shape in shapes.items() if shape.rank is not None}
    pairs = [pair for name, shape in known.items() for pair in zip(axes[name], shape)]
    sizes = {pair for pair in pairs if pair[1] is not None and pair != _ONE_ROW}
    sizes = {(axis.replace(" or 1", ""), size) for axis, size in sizes}
    sizes |= {(axis, int(axis)) for axis, _ in pairs if axis.isdigit()}
    has_axes = all(shape.rank == len(axes[name]) for name, shape in known.items())
    if not has_axes or len(dict(sizes)) < len(sizes):
        found = " and ".join(f"{name} {tuple(shape)}" for name, shape in known.items())
        wanted = " and ".join(f"[{', '.join(axes[name])}]" for name in known)
        raise ValueError(f"{type(layer).__name__}: {found} must have the axes {wanted}.")


def _with_implicit_masks(
    layer: tf.keras.layers.Layer, args: Sequence, kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Returns a call's keywords with the masks that Keras 2 keeps beside its inputs.

    A symbolic input has no such mask yet; Keras calls the layer again with the model's tensors.
    """
    names = _parameters(layer.__class__)
    values = {**dict(zip(names, args)), **kwargs}
    masks = {}
    for name in names[len(args) :]:
        x = values.get(name[: -len("_mask")]) if name.endswith("_mask") else None
        if tf.is_tensor(x) and values.get(name) is None and type(x).__name__ != "KerasTensor":
            masks[name] = getattr(x, "_keras_mask", None)
    return {**kwargs, **masks}


def _with_boolean_masks(
    layer: tf.keras.layers.Layer, args: Sequence, kwargs: dict[str, Any]
) -> tuple[list, dict[str, Any]]:
    """Returns a call's arguments with boolean masks; ValueError unless they fit their sentences."""
    names = _parameters(layer.__class__)
    values = {**dict(zip(names, args)), **kwargs}
    for name, mask in values.items():
        if name.endswith("mask") and mask is not None:
            if type(mask).__name__ != "KerasTensor":
                mask = boolean_mask(mask, name)
            elif mask.dtype not in ("bool", tf.bool):
                mask = not_equal(mask, 0)
            x = values.get(name[: -len("_mask")] if name != "mask" else names[0])
            if len(getattr(x, "shape", ())) == 3:  # the vectors of its tokens, if it has any
                check_mask(f"{type(layer).__name__}: {name}", mask, x)
            values[name] = mask
    args = [*map(values.pop, names[: len(args)]), *args[len(names) :]]
    return args, {name: values[name] for name in kwargs}


@functools.cache
def _parameters(kind: Any) -> tuple[str, ...]:
    """Returns the names of the parameters of a layer's `call`."""
    return tuple(inspect.signature(kind.call).parameters)[1:]


@functools.cache
def _optional(kind: Any) -> frozenset[str]:
    """Returns the names of the parameters of a layer's `call` that have defaults."""
    parameters = inspect.signature(kind.call).parameters.values()
    return frozenset(it.name for it in parameters if it.default is not inspect.Parameter.empty)


def _package(kind: type) -> str:
    """Returns the package of a class: "keras" or "tf_keras"."""
    return kind.__module__.split(".")[0]


Layer: Any  # declared for type checkers; Keras 2 and Keras 3 have different classes
Dense: Any
UNCAST: dict[str, Any]
SAME_ON_REPLICAS: dict[str, Any]
not_equal: Any
mask_tensor: Any
flip: Any
output_shape: Any
if is_keras_3():
    Layer, Dense = _Keras3Layer, _Keras3Dense
    UNCAST = {"autocast": False}
    SAME_ON_REPLICAS = {"aggregation": "only_first_replica"}
    not_equal = tf.keras.ops.not_equal  # also of symbolic tensors
    mask_tensor = tf.keras.ops.convert_to_tensor
    flip = tf.keras.ops.flip
    output_shape = tuple
else:
    Layer, Dense = _Keras2Layer, tf.keras.layers.Dense
    UNCAST = {"experimental_autocast": False}
    SAME_ON_REPLICAS = {
        "synchronization": tf.VariableSynchronization.AUTO,
        "aggregation": tf.VariableAggregation.ONLY_FIRST_REPLICA,
    }
    not_equal = tf.not_equal
    mask_tensor = tf.convert_to_tensor  # Keras 2 marks the result
    flip = tf.reverse
    output_shape = tf.TensorShape


def vectors_spec(
    layer: tf.keras.layers.Layer, dim: Optional[int] = None
) -> tf.keras.layers.InputSpec:
    """Returns Keras' specification of inputs <float>[..., dim]; with a mask, of at most 3 axes."""
    max_ndim = 3 if "mask" in _parameters(layer.__class__) else None
    return tf.keras.layers.InputSpec(max_ndim=max_ndim, axes={-1: dim} if dim else {})


def sublayers(layer: tf.keras.layers.Layer) -> list[tf.keras.layers.Layer]:
    """Returns a layer or model with its sublayers, at any depth."""
    return list(layer._flatten_layers())


def build_child(layer: tf.keras.layers.Layer, input_shape: tf.TensorShape) -> tf.keras.layers.Layer:
    """Builds a sublayer, with its name before its weights' names, and returns it.

    Weight names are thus unique in a model, as Keras' `.h5` files require.
    """
    with tf.name_scope(layer.name):
        layer.build(input_shape)
    return layer


def activation_of(activation: Activation) -> Callable[[Any], Any]:
    """Returns the activation for a name, a function or a config; other values raise ValueError."""
    return _found("activation", activation, "an activation", tf.keras.activations)


def initializer_of(initializer: Initializer) -> Any:
    """Returns the initializer for a name, an object or a config; others raise ValueError."""
    return _found("kernel_initializer", initializer, "an initializer", tf.keras.initializers)


def _found(argument: str, value: Any, noun: str, module: Any) -> Any:
    """Returns the object for an argument's value from a module of Keras, see `activation_of`."""
    try:
        found = module.get(value)
    except (TypeError, ValueError):
        found = None
    is_layer = isinstance(value, type) and issubclass(value, tf.keras.layers.Layer)
    if is_layer or not (callable(found) or found is value is None):
        names = {*dir(module)} - {"get", "serialize", "deserialize"}
        known = [name for name in names if not name.startswith("_")]
        shown = value if isinstance(value, str) else textwrap.shorten(repr(value), 80)
        raise ValueError(f"{argument}={shown} must be {noun} of Keras{suggestion(value, known)}")
    return found
