//! Areas, pages, and programs that lie.

use super::*;

#[test]
fn memory_is_given_when_touched_and_taken_back() {
    let mut r = Rig::new(&Host::default());
    let anonymous = 0x22;
    // Far more than there is: a promise.
    let huge = r.call("mmap", &[0, 1 << 36, 3, anonymous, u64::MAX, 0]);
    assert!(huge < 1 << 38 && huge % PAGE == 0);
    let touch = |r: &mut Rig, addr| r.fault(UserFault::Page { addr, access: UserAccess::Store });
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
fn what_is_stored_to_mapped_files_counts_as_written() {
    let (mut r, dir) = Rig::in_directory("mapped", true);
    let (all, memory) = (r.p.space.shared.room.left(false), r.p.space.shared.room.left(true));
    assert_eq!([all, memory], [4 << 30, 256 << 20]);
    r.p.space.shared.room.memory = 2 * PAGE;
    let name = r.text("m");
    let in_memory = r.call("memfd_create", &[name, 0]);
    let on_disk = r.open("data", 2);
    for (fd, fits) in [(on_disk, true), (in_memory, false)] {
        assert_eq!(r.call("ftruncate", &[fd, 4 * PAGE]), 0);
        let at = r.call("mmap", &[0, 4 * PAGE, 3, 1, fd, 0]);
        for page in 0..4 {
            r.put(at + page * PAGE, b"stored");
        }
        assert_eq!(r.call("msync", &[at, 4 * PAGE, 4]), if fits { 0 } else { error(libc::ENOSPC) });
        // What fits no more when nobody maps it any more is told.
        assert_eq!(r.call("munmap", &[at, 4 * PAGE]), 0);
        assert_eq!(r.p.space.shared.lost.is_none(), fits);
        assert_eq!(r.call("fstat", &[fd, BUFFER]), 0);
        let blocks = u64::from_le_bytes(r.get(BUFFER + 64, 8).try_into().expect("eight bytes"));
        assert!(fits || blocks * 512 == 2 * PAGE, "{blocks}");
    }
    assert_eq!(r.call("write", &[in_memory, TEXT, 1]), error(libc::ENOSPC));
    assert_eq!(r.call("write", &[on_disk, TEXT, 1]), 1);
    let left = r.p.space.shared.room.left(false);
    assert_eq!(all - left, 6 * PAGE + 1);
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
