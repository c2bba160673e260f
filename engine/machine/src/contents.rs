//! What object files, archives and shared libraries hold: for a front end that extracts a function. Nothing is loaded,
//! linked or executed here. The file is untrusted: every invalid field gives one sentence.

use breakeven_base::listing::Line;
use object::elf;
use object::read::archive::ArchiveFile;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, SectionTable, Sym, SymbolTable};
use object::LittleEndian as LE;

use crate::{EngineError, IsaName};

type Header = elf::FileHeader64<LE>;

/// What an ELF is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Object,
    Executable,
    Shared,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub name: String,
    /// `SHT_...` and `SHF_...`.
    pub kind: u32,
    pub flags: u64,
    pub address: u64,
    pub offset: u64,
    pub size: u64,
}

/// A segment that is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loaded {
    pub address: u64,
    pub offset: u64,
    pub file_size: u64,
    pub memory_size: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    pub value: u64,
    pub size: u64,
    /// `STT_...` and `STB_...`.
    pub kind: u8,
    pub binding: u8,
    /// 0: it is undefined; of an object the section that it lies in.
    pub section: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The section it changes; 0: a loaded image, at the address `offset`.
    pub section: u32,
    pub offset: u64,
    /// `R_...` of the instruction set.
    pub kind: u32,
    /// Its symbol's index.
    pub symbol: u32,
    pub addend: i64,
}

/// An ELF's tables: of an object its symbols and relocations, of a linked file the dynamic ones (and, of one that is not
/// stripped, all symbols).
#[derive(Clone, Debug)]
pub struct Contents {
    pub isa: IsaName,
    pub kind: FileKind,
    pub sections: Vec<Section>,
    pub segments: Vec<Loaded>,
    /// Those that relocations count.
    pub symbols: Vec<Symbol>,
    /// What a linked file's own symbol table has; empty: it is stripped.
    pub local_symbols: Vec<Symbol>,
    pub relocations: Vec<Relocation>,
}

fn bad(what: impl Into<String>) -> EngineError {
    EngineError::Elf(what.into())
}

#[allow(clippy::needless_pass_by_value)] // as `map_err` wants it
fn damaged(e: object::read::Error) -> EngineError {
    bad(format!("the file is truncated or damaged: {e}"))
}

impl Contents {
    /// # Errors
    /// Anything that is not a whole little-endian 64-bit ELF of an instruction set that there is.
    pub fn parse(file: &[u8]) -> Result<Contents, EngineError> {
        crate::elf::check_ident(file)?;
        let header = Header::parse(file).map_err(damaged)?;
        let isa = match header.e_machine.get(LE) {
            elf::EM_RISCV => IsaName::Riscv,
            elf::EM_X86_64 => IsaName::X86,
            other => return Err(bad(format!("machine {other} is neither RISC-V (243) nor x86-64 (62)"))),
        };
        let kind = match header.e_type.get(LE) {
            elf::ET_REL => FileKind::Object,
            elf::ET_EXEC => FileKind::Executable,
            elf::ET_DYN => FileKind::Shared,
            other => return Err(bad(format!("type {other} is no object, executable or shared library"))),
        };
        let table = header.sections(LE, file).map_err(damaged)?;
        let local = table.symbols(LE, file, elf::SHT_SYMTAB).map_err(damaged)?;
        let dynamic = table.symbols(LE, file, elf::SHT_DYNSYM).map_err(damaged)?;
        let object = kind == FileKind::Object;
        check_sections(&table, file)?;
        let mut names = Names::of(file);
        Ok(Contents {
            isa,
            kind,
            sections: table.iter().map(|s| section(&table, s, &mut names)).collect::<Result<_, _>>()?,
            segments: segments(header, file)?,
            symbols: symbols(if object { &local } else { &dynamic }, &mut names)?,
            local_symbols: if object { Vec::new() } else { symbols(&local, &mut names)? },
            relocations: relocations(&table, file, object)?,
        })
    }
}

/// Thousands of sections may name the same bytes: what reads each would have no end.
fn check_sections(table: &SectionTable<Header>, file: &[u8]) -> Result<(), EngineError> {
    let in_file = table.iter().filter(|s| s.sh_type.get(LE) != elf::SHT_NOBITS && s.sh_type.get(LE) != elf::SHT_NULL);
    let bytes = in_file.fold(0u64, |sum, s| sum.saturating_add(s.sh_size.get(LE)));
    if bytes > file.len() as u64 {
        return Err(bad("its sections overlap or reach beyond its end"));
    }
    Ok(())
}

