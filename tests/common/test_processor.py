"""The processor's name and instruction sets, from descriptions of Linux and macOS."""

import platform
import sys

import pytest

from disan_tf.common import machine

X86 = "processor\t: 0\nmodel name\t: A CPU: 2\nflags\t\t: fpu avx2 fma\nbogomips\t: 1\n"
ARM = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"
MAC = "machdep.cpu.brand_string: Apple M1\nhw.optional.neon: 1\nhw.optional.arm.FEAT_SME: 0\n"


@pytest.fixture
def linux(tmp_path, monkeypatch):
    def describe(text):
        (tmp_path / "cpuinfo").write_text(text, encoding="utf-8")
        monkeypatch.setattr(machine, "LINUX", tmp_path / "cpuinfo")
        monkeypatch.setattr(sys, "platform", "linux")

    return describe


@pytest.mark.parametrize(
    "text, name, sets",
    [
        (X86, "A CPU: 2", {"fpu", "avx2", "fma"}),
        (f"{X86}\nmodel name\t: B\nflags\t\t: avx512f\n", "A CPU: 2", {"fpu", "avx2", "fma"}),
        (ARM, "aarch64, CPU implementer 0x41, CPU part 0xd0c", {"fp", "asimd"}),
        ("", "aarch64", set()),
    ],
)
def test_linux_describes_the_first_processor_in_a_file(text, name, sets, linux, monkeypatch):
    linux(text)
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert (machine.processor_name(), machine.instruction_sets()) == (name, sets)


def test_macos_processor_is_read_from_sysctl(tmp_path, monkeypatch):
    script = tmp_path / "sysctl"
    script.write_text(f"#!/bin/sh\nprintf '{MAC}'\necho unknown >&2\nexit 1\n", encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setattr(machine, "MACOS", str(script))
    monkeypatch.setattr(sys, "platform", "darwin")
    assert machine.processor_name() == "Apple M1"
    assert machine.instruction_sets() == {"hw.optional.neon"}


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_without_a_description_the_architecture_is_the_name(system, tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "LINUX", tmp_path / "missing")
    monkeypatch.setattr(machine, "MACOS", str(tmp_path / "missing"))
    monkeypatch.setattr(sys, "platform", system)
    assert machine.processor_name() == platform.machine()
    assert machine.instruction_sets() == set()
