//! Descriptors and paths: what stays in the allowed directory.

use super::super::files::MOST_LISTED;
use super::*;

/// Of a race between two simulators.
const ROUNDS: u64 = 1000;

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
    // A named pipe joins emulated processes alone: nothing of the host's comes through it, and it holds nobody up.
    assert_eq!(unsafe_free_mkfifo(&dir.join("inside/pipe")), 0);
    let fd = r.open("pipe", 0o4000);
    assert_eq!([r.call("read", &[fd, BUFFER, 9]), r.call("close", &[fd])], [0, 0]);
    assert_eq!(r.open("pipe", 0o4001), error(libc::ENXIO));
    let fd = r.open("pipe", 2);
    r.put(BUFFER, b"both");
    assert_eq!([r.call("write", &[fd, BUFFER, 4]), r.call("read", &[fd, BUFFER + 8, 9])], [4, 4]);
    assert_eq!([r.call("close", &[fd]), r.open("pipe", 0o4001)], [0, error(libc::ENXIO)]);
    for (path, made) in [("../p", false), ("up/p", false), ("sub/p", true), ("sub/p", false), ("..", false)] {
        let at = r.text(path);
        let got = r.call("mknodat", &[HERE, at, 0o010_644, 0]);
        assert_eq!(got == 0, made, "{path}: {}", got as i64);
    }
    assert!(!dir.join("p").exists() && dir.join("inside/sub/p").exists());

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
        name.clone_into(&mut r.p.task.executable);
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
fn no_sequence_of_calls_leaves_a_link_that_leads_out() {
    let (mut r, dir) = Rig::in_directory("links", true);
    let mut two = |call: &str, a: &str, b: &str| {
        r.put(TEXT, &[a.as_bytes(), b"\0", b.as_bytes(), b"\0"].concat());
        let (a, b) = (TEXT, TEXT + a.len() as u64 + 1);
        match call {
            "mkdirat" => r.call(call, &[HERE, a, 0o755]),
            "symlinkat" => r.call(call, &[a, HERE, b]),
            _ => r.call(call, &[HERE, a, HERE, b, 0]),
        }
    };
    for name in ["a", "a/b", "a/b/c"] {
        assert_eq!(two("mkdirat", name, ""), 0);
    }
    // Inside where they are made.
    for (to, name) in [("../../x", "a/b/s"), ("../../../x", "a/b/c/s"), ("..", "a/b/up"), ("s", "a/b/t")] {
        assert_eq!(two("symlinkat", to, name), 0, "{to}");
    }
    let refused = error(libc::EPERM);
    // Moved or linked to where they would lead out, alone or with their directory.
    for (from, to) in [("a/b/s", "s"), ("a/b", "b"), ("a/b/c", "a/c"), ("a/b/c", "c")] {
        assert_eq!(two("renameat2", from, to), refused, "{from} to {to}");
    }
    assert_eq!(two("linkat", "a/b/s", "s"), refused);
    // Made by way of a link, or leading through one.
    for (to, name) in [("../../x", "a/b/up/s"), ("up/../../x", "a/b/u"), ("t/../x", "a/b/u")] {
        assert_eq!(two("symlinkat", to, name), refused, "{to} at {name}");
    }
    for (from, to) in [("a/b/t", "t"), ("a/b", "a/d"), ("a/d/s", "a/d/c/s2")] {
        assert_eq!(two("renameat2", from, to), 0, "{from} to {to}");
    }
    let _ = fs::remove_dir_all(dir);
}

#[test]
fn no_link_leads_out_by_way_of_one_of_the_users() {
    let (mut r, dir) = Rig::in_directory("users-links", true);
    let inside = dir.join("inside");
    fs::create_dir(inside.join("d")).expect("made");
    for at in ["theirs", "d/theirs"] {
        std::os::unix::fs::symlink("/", inside.join(at)).expect("made");
    }
    let mut two = |call: &str, a: &str, b: &str| {
        r.put(TEXT, &[a.as_bytes(), b"\0", b.as_bytes(), b"\0"].concat());
        let (a, b) = (TEXT, TEXT + a.len() as u64 + 1);
        match call {
            "symlinkat" => r.call(call, &[a, HERE, b]),
            _ => r.call(call, &[HERE, a, HERE, b, 0]),
        }
    };
    let refused = error(libc::EPERM);
    for target in ["theirs", "theirs/etc", "theirs/none/none", "d/theirs/etc"] {
        assert_eq!(two("symlinkat", target, "s"), refused, "{target}");
    }
    // What is not there yet may come, but no link that leads out comes there.
    assert_eq!(two("symlinkat", "later/etc", "s"), 0);
    assert_eq!(two("symlinkat", "e/theirs/etc", "t"), 0);
    for (call, from, to) in [("renameat2", "theirs", "later"), ("renameat2", "d", "e"), ("linkat", "theirs", "later")] {
        assert_eq!(two(call, from, to), refused, "{call} of {from}");
    }
    let _ = fs::remove_dir_all(dir);
}

