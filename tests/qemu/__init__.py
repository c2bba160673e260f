"""Generated bare-metal RISC-V programs that print digests of the machine's state, and qemu to compare them with."""
