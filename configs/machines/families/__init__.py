"""What the processors of one family share. A preset, one folder up, says what is its own.

`board`: a core, its caches, a memory bus, one memory. `riscv`, `x86`: that board with each instruction set.
`inorder`, `outoforder`: functional units as tables. `intel`, `atom`, `zen`, `early`: microcode, string instructions and
prefetchers of Intel's large and small cores, of AMD's Zen 3 to 5, of x86 about 2000.
"""
