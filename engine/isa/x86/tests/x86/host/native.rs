//! Runs one instruction on the host CPU: registers are loaded from a context at a fixed address, the instruction is
//! jumped to, and a jump behind it leads back to where everything is stored again. Signals lead back too.

use std::sync::atomic::Ordering;

use super::state::{Outcome, State, CODE, CODE_LEN, DATA, DATA_LEN};

pub const CTX: u64 = 0x5000_0000;
const OUT: usize = 1024;

// Context: gpr 0..128, flags 128, mxcsr 136, host rsp 144, host mxcsr 152, code 160, taken 168, ymm 192.., mm 704..;
// the same again from OUT on for what comes out.
std::arch::global_asm!(
    ".global breakeven_host_enter",
    ".global breakeven_host_back",
    "breakeven_host_enter:",
    "push rbx",
    "push rbp",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "sub rsp, 8",
    "mov qword ptr [0x50000090], rsp",
    "stmxcsr dword ptr [0x50000098]",
    "ldmxcsr dword ptr [0x50000088]",
    ".altmacro",
    ".macro loady n\n vmovdqu ymm\\n, ymmword ptr [0x500000c0+32*\\n]\n.endm",
    ".macro storey n\n vmovdqu ymmword ptr [0x500004c0+32*\\n], ymm\\n\n.endm",
    ".macro loadm n\n movq mm\\n, qword ptr [0x500002c0+8*\\n]\n.endm",
    ".macro storem n\n movq qword ptr [0x500006c0+8*\\n], mm\\n\n.endm",
    ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n loady \\n\n.endr",
    ".irp n, 0,1,2,3,4,5,6,7\n loadm \\n\n.endr",
    "push qword ptr [0x50000080]",
    "popfq",
    "mov rax, qword ptr [0x50000000]",
    "mov rcx, qword ptr [0x50000008]",
    "mov rdx, qword ptr [0x50000010]",
    "mov rbx, qword ptr [0x50000018]",
    "mov rsp, qword ptr [0x50000020]",
    "mov rbp, qword ptr [0x50000028]",
    "mov rsi, qword ptr [0x50000030]",
    "mov rdi, qword ptr [0x50000038]",
    "mov r8, qword ptr [0x50000040]",
    "mov r9, qword ptr [0x50000048]",
    "mov r10, qword ptr [0x50000050]",
    "mov r11, qword ptr [0x50000058]",
    "mov r12, qword ptr [0x50000060]",
    "mov r13, qword ptr [0x50000068]",
    "mov r14, qword ptr [0x50000070]",
    "mov r15, qword ptr [0x50000078]",
    "jmp qword ptr [0x500000a0]",
    "breakeven_host_back:",
    "mov qword ptr [0x50000400], rax",
    "mov qword ptr [0x50000408], rcx",
    "mov qword ptr [0x50000410], rdx",
    "mov qword ptr [0x50000418], rbx",
    "mov qword ptr [0x50000420], rsp",
    "mov qword ptr [0x50000428], rbp",
    "mov qword ptr [0x50000430], rsi",
    "mov qword ptr [0x50000438], rdi",
    "mov qword ptr [0x50000440], r8",
    "mov qword ptr [0x50000448], r9",
    "mov qword ptr [0x50000450], r10",
    "mov qword ptr [0x50000458], r11",
    "mov qword ptr [0x50000460], r12",
    "mov qword ptr [0x50000468], r13",
    "mov qword ptr [0x50000470], r14",
    "mov qword ptr [0x50000478], r15",
    "mov rsp, qword ptr [0x50000090]",
    "pushfq",
    "pop qword ptr [0x50000480]",
    "cld",
    "stmxcsr dword ptr [0x50000488]",
    "ldmxcsr dword ptr [0x50000098]",
    ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n storey \\n\n.endr",
    ".irp n, 0,1,2,3,4,5,6,7\n storem \\n\n.endr",
    "emms",
    "vzeroupper",
    "add rsp, 8",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbp",
    "pop rbx",
    "ret",
);

extern "C" {
    fn breakeven_host_enter();
    fn breakeven_host_back();
}

static SIGNAL: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(0);
static ADDRESS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

extern "C" fn on_signal(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    SIGNAL.store(signal, Ordering::Relaxed);
    // SAFETY: the kernel hands a valid siginfo and ucontext to a SA_SIGINFO handler.
    unsafe {
        ADDRESS.store((*info).si_addr() as u64, Ordering::Relaxed);
        let context = context.cast::<libc::ucontext_t>();
        (*context).uc_mcontext.gregs[libc::REG_RIP as usize] = breakeven_host_back as *const () as i64;
    }
}

pub struct Native(());

