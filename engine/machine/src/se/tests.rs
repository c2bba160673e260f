//! A process without a processor: calls are made by hand, right ones and hostile ones.

use std::fs;
use std::path::PathBuf;

use breakeven_base::bus::ExitCause;
use breakeven_base::{FaultAnswer, Now, PhysMem, SysEffect, Syscall, Tick, UserAccess, UserFault};

use super::memory::{Prot, PAGE};
use super::random::Random;
use super::*;
use crate::{Elf, EngineError, IsaName};

#[allow(dead_code)] // a part is used
#[path = "../../tests/common/elf.rs"]
mod elf;

const RAM: u64 = 4 << 20;
/// Where the program's one segment lies, with room for strings and results.
const BASE: u64 = 0x1_0000;
const TEXT: u64 = BASE + 0x1000;
const BUFFER: u64 = BASE + 0x2000;
const SEGMENT: u64 = 0x1_0000;

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

/// A process and its memory.
struct Rig {
    p: Process,
    ram: PhysMem,
    ticks: u64,
}

impl Rig {
    fn new(host: &Host) -> Rig {
        let mut ram = PhysMem::new(0, RAM).expect("maps");
        let file = elf::build(BASE, &[0x13, 0, 0, 0], SEGMENT, &[]);
        let parsed = Elf::parse_process(&file).expect("an ELF");
        let (p, _) = Process::new(&config(), &parsed, host, Hardware::default(), &mut ram).expect("loads");
        Rig { p, ram, ticks: 0 }
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
        let now = Now { tick: Tick(self.ticks), cycle: 0, drained: true };
        self.p.syscall(&mut self.ram, &Syscall { number, args, bases: [0; 2], pc: BASE }, now).ret
    }
    /// By the name of the call.
    fn call(&mut self, name: &str, args: &[u64]) -> u64 {
        let number = (0..500).find(|&n| calls::name(IsaName::Riscv, n) == Some(name)).expect("a call of RISC-V's");
        let mut all = [0; 6];
        all[..args.len()].copy_from_slice(args);
        self.raw(number, all)
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
fn files_stay_in_the_directory() {
    let (mut r, dir) = Rig::in_directory("files", true);
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, dir.join("inside").join(name)).expect("a link");
    link("../secret", "out");
    link("/etc/passwd", "passwd");
    link("..", "up");
    link("/proc/self/root", "root");
    link("sub/../data", "fine");
    let absolute = dir.join("inside/data").to_str().expect("UTF-8").to_owned();
    let outside = dir.join("secret").to_str().expect("UTF-8").to_owned();
    for path in ["data", "./sub/../data", "fine", absolute.as_str()] {
        let fd = r.open(path, 0);
        assert_eq!(fd, 3, "{path}");
        assert_eq!(r.call("read", &[fd, BUFFER, 100]), 8);
        assert_eq!(r.get(BUFFER, 8), b"contents");
        assert_eq!(r.call("close", &[fd]), 0);
    }
    let long = "../".repeat(40) + "etc/passwd";
    for path in [
        "../secret",
        "sub/../../secret",
        "out",
        "passwd",
        "up/secret",
        "root/etc/passwd",
        "/etc/passwd",
        "/proc/self/mem",
        outside.as_str(),
        long.as_str(),
        "",
        "/",
        "..",
        "up",
        "/dev/mem",
        "/dev/tty",
    ] {
        for flags in [0, 0o101, 0o200_000] {
            let fd = r.open(path, flags) as i64;
            assert!((-4095..0).contains(&fd), "{path} {flags:o} gave {fd}");
        }
        let at = r.text(path);
        for (name, args) in
            [("newfstatat", [-100i64 as u64, at, BUFFER, 0]), ("unlinkat", [-100i64 as u64, at, 0x200, 0])]
        {
            let got = r.call(name, &args) as i64;
            assert!((-4095..0).contains(&got), "{name} {path} gave {got}");
        }
    }
    assert_eq!(fs::read(dir.join("secret")).expect("still there"), b"secret");
    // A pipe is no file, and does not hold anybody up.
    assert_eq!(unsafe_free_mkfifo(&dir.join("inside/pipe")), 0);
    assert_eq!(r.open("pipe", 0), error(libc::EACCES));

    let fd = r.open("new", 0o102);
    r.put(BUFFER, b"0123456789");
    assert_eq!(r.call("write", &[fd, BUFFER, 10]), 10);
    assert_eq!(r.call("ftruncate", &[fd, u64::MAX >> 1]), error(libc::EFBIG));
    assert_eq!(r.call("pwrite64", &[fd, BUFFER, 1, 1 << 62]), error(libc::ENOSPC));
    assert_eq!(fs::read(dir.join("inside/new")).expect("made"), b"0123456789");
    let _ = fs::remove_dir_all(dir);
}

fn unsafe_free_mkfifo(path: &std::path::Path) -> i32 {
    std::process::Command::new("mkfifo").arg(path).status().map_or(1, |s| s.code().unwrap_or(1))
}

#[test]
fn nothing_changes_where_writing_is_not_allowed() {
    let (mut r, dir) = Rig::in_directory("readonly", false);
    for flags in [0o1, 0o2, 0o101, 0o1001, 0o2001] {
        assert_eq!(r.open("data", flags), error(libc::EROFS), "{flags:o}");
        assert_eq!(r.open("new", flags | 0o100), error(libc::EROFS), "{flags:o}");
    }
    let at = r.text("sub");
    assert_eq!(r.call("unlinkat", &[-100i64 as u64, at, 0x200]), error(libc::EROFS));
    assert_eq!(r.call("mkdirat", &[-100i64 as u64, at, 0o777]), error(libc::EROFS));
    let fd = r.open("data", 0);
    assert_eq!(r.call("write", &[fd, BUFFER, 1]), error(libc::EBADF));
    assert_eq!(r.call("ftruncate", &[fd, 0]), error(libc::EINVAL));
    assert_eq!(fs::read(dir.join("inside/data")).expect("still there"), b"contents");
    let _ = fs::remove_dir_all(dir);
}

#[test]
fn without_a_directory_there_are_no_files() {
    let mut r = Rig::new(&Host::default());
    for path in [".", "data", "/etc/passwd", "/proc/self/exe"] {
        assert_eq!(r.open(path, 0), error(libc::ENOENT));
    }
    assert_eq!(r.p.warnings().len(), 4);
    for (name, link) in [("/bin/program", "/bin/program"), ("./hello", "/hello"), ("sub/hello", "/sub/hello")] {
        name.clone_into(&mut r.p.config.executable);
        let at = r.text("/proc/self/exe");
        assert_eq!(r.call("readlinkat", &[0, at, BUFFER, 100]), link.len() as u64);
        assert_eq!(r.get(BUFFER, link.len()), link.as_bytes());
    }
    let fd = r.open("/dev/null", 2);
    assert_eq!([r.call("write", &[fd, BUFFER, 5]), r.call("read", &[fd, BUFFER, 5])], [5, 0]);
    for bad in ["/", "/proc/self", "/dev/shm", "/nowhere/at/all"] {
        let host = Host { directory: Some(bad.into()), ..Host::default() };
        let file = elf::build(BASE, &[0x13, 0, 0, 0], SEGMENT, &[]);
        let parsed = Elf::parse_process(&file).expect("an ELF");
        let mut ram = PhysMem::new(0, RAM).expect("maps");
        let refused = Process::new(&config(), &parsed, &host, Hardware::default(), &mut ram);
        assert!(matches!(refused, Err(EngineError::Process(_))), "{bad}");
    }
}

#[test]
fn memory_is_given_when_touched_and_taken_back() {
    let mut r = Rig::new(&Host::default());
    let anonymous = 0x22;
    // Far more than there is: a promise.
    let huge = r.call("mmap", &[0, 1 << 36, 3, anonymous, u64::MAX, 0]);
    assert!(huge < 1 << 38 && huge % PAGE == 0);
    let touch = |r: &mut Rig, addr| r.p.fault(&mut r.ram, BASE, UserFault::Page { addr, access: UserAccess::Store });
    for n in 0..3000 {
        // Twelve megabytes of four, in turn.
        assert_eq!(touch(&mut r, huge + n * PAGE), FaultAnswer::Retry);
        if n % 500 == 499 {
            assert_eq!(r.call("madvise", &[huge, 1 << 36, 4]), 0);
        }
    }
    assert_eq!(r.call("mprotect", &[huge, PAGE, 1]), 0);
    assert!(matches!(
        touch(&mut r, huge),
        FaultAnswer::End(SysEffect::Exit { cause: ExitCause::ProcessSignal, code: 139 })
    ));
    assert!(r.p.detail().contains("SIGSEGV") && r.p.detail().contains("without that right"), "{}", r.p.detail());
    assert_eq!(r.call("munmap", &[huge, 1 << 36]), 0);
    assert_eq!(r.call("read", &[0, huge, 1]), error(libc::EFAULT));

    let end = r.call("brk", &[0]);
    assert_eq!(r.call("brk", &[end + 5000]), end + 5000);
    assert_eq!(touch(&mut r, end + 4096), FaultAnswer::Retry);
    assert_eq!(r.call("brk", &[u64::MAX]), end + 5000);
    assert_eq!(r.call("brk", &[end]), end);

    // Grown and moved, with what is in it.
    let a = r.call("mmap", &[0, PAGE, 3, anonymous, 0, 0]);
    let wall = r.call("mmap", &[a + PAGE, PAGE, 0, anonymous | 0x10, 0, 0]);
    assert_eq!(wall, a + PAGE);
    r.put(a + 7, b"kept");
    assert_eq!(r.call("mremap", &[a, PAGE, 4 * PAGE, 0]), error(libc::ENOMEM));
    let b = r.call("mremap", &[a, PAGE, 4 * PAGE, 1]);
    assert!(b != a && b % PAGE == 0);
    assert_eq!(r.get(b + 7, 4), b"kept");
    assert_eq!(r.call("write", &[1, a, 1]), error(libc::EFAULT));

    // All of RAM, and one page more.
    let rest = r.call("mmap", &[0, 8 << 20, 3, anonymous, 0, 0]);
    let last = (0..2048).find(|n| touch(&mut r, rest + n * PAGE) != FaultAnswer::Retry);
    assert!(last.is_some_and(|n| n > 500) && r.p.detail().contains("enlarge"), "{last:?} {}", r.p.detail());
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
    for flags in [0x11, 0x3d_0f00] {
        assert_eq!(r.call("clone", &[flags]), error(libc::ENOSYS));
    }
    assert_eq!(r.call("execve", &[TEXT, 0, 0]), error(libc::ENOSYS));
    let refused = [
        "an emulated process has no child processes: clone returns ENOSYS",
        "an emulated process has no further threads: clone returns ENOSYS",
        "an emulated process does not run another program in its place: execve returns ENOSYS",
    ];
    assert_eq!(r.p.warnings()[2..], refused);
}

#[test]
fn signals_end_it_or_are_ignored() {
    let mut r = Rig::new(&Host::default());
    assert_eq!(r.call("kill", &[1, 9]), error(libc::ESRCH));
    r.put(BUFFER, &[1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(r.call("rt_sigaction", &[10, BUFFER, 0, 8]), 0);
    assert_eq!(r.call("kill", &[5, 10]), 0);
    assert_eq!(r.p.ended(), None);
    assert_eq!(r.call("tgkill", &[5, 5, 6]), 0);
    assert_eq!(r.p.ended(), Some(SysEffect::Exit { cause: ExitCause::ProcessSignal, code: 134 }));
    assert!(r.p.detail().starts_with("SIGABRT (6)"));
}

/// Where relative paths start.
const HERE: u64 = -100i64 as u64;

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
fn locks_are_granted_to_the_only_process() {
    let (mut r, dir) = Rig::in_directory("locks", true);
    let (reads, writes) = (r.open("data", 0), r.open("data", 2));
    let lock = |r: &mut Rig, fd, command, kind: u16, whence: u16| {
        let head = u64::from(kind) | u64::from(whence) << 16;
        r.put(BUFFER, &[head.to_le_bytes(), [0; 8], 10u64.to_le_bytes(), [0; 8]].concat());
        r.call("fcntl", &[fd, command, BUFFER])
    };
    for command in [6, 7] {
        assert_eq!(lock(&mut r, reads, command, 0, 0), 0, "for reading");
        assert_eq!(lock(&mut r, reads, command, 1, 0), error(libc::EBADF), "for writing, opened for reading");
        assert_eq!([lock(&mut r, writes, command, 1, 2), lock(&mut r, writes, command, 2, 0)], [0, 0]);
        assert_eq!(lock(&mut r, writes, command, 3, 0), error(libc::EINVAL));
        assert_eq!(lock(&mut r, writes, command, 1, 3), error(libc::EINVAL));
        assert_eq!(lock(&mut r, 99, command, 0, 0), error(libc::EBADF));
    }
    assert_eq!(lock(&mut r, reads, 5, 1, 0), 0);
    assert_eq!(r.get(BUFFER, 2), [2, 0], "F_GETLK: nobody is in the way");
    assert_eq!(r.call("fcntl", &[reads, 6, 8]), error(libc::EFAULT));
    let _ = fs::remove_dir_all(dir);
}

#[test]
fn pipes_hold_what_the_process_sends_itself() {
    let mut r = Rig::new(&Host::default());
    let pipe = |r: &mut Rig, flags| {
        assert_eq!(r.call("pipe2", &[BUFFER, flags]), 0);
        let ends = r.get(BUFFER, 8);
        (u64::from(ends[0]), u64::from(ends[4]))
    };
    let (from, to) = pipe(&mut r, 0o4000);
    r.put(TEXT, b"through");
    assert_eq!(r.call("read", &[from, BUFFER, 9]), error(libc::EAGAIN));
    let poll = |r: &mut Rig| {
        let entry = |fd: u64| (fd | 5 << 32).to_le_bytes();
        r.put(BUFFER, &[entry(from), entry(to)].concat());
        let n = r.call("ppoll", &[BUFFER, 2, BUFFER + 64, 0, 0]);
        let found = r.get(BUFFER, 16);
        (n, found[6], found[14])
    };
    assert_eq!(poll(&mut r), (1, 0, 4));
    assert_eq!(r.call("write", &[to, TEXT, 7]), 7);
    assert_eq!(poll(&mut r), (2, 1, 4));
    r.put(BUFFER, &(1u64 << from | 1 << to).to_le_bytes());
    assert_eq!(r.call("pselect6", &[64, BUFFER, 0, 0, 0, 0]), 1);
    assert_eq!(r.get(BUFFER, 8), (1u64 << from).to_le_bytes());
    assert_eq!(r.call("read", &[to, BUFFER, 9]), error(libc::EBADF));
    assert_eq!(r.call("pread64", &[from, BUFFER, 9, 0]), error(libc::ESPIPE));
    assert_eq!(r.call("read", &[from, BUFFER, 4]), 4);
    assert_eq!(r.call("close", &[to]), 0);
    assert_eq!([r.call("read", &[from, BUFFER + 4, 9]), r.call("read", &[from, BUFFER, 9])], [3, 0], "to the end");
    assert_eq!(r.get(BUFFER, 7), b"through");

    let (from, to) = pipe(&mut r, 0);
    for _ in 0..16 {
        assert_eq!(r.call("write", &[to, BASE, 4096]), 4096);
    }
    assert_eq!(r.p.ended(), None);
    assert_eq!(r.call("close", &[from]), 0);
    assert_eq!(r.call("write", &[to, BASE, 1]), error(libc::EPIPE));
    assert_eq!(r.p.ended(), Some(SysEffect::Exit { cause: ExitCause::ProcessSignal, code: 128 + 13 }));

    let mut r = Rig::new(&Host::default());
    let (from, _) = pipe(&mut r, 0);
    r.call("read", &[from, BUFFER, 1]);
    assert!(r.p.ended().is_some() && r.p.detail().contains("empty pipe"), "{}", r.p.detail());
}

#[test]
fn names_rights_and_lengths_change_inside_the_directory_only() {
    let (mut r, dir) = Rig::in_directory("changes", true);
    let inside = dir.join("inside");
    let two = |r: &mut Rig, a: &str, b: &str| {
        r.put(TEXT, &[a.as_bytes(), b"\0", b.as_bytes(), b"\0"].concat());
        (TEXT, TEXT + a.len() as u64 + 1)
    };
    let (a, b) = two(&mut r, "data", "sub/hard");
    assert_eq!(r.call("linkat", &[HERE, a, HERE, b, 0]), 0);
    assert_eq!(r.call("linkat", &[HERE, a, HERE, b, 0]), error(libc::EEXIST));
    assert_eq!(fs::read(inside.join("sub/hard")).expect("linked"), b"contents");
    let (a, b) = two(&mut r, "../secret", "stolen");
    assert!((r.call("linkat", &[HERE, a, HERE, b, 0]) as i64) < 0);
    for (to, name) in [("../secret", "l"), ("/etc/passwd", "l"), ("../../secret", "sub/l"), ("a/../../x", "l")] {
        let (a, b) = two(&mut r, to, name);
        assert_eq!(r.call("symlinkat", &[a, HERE, b]), error(libc::EPERM), "{to}");
    }
    let (a, b) = two(&mut r, "../data", "sub/link");
    assert_eq!(r.call("symlinkat", &[a, HERE, b]), 0);
    assert_eq!(fs::read(inside.join("sub/link")).expect("a link"), b"contents");

    let at = r.text("data");
    assert_eq!(r.call("fchmodat", &[HERE, at, 0o7640]), 0);
    let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(inside.join("data")).expect("there"));
    assert_eq!(mode & 0o7777, 0o640, "no set-user-ID");
    assert_eq!(r.call("truncate", &[at, 3]), 0);
    assert_eq!(r.call("truncate", &[at, u64::MAX]), error(libc::EINVAL));
    assert_eq!(fs::read(inside.join("data")).expect("cut"), b"con");
    assert_eq!(r.call("fchownat", &[HERE, at, 1, u64::from(u32::MAX), 0]), 0);
    assert_eq!(r.call("fchownat", &[HERE, at, 77, 3, 0]), error(libc::EPERM));
    assert_eq!(r.call("mknodat", &[HERE, at, 0o100_644, 0]), error(libc::EEXIST));
    let at = r.text("device");
    assert_eq!(r.call("mknodat", &[HERE, at, 0o020_644, 0x103]), error(libc::EPERM));
    assert_eq!(r.call("mknodat", &[HERE, at, 0o100_600, 0]), 0);

    // Times are the process's own.
    r.put(BUFFER, &[5u64, 6, 7, 8].iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>());
    assert_eq!(r.call("utimensat", &[HERE, at, BUFFER, 0]), 0);
    assert_eq!(r.call("newfstatat", &[HERE, at, BUFFER, 0]), 0);
    assert_eq!(r.get(BUFFER + 72, 32)[..8], 5u64.to_le_bytes());
    assert_eq!(r.get(BUFFER + 88, 16), [7u64.to_le_bytes(), 8u64.to_le_bytes()].concat());
    assert_eq!(r.call("unlinkat", &[HERE, at, 0]), 0);
    assert!(r.p.files.times.is_empty(), "the inode may be another file's soon");

    let fd = r.open("data", 2);
    assert_eq!(r.call("fallocate", &[fd, 0, 0, 100]), 0);
    assert_eq!(r.call("fallocate", &[fd, 0, 1 << 40, 1 << 40]), error(libc::EFBIG));
    let out = r.open("copy", 0o101);
    r.put(BUFFER, &1u64.to_le_bytes());
    assert_eq!(r.call("sendfile", &[out, fd, BUFFER, 1000]), 99);
    assert_eq!(r.get(BUFFER, 8), 100u64.to_le_bytes());
    assert_eq!(r.call("sendfile", &[out, fd, 0, 10]), 10);
    assert_eq!(fs::read(inside.join("copy")).expect("sent")[..4], *b"on\0\0");
    r.put(BUFFER, &[BUFFER + 64, 2, BUFFER + 80, 1].iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>());
    assert_eq!(r.call("preadv", &[fd, BUFFER, 2, 0]), 3);
    assert_eq!([r.get(BUFFER + 64, 2), r.get(BUFFER + 80, 1)].concat(), b"con");
    let sub = r.open("sub", 0o200_000);
    assert_eq!(r.call("fchdir", &[sub]), 0);
    assert_eq!(r.open("hard", 0) as i64, sub as i64 + 1);
    assert_eq!(r.call("statfs", &[TEXT, BUFFER]), 0);
    assert_eq!(r.get(BUFFER, 2), [0x53, 0xef]);
    assert_eq!(fs::read(dir.join("secret")).expect("still there"), b"secret");
    let _ = fs::remove_dir_all(dir);

    let (mut r, dir) = Rig::in_directory("changes-not", false);
    let (a, b) = two(&mut r, "data", "new");
    for (name, args) in [
        ("linkat", [HERE, a, HERE, b, 0]),
        ("symlinkat", [a, HERE, b, 0, 0]),
        ("fchmodat", [HERE, a, 0, 0, 0]),
        ("truncate", [a, 0, 0, 0, 0]),
        ("utimensat", [HERE, a, 0, 0, 0]),
        ("mknodat", [HERE, b, 0o100_644, 0, 0]),
        ("renameat2", [HERE, a, HERE, b, 0]),
    ] {
        assert_eq!(r.call(name, &args), error(libc::EROFS), "{name}");
    }
    let fd = r.open("data", 0);
    assert_eq!(r.call("fchmod", &[fd, 0]), error(libc::EROFS));
    let _ = fs::remove_dir_all(dir);
}

#[test]
fn a_process_makes_so_many_files_and_no_more() {
    let (_, dir) = Rig::in_directory("many", true);
    let host = Host { directory: Some(dir.join("inside")), writable: true, max_files: 3, ..Host::default() };
    let mut r = Rig::new(&host);
    for name in ["one", "two", "three"] {
        assert!((r.open(name, 0o101) as i64) > 0);
    }
    assert!((r.open("one", 0o101) as i64) > 0, "it is there");
    assert_eq!(r.open("four", 0o101), error(libc::EDQUOT));
    let at = r.text("directory");
    assert_eq!(r.call("mkdirat", &[HERE, at, 0o777]), error(libc::EDQUOT));
    assert!(!dir.join("inside/four").exists() && !dir.join("inside/directory").exists());
    assert_eq!(r.p.warnings(), ["the process has made 3 files, as many as it may: EDQUOT"]);
    let _ = fs::remove_dir_all(dir);
}

#[test]
fn users_groups_and_the_scheduler_answer_as_to_an_ordinary_process() {
    let mut r = Rig::new(&Host::default());
    // Real 1, effective and saved 2.
    assert_eq!([r.call("setuid", &[1]), r.call("geteuid", &[]), r.call("setuid", &[2])], [0, 1, 0]);
    assert_eq!([r.call("setuid", &[0]), r.call("setresuid", &[0, 1, 2])], [error(libc::EPERM); 2]);
    assert_eq!(r.call("setresuid", &[1, 1, 1]), 0);
    assert_eq!(r.call("setuid", &[2]), error(libc::EPERM));
    assert_eq!(r.call("getresgid", &[BUFFER, BUFFER + 4, BUFFER + 8]), 0);
    assert_eq!(r.get(BUFFER, 12), [3, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0]);
    assert_eq!([r.call("sched_get_priority_max", &[1]), r.call("sched_getscheduler", &[0])], [99, 0]);
    assert_eq!(r.call("sched_getscheduler", &[99]), error(libc::ESRCH));
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

#[test]
fn calls_full_of_nonsense_do_no_harm() {
    let (mut r, dir) = Rig::in_directory("nonsense", true);
    r.put(TEXT, b"sub/name\0");
    let mut random = Random::default();
    let mut draw = || {
        let mut b = [0; 8];
        random.fill(&mut b);
        u64::from_le_bytes(b)
    };
    for _ in 0..60_000 {
        let args: [u64; 6] = std::array::from_fn(|_| match draw() % 10 {
            0 => draw(),
            1 => draw() % 64,
            2 => draw() >> (draw() % 64),
            3 => TEXT,
            4 => BUFFER + draw() % 0x3000,
            5 => (draw() % 64).wrapping_neg(),
            6 => (draw() % (1 << 14)) * PAGE,
            7 => -100i64 as u64,
            8 => 1 << (draw() % 64),
            _ => draw() % 4,
        });
        r.raw(draw() % 460, args);
        // The program itself must stay for the next round.
        if r.p.space.rights(TEXT).is_none() || r.p.space.rights(BUFFER).is_none() {
            r.p.space.map(&mut r.ram, BASE, BASE + SEGMENT, Prot::RW);
        }
    }
    assert_eq!(fs::read(dir.join("secret")).expect("still there"), b"secret");
    let _ = fs::remove_dir_all(dir);
}

#[test]
fn lying_programs_are_refused() {
    let load = |file: &[u8]| {
        let mut ram = PhysMem::new(0, RAM).expect("maps");
        let parsed = Elf::parse_process(file)?;
        Process::new(&config(), &parsed, &Host::default(), Hardware::default(), &mut ram).map(|_| ())
    };
    let code = [0x13, 0, 0, 0];
    assert!(load(&elf::build(BASE, &code, SEGMENT, &[])).is_ok());
    // At nothing, in the kernel's half, larger than the address space, where the stack is, larger than RAM in the file.
    for (at, memory) in [(0, 4096), (u64::MAX - 4096, 4), (1 << 38, 4096), (BASE, 1 << 39), (BASE, u64::MAX - BASE)] {
        assert!(load(&elf::build(at, &code, memory, &[])).is_err(), "{at:#x} {memory:#x}");
    }
    assert!(load(&elf::build((1 << 38) - (2 << 20), &code, 4096, &[])).is_err());
    assert!(load(&elf::build(BASE, &vec![0; 8 << 20], 8 << 20, &[])).is_err());
    assert!(load(&elf::build(BASE, &code, 1 << 36, &[])).is_ok(), "only promised");
    // Every byte of the headers, changed.
    let good = elf::build(BASE, &code, SEGMENT, &[]);
    for at in 0..elf::CODE_AT {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut bad = good.clone();
            bad[at] = value;
            let _ = load(&bad);
        }
    }
}
