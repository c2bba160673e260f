//! Reading an ELF: 64-bit little-endian RISC-V or x86-64. A bare-metal one has fixed addresses, and its segments go to their
//! physical addresses as gem5 loads them; a static Linux program ([`crate::se`]) goes to its virtual ones and may be
//! position-independent. The file is untrusted: every invalid field gives one sentence.

use breakeven_base::PhysMem;
use object::elf::{EM_RISCV, EM_X86_64, ET_DYN, ET_EXEC, PT_DYNAMIC, PT_INTERP, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader, Sym};
use object::LittleEndian as LE;

use crate::{EngineError, IsaName};

type Header = object::elf::FileHeader64<LE>;

/// A part of the file that goes into memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment<'a> {
    paddr: u64,
    pub vaddr: u64,
    pub bytes: &'a [u8],
    pub memory_size: u64,
    /// `PF_R`, `PF_W`, `PF_X`.
    pub flags: u32,
    /// In the file.
    offset: u64,
}

/// Where a program finds its own program headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProgramHeaders {
    pub address: u64,
    /// Bytes of one.
    pub size: u64,
    pub count: u64,
}

/// What an ELF is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    BareMetal,
    Process,
}

/// A parsed ELF: nothing is in memory yet.
#[derive(Debug)]
pub struct Elf<'a> {
    pub(crate) file: &'a [u8],
    pub entry: u64,
    pub isa: IsaName,
    /// Only a program's: its addresses are relative to wherever it is loaded.
    pub(crate) position_independent: bool,
    pub(crate) program_headers: ProgramHeaders,
    pub(crate) segments: Vec<Segment<'a>>,
    symbols: Vec<(&'a [u8], u64)>,
}

/// A routine that the guest registered in a `.routines` section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routine {
    pub name: String,
    pub kind: RoutineKind,
    /// Bits as in `workloads/harness/contract.h`: what it needs, and whether it issues misaligned accesses.
    pub flags: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoutineKind {
    Copy,
    Checksum,
    UserCopy,
    CopyChecksum,
    Set,
    Move,
    Clear,
    /// Another checksum than the Internet's: what its reference is called.
    OtherChecksum(String),
}

impl RoutineKind {
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            RoutineKind::Copy => "copy",
            RoutineKind::Checksum => "checksum",
            RoutineKind::UserCopy => "user-copy",
            RoutineKind::CopyChecksum => "copy-checksum",
            RoutineKind::Set => "set",
            RoutineKind::Move => "move",
            RoutineKind::Clear => "clear",
            RoutineKind::OtherChecksum(reference) => reference,
        }
    }
}

/// By their numbers.
const KINDS: [RoutineKind; 7] = [
    RoutineKind::Copy,
    RoutineKind::Checksum,
    RoutineKind::UserCopy,
    RoutineKind::CopyChecksum,
    RoutineKind::Set,
    RoutineKind::Move,
    RoutineKind::Clear,
];

/// Size of one entry of the `.routines` section, and of the name in it.
const ROUTINE_BYTES: u64 = 64;
const ROUTINE_NAME: usize = 40;

fn bad(what: impl Into<String>) -> EngineError {
    EngineError::Elf(what.into())
}

