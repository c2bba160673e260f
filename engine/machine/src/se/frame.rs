//! What Linux pushes before it calls a handler, `struct rt_sigframe`, and what `rt_sigreturn` takes from there. Layouts:
//! `arch/x86/include/uapi/asm/sigcontext.h`, `arch/riscv/include/uapi/asm/ucontext.h`.

use breakeven_base::UserState;

use super::signals::{Action, Info};
use crate::IsaName;

/// `siginfo_t`.
const INFO: usize = 128;
/// x86-64: the return address, flags, link, stack, registers, mask.
const X86_FRAME: usize = 8 + X86_CONTEXT + INFO;
const X86_CONTEXT: usize = 304;
const X86_REGISTERS: usize = 48;
const X86_MASK: usize = 304;
const X86_FPSTATE: usize = X86_REGISTERS + 184;
/// The order of the registers there: r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp.
const X86_ORDER: [usize; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 7, 6, 5, 3, 2, 0, 1, 4];
/// Below the stack pointer a function may keep what it likes.
const RED_ZONE: u64 = 128;
/// XSAVE's area: FXSAVE's, a header, the upper halves of ymm registers; and Linux's marks.
const XSTATE: usize = UPPER + 256;
const UPPER: usize = 576;
const SOFTWARE: usize = 464;
const MAGIC1: u32 = 0x4650_5853;
const MAGIC2: u32 = 0x4650_5845;
/// x87, SSE, AVX.
const FEATURES: u64 = 7;
/// `UC_FP_XSTATE`, `UC_SIGCONTEXT_SS`, `UC_STRICT_RESTORE_SS`.
const X86_UC_FLAGS: u64 = 7;
const USER_SEGMENTS: u64 = 0x33 | 0x2b << 48;

/// RISC-V: `siginfo_t`, then flags, link, stack, mask; registers at a multiple of 16; floating point up to quad's room.
const RISCV_FRAME: usize = RISCV_REGISTERS + 256 + 528;
const RISCV_MASK: usize = INFO + 40;
const RISCV_REGISTERS: usize = INFO + 176;
const RISCV_FLOAT: usize = RISCV_REGISTERS + 256;

const RSP: usize = 4;
const SP: usize = 2;

/// What lies in memory while a handler runs.
#[derive(Debug)]
pub(super) struct Frame {
    /// Where and what is to be written.
    pub parts: Vec<(u64, Vec<u8>)>,
    /// What the handler starts with.
    pub state: Box<UserState>,
}

/// All that a frame is made of.
pub(super) struct Delivery<'a> {
    pub number: u32,
    pub action: &'a Action,
    pub info: &'a Info,
    /// The mask to go back to.
    pub mask: u64,
    /// `stack_t`: address, flags, size.
    pub stack: [u64; 3],
    /// The frame goes below this address instead of the stack pointer.
    pub top: Option<u64>,
    /// RISC-V: where `rt_sigreturn` is called.
    pub trampoline: u64,
}

fn put(to: &mut [u8], at: usize, words: &[u64]) {
    for (slot, word) in to[at..].chunks_exact_mut(8).zip(words) {
        slot.copy_from_slice(&word.to_le_bytes());
    }
}
fn get(from: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&from[at..at + 8]);
    u64::from_le_bytes(bytes)
}

fn put_info(to: &mut [u8], at: usize, d: &Delivery) {
    // Signal and errno, code and padding, then what the kind of signal has.
    put(to, at, &[u64::from(d.number), u64::from(d.info.code as u32), d.info.fields[0], d.info.fields[1]]);
}

/// Prepares a call of the handler from `state`; `None`: there is no room for a frame below an address that small.
pub(super) fn push(isa: IsaName, state: &UserState, d: &Delivery) -> Option<Frame> {
    match isa {
        IsaName::X86 => push_x86(state, d),
        IsaName::Riscv => push_riscv(state, d),
    }
}

