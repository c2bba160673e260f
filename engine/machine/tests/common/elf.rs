//! A minimal ELF64 writer: one segment, symbols.

pub const CODE_AT: usize = 0x78;

fn put<const N: usize>(out: &mut Vec<u8>, bytes: [u8; N]) {
    out.extend_from_slice(&bytes);
}

/// One PT_LOAD segment of `code` at `addr` (and zeros up to `memory` bytes), then a symbol table.
pub fn build(addr: u64, code: &[u8], memory: u64, symbols: &[(&str, u64)]) -> Vec<u8> {
    let mut names = vec![0u8];
    let mut table = vec![0u8; 24];
    for (name, value) in symbols {
        put(&mut table, (names.len() as u32).to_le_bytes());
        // STB_GLOBAL, STT_NOTYPE; SHN_ABS
        table.extend_from_slice(&[0x10, 0, 0xf1, 0xff]);
        put(&mut table, value.to_le_bytes());
        put(&mut table, 0u64.to_le_bytes());
        names.extend_from_slice(name.as_bytes());
        names.push(0);
    }
    let symtab_at = (CODE_AT + code.len()).next_multiple_of(8);
    let strtab_at = symtab_at + table.len();
    let sections_at = (strtab_at + names.len()).next_multiple_of(8);

    let mut f = Vec::new();
    f.extend_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    put(&mut f, 2u16.to_le_bytes()); // ET_EXEC
    put(&mut f, 243u16.to_le_bytes()); // RISC-V
    put(&mut f, 1u32.to_le_bytes());
    for v in [addr, 64, sections_at as u64] {
        put(&mut f, v.to_le_bytes()); // entry, program headers, sections
    }
    put(&mut f, 0u32.to_le_bytes());
    for v in [64u16, 56, 1, 64, 3, 2] {
        put(&mut f, v.to_le_bytes());
    }
    put(&mut f, 1u32.to_le_bytes()); // PT_LOAD
    put(&mut f, 7u32.to_le_bytes());
    for v in [CODE_AT as u64, addr, addr, code.len() as u64, memory, 8] {
        put(&mut f, v.to_le_bytes());
    }
    f.extend_from_slice(code);
    f.resize(symtab_at, 0);
    f.extend_from_slice(&table);
    f.extend_from_slice(&names);
    f.resize(sections_at, 0);
    f.extend_from_slice(&[0; 64]);
    section(&mut f, 2, symtab_at, table.len(), 2, 24);
    section(&mut f, 3, strtab_at, names.len(), 0, 0);
    f
}

fn section(f: &mut Vec<u8>, kind: u32, at: usize, size: usize, link: u32, entry: u64) {
    put(f, 0u32.to_le_bytes());
    put(f, kind.to_le_bytes());
    for v in [0u64, 0, at as u64, size as u64] {
        put(f, v.to_le_bytes());
    }
    put(f, link.to_le_bytes());
    put(f, 1u32.to_le_bytes());
    for v in [8u64, entry] {
        put(f, v.to_le_bytes());
    }
}

/// Overwrites bytes: how a file comes to lie.
pub fn poke(file: &mut [u8], at: usize, bytes: &[u8]) {
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

/// Offsets of fields.
pub mod field {
    pub const CLASS: usize = 4;
    pub const DATA: usize = 5;
    pub const TYPE: usize = 16;
    pub const MACHINE: usize = 18;
    pub const ENTRY: usize = 24;
    pub const PHOFF: usize = 32;
    pub const SHOFF: usize = 40;
    pub const PHENTSIZE: usize = 54;
    pub const PHNUM: usize = 56;
    pub const SHNUM: usize = 60;
    pub const P_TYPE: usize = 64;
    pub const P_OFFSET: usize = 72;
    pub const P_PADDR: usize = 88;
    pub const P_FILESZ: usize = 96;
    pub const P_MEMSZ: usize = 104;
}
