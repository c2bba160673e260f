"""What the processors of one family share: boards, caches, units, microcode. A preset, one folder up, says the rest.

`board`: the core, its caches, a memory bus, one memory. `riscv`, `x86`: that board with each instruction set.
`inorder`, `outoforder`: functional units as tables. `intel`, `zen`: cores of one maker. `early`: x86 about
2000.
"""
