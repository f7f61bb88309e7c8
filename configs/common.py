"""What every experiment's config has."""

from typing import Callable

from ml_collections import ConfigDict


def apply_variant(
    config: ConfigDict, variant: str, variants: dict[str, Callable[[ConfigDict], None]]
) -> ConfigDict:
    """Changes `config` by the variant's function and locks it.

    Args:
      config: the default.
      variant: "" for the default, else a key of `variants`.
      variants: name -> function that changes a config in place.

    Raises:
      ValueError: the variant is unknown; the sentence lists the known ones.
    """
    if variant:
        if variant not in variants:
            known = ", ".join(sorted(variants))
            raise ValueError(f"config {config.name} has no variant {variant!r}; it has {known}")
        variants[variant](config)
    return config.lock()