/// A call on two names.
fn on_two_names(r: &mut Rig, call: &str, a: &str, b: &str) -> u64 {
    r.put(TEXT, &[a.as_bytes(), b"\0", b.as_bytes(), b"\0"].concat());
    let (a, b) = (TEXT, TEXT + a.len() as u64 + 1);
    match call {
        "mkdirat" => r.call(call, &[HERE, a, 0o755]),
        "mknodat" => r.call(call, &[HERE, a, 0o010_644, 0]),
        "symlinkat" => r.call(call, &[a, HERE, b]),
        "unlinkat" => r.call(call, &[HERE, a, 0]),
        "rmdir" => r.call("unlinkat", &[HERE, a, 0x200]),
        _ => r.call(call, &[HERE, a, HERE, b, 0]),
    }
}

#[test]
fn names_change_in_one_simulator_at_a_time() {
    let (mut r, dir) = Rig::in_directory("alone", true);
    let inside = dir.join("inside");
    let names = || {
        let mut names: Vec<_> =
            fs::read_dir(&inside).expect("there").map(|e| e.expect("an entry").file_name()).collect();
        names.sort();
        names
    };
    let (before, other) = (names(), fs::File::open(&inside).expect("opens"));
    let calls = [
        ("mkdirat", "new", ""),
        ("mknodat", "pipe", ""),
        ("symlinkat", "data", "link"),
        ("linkat", "data", "hard"),
        ("renameat2", "data", "other"),
        ("unlinkat", "other", ""),
        ("rmdir", "sub", ""),
    ];
    rustix::fs::flock(&other, rustix::fs::FlockOperation::LockExclusive).expect("locks");
    for (call, a, b) in calls {
        assert_eq!(on_two_names(&mut r, call, a, b), error(libc::EBUSY), "{call}");
    }
    assert_eq!(names(), before);
    let busy = "another program holds a lock on the directory (flock): EBUSY";
    assert_eq!(r.p.warnings(), [busy]);
    drop(other);
    for (call, a, b) in calls {
        assert_eq!(on_two_names(&mut r, call, a, b), 0, "{call}");
    }
    let _ = fs::remove_dir_all(dir);
}

#[test]
fn two_simulators_in_one_directory_leave_no_link_that_leads_out() {
    let (_, dir) = Rig::in_directory("two", true);
    let inside = dir.join("inside");
    let host = Host { directory: Some(inside.clone()), writable: true, ..Host::default() };
    let start = std::sync::Barrier::new(2);
    let run = |call: &str, names: &dyn Fn(u64) -> [String; 2]| {
        let mut r = Rig::new(&host);
        for n in 0..ROUNDS {
            let [a, b] = names(n);
            start.wait();
            // The other one is not waited for here, but asked again.
            while on_two_names(&mut r, call, &a, &b) == error(libc::EBUSY) {}
        }
    };
    for n in 0..ROUNDS {
        fs::create_dir_all(inside.join(format!("deep/{n}"))).expect("made");
    }
    std::thread::scope(|s| {
        s.spawn(|| run("symlinkat", &|n| ["../../x".to_owned(), format!("deep/{n}/link")]));
        s.spawn(|| run("renameat2", &|n| [format!("deep/{n}"), n.to_string()]));
    });
    let out: Vec<_> = (0..ROUNDS).filter(|n| inside.join(format!("{n}/link")).is_symlink()).collect();
    assert!(out.is_empty(), "{out:?}");
    let _ = fs::remove_dir_all(dir);
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
fn lists_of_open_directories_are_bounded() {
    let (mut r, dir) = Rig::in_directory("lists", true);
    let inside = dir.join("inside");
    for n in 0..3000 {
        fs::write(inside.join(format!("{n:0>200}")), "").expect("a file");
    }
    let mut lists = 0;
    while lists < 200 {
        let fd = r.open(".", 0o200_000);
        assert!(fd < 1000);
        if r.call("getdents64", &[fd, BUFFER, 1000]) == error(libc::ENOMEM) {
            // Other folders that are closed make room; what was begun goes on.
            assert!((r.call("getdents64", &[fd - 1, BUFFER, 1000]) as i64) > 0);
            assert_eq!(r.call("close", &[fd - 1]), 0);
            assert!((r.call("getdents64", &[fd, BUFFER, 1000]) as i64) > 0);
            break;
        }
        lists += 1;
    }
    assert_eq!(lists, MOST_LISTED / 3000, "entries of {lists} lists");
}