fn map(at: u64, len: usize) {
    let prot = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    // SAFETY: fixed addresses that this test process does not use otherwise (checked: NOREPLACE).
    let p = unsafe {
        libc::mmap(at as *mut _, len, prot, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE, -1, 0)
    };
    assert_eq!(p as u64, at, "the test's fixed address {at:#x} is taken");
}

fn put<T: Copy>(at: u64, v: T) {
    // SAFETY: callers write into the mappings made by `Native::new`.
    unsafe { (at as *mut T).write_unaligned(v) }
}
fn get<T: Copy>(at: u64) -> T {
    // SAFETY: callers read from the mappings made by `Native::new`.
    unsafe { (at as *const T).read_unaligned() }
}

impl Native {
    /// `None`: this host cannot run the tests.
    pub fn new() -> Option<Native> {
        if !std::is_x86_feature_detected!("avx2") {
            return None;
        }
        map(CTX, 4096);
        map(DATA, DATA_LEN);
        map(CODE, CODE_LEN);
        // SAFETY: an alternate stack that lives for ever, and handlers that only redirect.
        unsafe {
            let size = 1 << 16;
            let stack = Box::leak(vec![0u8; size].into_boxed_slice());
            let alt = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: size };
            libc::sigaltstack(&alt, std::ptr::null_mut());
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            for s in [libc::SIGSEGV, libc::SIGFPE, libc::SIGILL, libc::SIGBUS, libc::SIGTRAP] {
                libc::sigaction(s, &action, std::ptr::null_mut());
            }
        }
        Some(Native(()))
    }

    /// After an instruction has written to the runner's page: nothing there outlives a run.
    pub fn reset(&mut self) {
        SIGNAL.store(0, Ordering::Relaxed);
    }

    /// Executes the instruction in `code` at `at`; `exits`: where execution may go on (fall-through, branch target).
    pub fn run(&mut self, s: &State, at: u64, code: &[u8], exits: [u64; 2], memory: &mut [u8]) -> Outcome {
        // SAFETY: both lie in the mappings; the layout is the assembly's.
        unsafe {
            std::ptr::copy_nonoverlapping(memory.as_ptr(), DATA as *mut u8, DATA_LEN);
            std::ptr::copy_nonoverlapping(code.as_ptr(), at as *mut u8, code.len());
        }
        let back = breakeven_host_back as *const () as u64;
        for (n, e) in exits.into_iter().enumerate() {
            // mov byte ptr [CTX + 168], n; jmp [rip]; the address
            let mut stub = vec![0xc6, 0x04, 0x25];
            stub.extend_from_slice(&(CTX as u32 + 168).to_le_bytes());
            stub.extend_from_slice(&[n as u8, 0xff, 0x25, 0, 0, 0, 0]);
            stub.extend_from_slice(&back.to_le_bytes());
            for (k, b) in stub.iter().enumerate() {
                put(e + k as u64, *b);
            }
        }
        for (n, v) in s.gpr.iter().enumerate() {
            put(CTX + 8 * n as u64, *v);
        }
        put(CTX + 128, s.flags | 0x202);
        put(CTX + 136, s.mxcsr);
        put(CTX + 160, at);
        put(CTX + 168, 0u8);
        for (n, v) in s.ymm.iter().enumerate() {
            put(CTX + 192 + 32 * n as u64, *v);
        }
        for (n, v) in s.mm.iter().enumerate() {
            put(CTX + 704 + 8 * n as u64, *v);
        }
        SIGNAL.store(0, Ordering::Relaxed);
        // SAFETY: the generator only makes instructions whose effects stay in the test's mappings or fault.
        unsafe { breakeven_host_enter() };
        let out = CTX + OUT as u64;
        let mut r = State::default();
        for (n, v) in r.gpr.iter_mut().enumerate() {
            *v = get(out + 8 * n as u64);
        }
        r.flags = get(out + 128);
        r.mxcsr = get(out + 136);
        for (n, v) in r.ymm.iter_mut().enumerate() {
            *v = get(out + 192 + 32 * n as u64);
        }
        for (n, v) in r.mm.iter_mut().enumerate() {
            *v = get(out + 704 + 8 * n as u64);
        }
        // SAFETY: the data mapping.
        unsafe { std::ptr::copy_nonoverlapping(DATA as *const u8, memory.as_mut_ptr(), DATA_LEN) };
        let fault = match SIGNAL.load(Ordering::Relaxed) {
            0 => 0,
            libc::SIGFPE => 1,
            libc::SIGILL => 2,
            libc::SIGTRAP => 4,
            _ => 3,
        };
        let next = if fault != 0 { 0 } else { exits[usize::from(get::<u8>(CTX + 168))] };
        Outcome { state: r, fault, next, address: ADDRESS.load(Ordering::Relaxed) }
    }
}
