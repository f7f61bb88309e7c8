"""Registration and configs of layers, so that files load without `custom_objects`."""

import functools
import inspect
from collections.abc import Mapping
from typing import Any, Callable, ClassVar, Optional

import tensorflow as tf
from typing_extensions import TypedDict

from disan_tf.common.options import check_arguments
from disan_tf.layers.keras_layer import Layer, output_shape

_OF_KERAS = ("name", "dtype", "trainable")  # Keras' arguments that a signature names
PAIR_AXES: dict[str, tuple[str, ...]] = {  # of two sentences, see `ConfiguredLayer.input_axes`
    "first": ("batch", "first length", "dim"),
    "second": ("batch", "second length", "dim"),
}
serializable = tf.keras.utils.register_keras_serializable("disan_tf")


class KerasOptions(TypedDict, total=False):
    """Arguments that all layers of Keras have."""

    name: Optional[str]
    dtype: Any
    trainable: bool


class ConfiguredLayer(Layer):
    """A Keras layer whose config holds the arguments of its constructor and of its bases'.

    As in scikit-learn, a constructor keeps every argument in an attribute of the same name. A
    class whose attribute of that name is something else adds the argument in `get_config`. Before
    a constructor runs, its arguments are checked against their annotations.
    """

    # The `TimeDistributed` of Keras 2 passes masks on only to layers with names of their own here.
    _keras_api_names = _keras_api_names_v1 = ("disan_tf.layers",)
    # Removed arguments of older versions, with the only value that files may still have.
    _removed: ClassVar[Mapping[str, Any]] = {}

    reads_vectors = False  # whether the (first) input holds vectors

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Makes the constructor check its arguments; its signature lists the bases' arguments."""
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            constructor: Any = _checked(vars(cls)["__init__"])
            constructor.__signature__ = _signature(cls)
            cls.__init__ = constructor  # type: ignore[method-assign]

    def __getattr__(self, name: str) -> Any:
        """Explains, if a sublayer or a weight is missing, that the layer is not built yet."""
        kind = type(self).__name__
        if name.startswith("_") or vars(self).get("built", True):
            raise AttributeError(f"{kind!r} object has no attribute {name!r}")
        raise AttributeError(
            f"{kind} has no {name} before it is built: call the layer, or its build(input_shape)."
        )

    def input_axes(self) -> dict[str, tuple[str, ...]]:
        """Returns the axes of inputs that must fit each other, such as ("batch", "length", "dim").

        Axes with the same name have the same size; "batch or 1" may also have size 1, and "3" has
        size 3.
        """
        return {}

    def compute_output_shape(self, input_shape: tf.TensorShape) -> tf.TensorShape:
        """Returns the output's shape, from a call of a copy with a symbolic tensor."""
        copy = type(self).from_config(self.get_config())
        x = tf.keras.Input(batch_shape=tuple(input_shape), dtype=self.compute_dtype)
        return tf.nest.map_structure(lambda output: output_shape(output.shape), copy(x))

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "ConfiguredLayer":
        """Makes a layer, also from the config of an older version with a removed argument.

        Raises:
          ValueError: the removed argument has another value than in `_removed`.
        """
        for name, value in cls._removed.items():
            if config.get(name, value) != value:
                raise ValueError(
                    f"{cls.__name__} has no argument {name} any more, and the file has "
                    f"{name}={config[name]}; only {value} can be read."
                )
        kept = {name: value for name, value in config.items() if name not in cls._removed}
        return super().from_config(kept)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        for base in reversed(type(self).__mro__):
            if issubclass(base, ConfiguredLayer) and "__init__" in vars(base):
                for name in inspect.signature(base.__init__).parameters:
                    if name not in config and hasattr(self, name):
                        config[name] = _serialized(name, getattr(self, name))
        return config


def _checked(constructor: Callable) -> Callable:
    """Returns a constructor that checks its named arguments against their annotations."""

    @functools.wraps(constructor)
    def checked(self: Any, *args: Any, **kwargs: Any) -> None:
        check_arguments(constructor, args, kwargs)
        constructor(self, *args, **kwargs)

    return checked


def _signature(cls: Any) -> inspect.Signature:
    """Returns a constructor's signature, with the arguments of its bases before `**kwargs`."""
    parameters = list(inspect.signature(vars(cls)["__init__"]).parameters.values())
    if parameters[-1].kind is not inspect.Parameter.VAR_KEYWORD:
        return inspect.Signature(parameters)
    *parameters, rest = parameters
    known = {parameter.name for parameter in parameters}
    inherited = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in inspect.signature(super(cls, cls).__init__).parameters.values()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        and parameter.name not in known
    ]
    if super(cls, cls).__init__ is Layer.__init__:
        inherited = [parameter for parameter in inherited if parameter.name in _OF_KERAS]
        inherited.sort(key=lambda parameter: _OF_KERAS.index(parameter.name))
    rest = rest.replace(annotation=inspect.Parameter.empty)
    return inspect.Signature([*parameters, *inherited, rest])


def _serialized(name: str, value: Any) -> Any:
    """Returns an argument's value in types of JSON."""
    if name == "activation" and callable(value):
        return tf.keras.activations.serialize(value)
    if name == "kernel_initializer":
        return tf.keras.initializers.serialize(value)
    return list(value) if isinstance(value, tuple) else value
