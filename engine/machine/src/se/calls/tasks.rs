//! Processes: `fork`, `execve`, `wait4` and related calls.

use breakeven_base::UserState;

use super::super::errno::{Errno, EAGAIN, EINVAL, ENOENT, ENOMEM, ENOSYS, EPERM};
use super::super::files::Target;
use super::super::loader::{self, Launch};
use super::super::schedule::set_result;
use super::super::signals;
use super::super::task::{named, Break, Changes, Ended, Suspended, Task, Until, Wait, MOST_PROCESSES};
use super::paths::AT_FDCWD;
use super::{Call, NANOSECOND, R};
use crate::{Elf, IsaName};

const CLONE_VM: u64 = 0x100;
const CLONE_VFORK: u64 = 0x4000;
const CLONE_PARENT_SETTID: u64 = 0x10_0000;
const CLONE_CHILD_SETTID: u64 = 0x100_0000;
const CLONE_SETTLS: u64 = 0x8_0000;
const CLONE_THREAD: u64 = 0x1_0000;
/// What a child may share beside: file system, descriptors and handlers are copied, which only a thread could tell.
const CLONE_FILES: u64 = 0x400;
const CLONE_NAMESPACES: u64 = 0x7e02_0000;
const WNOHANG: u64 = 1;
/// `wait4` calls it `WUNTRACED`.
const WSTOPPED: u64 = 2;
const WCONTINUED: u64 = 8;
const WNOWAIT: u64 = 0x100_0000;
const WEXITED: u64 = 4;
/// All the pages that forks may copy: 64 GiB. Each is work for the simulator that no instruction pays for.
const MOST_COPIED: u64 = 1 << 24;
/// Bytes of arguments and environment together.
const MOST_ARGUMENTS: usize = 2 << 20;
/// Scripts that run scripts.
const MOST_INTERPRETERS: usize = 4;
/// Of a script's first line.
const FIRST_LINE: usize = 256;

/// Where the registers are that a new process starts with.
fn set_stack(isa: IsaName, state: &mut UserState, stack: u64) {
    state.regs[if isa == IsaName::X86 { 4 } else { 2 }] = stack;
}

fn changes(options: u64) -> Changes {
    Changes { ended: options & WEXITED != 0, stopped: options & WSTOPPED != 0, continued: options & WCONTINUED != 0 }
}

