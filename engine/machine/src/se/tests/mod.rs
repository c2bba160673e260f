//! A process without a processor: calls are made by hand, right ones and hostile ones.

use std::fs;
use std::path::PathBuf;

use breakeven_base::bus::ExitCause;
use breakeven_base::{
    Cycle, FaultAnswer, Now, PhysMem, SysEffect, Syscall, Tick, UserAccess, UserContext, UserFault, UserState,
};

use proptest::array;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

use super::memory::{Prot, PAGE};
use super::*;
use crate::{Elf, EngineError, IsaName};

mod files;
mod memory;
mod tasks;

#[allow(dead_code)] // a part is used
#[path = "../../../tests/common/elf.rs"]
mod elf;

/// Where RISC-V returns a call's result.
const A0: usize = 10;
const RAM: u64 = 4 << 20;
/// Where the program's one segment lies, with room for strings and results.
const BASE: u64 = 0x1_0000;
const TEXT: u64 = BASE + 0x1000;
const BUFFER: u64 = BASE + 0x2000;
const SEGMENT: u64 = 0x1_0000;
/// Where relative paths start.
const HERE: u64 = -100i64 as u64;

fn error(number: i32) -> u64 {
    i64::from(-number) as u64
}

fn config() -> ProcessConfig {
    ProcessConfig {
        path: "system.cpu.workload".into(),
        args: vec!["program".into(), "one".into()],
        env: vec!["A=b".into()],
        executable: "/bin/program".into(),
        cwd: String::new(),
        ids: Ids { uid: 1, euid: 2, gid: 3, egid: 4, pid: 5, ppid: 6, pgid: 7 },
        release: "5.1.0".into(),
        max_stack: 1 << 20,
        timed_translation: false,
    }
}

/// A processor that does nothing but hold what a program sees.
#[derive(Default)]
struct Registers(UserState);

impl UserContext for Registers {
    fn save(&self) -> UserState {
        self.0.clone()
    }
    fn load(&mut self, state: &UserState) {
        self.0 = state.clone();
    }
}

/// A process and its memory.
struct Rig {
    p: Process,
    ram: PhysMem,
    registers: Registers,
    ticks: u64,
}

