"""A bare-metal program on any core of either instruction set: why and with which code the simulation ended."""

import argparse

import m5
from common_system import whole_system
from m5.objects import Root

parser = argparse.ArgumentParser()
parser.add_argument("binary")
parser.add_argument("--isa", choices=["Riscv", "X86"], default="Riscv")
parser.add_argument("--cpu-type", default="TimingSimpleCPU")
parser.add_argument("--caches", action="store_true")
args = parser.parse_args()

root = Root(full_system=True, system=whole_system(args.binary, args.isa, args.cpu_type, args.caches))
m5.instantiate()
print("Beginning simulation!")
exit_event = m5.simulate()
print(f"Exiting @ tick {m5.curTick()} because {exit_event.getCause()} (code {exit_event.getCode()})")