fn push_x86(state: &UserState, d: &Delivery) -> Option<Frame> {
    let top = d.top.or_else(|| state.regs[RSP].checked_sub(RED_ZONE))?;
    let fp_at = top.checked_sub(XSTATE as u64 + 4)? & !63;
    let mut fp = vec![0; XSTATE + 4];
    fp[..UserState::FXSAVE].copy_from_slice(&state.fxsave);
    put(&mut fp, SOFTWARE, &[u64::from(MAGIC1) | (XSTATE as u64 + 4) << 32, FEATURES, XSTATE as u64]);
    put(&mut fp, UserState::FXSAVE, &[FEATURES]);
    put(&mut fp, UPPER, state.upper.as_flattened());
    fp[XSTATE..].copy_from_slice(&MAGIC2.to_le_bytes());

    let at = (fp_at.checked_sub(X86_FRAME as u64)? & !15).checked_sub(8)?;
    let mut frame = vec![0; X86_FRAME];
    let [base, flags, size] = d.stack;
    put(&mut frame, 0, &[d.action.restorer, X86_UC_FLAGS, 0, base, flags, size]);
    put(&mut frame, X86_REGISTERS, &X86_ORDER.map(|n| state.regs[n]));
    put(&mut frame, X86_REGISTERS + 128, &[state.pc, state.flags, USER_SEGMENTS]);
    // Behind them: error code, trap number, the old mask, the address of a fault.
    let fault = if d.info.code > 0 && d.info.code < 0x80 { d.info.fields[0] } else { 0 };
    put(&mut frame, X86_REGISTERS + 168, &[d.mask, fault, fp_at]);
    put(&mut frame, X86_MASK, &[d.mask]);
    put_info(&mut frame, X86_MASK + 8, d);

    let mut handler = Box::new(state.clone());
    handler.regs[RSP] = at;
    // rdi, rsi, rdx; rax counts vector arguments.
    handler.regs[7] = u64::from(d.number);
    handler.regs[6] = at + X86_MASK as u64 + 8;
    handler.regs[2] = at + 8;
    handler.regs[0] = 0;
    handler.pc = d.action.handler;
    const DIRECTION: u64 = 1 << 10;
    handler.flags &= !DIRECTION;
    Some(Frame { parts: vec![(fp_at, fp), (at, frame)], state: handler })
}

fn push_riscv(state: &UserState, d: &Delivery) -> Option<Frame> {
    let at = d.top.unwrap_or(state.regs[SP]).checked_sub(RISCV_FRAME as u64)? & !15;
    let mut frame = vec![0; RISCV_FRAME];
    put_info(&mut frame, 0, d);
    let [base, flags, size] = d.stack;
    put(&mut frame, INFO, &[0, 0, base, flags, size, d.mask]);
    put(&mut frame, RISCV_REGISTERS, &[state.pc]);
    put(&mut frame, RISCV_REGISTERS + 8, &state.regs[1..]);
    put(&mut frame, RISCV_FLOAT, &state.float);
    put(&mut frame, RISCV_FLOAT + 256, &[u64::from(state.fcsr)]);

    let mut handler = Box::new(state.clone());
    handler.regs[1] = d.trampoline;
    handler.regs[SP] = at;
    handler.regs[10] = u64::from(d.number);
    handler.regs[11] = at;
    handler.regs[12] = at + INFO as u64;
    handler.pc = d.action.handler;
    Some(Frame { parts: vec![(at, frame)], state: handler })
}

/// What `rt_sigreturn` goes back to: the state, the mask, the alternate stack.
pub(super) type Returned = (Box<UserState>, u64, [u64; 3]);

/// Reads a frame by `read`, in a process that stands at `state`.
pub(super) fn pop<E>(
    isa: IsaName,
    state: &UserState,
    mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
) -> Result<Returned, E> {
    let mut to = Box::new(state.clone());
    match isa {
        IsaName::X86 => {
            let mut frame = vec![0; X86_FRAME - INFO];
            // The handler's return has taken the first word.
            read(state.regs[RSP].wrapping_sub(8), &mut frame)?;
            for (n, reg) in X86_ORDER.into_iter().enumerate() {
                to.regs[reg] = get(&frame, X86_REGISTERS + 8 * n);
            }
            to.pc = get(&frame, X86_REGISTERS + 128);
            to.flags = get(&frame, X86_REGISTERS + 136);
            let fp_at = get(&frame, X86_FPSTATE);
            (to.fxsave, to.upper) = (UserState::default().fxsave, [[0; 2]; 16]);
            if fp_at != 0 {
                read(fp_at, &mut to.fxsave)?;
                if get(&to.fxsave, SOFTWARE) as u32 == MAGIC1 {
                    let mut upper = [0; 256];
                    read(fp_at.wrapping_add(UPPER as u64), &mut upper)?;
                    to.upper = std::array::from_fn(|n| [get(&upper, 16 * n), get(&upper, 16 * n + 8)]);
                }
            }
            let stack = [get(&frame, 24), get(&frame, 32), get(&frame, 40)];
            Ok((to, get(&frame, X86_MASK), stack))
        }
        IsaName::Riscv => {
            let mut frame = vec![0; RISCV_FRAME];
            read(state.regs[SP], &mut frame)?;
            to.pc = get(&frame, RISCV_REGISTERS);
            for n in 1..32 {
                to.regs[n] = get(&frame, RISCV_REGISTERS + 8 * n);
            }
            to.float = std::array::from_fn(|n| get(&frame, RISCV_FLOAT + 8 * n));
            to.fcsr = get(&frame, RISCV_FLOAT + 256) as u32;
            let stack = [get(&frame, INFO + 16), get(&frame, INFO + 24), get(&frame, INFO + 32)];
            Ok((to, get(&frame, RISCV_MASK), stack))
        }
    }
}
