//! gem5's pseudo-ops: the guest's calls to the simulator. Functions and arguments are those of gem5's `m5ops`.
//! Nothing here touches the host: `readfile` reads bytes that were handed in, `writefile` fills named buffers.

use std::collections::BTreeMap;

use breakeven_base::bus::ExitCause;
use breakeven_base::{Now, PhysMem, PseudoOutcome, SysEffect};

use super::{Platform, Work};

mod func {
    pub const RPNS: u8 = 0x07;
    pub const EXIT: u8 = 0x21;
    pub const FAIL: u8 = 0x22;
    pub const SUM: u8 = 0x23;
    pub const INIT_PARAM: u8 = 0x30;
    pub const RESET_STATS: u8 = 0x40;
    pub const DUMP_STATS: u8 = 0x41;
    pub const DUMP_RESET_STATS: u8 = 0x42;
    pub const WRITE_FILE: u8 = 0x4f;
    pub const READ_FILE: u8 = 0x50;
    pub const PANIC: u8 = 0x54;
    pub const WORK_BEGIN: u8 = 0x5a;
    pub const WORK_END: u8 = 0x5b;
}

/// gem5's functions that this engine refuses, by name.
const REFUSED: &[(u8, &str)] = &[
    (0x01, "quiesce"),
    (0x02, "quiescens"),
    (0x03, "quiescecycle"),
    (0x04, "quiescetime"),
    (0x09, "wakecpu"),
    (0x31, "loadsymbol"),
    (0x43, "checkpoint"),
    (0x51, "debugbreak"),
    (0x52, "switchcpu"),
    (0x53, "addsymbol"),
    (0x62, "disttogglesync"),
    (0x70, "workload"),
];

/// All that a guest may write, in bytes: a runaway guest must not fill the host's memory.
pub const OUTPUT_LIMIT: u64 = 64 << 20;
/// Files that it may write.
const MOST_FILES: usize = 1000;
const NAME_LIMIT: u64 = 255;
const FAILED: u64 = u64::MAX;

/// The files that the guest wrote, in memory.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Outputs {
    /// Room for `len` bytes at `offset` of file `name`, which is cut short first when `offset` is 0 (as gem5 does).
    fn room(&mut self, name: &str, offset: u64, len: u64) -> Option<&mut [u8]> {
        let others: u64 = self.files.iter().filter(|(n, _)| *n != name).map(|(_, f)| f.len() as u64).sum();
        let end = offset.checked_add(len).filter(|end| others.saturating_add(*end) <= OUTPUT_LIMIT)?;
        if self.files.len() == MOST_FILES && !self.files.contains_key(name) {
            return None;
        }
        let file = self.files.entry(name.to_owned()).or_default();
        if offset == 0 {
            file.clear();
        }
        if (file.len() as u64) < end {
            let end = usize::try_from(end).ok()?;
            // Appending may double what there is; a jump takes what it needs.
            if end > 2 * file.len() {
                file.reserve_exact(end - file.len());
            }
            file.resize(end, 0);
        }
        file.get_mut(offset as usize..end as usize)
    }
}

type Translate<'a> = &'a mut dyn FnMut(&mut PhysMem, u64, bool) -> Option<u64>;

