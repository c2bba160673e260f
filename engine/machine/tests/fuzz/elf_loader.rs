//! Any bytes as an ELF: loaded or refused in one sentence.

use breakeven_base::PhysMem;
use breakeven_machine::Elf;

pub fn run(file: &[u8]) {
    let outcome = Elf::parse(file).and_then(|elf| {
        let _ = elf.routines();
        let mut ram = PhysMem::new(0x8000_0000, 1 << 20)?;
        elf.load(&mut ram)
    });
    if let Err(e) = outcome {
        assert!(!e.to_string().is_empty() && !e.to_string().contains('\n'), "{e:?}");
    }
}