impl Call<'_> {
    pub(super) fn task_call(&mut self, name: &str) -> Option<R> {
        let [a, b, c, d, e, _] = self.args;
        let cwd = i64::from(AT_FDCWD) as u64;
        Some(match name {
            "fork" => self.fork(0, 0, [0; 3]),
            "vfork" => self.fork(CLONE_VM | CLONE_VFORK, 0, [0; 3]),
            // Flags, stack, where the parent finds the number; then the order differs.
            "clone" if self.p.isa == IsaName::X86 => self.fork(a, b, [c, d, e]),
            "clone" => self.fork(a, b, [c, e, d]),
            "execve" => self.execute(cwd, a, b, c),
            "execveat" => self.execute(a, b, c, d),
            "wait4" => self.wait(a as i32, b, c),
            "waitid" => self.wait_id(),
            "exit" | "exit_group" => {
                self.p.exit(a);
                Ok(0)
            }
            "sched_yield" => {
                self.p.processes.yielded = !self.p.processes.others.is_empty();
                Ok(0)
            }
            _ => return None,
        })
    }

    /// Puts the call off until something happens; then it is made again.
    pub(super) fn wait_for(&mut self, until: Until, restarts: bool, why: &'static str) -> R {
        self.p.task.wait = Some(Wait { until, restarts, why });
        Err(EAGAIN)
    }

    fn fork(&mut self, flags: u64, stack: u64, [parent_at, child_at, tls]: [u64; 3]) -> R {
        let vfork = flags & CLONE_VFORK != 0;
        if flags & CLONE_THREAD != 0 || (flags & CLONE_VM != 0 && !vfork) {
            self.p.warn("an emulated process has no further threads: clone returns ENOSYS".to_owned());
            return Err(ENOSYS);
        }
        if flags & CLONE_NAMESPACES != 0 || (flags & CLONE_FILES != 0 && !vfork) {
            return Err(EPERM);
        }
        if flags & CLONE_SETTLS != 0 && tls >= self.p.space.limit {
            return Err(EPERM);
        }
        if self.p.processes.others.len() + self.p.processes.zombies.len() + 1 >= MOST_PROCESSES {
            let why = "as many as there may be: a further one is EAGAIN";
            self.p.warn(format!("{MOST_PROCESSES} processes are there, {why}"));
            return Err(EAGAIN);
        }
        if self.p.processes.pages_copied > MOST_COPIED {
            self.p.warn("the processes have copied 64 GiB by fork: a further one is EAGAIN".to_owned());
            return Err(EAGAIN);
        }
        let mut state = Box::new(self.context.save());
        state.bases = self.bases;
        let shares = flags & CLONE_VM != 0;
        let map = if shares {
            None
        } else {
            let (map, pages) = self.p.space.copy(self.ram).ok_or(ENOMEM)?;
            // The process itself is work, too.
            self.p.processes.pages_copied += pages + 16;
            Some(map)
        };
        let pid = self.p.processes.last_pid + 1;
        self.p.processes.last_pid = pid;
        if flags & CLONE_PARENT_SETTID != 0 {
            // As Linux, which does not look at whether it can.
            let _ = self.write_u32(parent_at, pid);
        }
        let isa = self.p.isa;
        let mut child = self.p.task.child(pid);
        let table = self.p.files.fork(pid);
        let mut to = state.clone();
        set_result(isa, &mut to, 0);
        if stack != 0 {
            set_stack(isa, &mut to, stack);
        }
        if flags & CLONE_SETTLS != 0 {
            match isa {
                IsaName::X86 => to.bases[0] = tls,
                IsaName::Riscv => to.regs[4] = tls,
            }
        }
        let Some(map) = map else {
            // The child runs first, in the parent's memory.
            child.vfork_parent = Some(self.p.task.ids.pid);
            set_result(isa, &mut state, u64::from(pid));
            self.p.count_time();
            let parent = std::mem::replace(&mut self.p.task, child);
            let table = std::mem::replace(&mut self.p.files.table, table);
            self.p.processes.others.insert(parent.ids.pid, Suspended { task: parent, table, map: None, state });
            self.p.processes.since = self.p.nanoseconds();
            if flags & CLONE_CHILD_SETTID != 0 {
                let _ = self.write_u32(child_at, pid);
            }
            self.p.replaced = Some(to);
            return Ok(0);
        };
        let own = self.p.space.switch(map);
        to.page_table = self.p.space.root();
        if flags & CLONE_CHILD_SETTID != 0 {
            let _ = self.write_u32(child_at, pid);
        }
        let map = self.p.space.switch(own);
        self.p.processes.others.insert(pid, Suspended { task: child, table, map: Some(map), state: to });
        Ok(u64::from(pid))
    }

    /// Strings that a list of pointers names.
    fn strings(&mut self, at: u64, room: &mut usize) -> Result<Vec<Vec<u8>>, Errno> {
        const TOO_MUCH: Errno = Errno(libc::E2BIG);
        let mut list = Vec::new();
        if at == 0 {
            return Ok(list);
        }
        loop {
            let pointer = self.read_word(at.wrapping_add(8 * list.len() as u64))?;
            if pointer == 0 {
                return Ok(list);
            }
            let text = self.p.space.read_string(self.ram, pointer, *room)?.ok_or(TOO_MUCH)?;
            *room = room.checked_sub(text.len() + 9).ok_or(TOO_MUCH)?;
            list.push(text);
        }
    }

    /// The bytes of a program: below the allowed directory, or the first one again, wherever it lies.
    fn program(&mut self, fd: u64, path: &[u8]) -> Result<Vec<u8>, Errno> {
        let first = self.p.config.executable.as_bytes();
        if path == first || (path == b"/proc/self/exe" && self.p.task.executable.as_bytes() == first) {
            return Ok(self.p.program.to_vec());
        }
        let own = self.p.task.executable.clone().into_bytes();
        let path = if path == b"/proc/self/exe" { &own } else { path };
        let from = (fd as u32 as i32 != AT_FDCWD).then_some(fd);
        let found = self.p.files.resolve(from, path)?;
        let fd = self.p.files.open(found, 0, 0)?;
        let read = self.whole_file(fd);
        self.p.files.close(fd)?;
        read
    }

    /// No longer than RAM, where it would not fit.
    fn whole_file(&mut self, fd: u64) -> Result<Vec<u8>, Errno> {
        use std::io::Read;
        use std::os::unix::fs::PermissionsExt;
        self.write_back_mapped(fd, Some(0), u64::MAX)?;
        let Target::File(file) = &mut self.p.files.get(fd)?.target else { return Err(Errno(libc::EACCES)) };
        let meta = file.metadata()?;
        if meta.permissions().mode() & 0o111 == 0 {
            return Err(Errno(libc::EACCES));
        }
        if meta.len() > self.ram.len() {
            return Err(ENOMEM);
        }
        let mut bytes = Vec::new();
        file.take(meta.len()).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Replaces the program. Until the new one is in memory the old one is as it was.
    fn execute(&mut self, fd: u64, path: u64, args: u64, env: u64) -> R {
        let mut path = self.string(path)?;
        if path.is_empty() {
            return Err(ENOENT);
        }
        let mut room = MOST_ARGUMENTS.min((self.p.config.max_stack / 4) as usize);
        let mut args = self.strings(args, &mut room)?;
        let env = self.strings(env, &mut room)?;
        if args.is_empty() {
            args.push(Vec::new());
        }
        let mut bytes = self.program(fd, &path)?;
        let name = path.rsplit(|b| *b == b'/').next().unwrap_or_default().to_vec();
        let executable = path.clone();
        for _ in 0..MOST_INTERPRETERS {
            let Some((interpreter, argument)) = interpreter(&bytes) else { break };
            let mut all = vec![interpreter.clone()];
            all.extend(argument);
            all.push(path);
            all.extend(args.into_iter().skip(1));
            (args, path) = (all, interpreter);
            bytes = self.program(i64::from(AT_FDCWD) as u64, &path)?;
        }
        let shown = String::from_utf8_lossy(&path).into_owned();
        let elf = Elf::parse_process(&bytes).and_then(|elf| elf.expect_isa(self.p.isa, "the processor").map(|()| elf));
        let elf = elf.map_err(|e| {
            if bytes.starts_with(b"\x7fELF") {
                self.p.warn(format!("{shown} cannot be executed: {e}"));
            }
            Errno(libc::ENOEXEC)
        })?;
        let launch = Launch { executable, args, env, ids: self.p.task.ids, max_stack: self.p.config.max_stack };
        let mut seed = [0; 16];
        self.p.random.fill(&mut seed);
        let fresh = self.p.space.empty(self.ram).ok_or(ENOMEM)?;
        let old = self.p.space.switch(fresh);
        let image = match loader::load(&mut self.p.space, self.ram, &elf, &launch, self.p.hardware, seed) {
            Ok(image) => image,
            Err(e) => {
                let failed = self.p.space.switch(old);
                self.p.space.free(self.ram, failed);
                self.p.warn(format!("{shown} cannot be executed: {e}"));
                return Err(ENOMEM);
            }
        };
        self.p.release_map(self.ram, old);
        self.p.files.close_all(true);
        let task = &mut self.p.task;
        task.signals.forget_handlers();
        task.brk = Break { start: image.end, now: image.end };
        task.executable = String::from_utf8_lossy(&path).into_owned();
        task.name = name.into_iter().take(15).collect();
        let mut state = Box::new(UserState { pc: image.entry, ..UserState::default() });
        set_stack(self.p.isa, &mut state, image.stack);
        self.p.replaced = Some(state);
        Ok(0)
    }

    /// The first child that has ended of those that `which` names, or that has been stopped or continued where `options`
    /// ask for it.
    fn found(&self, which: i32, options: u64) -> Option<Ended> {
        let own = self.p.task.ids;
        let ended = |e: &&Ended| e.parent == own.pid && named(which, own.pgid, e.pid, e.pgid);
        if let Some(e) = self.p.processes.zombies.iter().find(ended).filter(|_| options & WEXITED != 0) {
            return Some(*e);
        }
        let changed =
            |t: &Task| t.stop.change.filter(|status| changes(options).include(*status)).map(|status| (t.ids, status));
        let (ids, status) = self.p.children(&self.p.task, which).find_map(changed)?;
        Some(Ended { pid: ids.pid, pgid: ids.pgid, parent: own.pid, uid: ids.uid, status, used: 0 })
    }
    /// Marks a child's change of state as reported to its parent.
    fn mark_reported(&mut self, found: &Ended) {
        if let Some(parked) = self.p.processes.others.get_mut(&found.pid) {
            parked.task.stop.change = None;
        } else {
            self.p.processes.zombies.retain(|e| e.pid != found.pid);
            self.p.task.used.children += found.used;
        }
    }

    fn wait(&mut self, which: i32, status_at: u64, options: u64) -> R {
        if options & !(0xb | 0xe000_0000) != 0 {
            return Err(EINVAL);
        }
        let Some(found) = self.found(which, options | WEXITED) else { return self.wait_more(which, options | WEXITED) };
        if status_at != 0 {
            self.write_u32(status_at, found.status)?;
        }
        if self.args[3] != 0 {
            let mut words = vec![found.used / NANOSECOND, found.used % NANOSECOND / 1000];
            words.resize(18, 0);
            self.write_words(self.args[3], &words)?;
        }
        self.mark_reported(&found);
        Ok(u64::from(found.pid))
    }

    /// Nothing has happened yet.
    fn wait_more(&mut self, which: i32, options: u64) -> R {
        if self.p.children(&self.p.task, which).next().is_none() {
            return Err(Errno(libc::ECHILD));
        }
        if options & WNOHANG != 0 {
            // Whoever asks again and again must not keep them from ending.
            self.p.processes.yielded = true;
            return Ok(0);
        }
        self.wait_for(Until::Child(which, changes(options)), true, "waits for its children")
    }

    fn wait_id(&mut self) -> R {
        const P_ALL: u64 = 0;
        const P_PID: u64 = 1;
        const P_PGID: u64 = 2;
        let [kind, id, info, options, ..] = self.args;
        let id = id as i32;
        let which = match kind {
            P_ALL => -1,
            P_PID if id > 0 => id,
            P_PGID if id > 0 => -id,
            P_PGID if id == 0 => 0,
            _ => return Err(EINVAL),
        };
        if options & (WEXITED | WSTOPPED | WCONTINUED) == 0 {
            return Err(EINVAL);
        }
        let Some(found) = self.found(which, options) else {
            let none = self.wait_more(which, options);
            if none.is_ok() && info != 0 {
                self.write_words(info, &[0, 0, 0, 0])?;
            }
            return none;
        };
        if info != 0 {
            let about = signals::Info::of_child(found.pid, found.uid, found.status);
            let words = [u64::from(signals::CHLD), u64::from(about.code as u32), about.fields[0], about.fields[1]];
            self.write_words(info, &words)?;
        }
        if options & WNOWAIT == 0 {
            self.mark_reported(&found);
        }
        Ok(0)
    }
}

/// What a script's first line names: the program, and one argument.
fn interpreter(bytes: &[u8]) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let line = bytes.strip_prefix(b"#!")?;
    let line = &line[..line.len().min(FIRST_LINE)];
    let line = line.split(|b| *b == b'\n').next()?.trim_ascii();
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    let (program, rest) = line.split_at(end);
    let rest = rest.trim_ascii();
    (!program.is_empty()).then(|| (program.to_vec(), (!rest.is_empty()).then(|| rest.to_vec())))
}