impl Platform {
    pub(super) fn run_pseudo_op(
        &mut self,
        number: u8,
        args: [u64; 6],
        now: Now,
        translate: Translate,
    ) -> PseudoOutcome {
        if !now.drained {
            return PseudoOutcome::NeedsDrain;
        }
        if number == func::READ_FILE && self.pauses.at_readfile {
            return PseudoOutcome::Pause;
        }
        let ends_stretch = match self.pauses.work {
            Work::Reported => false,
            Work::InDetail => number == func::WORK_END,
            Work::Functional => number == func::WORK_BEGIN,
        };
        if ends_stretch {
            self.pauses.at_work = true;
            return PseudoOutcome::Pause;
        }
        let value = |v: u64| PseudoOutcome::Done { ret: Some(v), effect: SysEffect::None };
        match number {
            func::RPNS => value(now.tick.0 / 1000),
            func::SUM => value(args.iter().fold(0, |s, a| s.wrapping_add(*a))),
            func::INIT_PARAM => value(self.init_param),
            func::READ_FILE => value(self.read_file(args[0], args[1], args[2], translate)),
            func::WRITE_FILE => value(self.write_file(args[0], args[1], args[2], args[3], translate)),
            func::EXIT => self.later(SysEffect::Exit { cause: ExitCause::M5Exit, code: 0 }, args[0], 0),
            #[allow(clippy::cast_possible_wrap)] // the guest's number
            func::FAIL => self.later(SysEffect::Exit { cause: ExitCause::M5Fail, code: args[1] as i64 }, args[0], 0),
            func::PANIC => self.later(SysEffect::Exit { cause: ExitCause::M5Panic, code: 1 }, 0, 0),
            func::RESET_STATS => self.later(SysEffect::ResetStats, args[0], args[1]),
            func::DUMP_STATS => self.later(SysEffect::DumpStats, args[0], args[1]),
            func::DUMP_RESET_STATS => self.later(SysEffect::DumpResetStats, args[0], args[1]),
            func::WORK_BEGIN => self.later(SysEffect::WorkBegin { id: args[0] }, 0, 0),
            func::WORK_END => self.later(SysEffect::WorkEnd { id: args[0] }, 0, 0),
            _ => match REFUSED.iter().find(|(n, _)| *n == number) {
                Some((_, name)) => {
                    self.refusal =
                        Some(format!("the guest used the pseudo-op {name}, which this engine does not have"));
                    self.later(SysEffect::Exit { cause: ExitCause::M5Panic, code: 1 }, 0, 0)
                }
                None => PseudoOutcome::Unknown,
            },
        }
    }

    /// The effect, which the machine puts off by `delay` nanoseconds and repeats every `period` (0: once).
    fn later(&mut self, effect: SysEffect, delay: u64, period: u64) -> PseudoOutcome {
        if (delay, period) != (0, 0) {
            self.delay = (delay, period);
        }
        PseudoOutcome::Done { ret: None, effect }
    }

    /// Returns the bytes read; 0 at the end of the file.
    fn read_file(&mut self, buffer: u64, len: u64, offset: u64, translate: Translate) -> u64 {
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(self.readfile.len());
        let rest = &self.readfile[from..];
        let len = len.min(rest.len() as u64);
        let mut done = 0u64;
        for piece in pages(buffer, len) {
            let (vaddr, n) = piece;
            let to = translate(&mut self.ram, vaddr, true).and_then(|paddr| self.ram.slice_mut(paddr, n));
            let Some(to) = to else { break };
            to.copy_from_slice(&rest[done as usize..(done + n) as usize]);
            done += n;
        }
        done
    }

    /// Returns the bytes written, or -1: a bad name, a buffer that is not mapped, or more than
    /// [`OUTPUT_LIMIT`] or [`MOST_FILES`] in all.
    fn write_file(&mut self, buffer: u64, len: u64, offset: u64, name: u64, translate: Translate) -> u64 {
        let Some(name) = self.file_name(name, translate) else { return FAILED };
        if len > OUTPUT_LIMIT {
            return FAILED;
        }
        let Platform { ram, outputs, .. } = self;
        let Some(mut to) = outputs.room(&name, offset, len) else { return FAILED };
        for (vaddr, n) in pages(buffer, len) {
            let Some(from) = translate(ram, vaddr, false).and_then(|paddr| ram.slice(paddr, n)) else { return FAILED };
            let (now, rest) = to.split_at_mut(n as usize);
            now.copy_from_slice(from);
            to = rest;
        }
        len
    }

    /// A NUL-terminated name without path separators: what a guest may call its file.
    fn file_name(&mut self, vaddr: u64, translate: Translate) -> Option<String> {
        let mut name = Vec::new();
        for i in 0..=NAME_LIMIT {
            let paddr = translate(&mut self.ram, vaddr.wrapping_add(i), false)?;
            match self.ram.read::<u8>(paddr)? {
                0 => break,
                c if c.is_ascii_graphic() && c != b'/' && c != b'\\' => name.push(c),
                _ => return None,
            }
        }
        let name = String::from_utf8(name).ok()?;
        let plain = !name.is_empty() && !name.starts_with('.') && name.len() < NAME_LIMIT as usize;
        plain.then_some(name)
    }
}

/// A buffer cut at page boundaries.
fn pages(start: u64, len: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        (done < len).then(|| {
            let at = start.wrapping_add(done);
            let n = (4096 - (at & 4095)).min(len - done);
            done += n;
            (at, n)
        })
    })
}