/// What is loaded, each byte of the file at most twice.
fn segments(header: &Header, file: &[u8]) -> Result<Vec<Loaded>, EngineError> {
    let mut found = Vec::new();
    let mut bytes = 0;
    for p in header.program_headers(LE, file).map_err(damaged)? {
        if p.p_type.get(LE) != elf::PT_LOAD {
            continue;
        }
        bytes += p.data(LE, file).map_err(|()| bad("a segment reaches beyond the end of the file"))?.len();
        if bytes > file.len().saturating_mul(2) {
            return Err(bad("its segments overlap"));
        }
        if p.p_filesz.get(LE) > p.p_memsz.get(LE) {
            return Err(bad("a segment has more bytes in the file than in memory"));
        }
        found.push(Loaded {
            address: p.p_vaddr.get(LE),
            offset: p.p_offset.get(LE),
            file_size: p.p_filesz.get(LE),
            memory_size: p.p_memsz.get(LE),
        });
    }
    Ok(found)
}

/// Bytes of names that may still be read. Thousands of symbols may name one long string.
struct Names {
    left: usize,
}

impl Names {
    fn of(file: &[u8]) -> Names {
        Names { left: file.len().saturating_mul(4).max(1 << 20) }
    }

    /// A name; one that cannot be read is empty.
    fn text<E>(&mut self, name: Result<&[u8], E>) -> Result<String, EngineError> {
        let name = name.unwrap_or_default();
        self.left = self
            .left
            .checked_sub(name.len())
            .ok_or_else(|| bad("its names take more than 1 MiB and four times its size"))?;
        Ok(String::from_utf8_lossy(name).into_owned())
    }
}

fn section(
    table: &SectionTable<Header>,
    s: &elf::SectionHeader64<LE>,
    names: &mut Names,
) -> Result<Section, EngineError> {
    Ok(Section {
        name: names.text(table.section_name(LE, s))?,
        kind: s.sh_type.get(LE),
        flags: s.sh_flags.get(LE),
        address: s.sh_addr.get(LE),
        offset: s.sh_offset.get(LE),
        size: s.sh_size.get(LE),
    })
}

fn symbols(table: &SymbolTable<Header>, names: &mut Names) -> Result<Vec<Symbol>, EngineError> {
    let row = |s: &elf::Sym64<LE>| {
        Ok(Symbol {
            name: names.text(s.name(LE, table.strings()))?,
            value: s.st_value.get(LE),
            size: s.st_size.get(LE),
            kind: s.st_type(),
            binding: s.st_bind(),
            section: s.st_shndx.get(LE),
        })
    };
    table.iter().map(row).collect()
}

/// Of an object all of them, of a linked file those that a dynamic loader applies.
fn relocations(table: &SectionTable<Header>, file: &[u8], object: bool) -> Result<Vec<Relocation>, EngineError> {
    let mut found = Vec::new();
    for s in table.iter() {
        if !object && s.sh_flags.get(LE) & u64::from(elf::SHF_ALLOC) == 0 {
            continue;
        }
        let Some((rows, _)) = s.rela(LE, file).map_err(damaged)? else { continue };
        found.extend(rows.iter().map(|r| Relocation {
            section: if object { s.sh_info.get(LE) } else { 0 },
            offset: r.r_offset.get(LE),
            kind: r.r_type(LE, false),
            symbol: r.r_sym(LE, false),
            addend: r.r_addend.get(LE),
        }));
    }
    Ok(found)
}

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub name: String,
    /// Its bytes in the archive.
    pub offset: u64,
    pub size: u64,
    /// The global symbols that the archive's index says it defines.
    pub defines: Vec<String>,
}

/// The members of a `.a` file, in order.
///
/// # Errors
/// What is no archive, or a damaged one.
pub fn members(file: &[u8]) -> Result<Vec<Member>, EngineError> {
    let archive = ArchiveFile::parse(file).map_err(damaged)?;
    if archive.is_thin() {
        return Err(bad("it is a thin archive: its members are files of their own, give those"));
    }
    let mut names = Names::of(file);
    let mut found = Vec::new();
    let mut starts = std::collections::HashMap::new();
    for member in archive.members() {
        let member = member.map_err(damaged)?;
        let (offset, size) = member.file_range();
        // The header of 60 bytes comes before the data; a long name of BSD's kind lies between them.
        starts.insert(offset, found.len());
        let name = names.text::<()>(Ok(member.name()))?;
        found.push(Member { name, offset, size, defines: Vec::new() });
    }
    if let Some(index) = archive.symbols().map_err(damaged)? {
        for symbol in index {
            let symbol = symbol.map_err(damaged)?;
            if let Some(&n) = starts.get(&(symbol.offset().0 + 60)) {
                found[n].defines.push(names.text::<()>(Ok(symbol.name()))?);
            }
        }
    }
    Ok(found)
}

