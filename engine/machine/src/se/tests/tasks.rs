//! Pipes, signals, identity, other processes.

use super::*;

#[test]
fn signals_end_it_or_are_ignored() {
    let mut r = Rig::new(&Host::default());
    assert_eq!(r.call("kill", &[1, 9]), error(libc::ESRCH));
    r.put(BUFFER, &[1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(r.call("rt_sigaction", &[10, BUFFER, 0, 8]), 0);
    assert_eq!(r.call("kill", &[5, 10]), 0);
    assert_eq!(r.p.ended(), None);
    r.call("tgkill", &[5, 5, 6]);
    assert_eq!(r.p.ended(), Some(SysEffect::Exit { cause: ExitCause::ProcessSignal, code: 134 }));
    assert!(r.p.detail().starts_with("SIGABRT (6)"));
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
    // PER_LINUX32, as setarch sets it.
    assert_eq!(
        [r.call("personality", &[8]), r.call("personality", &[0xffff_ffff]), r.call("uname", &[BUFFER])],
        [0, 8, 0]
    );
    assert_eq!([&r.get(BUFFER + 4 * 65, 6)[..], &[r.call("personality", &[0]) as u8][..]], [&b"riscv\0"[..], &[8]]);
    assert_eq!([r.call("personality", &[0xffff_ffff]), r.call("getpgid", &[5]), r.call("getsid", &[0])], [0, 7, 7]);
    assert_eq!([r.call("getpgid", &[99]), r.call("setpgid", &[99, 0])], [error(libc::ESRCH); 2]);
    let class = |class: u64| [1, 0, class << 13];
    assert_eq!([r.call("ioprio_set", &class(3)), r.call("ioprio_set", &class(1))], [0, error(libc::EPERM)]);
}

#[test]
fn what_only_root_may_is_refused_and_root_is_told() {
    let (mut r, dir) = Rig::in_directory("root", true);
    let at = r.text("sub");
    assert_eq!([r.call("chroot", &[at]), r.call("mount", &[at, at, 0, 0, 0])], [error(libc::EPERM); 2]);
    assert_eq!(r.p.warnings().len(), 0);
    let at = r.text("nothing");
    assert_eq!(r.call("chroot", &[at]), error(libc::ENOENT));
    r.p.task.ids.euid = 0;
    let at = r.text("sub");
    assert_eq!(r.call("chroot", &[at]), error(libc::EPERM));
    assert_eq!(r.p.warnings(), ["chroot is not emulated, even for root: EPERM"]);
    let _ = std::fs::remove_dir_all(dir);
}

#[test]
fn who_waits_alone_for_ever_is_told_why() {
    let mut r = Rig::new(&Host::default());
    r.call("kill", &[5, 19]);
    assert_eq!(r.p.ended(), Some(SysEffect::Exit { cause: ExitCause::ProcessSignal, code: 137 }));
    assert!(r.p.detail().contains("is stopped, and nobody continues it"), "{}", r.p.detail());
    let (mut r, dir) = Rig::in_directory("alone", true);
    let at = r.text("pipe");
    assert_eq!(r.call("mknodat", &[HERE, at, 0o010_644, 0]), 0);
    r.open("pipe", 0);
    assert!(r.p.detail().contains("a named pipe whose other end nobody else opens"), "{}", r.p.detail());
    let _ = std::fs::remove_dir_all(dir);
}

#[test]
fn timers_of_processor_time_go_on_while_it_runs() {
    let mut r = Rig::new(&Host::default());
    // Every 2 ms; a sleep of a second is none of its time.
    r.put(BUFFER, &[0u64, 2000, 0, 2000].map(u64::to_le_bytes).concat());
    r.put(BUFFER + 64, &[1u64, 0].map(u64::to_le_bytes).concat());
    r.put(BUFFER + 96, &(1u64 << 25).to_le_bytes());
    assert_eq!(r.call("rt_sigprocmask", &[0, BUFFER + 96, 0, 8]), 0);
    assert_eq!([r.call("setitimer", &[1, BUFFER, 0]), r.call("nanosleep", &[BUFFER + 64, 0])], [0, 0]);
    let pending = |r: &mut Rig| {
        assert_eq!(r.call("rt_sigpending", &[BUFFER + 96, 8]), 0);
        u64::from_le_bytes(r.get(BUFFER + 96, 8).try_into().expect("8 bytes"))
    };
    assert_eq!(pending(&mut r), 0);
    r.ticks = 1_500_000_000;
    assert_eq!([pending(&mut r), r.call("getitimer", &[1, BUFFER])], [0, 0]);
    assert_eq!(r.get(BUFFER, 32), [0u64, 2000, 0, 500].map(u64::to_le_bytes).concat());
    r.ticks = 2_000_000_000;
    pending(&mut r);
    assert_eq!(pending(&mut r), 1 << 25);
    assert_eq!(r.call("clock_gettime", &[2, BUFFER]), 0);
    assert_eq!(r.get(BUFFER, 16), [0u64, 2_000_000].map(u64::to_le_bytes).concat());
    assert_eq!(r.call("clock_gettime", &[1, BUFFER]), 0);
    assert_eq!(r.get(BUFFER, 16), [1u64, 2_000_000].map(u64::to_le_bytes).concat());
}

#[test]
fn a_wait_for_stops_takes_no_end() {
    const WNOHANG: u64 = 1;
    const WSTOPPED: u64 = 2;
    const WEXITED: u64 = 4;
    const WCONTINUED: u64 = 8;
    let mut r = Rig::new(&Host::default());
    let fork = |r: &mut Rig| r.call("clone", &[17]);
    let (ends, stops) = (fork(&mut r), fork(&mut r));
    // The code, the process and the status that `waitid` tells of a process, or of all.
    let waited = |r: &mut Rig, pid: u64, options: u64| {
        r.put(BUFFER, &[0xff; 32]);
        let done = r.call("waitid", &[u64::from(pid != 0), pid, BUFFER, options, 0]);
        let info = r.get(BUFFER, 32);
        let word = |at: usize| u64::from(u32::from_le_bytes(info[at..at + 4].try_into().expect("4 bytes")));
        (done, [word(8), word(16), word(24)])
    };
    let runs = |r: &Rig| u64::from(r.p.task.ids.pid);
    r.call("waitid", &[0, 0, BUFFER, WSTOPPED, 0]);
    assert_eq!(runs(&r), ends, "the parent waits");
    r.call("exit", &[3]);
    assert_eq!(runs(&r), stops, "an end is no stop");
    r.call("kill", &[stops, 19]);
    assert_eq!(runs(&r), 5, "the parent goes on");
    assert_eq!(waited(&mut r, 0, WSTOPPED), (0, [5, stops, 19]));
    assert_eq!(waited(&mut r, 0, WSTOPPED | WNOHANG), (0, [0; 3]), "told once");
    assert_eq!(waited(&mut r, ends, WSTOPPED | WNOHANG).0, error(libc::ECHILD), "it has ended");
    assert_eq!(r.call("kill", &[stops, 18]), 0);
    assert_eq!(waited(&mut r, stops, WCONTINUED | WNOHANG), (0, [6, stops, 18]));
    assert_eq!(waited(&mut r, ends, WEXITED), (0, [1, ends, 3]));
    assert_eq!(waited(&mut r, ends, WNOHANG).0, error(libc::EINVAL), "for nothing");
}
