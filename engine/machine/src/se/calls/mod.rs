//! The system calls, by name: the numbers differ between the instruction sets, the calls hardly do. Meanings and layouts are
//! Linux's (`man 2`, `include/uapi`).

mod change;
mod files;
mod identity;
mod locks;
mod memory;
mod paths;
mod ready;
mod signals;
mod system;
mod tasks;

use breakeven_base::{PhysMem, UserContext};

use super::errno::{Errno, EFAULT, EINVAL, ENOSYS};
use super::process::Process;
use crate::IsaName;

pub(super) type R = Result<u64, Errno>;

const NANOSECOND: u64 = 1_000_000_000;
/// The longest path.
const PATH_MAX: usize = 4096;

/// A call's name.
pub(super) fn name(isa: IsaName, number: u64) -> Option<&'static str> {
    let number = usize::try_from(number).ok()?;
    match isa {
        // The crate's table has it under the name of another architecture.
        IsaName::Riscv if number == 79 => Some("newfstatat"),
        IsaName::Riscv => syscalls::riscv64::Sysno::new(number).map(|s| s.name()),
        IsaName::X86 => syscalls::x86_64::Sysno::new(number).map(|s| s.name()),
    }
}

/// One call being answered.
pub(super) struct Call<'a> {
    pub p: &'a mut Process,
    pub ram: &'a mut PhysMem,
    pub context: &'a mut dyn UserContext,
    pub args: [u64; 6],
    pub bases: [u64; 2],
    pub pc: u64,
}

impl Call<'_> {
    /// Answers the call; `None`: there is no such call here.
    pub fn dispatch(&mut self, name: &str) -> Option<R> {
        // Libraries ask for these and do without.
        if matches!(name, "rseq" | "riscv_hwprobe" | "clone3" | "get_robust_list") {
            return Some(Err(ENOSYS));
        }
        self.file_call(name)
            .or_else(|| self.ready_call(name))
            .or_else(|| self.path_call(name))
            .or_else(|| self.change_call(name))
            .or_else(|| self.identity_call(name))
            .or_else(|| self.memory_call(name))
            .or_else(|| self.system_call(name))
            .or_else(|| self.signal_call(name))
            .or_else(|| self.task_call(name))
    }

    fn read(&mut self, at: u64, to: &mut [u8]) -> Result<(), Errno> {
        Ok(self.p.space.read(self.ram, at, to)?)
    }
    fn read_word(&mut self, at: u64) -> Result<u64, Errno> {
        let mut bytes = [0; 8];
        self.read(at, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Errno> {
        Ok(self.p.space.write(self.ram, at, bytes)?)
    }
    fn write_words(&mut self, at: u64, words: &[u64]) -> Result<(), Errno> {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.write(at, &bytes)
    }
    /// A 32-bit number.
    fn write_u32(&mut self, at: u64, value: u32) -> Result<(), Errno> {
        self.write(at, &value.to_le_bytes())
    }
    /// A path.
    fn string(&mut self, at: u64) -> Result<Vec<u8>, Errno> {
        self.p.space.read_string(self.ram, at, PATH_MAX - 1)?.ok_or(Errno(libc::ENAMETOOLONG))
    }

    /// Buffers of `readv` and `writev`: address and length each.
    fn vector(&mut self, at: u64, count: u64) -> Result<Vec<(u64, u64)>, Errno> {
        const MOST: u64 = 1024;
        if count > MOST {
            return Err(EINVAL);
        }
        let mut buffers = Vec::new();
        for n in 0..count {
            let entry = at.checked_add(16 * n).ok_or(EFAULT)?;
            buffers.push((self.read_word(entry)?, self.read_word(entry.checked_add(8).ok_or(EFAULT)?)?));
        }
        Ok(buffers)
    }
}