/// The instructions of `code` at `address`: at most `most`.
#[must_use]
pub fn listing(isa: IsaName, code: &[u8], address: u64, most: usize) -> Vec<Line> {
    match isa {
        IsaName::Riscv => breakeven_riscv::listing(code, address, most),
        IsaName::X86 => breakeven_x86::listing(code, address, most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_elf_or_archive_is_refused() {
        assert!(Contents::parse(b"").unwrap_err().to_string().contains("not an ELF"));
        assert!(Contents::parse(b"\x7fELF\x02\x01").unwrap_err().to_string().contains("truncated"));
        assert!(members(b"nothing").is_err());
    }

    /// An object of sections that name the same relocations.
    fn overlapping(sections: u16, rows: u64) -> Vec<u8> {
        let bytes = 24 * rows;
        let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x01\0\x3e\0".to_vec();
        file.resize(64 + bytes as usize, 0);
        file[40..48].copy_from_slice(&(64 + bytes).to_le_bytes());
        // Bytes of a header, headers, the one of the names.
        for (at, number) in [(58, 64), (60, 2 + sections), (62, 1u16)] {
            file[at..at + 2].copy_from_slice(&number.to_le_bytes());
        }
        file.resize(file.len() + 64, 0);
        for (kind, bytes) in std::iter::once((elf::SHT_STRTAB, 1)).chain((0..sections).map(|_| (elf::SHT_RELA, bytes)))
        {
            let mut header = [0; 64];
            header[4..8].copy_from_slice(&kind.to_le_bytes());
            for (at, number) in [(24, 64), (32, bytes), (56, 24u64)] {
                header[at..at + 8].copy_from_slice(&number.to_le_bytes());
            }
            file.extend(header);
        }
        file
    }

    #[test]
    fn sections_that_name_the_same_bytes_are_refused() {
        assert_eq!(Contents::parse(&overlapping(1, 100)).expect("one section").relocations.len(), 100);
        let many = Contents::parse(&overlapping(4000, 10_000)).unwrap_err();
        assert!(many.to_string().contains("overlap"), "{many}");
    }

    /// A shared library of segments that load its first bytes: so many in the file, so many in memory.
    fn loading(segments: u16, in_file: u64, in_memory: u64) -> Vec<u8> {
        let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0".to_vec();
        file.resize(64, 0);
        file[32..40].copy_from_slice(&64u64.to_le_bytes());
        for (at, number) in [(54, 56), (56, segments)] {
            file[at..at + 2].copy_from_slice(&number.to_le_bytes());
        }
        for _ in 0..segments {
            let mut header = [0; 56];
            header[..4].copy_from_slice(&elf::PT_LOAD.to_le_bytes());
            for (at, number) in [(32, in_file), (40, in_memory)] {
                header[at..at + 8].copy_from_slice(&number.to_le_bytes());
            }
            file.extend(header);
        }
        file
    }

    #[test]
    fn segments_that_load_more_than_the_file_are_refused() {
        assert_eq!(Contents::parse(&loading(2, 100, 100)).expect("two small ones").segments.len(), 2);
        let why = |file: Vec<u8>| Contents::parse(&file).unwrap_err().to_string();
        assert!(why(loading(5, 300, 300)).contains("segments overlap"));
        assert!(why(loading(1, 100, 99)).contains("more bytes in the file"));
    }

    #[test]
    fn names_are_bounded_in_all() {
        let mut names = Names::of(&[0; 10]);
        let long = vec![b'a'; 1 << 19];
        assert_eq!(
            [names.text::<()>(Ok(&long)), names.text::<()>(Ok(&long))].map(|name| name.map(|n| n.len())),
            [Ok(1 << 19), Ok(1 << 19)]
        );
        assert!(names.text::<()>(Ok(b"a")).unwrap_err().to_string().contains("four times"));
    }

    #[test]
    fn members_have_their_names_and_bytes() {
        let entry = |name: &str, data: &str| {
            format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n{data}", 0, 0, 0, 644, data.len())
        };
        let file = format!("!<arch>\n{}{}", entry("a.o/", "1234"), entry("b.o/", "56"));
        let found = members(file.as_bytes()).expect("parses");
        let bytes: Vec<_> =
            found.iter().map(|m| (m.name.as_str(), &file[m.offset as usize..][..m.size as usize])).collect();
        assert_eq!(bytes, [("a.o", "1234"), ("b.o", "56")]);
    }
}
