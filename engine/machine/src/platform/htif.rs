//! The host-target interface of Spike's programs: the guest stores a command to `tohost` and gets its answer in
//! `fromhost`. Modelled: exit, the console's putchar, and the system calls 64 (write) and 93 (exit) by which
//! riscv-tests' and pk's C runtimes print and stop. Commands are `device << 56 | command << 48 | payload`.

use breakeven_base::bus::ExitCause;
use breakeven_base::{PhysMem, SysEffect};

use super::Console;

const SYS_WRITE: u64 = 64;
const SYS_EXIT: u64 = 93;
const ENOSYS: u64 = -38i64 as u64;
const EFAULT: u64 = -14i64 as u64;
const PAYLOAD: u64 = (1 << 48) - 1;

/// Where the two words are.
#[derive(Clone, Copy, Debug)]
pub struct Htif {
    pub tohost: u64,
    pub fromhost: Option<u64>,
}

impl Htif {
    /// Acts on what the guest has just stored to `tohost`.
    pub fn poll(self, ram: &mut PhysMem, console: &mut Console) -> SysEffect {
        let command = ram.read::<u64>(self.tohost).unwrap_or(0);
        let payload = command & PAYLOAD;
        match (command >> 56, command >> 48 & 0xff) {
            _ if command == 0 => SysEffect::None,
            (0, 0) if payload & 1 == 1 => exit(payload >> 1),
            (0, 0) => {
                let effect = syscall(payload, ram, console);
                self.answer(ram, 1);
                effect
            }
            (1, 1) => {
                console.put(&[command as u8]);
                self.answer(ram, command & !PAYLOAD);
                SysEffect::None
            }
            _ => {
                // Unknown devices take the command and never answer (the console has no input).
                ram.write::<u64>(self.tohost, 0);
                SysEffect::None
            }
        }
    }

    fn answer(self, ram: &mut PhysMem, value: u64) {
        ram.write::<u64>(self.tohost, 0);
        if let Some(at) = self.fromhost {
            ram.write::<u64>(at, value);
        }
    }
}

#[allow(clippy::cast_possible_wrap)] // exit codes are the guest's to choose
fn exit(code: u64) -> SysEffect {
    SysEffect::Exit { cause: ExitCause::HtifExit, code: code as i64 }
}

/// A system call whose number and arguments stand in memory at `at`; the result replaces the number.
fn syscall(at: u64, ram: &mut PhysMem, console: &mut Console) -> SysEffect {
    let arg = |n: u64| ram.read::<u64>(at.wrapping_add(8 * n)).unwrap_or(0);
    let (number, a0, a1, a2) = (arg(0), arg(1), arg(2), arg(3));
    let result = match number {
        SYS_EXIT => return exit(a0),
        SYS_WRITE if matches!(a0, 1 | 2) => ram.slice(a1, a2).map_or(EFAULT, |bytes| {
            console.put(bytes);
            a2
        }),
        _ => ENOSYS,
    };
    ram.write::<u64>(at, result);
    SysEffect::None
}
