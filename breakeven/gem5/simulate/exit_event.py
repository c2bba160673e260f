"""Why a simulation came back, in the standard library's categories."""

from __future__ import annotations

from enum import Enum


class ExitEvent(Enum):
    EXIT = "exit"
    WORKBEGIN = "workbegin"
    WORKEND = "workend"
    SWITCHCPU = "switchcpu"
    FAIL = "fail"
    CHECKPOINT = "checkpoint"
    SCHEDULED_TICK = "scheduled tick exit"
    MAX_TICK = "max tick"
    USER_INTERRUPT = "user interupt"
    SIMPOINT_BEGIN = "simpoint begins"
    MAX_INSTS = "number of instructions reached"
    PERF_COUNTER_DISABLE = "performance counter disabled"
    PERF_COUNTER_ENABLE = "performance counter enabled"
    PERF_COUNTER_RESET = "performance counter reset"
    PERF_COUNTER_INTERRUPT = "performance counter interrupt"
    KERNEL_PANIC = "kernel panic in simulated system"
    KERNEL_OOPS = "kernel oops in simulated system"

    @classmethod
    def translate_exit_status(cls, exit_string: str) -> ExitEvent:
        """The category of the cause `exit_string`; `NotImplementedError` for one that has none."""
        found = _CATEGORIES.get(exit_string)
        if found is None:
            raise NotImplementedError(f"Exit event '{exit_string}' not implemented")
        return found


_CATEGORIES = {
    "m5_workbegin instruction encountered": ExitEvent.WORKBEGIN,
    "workbegin": ExitEvent.WORKBEGIN,
    "m5_workend instruction encountered": ExitEvent.WORKEND,
    "workend": ExitEvent.WORKEND,
    "m5_exit instruction encountered": ExitEvent.EXIT,
    "exiting with last active thread context": ExitEvent.EXIT,
    "simulate() limit reached": ExitEvent.MAX_TICK,
    "Tick exit reached": ExitEvent.SCHEDULED_TICK,
    "switchcpu": ExitEvent.SWITCHCPU,
    "m5_fail instruction encountered": ExitEvent.FAIL,
    "checkpoint": ExitEvent.CHECKPOINT,
    "user interrupt received": ExitEvent.USER_INTERRUPT,
    "simpoint starting point found": ExitEvent.SIMPOINT_BEGIN,
    "a thread reached the max instruction count": ExitEvent.MAX_INSTS,
    # The engine's own ends, which gem5 has no words for.
    "htif exit": ExitEvent.EXIT,
    "m5_panic instruction encountered": ExitEvent.FAIL,
    "the process was ended by a signal": ExitEvent.FAIL,
    "unsupported pseudo-op": ExitEvent.FAIL,
    "deadlock": ExitEvent.FAIL,
    "memoized execution has not repeated itself (a bug)": ExitEvent.FAIL,
    "instruction not implemented": ExitEvent.FAIL,
    "triple fault": ExitEvent.FAIL,
    "halted: no interrupt that could come": ExitEvent.FAIL,
    "max instruction count": ExitEvent.MAX_INSTS,
    "max cycle count": ExitEvent.MAX_TICK,
}