impl Rig {
    fn new(host: &Host) -> Rig {
        let mut ram = PhysMem::new(0, RAM).expect("maps");
        let file = elf::build(BASE, &[0x13, 0, 0, 0], SEGMENT, &[]);
        let parsed = Elf::parse_process(&file).expect("an ELF");
        let (p, _) = Process::new(&config(), &parsed, host, Hardware::default(), &mut ram).expect("loads");
        Rig { p, ram, registers: Registers::default(), ticks: 0 }
    }
    fn in_directory(name: &str, writable: bool) -> (Rig, PathBuf) {
        let dir = std::env::temp_dir().join(format!("breakeven-se-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        let inside = dir.join("inside");
        fs::create_dir_all(inside.join("sub")).expect("a directory");
        fs::write(inside.join("data"), "contents").expect("a file");
        fs::write(dir.join("secret"), "secret").expect("a file");
        let host = Host { stdin: b"typed".to_vec(), directory: Some(inside), writable, ..Host::default() };
        (Rig::new(&host), dir)
    }

    fn raw(&mut self, number: u64, args: [u64; 6]) -> u64 {
        let now = Now { tick: Tick(self.ticks), cycle: Cycle::ZERO, drained: true };
        let call = Syscall { number, args, bases: [0; 2], pc: BASE };
        let done = self.p.syscall(&mut self.ram, &call, now, &mut self.registers);
        done.ret.unwrap_or(self.registers.0.regs[A0])
    }
    /// By the name of the call.
    fn call(&mut self, name: &str, args: &[u64]) -> u64 {
        let number = (0..500).find(|&n| calls::name(IsaName::Riscv, n) == Some(name)).expect("a call of RISC-V's");
        let mut all = [0; 6];
        all[..args.len()].copy_from_slice(args);
        self.raw(number, all)
    }
    fn fault(&mut self, fault: UserFault) -> FaultAnswer {
        self.p.fault(&mut self.ram, BASE, fault, &mut self.registers)
    }
    fn put(&mut self, at: u64, bytes: &[u8]) {
        self.p.space.put(&mut self.ram, at, bytes).expect("mapped");
    }
    fn text(&mut self, text: &str) -> u64 {
        self.put(TEXT, text.as_bytes());
        self.put(TEXT + text.len() as u64, &[0]);
        TEXT
    }
    fn get(&mut self, at: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.p.space.read(&mut self.ram, at, &mut bytes).expect("mapped");
        bytes
    }
    fn open(&mut self, path: &str, flags: u64) -> u64 {
        let at = self.text(path);
        self.call("openat", &[(-100i64) as u64, at, flags, 0o644])
    }
}
#[test]
fn the_stack_is_what_the_abi_says() {
    let mut ram = PhysMem::new(0, RAM).expect("maps");
    let file = elf::build(BASE, &[0x13, 0, 0, 0], SEGMENT, &[]);
    let parsed = Elf::parse_process(&file).expect("an ELF");
    let (mut p, start) =
        Process::new(&config(), &parsed, &Host::default(), Hardware::default(), &mut ram).expect("loads");
    assert_eq!((start.entry, start.stack % 16), (BASE, 0));
    let mut word = |at: u64| {
        let mut b = [0; 8];
        p.space.read(&mut ram, at, &mut b).expect("on the stack");
        u64::from_le_bytes(b)
    };
    let sp = start.stack;
    assert_eq!([word(sp), word(sp + 24), word(sp + 40)], [2, 0, 0], "argc, the ends of argv and envp");
    let (mut at, mut kinds) = (sp + 48, Vec::new());
    while word(at) != 0 {
        kinds.push((word(at), word(at + 8)));
        at += 16;
    }
    let of = |kind: u64| kinds.iter().find(|k| k.0 == kind).map(|k| k.1);
    assert_eq!([of(6), of(9), of(11), of(13), of(5)], [Some(4096), Some(BASE), Some(1), Some(3), Some(1)]);
    let (argument, execfn) = (word(sp + 16), of(31).expect("AT_EXECFN"));
    let string =
        |p: &mut Process, ram: &mut PhysMem, at| p.space.read_string(ram, at, 99).expect("mapped").expect("ends");
    assert_eq!(string(&mut p, &mut ram, argument), b"one");
    assert_eq!(string(&mut p, &mut ram, execfn), b"/bin/program");
}

#[test]
fn what_the_process_writes_and_reads() {
    let mut r = Rig::new(&Host { stdin: b"typed".to_vec(), ..Host::default() });
    r.put(TEXT, b"out");
    assert_eq!(r.call("write", &[1, TEXT, 3]), 3);
    assert_eq!(r.call("write", &[2, TEXT, 2]), 2);
    assert_eq!((r.p.stdout(), r.p.stderr(), r.p.output()), (&b"out"[..], &b"ou"[..], &b"outou"[..]));
    assert_eq!(
        [r.call("read", &[0, BUFFER, 3]), r.call("read", &[0, BUFFER + 3, 9]), r.call("read", &[0, BUFFER, 9])],
        [3, 2, 0]
    );
    assert_eq!(r.get(BUFFER, 5), b"typed");
    assert_eq!(r.call("write", &[7, TEXT, 1]), error(libc::EBADF));
    assert_eq!(r.call("write", &[0, TEXT, 1]), error(libc::EBADF));
    for at in [0, 8, u64::MAX - 1, 1 << 40] {
        assert_eq!(r.call("write", &[1, at, 4]), error(libc::EFAULT));
        assert_eq!(r.call("read", &[0, at, 4]), error(libc::EFAULT));
    }
}

#[test]
fn time_and_randomness_are_the_simulations() {
    let words = |r: &mut Rig| {
        assert_eq!(r.call("clock_gettime", &[1, BUFFER]), 0);
        assert_eq!(r.call("getrandom", &[BUFFER + 16, 16, 0]), 16);
        r.get(BUFFER, 32)
    };
    let mut a = Rig::new(&Host::default());
    a.ticks = 3_000_000_007_000;
    let mut b = Rig::new(&Host::default());
    b.ticks = a.ticks;
    let first = words(&mut a);
    assert_eq!(first, words(&mut b));
    assert_eq!(first[..16], [3u64.to_le_bytes(), 7u64.to_le_bytes()].concat());
    assert_ne!(first[16..], words(&mut a)[16..]);
}

#[test]
fn calls_that_there_are_not_are_named_once() {
    let mut r = Rig::new(&Host::default());
    for _ in 0..3 {
        assert_eq!(r.call("io_uring_setup", &[1, 2]), error(libc::ENOSYS));
        assert_eq!(r.raw(99_999, [0; 6]), error(libc::ENOSYS));
    }
    let names =
        ["system call 425 (io_uring_setup) is not implemented: ENOSYS", "system call 99999 is not implemented: ENOSYS"];
    assert_eq!(r.p.warnings(), names);
    // A thread; something new to share memory with.
    for flags in [0x3d_0f00, 0x111] {
        assert_eq!(r.call("clone", &[flags]), error(libc::ENOSYS));
    }
    assert_eq!(r.p.warnings()[2..], ["an emulated process has no further threads: clone returns ENOSYS"]);
}

#[test]
fn output_beyond_what_is_kept_ends_the_process() {
    let mut r = Rig::new(&Host::default());
    r.p.files.stdout.bytes = vec![b'x'; crate::platform::Console::LIMIT - 2];
    assert_eq!(r.call("write", &[1, TEXT, 2]), 2);
    assert_eq!(r.p.ended(), None);
    assert_eq!(r.call("write", &[1, TEXT, 1]), error(libc::EFBIG));
    assert_eq!(r.p.ended(), Some(SysEffect::Exit { cause: ExitCause::ProcessSignal, code: 128 + 25 }));
    assert!(r.p.detail().contains("16 MiB"), "{}", r.p.detail());
}

/// What comes as long as somebody takes it.
struct Taken(std::sync::Arc<std::sync::Mutex<Vec<u8>>>, usize);

impl crate::platform::Sink for Taken {
    fn put(&mut self, bytes: &[u8]) -> Result<(), i32> {
        let mut taken = self.0.lock().expect("not poisoned");
        if taken.len() + bytes.len() > self.1 {
            return Err(libc::EPIPE);
        }
        taken.extend_from_slice(bytes);
        Ok(())
    }
}

#[test]
fn output_goes_where_it_is_taken_until_nobody_takes_it() {
    let taken = std::sync::Arc::default();
    let mut r = Rig::new(&Host::default());
    r.p.set_stdout(Box::new(Taken(std::sync::Arc::clone(&taken), 5)));
    r.put(TEXT, b"hello");
    assert_eq!(r.call("write", &[1, TEXT, 5]), 5);
    assert_eq!((taken.lock().expect("not poisoned").as_slice(), r.p.stdout()), (&b"hello"[..], &b""[..]));
    assert_eq!(r.call("write", &[1, TEXT, 1]), error(libc::EPIPE));
    assert_eq!(r.p.ended(), Some(SysEffect::Exit { cause: ExitCause::ProcessSignal, code: 128 + 13 }));
}

#[test]
fn the_clock_starts_when_the_caller_says() {
    let mut r = Rig::new(&Host { start_time: 1_700_000_000, ..Host::default() });
    r.ticks = 2_000_000_000_000;
    assert_eq!(r.call("clock_gettime", &[0, BUFFER]), 0);
    assert_eq!(r.get(BUFFER, 8), 1_700_000_002u64.to_le_bytes());
    assert_eq!(r.call("clock_gettime", &[1, BUFFER]), 0);
    assert_eq!(r.get(BUFFER, 8), 2u64.to_le_bytes());
}

/// Arguments as calls have them, and as they do not.
fn argument() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        0..64_u64,
        (any::<u64>(), 0..64_u32).prop_map(|(n, by)| n >> by),
        Just(TEXT),
        (BUFFER..BUFFER + 0x3000),
        (0..64_u64).prop_map(u64::wrapping_neg),
        (0..1_u64 << 14).prop_map(|page| page * PAGE),
        Just(HERE),
        (0..64_u32).prop_map(|bit| 1 << bit),
        0..4_u64,
    ]
}

proptest! {
    // The same cases in each run: a change, not chance, decides whether the test passes.
    #![proptest_config(Config { cases: 300, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() })]

    #[test]
    fn calls_full_of_nonsense_do_no_harm(calls in vec((0..460_u64, array::uniform6(argument())), 200)) {
        let (mut r, dir) = Rig::in_directory("nonsense", true);
        r.put(TEXT, b"sub/name\0");
        for (number, args) in calls {
            r.raw(number, args);
            if r.p.ended().is_some() {
                r = Rig::new(&Host { directory: Some(dir.join("inside")), writable: true, ..Host::default() });
                r.put(TEXT, b"sub/name\0");
            }
            // The program itself must stay for the next round.
            if r.p.space.rights(TEXT).is_none() || r.p.space.rights(BUFFER).is_none() {
                r.p.space.map(&mut r.ram, BASE, BASE + SEGMENT, Prot::RW);
            }
        }
        assert_eq!(fs::read(dir.join("secret")).expect("still there"), b"secret");
        let _ = fs::remove_dir_all(dir);
    }
}