impl<'a> Elf<'a> {
    /// Checks the headers of a bare-metal guest and collects segments and symbols.
    ///
    /// # Errors
    /// Anything that is not a whole, static executable of a 64-bit instruction set that there is.
    pub fn parse(file: &'a [u8]) -> Result<Elf<'a>, EngineError> {
        Elf::parse_for(file, Purpose::BareMetal)
    }

    /// As [`Elf::parse`], of a static Linux program.
    ///
    /// # Errors
    /// As there; it may be position-independent.
    pub fn parse_process(file: &'a [u8]) -> Result<Elf<'a>, EngineError> {
        Elf::parse_for(file, Purpose::Process)
    }

    fn parse_for(file: &'a [u8], purpose: Purpose) -> Result<Elf<'a>, EngineError> {
        check_ident(file)?;
        let damaged = |e: object::read::Error| bad(format!("the file is truncated or damaged: {e}"));
        let header = Header::parse(file).map_err(damaged)?;
        let isa = match header.e_machine.get(LE) {
            EM_RISCV => IsaName::Riscv,
            EM_X86_64 => IsaName::X86,
            other => {
                return Err(bad(format!(
                    "machine {other} is neither RISC-V (243) nor x86-64 (62); build the guest for riscv64 or x86-64"
                )))
            }
        };
        let position_independent = header.e_type.get(LE) == ET_DYN;
        match header.e_type.get(LE) {
            ET_EXEC => {}
            ET_DYN if purpose == Purpose::Process => {}
            ET_DYN => return Err(bad("it is position-independent (ET_DYN), but there is no loader to relocate it; link it with -static -no-pie")),
            other => return Err(bad(format!("type {other} is not an executable (2); link it"))),
        }
        let mut segments = Vec::new();
        for (i, p) in header.program_headers(LE, file).map_err(damaged)?.iter().enumerate() {
            match p.p_type.get(LE) {
                // A static program that relocates itself has a dynamic section, too.
                PT_DYNAMIC if purpose == Purpose::Process => {}
                PT_INTERP | PT_DYNAMIC => return Err(bad("it needs a dynamic loader; link it with -static")),
                PT_LOAD => segments.extend(segment(p, i, file)?),
                _ => {}
            }
        }
        if segments.is_empty() {
            return Err(bad("no segment is to be loaded (PT_LOAD)"));
        }
        if purpose == Purpose::BareMetal {
            check_overlaps(&segments)?;
        }
        let program_headers = ProgramHeaders {
            address: header_address(header.e_phoff.get(LE), &segments),
            size: u64::from(header.e_phentsize.get(LE)),
            count: u64::from(header.e_phnum.get(LE)),
        };
        let sections = header.sections(LE, file).map_err(damaged)?;
        let table = sections.symbols(LE, file, object::elf::SHT_SYMTAB).map_err(damaged)?;
        let symbols = table
            .iter()
            .filter(|s| s.st_shndx.get(LE) != object::elf::SHN_UNDEF)
            .filter_map(|s| s.name(LE, table.strings()).ok().map(|n| (n, s.st_value.get(LE))))
            .filter(|(name, _)| !name.is_empty())
            .collect();
        Ok(Elf { file, entry: header.e_entry.get(LE), isa, position_independent, program_headers, segments, symbols })
    }

    /// # Errors
    /// A guest for another instruction set than the core's.
    pub fn expect_isa(&self, wanted: IsaName, cpu: &str) -> Result<(), EngineError> {
        if self.isa == wanted {
            return Ok(());
        }
        Err(bad(format!(
            "it is for {}, but {cpu} is a core for {}; take the other guest or core",
            self.isa.text(),
            wanted.text()
        )))
    }

    /// The address of a symbol.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<u64> {
        self.symbols.iter().find(|(n, _)| *n == name.as_bytes()).map(|(_, v)| *v)
    }

    /// Copies the segments into zeroed RAM.
    ///
    /// # Errors
    /// Segments or an entry point outside RAM.
    pub fn load(&self, ram: &mut PhysMem) -> Result<(), EngineError> {
        let (start, end) = (ram.start(), ram.start() + ram.len());
        for s in &self.segments {
            let room = ram.contains(s.paddr, s.memory_size);
            let Some(to) = ram.slice_mut(s.paddr, s.bytes.len() as u64).filter(|_| room) else {
                return Err(bad(format!(
                    "the segment at {:#x} of {:#x} bytes lies outside the memory {start:#x}..{end:#x}; link it elsewhere or enlarge system.mem_ranges",
                    s.paddr, s.memory_size
                )));
            };
            to.copy_from_slice(s.bytes);
        }
        let aligned = self.isa == IsaName::X86 || self.entry & 1 == 0;
        if !ram.contains(self.entry, 2) || !aligned {
            return Err(bad(format!(
                "the entry point {:#x} is not an instruction address in the memory {start:#x}..{end:#x}",
                self.entry
            )));
        }
        Ok(())
    }

    /// The routines from `__routines_start` on to `__all_routines_end`, or (of a guest that has one table) `__routines_end`.
    ///
    /// # Errors
    /// An ELF without that table, or with a damaged one.
    pub fn routines(&self) -> Result<Vec<Routine>, EngineError> {
        let end = self.symbol("__all_routines_end").or_else(|| self.symbol("__routines_end"));
        let (Some(start), Some(end)) = (self.symbol("__routines_start"), end) else {
            return Err(bad("it has no routines (symbols __routines_start and __routines_end); is it a breakeven guest, and not stripped?"));
        };
        let table = end.checked_sub(start).filter(|n| n % ROUTINE_BYTES == 0).and_then(|n| self.file_bytes(start, n));
        let table = table.ok_or_else(|| {
            bad(format!(
                "its routine table {start:#x}..{end:#x} is not a part of the file in whole entries of 64 bytes"
            ))
        })?;
        table.chunks_exact(ROUTINE_BYTES as usize).map(|entry| self.routine(entry)).collect()
    }

    fn routine(&self, entry: &[u8]) -> Result<Routine, EngineError> {
        let bytes = |at: usize, n: usize| entry[at..at + n].iter().rev().fold(0u64, |w, b| w << 8 | u64::from(*b));
        let name =
            text_of(&entry[..ROUTINE_NAME]).ok_or_else(|| bad("a routine's name is empty or not printable ASCII"))?;
        let kind = match bytes(ROUTINE_NAME, 4) {
            k @ 0..=6 => KINDS[k as usize].clone(),
            7 => {
                let reference = self.file_bytes(bytes(ROUTINE_NAME + 16, 8), ROUTINE_NAME as u64).and_then(text_of);
                // What is called like a kind would be taken for one.
                let reference = reference.filter(|n| n != "all" && KINDS.iter().all(|kind| kind.name() != n));
                let what =
                    || bad(format!("routine {name} is a checksum like one without a name of its own in the file"));
                RoutineKind::OtherChecksum(reference.ok_or_else(what)?)
            }
            k => {
                let known =
                    "0 copy, 1 checksum, 2 user copy, 3 copy and checksum, 4 set, 5 move, 6 clear, 7 other checksum";
                return Err(bad(format!("routine {name} has kind {k}; known: {known}")));
            }
        };
        let flags = bytes(ROUTINE_NAME + 4, 4) as u32;
        Ok(Routine { name, kind, flags })
    }

    fn file_bytes(&self, vaddr: u64, len: u64) -> Option<&'a [u8]> {
        self.segments.iter().find_map(|s| {
            let from = usize::try_from(vaddr.checked_sub(s.vaddr)?).ok()?;
            s.bytes.get(from..)?.get(..usize::try_from(len).ok()?)
        })
    }
}

/// The fields that decide which header follows.
pub(crate) fn check_ident(file: &[u8]) -> Result<(), EngineError> {
    match file {
        [0x7f, b'E', b'L', b'F', class, data, ..] => match (class, data) {
            (2, 1) => Ok(()),
            (1, _) => Err(bad("it is 32-bit; build the guest for riscv64 or x86-64")),
            (_, 2) => Err(bad("it is big-endian; guests are little-endian")),
            _ => Err(bad(format!("class {class} and byte order {data} are not ELF's"))),
        },
        _ => Err(bad("this is not an ELF file (no \\x7fELF at its start)")),
    }
}

fn segment<'a>(
    p: &object::elf::ProgramHeader64<LE>,
    i: usize,
    file: &'a [u8],
) -> Result<Option<Segment<'a>>, EngineError> {
    let (paddr, memory_size, file_size) = (p.p_paddr.get(LE), p.p_memsz.get(LE), p.p_filesz.get(LE));
    if memory_size == 0 && file_size == 0 {
        return Ok(None);
    }
    if file_size > memory_size {
        return Err(bad(format!(
            "segment {i} has more bytes in the file ({file_size:#x}) than in memory ({memory_size:#x})"
        )));
    }
    if paddr.checked_add(memory_size).is_none() {
        return Err(bad(format!("segment {i} at {paddr:#x} of {memory_size:#x} bytes wraps around the address space")));
    }
    let bytes = p.data(LE, file).map_err(|()| {
        bad(format!(
            "segment {i} (offset {:#x}, {file_size:#x} bytes) reaches beyond the end of the file; it is truncated",
            p.p_offset.get(LE)
        ))
    })?;
    let (vaddr, flags) = (p.p_vaddr.get(LE), p.p_flags.get(LE));
    Ok(Some(Segment { paddr, vaddr, bytes, memory_size, flags, offset: p.p_offset.get(LE) }))
}

/// The address at which the file's `offset` is loaded; 0: nowhere.
fn header_address(offset: u64, segments: &[Segment]) -> u64 {
    let inside = |s: &&Segment| offset.checked_sub(s.offset).is_some_and(|n| n < s.bytes.len() as u64);
    segments.iter().find(inside).map_or(0, |s| s.vaddr.wrapping_add(offset - s.offset))
}

fn check_overlaps(segments: &[Segment]) -> Result<(), EngineError> {
    let mut sorted: Vec<_> = segments.iter().collect();
    sorted.sort_by_key(|s| s.paddr);
    match sorted.windows(2).find(|w| w[0].paddr + w[0].memory_size > w[1].paddr) {
        Some(w) => Err(bad(format!("the segments at {:#x} and {:#x} overlap", w[0].paddr, w[1].paddr))),
        None => Ok(()),
    }
}

/// The text up to the first NUL, if it can name something.
fn text_of(raw: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(raw.split(|b| *b == 0).next()?).ok()?;
    (!text.is_empty() && text.chars().all(|c| c.is_ascii_graphic())).then(|| text.to_owned())
}
