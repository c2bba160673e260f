//! Which instruction set.

/// The name of an instruction set, as descriptions and guests use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsaName {
    Riscv,
    X86,
}

impl IsaName {
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            IsaName::Riscv => "RISC-V",
            IsaName::X86 => "x86-64",
        }
    }
}
