"""The processor, as Linux and macOS describe it."""

import platform
import subprocess
import sys
from pathlib import Path

LINUX = Path("/proc/cpuinfo")
MACOS = "/usr/sbin/sysctl"
_NUMBERS = ("CPU implementer", "CPU part")  # on Linux for ARM, which names no model


def processor_name() -> str:
    """Returns the model of the first processor; or else the architecture and ARM's numbers."""
    fields = _fields()
    named = fields.get("model name") or fields.get("machdep.cpu.brand_string")
    numbers = [f"{name} {fields[name]}" for name in _NUMBERS if fields.get(name)]
    return named or ", ".join([platform.machine(), *numbers])


def instruction_sets() -> set[str]:
    """Returns the instruction sets of the first processor, as the operating system names them.

    Linux has names such as "avx2" and "asimd", macOS "hw.optional.avx2_0" and
    "hw.optional.arm.FEAT_BF16".
    """
    fields = _fields()
    if sys.platform == "darwin":
        return {name for name, value in fields.items() if _is_optional(name) and value == "1"}
    return set((fields.get("flags") or fields.get("Features", "")).split())


def _is_optional(name: str) -> bool:
    return name.startswith("hw.optional.")


def _fields() -> dict[str, str]:
    """Returns {name: value} of the system's description; {} if there is none."""
    try:
        if sys.platform == "darwin":
            command = [MACOS, "machdep.cpu.brand_string", "hw.optional"]
            text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        else:
            text = LINUX.read_text(encoding="utf-8").split("\n\n", 1)[0]
    except OSError:
        return {}
    lines = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value.strip() for name, _, value in lines}
