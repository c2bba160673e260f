"""A machine's description, turned from a bare-metal guest to a Linux process under syscall emulation."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

_WORKLOADS = {"Riscv": "RiscvEmuLinux", "X86": "X86EmuLinux"}


def emulated(
    description: Mapping[str, Any], command: Sequence[str], environment: Mapping[str, str] | None = None, cwd: str = ""
) -> dict[str, Any]:
    """`description` with one process that runs `command` (its first word names the program) in `environment`.

    Relative paths of the process start in `cwd` (empty: in the directory that it may use). The engine says what is
    wrong with the result, when it builds the machine.
    """
    result = copy.deepcopy(dict(description))
    objects: list[dict[str, Any]] = result["objects"]
    core = next((item for item in objects if "BaseCPU" in item["bases"]), None)
    path = f"{core['path']}.workload" if core else "workload"
    for item in objects:
        if item["type"] == "Root":
            item["params"]["full_system"] = False
        elif item["type"] == "System" and item["params"].get("workload"):
            prefix = "X86" if core and core["type"].startswith("X86") else "Riscv"
            workload = item["params"]["workload"]["ref"]
            for other in objects:
                if other["path"] == workload:
                    other.update(type=_WORKLOADS[prefix], bases=["SEWorkload", "Workload", "SimObject"], params={})
    if core:
        core["params"]["workload"] = [{"ref": path}]
    params = {
        "cmd": list(command), "env": [f"{name}={value}" for name, value in (environment or {}).items()], "cwd": cwd,
        "executable": command[0] if command else "",
    }  # fmt: skip
    objects.append({"path": path, "type": "Process", "bases": ["SimObject"], "params": params, "ports": {}})
    return result
