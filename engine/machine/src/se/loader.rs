//! A program into memory, as Linux's `execve` leaves it: segments, break, stack with arguments, environment and auxiliary
//! vector (System V ABI; the vector's types from Linux's `auxvec.h`).

use breakeven_base::PhysMem;
use object::elf::{PF_R, PF_W, PF_X};

use super::memory::{AddressSpace, Prot, Refused, PAGE};
use super::{Ids, ProcessConfig};
use crate::elf::Segment;
use crate::{Elf, EngineError, IsaName};

/// Where a position-independent program goes: two thirds up the address space, as Linux has it.
fn pie_base(space: &AddressSpace) -> u64 {
    (space.limit / 3 * 2) & !(PAGE - 1)
}
/// Linkers make four or five.
const MOST_SEGMENTS: usize = 64;
/// Between the stack's lowest page and the highest mapping.
const STACK_GAP: u64 = 1 << 20;
/// IMAFDC, as letters' bits.
const RISCV_HWCAP: u64 = 1 << 8 | 1 << 12 | 1 | 1 << 5 | 1 << 3 | 1 << 2;

mod at {
    pub const PHDR: u64 = 3;
    pub const PHENT: u64 = 4;
    pub const PHNUM: u64 = 5;
    pub const PAGESZ: u64 = 6;
    pub const BASE: u64 = 7;
    pub const FLAGS: u64 = 8;
    pub const ENTRY: u64 = 9;
    pub const UID: u64 = 11;
    pub const EUID: u64 = 12;
    pub const GID: u64 = 13;
    pub const EGID: u64 = 14;
    pub const PLATFORM: u64 = 15;
    pub const HWCAP: u64 = 16;
    pub const CLKTCK: u64 = 17;
    pub const SECURE: u64 = 23;
    pub const RANDOM: u64 = 25;
    pub const HWCAP2: u64 = 26;
    pub const EXECFN: u64 = 31;
    pub const NULL: u64 = 0;
}
/// User programs may use the FS and GS base instructions.
const HWCAP2_FSGSBASE: u64 = 2;

/// A loaded program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Image {
    pub entry: u64,
    pub stack: u64,
    /// The end of its data, where the break starts.
    pub end: u64,
}

/// What a program is started with.
#[derive(Clone, Debug)]
pub(super) struct Launch {
    /// What it is called.
    pub executable: Vec<u8>,
    pub args: Vec<Vec<u8>>,
    pub env: Vec<Vec<u8>>,
    pub ids: Ids,
    /// Bytes.
    pub max_stack: u64,
}

impl Launch {
    /// Of the first process.
    pub fn of(config: &ProcessConfig) -> Launch {
        let bytes = |list: &[String]| list.iter().map(|s| s.clone().into_bytes()).collect();
        Launch {
            executable: config.executable.clone().into_bytes(),
            args: bytes(&config.args),
            env: bytes(&config.env),
            ids: config.ids,
            max_stack: config.max_stack,
        }
    }
}

/// What only the processor knows: CPUID.1:EDX, and whether there are FS and GS base instructions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hardware {
    pub capabilities: u64,
    pub fsgsbase: bool,
}

fn cannot(refused: Refused, ram: &PhysMem) -> EngineError {
    EngineError::Elf(match refused {
        Refused::OutOfMemory => {
            format!("the program does not fit into {} bytes of memory; enlarge system.mem_ranges", ram.len())
        }
        Refused::Fault | Refused::Beyond => "its segments contradict each other; it is damaged".to_owned(),
    })
}

/// Maps and fills segments and stack.
pub(super) fn load(
    space: &mut AddressSpace,
    ram: &mut PhysMem,
    elf: &Elf,
    launch: &Launch,
    hardware: Hardware,
    random: [u8; 16],
) -> Result<Image, EngineError> {
    let bias = if elf.position_independent { pie_base(space) } else { 0 };
    if elf.segments.len() > MOST_SEGMENTS {
        return Err(EngineError::Elf(format!(
            "it has {} segments; a program has at most {MOST_SEGMENTS}",
            elf.segments.len()
        )));
    }
    let mut end = 0;
    for segment in &elf.segments {
        end = end.max(load_segment(space, ram, segment, bias)?);
    }
    let entry = elf.entry.wrapping_add(bias);
    let executable = space.rights(entry).is_some_and(|p| p.has(Prot::EXEC));
    if !executable || (elf.isa == IsaName::Riscv && entry & 1 != 0) {
        return Err(EngineError::Elf(format!("the entry point {:#x} lies in no executable segment", elf.entry)));
    }
    // gem5 and Linux keep the top page free.
    let top = space.limit - PAGE;
    let bottom = top - (launch.max_stack & !(PAGE - 1));
    space.map(ram, bottom, top, Prot::RW);
    space.mmap_top = bottom - STACK_GAP;
    if end > space.mmap_top {
        return Err(EngineError::Elf(format!(
            "its segments reach up to {end:#x}, where the stack goes; link it lower"
        )));
    }
    let mut stack = Stack { space, ram, at: top };
    let built = stack.build(elf, bias, launch, hardware, random);
    let stack = built.map_err(|r| cannot(r, ram))?;
    Ok(Image { entry, stack, end })
}

