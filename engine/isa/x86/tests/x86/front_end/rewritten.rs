//! Code that changes: what executes is what memory holds, whoever wrote it, and however near to code that has been decoded.

use crate::common::{assemble, now, Machine, CODE, STACK};
use breakeven_base::FrontEnd;
use breakeven_x86::X86Config;
use iced_x86::code_asm::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// Two pages of functions, and another mapping of them: the boot tables' fifth GiB shows the first.
const FUNCTIONS: u64 = 0x40_0000;
const SIZE: u64 = 2 * 4096;
const OTHER: u64 = 4 << 30;
const PDPT: u64 = 0x7_1000;
/// Where the words that are moved lie.
const WORDS: u64 = 0x50_0000;

#[derive(Clone, Copy, Debug)]
enum Writer {
    Word,
    Bytes,
    Moved,
    Device,
}

#[derive(Clone, Copy, Debug)]
struct Change {
    at: u64,
    value: u32,
    writer: Writer,
    other: bool,
    /// The program is run by [`FrontEnd::run_fast`] as far as that goes.
    fast: bool,
}

fn change() -> impl Strategy<Value = Change> {
    let near = prop_oneof![0..SIZE - 8, 4096 - 16..4096 + 8u64, 100..180u64];
    let writer = prop_oneof![Just(Writer::Word), Just(Writer::Bytes), Just(Writer::Moved), Just(Writer::Device)];
    (near, any::<u32>(), writer, any::<bool>(), any::<bool>()).prop_map(|(at, value, writer, other, fast)| Change {
        at,
        value,
        writer,
        other,
        fast,
    })
}

/// `mov eax, value; ret`, and two bytes that nothing reaches.
fn function(value: u32) -> u64 {
    0xb8 | u64::from(value) << 8 | 0xc3 << 40
}

/// Where the program of a writer lies.
fn program_at(writer: Writer) -> u64 {
    CODE + 256 * writer as u64
}

/// Stores rax to rdi as `writer` does, then calls rbx.
fn program(writer: Writer) -> Vec<u8> {
    assemble(program_at(writer), |a| {
        match writer {
            Writer::Word => a.mov(qword_ptr(rdi), rax)?,
            Writer::Bytes => {
                for n in 0..8 {
                    a.mov(byte_ptr(rdi + n), al)?;
                    a.shr(rax, 8)?;
                }
            }
            Writer::Moved => {
                a.mov(qword_ptr(WORDS), rax)?;
                a.mov(esi, WORDS as i32)?;
                a.mov(ecx, 8)?;
                a.rep().movsb()?;
            }
            Writer::Device => {}
        }
        a.call(rbx)?;
        a.hlt()
    })
}

/// What the function at `at` returns after rax has been written to `to`.
fn returned(m: &mut Machine, c: Change, to: u64, at: u64) -> u32 {
    let word = function(c.value);
    if let Writer::Device = c.writer {
        m.put(to & 0xffff_ffff, word);
        m.fe.invalidate_code();
    }
    for (r, v) in [(0, word), (3, at), (4, STACK), (7, to)] {
        m.fe.set_gpr(r, v);
    }
    m.fe.set_pc(program_at(c.writer));
    if c.fast {
        m.fe.run_fast(&mut m.bus, now(true), 1000);
    }
    m.run();
    m.fe.gpr(0) as u32
}

proptest! {
    #[test]
    fn what_executes_is_what_memory_holds(changes in vec(change(), 1..40)) {
        let mut m = Machine::with(&X86Config::default());
        m.put(PDPT + 8 * 4, m.u64(PDPT));
        for writer in [Writer::Word, Writer::Bytes, Writer::Moved, Writer::Device] {
            m.code(program_at(writer), &program(writer));
        }
        let mut written: Vec<(u64, u32)> = Vec::new();
        for c in changes {
            let at = FUNCTIONS + c.at;
            // Executed: the new one, or the one written before where it is still whole.
            let before = written.last().copied().filter(|b| c.value % 2 == 0 && b.0.abs_diff(at) >= 8);
            let (called, value) = before.unwrap_or((at, c.value));
            let to = if c.other { OTHER + at } else { at };
            prop_assert_eq!(returned(&mut m, c, to, called), value, "{:x?}", c);
            written.push((at, c.value));
        }
    }
}
