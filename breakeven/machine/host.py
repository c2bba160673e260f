"""Which preset fits the host's processor, by what Linux tells of it in ``/proc/cpuinfo``.

On x86: vendor, family and model, from CPUID. On RISC-V: ``uarch``, which the device tree says (vendor, core), else
``mvendorid`` and ``marchid``. T-Head's cores all have the pair 0x5b7 and 0: without ``uarch`` nothing tells
them apart.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Fit(NamedTuple):
    """A preset for a processor."""

    preset: str
    #: what the processor's core is called
    core: str
    #: whether the preset is of this core, or of the nearest there is
    exact: bool


#: (vendor, family) -> models, core, preset, whether the preset is of this core
_TABLE: dict[tuple[str, int], list[tuple[tuple[int, ...], Fit]]] = {
    ("GenuineIntel", 6): [
        ((0x07, 0x08, 0x0A, 0x0B), Fit("pentium3", "Pentium III", True)),
        ((0x1A, 0x1E, 0x1F, 0x2E), Fit("nehalem", "Nehalem", True)),
        ((0x25, 0x2C, 0x2F), Fit("westmere", "Westmere", True)),
        ((0x1C, 0x26, 0x27, 0x35, 0x36), Fit("bonnell", "Bonnell", True)),
        ((0x2A, 0x2D), Fit("ivybridge", "Sandy Bridge", False)),
        ((0x3A, 0x3E), Fit("ivybridge", "Ivy Bridge", True)),
        ((0x3C, 0x3F, 0x45, 0x46), Fit("broadwell", "Haswell", False)),
        ((0x3D, 0x47, 0x4F, 0x56), Fit("broadwell", "Broadwell", True)),
        ((0x4E, 0x55, 0x5E, 0x8E, 0x9E, 0xA5, 0xA6), Fit("skylake", "Skylake", True)),
        ((0x6A, 0x6C, 0x7D, 0x7E, 0x8C, 0x8D, 0xA7), Fit("skylake", "Sunny or Willow Cove", False)),
        ((0x8F,), Fit("sapphirerapids", "Golden Cove (server)", True)),
        ((0x97, 0x9A), Fit("goldencove", "Golden Cove", True)),
        ((0xAD, 0xAE, 0xCF), Fit("sapphirerapids", "Raptor or Redwood Cove (server)", False)),
        ((0xAA, 0xAC, 0xB7, 0xBA, 0xBF), Fit("goldencove", "Raptor or Redwood Cove", False)),
        ((0xB5, 0xBD, 0xC5, 0xC6), Fit("lioncove", "Lion Cove", True)),
        ((0xAF, 0xB6), Fit("crestmont", "Crestmont", True)),
    ],
    ("AuthenticAMD", 6): [((), Fit("k7", "K7", True))],
    ("AuthenticAMD", 23): [((), Fit("zen3", "Zen or Zen 2", False))],
    ("AuthenticAMD", 25): [
        ((*range(0x10, 0x20), *range(0x60, 0x80), *range(0xA0, 0xB0)), Fit("zen4", "Zen 4", True)),
        ((), Fit("zen3", "Zen 3", True)),
    ],
    ("AuthenticAMD", 26): [((), Fit("zen5", "Zen 5", True))],
}  # fmt: skip


#: what ``uarch`` says: by the device tree's bindings (riscv/cpus.yaml), a vendor and a core
_UARCHES = {
    "sifive,u74-mc": Fit("u74", "SiFive U74", True),
    "sifive,u74": Fit("u74", "SiFive U74", True),
    "sifive,bullet0": Fit("u74", "SiFive U74", True),
    "thead,c906": Fit("c906", "T-Head C906", True),
    "thead,c910": Fit("c910", "T-Head C910", True),
    "thead,c920": Fit("c920", "T-Head C920", True),
    "thead,c908": Fit("c908", "T-Head C908", True),
    "sifive,p550": Fit("p550", "SiFive P550", True),
    "sifive,x280": Fit("x280", "SiFive X280", True),
    "spacemit,x60": Fit("x60", "SpacemiT X60", True),
    "spacemit,x100": Fit("x100", "SpacemiT X100", True),
}
#: ``mvendorid``, ``marchid``: SiFive's 7 series, of which the U74 is the one that runs Linux
_ARCHES = {(0x489, 0x8000000000000007): Fit("u74", "SiFive 7 series", True)}


def _riscv_fit(info: dict[str, str]) -> Fit | None:
    if fit := _UARCHES.get(info.get("uarch", "").lower()):
        return fit
    try:
        return _ARCHES.get((int(info["mvendorid"], 16), int(info["marchid"], 16)))
    except (KeyError, ValueError):
        return None


def fit_for(info: dict[str, str]) -> Fit | None:
    """The preset for a processor that ``/proc/cpuinfo`` describes so; None: none is near."""
    if "vendor_id" not in info:
        return _riscv_fit(info)
    try:
        vendor, family, model = info["vendor_id"], int(info["cpu family"]), int(info["model"])
    except (KeyError, ValueError):
        return None
    for models, fit in _TABLE.get((vendor, family), []):
        if not models or model in models:
            return fit
    return None


def host_words() -> str:
    """What Linux tells of the host's processor that a preset could be chosen by; for a message when none is."""
    info = cpu_info()
    keys = ("model name", "vendor_id", "cpu family", "model", "uarch", "mvendorid", "marchid", "isa")
    return ", ".join(f"{key} {info[key]}" for key in keys if key in info) or "Linux tells nothing of it"


def host_fit() -> Fit | None:
    """The preset for the host's processor; None: none is near, or it is not told."""
    return fit_for(cpu_info())


def cpu_info() -> dict[str, str]:
    """What Linux says of the first processor (``/proc/cpuinfo``); empty elsewhere."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return {}
    rows = (line.partition(":") for line in text.partition("\n\n")[0].splitlines())
    return {name.strip(): value.strip() for name, _, value in rows}