fn rights(flags: u32) -> Prot {
    let right = |bit, prot| if flags & bit != 0 { prot } else { Prot::NONE };
    right(PF_R, Prot::READ).with(right(PF_W, Prot::WRITE)).with(right(PF_X, Prot::EXEC))
}

/// Maps a segment, with what its first and last page share with others; returns its end in whole pages.
fn load_segment(space: &mut AddressSpace, ram: &mut PhysMem, s: &Segment, bias: u64) -> Result<u64, EngineError> {
    let outside = || {
        EngineError::Elf(format!(
            "the segment at {:#x} of {:#x} bytes lies outside a process's addresses {PAGE:#x}..{:#x}",
            s.vaddr, s.memory_size, space.limit
        ))
    };
    let start = s.vaddr.checked_add(bias).filter(|v| *v >= PAGE).ok_or_else(outside)?;
    let end = start.checked_add(s.memory_size).filter(|e| *e <= space.limit - STACK_GAP).ok_or_else(outside)?;
    let pages = (start & !(PAGE - 1), end.next_multiple_of(PAGE));
    let prot = rights(s.flags);
    // Segments that share a page get the rights of both.
    let mut at = pages.0;
    while at < pages.1 {
        let (next, other) = space.span(at, pages.1);
        match other {
            Some(other) => space.protect(ram, at, next, prot.with(other)),
            None => space.map(ram, at, next, prot),
        }
        at = next;
    }
    space.put(ram, start, s.bytes).map_err(|r| cannot(r, ram))?;
    Ok(pages.1)
}

/// The stack while it is filled, downwards.
struct Stack<'a> {
    space: &'a mut AddressSpace,
    ram: &'a mut PhysMem,
    at: u64,
}

impl Stack<'_> {
    fn push(&mut self, bytes: &[u8]) -> Result<u64, Refused> {
        self.at = self.at.checked_sub(bytes.len() as u64).ok_or(Refused::Fault)?;
        self.space.put(self.ram, self.at, bytes)?;
        Ok(self.at)
    }
    fn push_string(&mut self, text: &[u8]) -> Result<u64, Refused> {
        self.push(&[0])?;
        self.push(text)
    }
    fn push_strings(&mut self, list: &[Vec<u8>]) -> Result<Vec<u64>, Refused> {
        let mut at: Vec<u64> = list.iter().rev().map(|s| self.push_string(s)).collect::<Result<_, _>>()?;
        at.reverse();
        Ok(at)
    }

    fn build(
        &mut self,
        elf: &Elf,
        bias: u64,
        launch: &Launch,
        hardware: Hardware,
        random: [u8; 16],
    ) -> Result<u64, Refused> {
        self.push(&[0; 8])?;
        let name = self.push_string(&launch.executable)?;
        let env = self.push_strings(&launch.env)?;
        let args = self.push_strings(&launch.args)?;
        let x86 = elf.isa == IsaName::X86;
        let platform = if x86 { self.push_string(b"x86_64")? } else { 0 };
        self.at &= !15;
        let random = self.push(&random)?;

        let ids = &launch.ids;
        let mut vector = vec![
            (at::PHDR, elf.program_headers.address.wrapping_add(bias)),
            (at::PHENT, elf.program_headers.size),
            (at::PHNUM, elf.program_headers.count),
            (at::PAGESZ, PAGE),
            (at::BASE, 0),
            (at::FLAGS, 0),
            (at::ENTRY, elf.entry.wrapping_add(bias)),
            (at::UID, u64::from(ids.uid)),
            (at::EUID, u64::from(ids.euid)),
            (at::GID, u64::from(ids.gid)),
            (at::EGID, u64::from(ids.egid)),
            (at::HWCAP, if x86 { hardware.capabilities } else { RISCV_HWCAP }),
            (at::CLKTCK, 100),
            (at::SECURE, 0),
            (at::RANDOM, random),
            (at::EXECFN, name),
        ];
        if x86 {
            vector.push((at::PLATFORM, platform));
            vector.push((at::HWCAP2, if hardware.fsgsbase { HWCAP2_FSGSBASE } else { 0 }));
        }
        vector.push((at::NULL, 0));

        let mut words = vec![args.len() as u64];
        words.extend(args);
        words.push(0);
        words.extend(env);
        words.push(0);
        words.extend(vector.into_iter().flat_map(|(kind, value)| [kind, value]));
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        // The stack pointer is a multiple of 16 at the entry point.
        self.at = self.at.checked_sub(bytes.len() as u64).ok_or(Refused::Fault)? & !15;
        self.at += bytes.len() as u64;
        self.push(&bytes)
    }
}
