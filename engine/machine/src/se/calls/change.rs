//! Calls that change what files are: names, links, rights, owners, times, lengths. Nothing changes unless the caller allowed
//! it ([`super::super::Host::writable`]).

use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, Mode};

use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, MetadataExt, Permissions, PermissionsExt};

use super::super::errno::{Errno, EBADF, EBUSY, EFBIG, EINVAL, ENOENT, EPERM, EROFS};
use super::super::files::{open, Target, WRITE_LIMIT};
use super::super::host::{here, path_of, Root};
use super::paths::{AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW};
use super::{Call, R};

const AT_REMOVEDIR: u64 = 0x200;
const AT_SYMLINK_FOLLOW: u64 = 0x400;
const RENAME_NOREPLACE: u64 = 1;
const S_IFMT: u64 = 0o170_000;
const S_IFIFO: u64 = 0o010_000;
const S_IFREG: u64 = 0o100_000;
const FALLOC_FL_KEEP_SIZE: u64 = 1;
const UTIME_NOW: u64 = (1 << 30) - 1;
const UTIME_OMIT: u64 = (1 << 30) - 2;
const EXT4_MAGIC: u64 = 0xef53;
const BLOCK: u64 = 4096;
const SAME: u32 = u32::MAX;

impl Call<'_> {
    pub(super) fn change_call(&mut self, name: &str) -> Option<R> {
        let [a, b, c, d, e, _] = self.args;
        let cwd = i64::from(AT_FDCWD) as u64;
        Some(match name {
            "mkdirat" => self.alone(|call| call.make_directory(a, b, c)),
            "mkdir" => self.alone(|call| call.make_directory(cwd, a, b)),
            "mknodat" => self.alone(|call| call.make_node(a, b, c)),
            "mknod" => self.alone(|call| call.make_node(cwd, a, b)),
            "linkat" => self.alone(|call| call.link(a, b, c, d, e)),
            "link" => self.alone(|call| call.link(cwd, a, cwd, b, 0)),
            "symlinkat" => self.alone(|call| call.symlink(a, b, c)),
            "symlink" => self.alone(|call| call.symlink(a, cwd, b)),
            "unlinkat" if c & AT_REMOVEDIR != 0 => self.alone(|call| call.remove_directory(a, b)),
            "unlinkat" => self.alone(|call| call.unlink(a, b)),
            "unlink" => self.alone(|call| call.unlink(cwd, a)),
            "rmdir" => self.alone(|call| call.remove_directory(cwd, a)),
            "renameat" => self.alone(|call| call.rename(a, b, c, d, 0)),
            "renameat2" => self.alone(|call| call.rename(a, b, c, d, e)),
            "rename" => self.alone(|call| call.rename(cwd, a, cwd, b, 0)),
            // The mode is what is left of fchmodat2 without its flags.
            "fchmodat" | "fchmodat2" => self.chmod(a, b, c),
            "chmod" => self.chmod(cwd, a, b),
            "fchmod" => self.fchmod(a, b),
            "fchownat" => self.chown(a, b, [c, d], e),
            "chown" => self.chown(cwd, a, [b, c], 0),
            "lchown" => self.chown(cwd, a, [b, c], AT_SYMLINK_NOFOLLOW),
            "fchown" => self.facts_of(a).and_then(|_| self.owner([b, c])),
            "utimensat" => self.set_times(a, b, c, d),
            "truncate" => self.truncate(a, b),
            "ftruncate" => self.ftruncate(a, b),
            "fallocate" => self.fallocate(a, b, c, d),
            "statfs" => self.facts_at(cwd, a, 0).and_then(|_| self.file_system(b)),
            "fstatfs" => self.facts_of(a).and_then(|_| self.file_system(b)),
            _ => return None,
        })
    }

    /// Changes names while no other simulator does so in the directory: what a call has looked at is so when it acts.
    fn alone(&mut self, change: impl FnOnce(&mut Self) -> R) -> R {
        let root = self.p.files.root.as_ref().filter(|root| root.writable);
        let held = root.map(Root::lock).transpose();
        if held.as_ref().is_err_and(|e| *e == EBUSY) {
            self.p.warn("another program holds a lock on the directory (flock): EBUSY".to_owned());
        }
        let _held = held?;
        change(self)
    }

    /// A path where something may change.
    fn writable_path(&mut self, fd: u64, path: u64) -> Result<PathBuf, Errno> {
        let (path, _) = self.path(fd, path)?;
        self.writable()?;
        Ok(path)
    }
    fn writable(&self) -> Result<&Dir, Errno> {
        let root = self.p.files.root.as_ref().ok_or(ENOENT)?;
        if root.writable {
            Ok(&root.dir)
        } else {
            Err(EROFS)
        }
    }

    fn change(&mut self, fd: u64, path: u64, act: impl FnOnce(&Dir, &Path) -> std::io::Result<()>) -> R {
        let path = self.writable_path(fd, path)?;
        act(self.writable()?, &path)?;
        Ok(0)
    }

    /// As [`Call::change`], of a name that is not there yet.
    fn make(&mut self, fd: u64, path: u64, act: impl FnOnce(&Dir, &Path) -> std::io::Result<()>) -> R {
        let path = self.writable_path(fd, path)?;
        if self.writable()?.symlink_metadata(&path).is_ok() {
            return Err(Errno(libc::EEXIST));
        }
        let counted = self.p.files.make().map(|()| 0);
        self.warn_of_quota(&counted);
        counted?;
        act(self.writable()?, &path)?;
        Ok(0)
    }

    /// Says once that the process has made as many files as it may.
    pub(super) fn warn_of_quota(&mut self, done: &R) {
        if *done == Err(Errno(libc::EDQUOT)) {
            let most = self.p.files.max_files();
            self.p.warn(format!("the process has made {most} files, as many as it may: EDQUOT"));
        }
    }

    fn make_directory(&mut self, fd: u64, path: u64, mode: u64) -> R {
        let mut how = DirBuilder::new();
        how.mode(mode as u32 & 0o777 & !self.p.files.table.umask);
        self.make(fd, path, |dir, path| dir.create_dir_with(path, &how))
    }

    /// Regular files and named pipes; devices are root's.
    fn make_node(&mut self, fd: u64, path: u64, mode: u64) -> R {
        if mode & S_IFMT == S_IFIFO {
            let rights = Mode::from_raw_mode(mode as u32 & 0o777 & !self.p.files.table.umask);
            return self.make(fd, path, |dir, path| {
                let name = path.file_name().ok_or(std::io::ErrorKind::AlreadyExists)?;
                let parent = dir.open_dir(here(path.parent().unwrap_or(Path::new(""))))?;
                Ok(rustix::fs::mknodat(parent, name, FileType::Fifo, rights, 0)?)
            });
        }
        if !matches!(mode & S_IFMT, 0 | S_IFREG) {
            return Err(EPERM);
        }
        let path = self.writable_path(fd, path)?;
        let flags = open::CREATE | open::EXCLUSIVE | open::WRITE_ONLY;
        let opened = self.p.files.open(path, flags, mode as u32);
        self.warn_of_quota(&opened);
        self.p.files.close(opened?).map(|()| 0)
    }

    fn link(&mut self, from: u64, old: u64, to: u64, new: u64, flags: u64) -> R {
        if flags & !(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH) != 0 {
            return Err(EINVAL);
        }
        let (mut old, _) = self.path(from, old)?;
        let root = self.p.files.root.as_ref().ok_or(ENOENT)?;
        if flags & AT_SYMLINK_FOLLOW != 0 {
            old = root.dir.canonicalize(old)?;
        }
        root.dir.symlink_metadata(&old)?;
        let (place, _) = self.path(to, new)?;
        self.check_links(&old, &place)?;
        self.make(to, new, |dir, new| dir.hard_link(&old, dir, new))
    }

    /// A link may name only what lies in the directory: others could follow it who are not held there. [`leads_out`] says of
    /// the link alone whether it does, so it must hold wherever the link comes to lie ([`Call::check_links`]).
    fn symlink(&mut self, target: u64, fd: u64, path: u64) -> R {
        let target = self.string(target)?;
        let (place, _) = self.path(fd, path)?;
        if target.is_empty() {
            return Err(ENOENT);
        }
        let target = path_of(&target).to_owned();
        let out = leads_out(self.depth(&place)?, &target) || self.leads_out_by_others(&place, &target);
        self.refuse_link(out, &target)?;
        self.make(fd, path, |dir, path| dir.symlink(&target, path))
    }

    fn refuse_link(&mut self, out: bool, target: &Path) -> Result<(), Errno> {
        if !out {
            return Ok(());
        }
        let target = target.display().to_string();
        self.p.warn(format!("a symbolic link to {} would lead out of the directory: EPERM", target.escape_debug()));
        Err(EPERM)
    }

    /// Whether a symbolic link at `place` to `target` would lead out of the directory by way of a link that does so already:
    /// of the user's, whom nothing holds there.
    fn leads_out_by_others(&self, place: &Path, target: &Path) -> bool {
        let Some(root) = &self.p.files.root else { return false };
        let led = place.parent().unwrap_or(Path::new("")).join(target);
        // What is missing of it, may come later: the longest part that is there decides.
        let there = led.ancestors().find_map(|part| match root.dir.canonicalize(here(part)) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
            found => Some(found),
        });
        matches!(there, Some(Err(e)) if e.raw_os_error().is_none())
    }

    /// How many directories below the allowed one a path's last component lies, without symbolic links on the way.
    fn depth(&self, path: &Path) -> Result<usize, Errno> {
        let root = self.p.files.root.as_ref().ok_or(ENOENT)?;
        let parent = root.dir.canonicalize(here(path.parent().unwrap_or(Path::new(""))))?;
        Ok(parent.components().filter(|part| matches!(part, Component::Normal(_))).count())
    }

    /// Refuses to put what is at `old` to `new` where a symbolic link leads out, there or already here: itself, or one below a
    /// directory. A link that leads out is the user's, and other links may be waiting for it at the new place.
    fn check_links(&mut self, old: &Path, new: &Path) -> Result<(), Errno> {
        let root = self.p.files.root.as_ref().ok_or(ENOENT)?;
        let (from, to) = (self.depth(old)?, self.depth(new)?);
        let mut links = Vec::new();
        let mut open = vec![(old.to_owned(), 0)];
        while let Some((path, below)) = open.pop() {
            let kind = root.dir.symlink_metadata(&path)?.file_type();
            if kind.is_symlink() {
                links.push((below, root.dir.read_link_contents(&path)?));
            } else if kind.is_dir() {
                for entry in root.dir.read_dir(&path)? {
                    open.push((path.join(entry?.file_name()), below + 1));
                }
            }
        }
        for (below, target) in links {
            self.refuse_link(leads_out(from.min(to) + below, &target), &target)?;
        }
        Ok(())
    }

    fn remove_directory(&mut self, fd: u64, path: u64) -> R {
        self.change(fd, path, |dir, path| dir.remove_dir(path))
    }

    fn unlink(&mut self, fd: u64, path: u64) -> R {
        let path = self.writable_path(fd, path)?;
        self.forget_times(&path);
        self.writable()?.remove_file(path)?;
        Ok(0)
    }

    /// The last name of a file goes; its inode may come back as another file's.
    fn forget_times(&mut self, path: &Path) {
        let Ok(dir) = self.writable() else { return };
        if let Some(m) = dir.symlink_metadata(path).ok().filter(|m| m.nlink() == 1) {
            self.p.files.times.remove(&m.ino());
        }
    }

    fn rename(&mut self, from: u64, old: u64, to: u64, new: u64, flags: u64) -> R {
        let old = self.writable_path(from, old)?;
        let new = self.writable_path(to, new)?;
        let dir = self.writable()?;
        match flags {
            0 => {}
            RENAME_NOREPLACE if dir.symlink_metadata(&new).is_ok() => return Err(Errno(libc::EEXIST)),
            RENAME_NOREPLACE => {}
            _ => return Err(EINVAL),
        }
        if dir.symlink_metadata(&old)?.is_file() && old != new {
            self.forget_times(&new);
        }
        self.check_links(&old, &new)?;
        let dir = self.writable()?;
        dir.rename(old, dir, new)?;
        Ok(0)
    }

    /// No set-user-ID and its like: they would hold for whoever finds the file.
    fn chmod(&mut self, fd: u64, path: u64, mode: u64) -> R {
        let rights = Permissions::from_mode(mode as u32 & 0o777);
        self.change(fd, path, |dir, path| dir.set_permissions(path, rights))
    }
    fn fchmod(&mut self, fd: u64, mode: u64) -> R {
        let writable = self.writable().map(|_| ());
        if let Target::File(file) | Target::Directory { file, .. } = &self.p.files.get(fd)?.target {
            writable?;
            let mode = std::os::unix::fs::PermissionsExt::from_mode(mode as u32 & 0o777);
            file.set_permissions(mode)?;
        }
        Ok(0)
    }

    fn chown(&mut self, fd: u64, path: u64, ids: [u64; 2], flags: u64) -> R {
        self.facts_at(fd, path, flags)?;
        self.owner(ids)
    }
    /// Every file is the process's, and stays its.
    fn owner(&mut self, ids: [u64; 2]) -> R {
        let own = self.p.task.ids;
        let kept = |id: u64, own: &[u32]| id as u32 == SAME || own.contains(&(id as u32));
        if kept(ids[0], &[own.uid, own.euid]) && kept(ids[1], &[own.gid, own.egid]) {
            Ok(0)
        } else {
            Err(EPERM)
        }
    }

    /// The process sees the times that it sets; the host's files keep their own.
    fn set_times(&mut self, fd: u64, path: u64, to: u64, flags: u64) -> R {
        let facts = match path {
            0 => self.facts_of(fd)?,
            _ => self.facts_at(fd, path, flags)?,
        };
        self.writable()?;
        let ns = self.p.nanoseconds();
        let now = [self.p.clock.epoch + ns / 1_000_000_000, ns % 1_000_000_000];
        let mut asked = [0, UTIME_NOW, 0, UTIME_NOW];
        if to != 0 {
            for (n, word) in asked.iter_mut().enumerate() {
                *word = self.read_word(to.wrapping_add(8 * n as u64))?;
            }
        }
        let epoch = self.p.clock.epoch;
        let mut times = self.p.files.times.get(&facts.inode).copied().unwrap_or([epoch, 0, epoch, 0]);
        for (time, asked) in times.chunks_mut(2).zip(asked.chunks(2)) {
            match asked[1] {
                UTIME_NOW => time.copy_from_slice(&now),
                UTIME_OMIT => {}
                0..=999_999_999 => time.copy_from_slice(asked),
                _ => return Err(EINVAL),
            }
        }
        self.p.files.times.insert(facts.inode, times);
        Ok(0)
    }

    fn truncate(&mut self, path: u64, len: u64) -> R {
        let path = self.writable_path(i64::from(AT_FDCWD) as u64, path)?;
        let fd = self.p.files.open(path, open::WRITE_ONLY, 0)?;
        let done = self.ftruncate(fd, len);
        self.p.files.close(fd)?;
        done
    }

    fn ftruncate(&mut self, fd: u64, len: u64) -> R {
        let inode = self.p.files.inode(fd)?;
        let file = self.p.files.get(fd)?;
        match &file.target {
            Target::File(_) if len > WRITE_LIMIT => Err(if (len as i64) < 0 { EINVAL } else { EFBIG }),
            Target::File(f) if file.flags & open::ACCESS != 0 => {
                // A later growth shows zeros, not what was stored behind the end before.
                f.set_len(len)?;
                self.p.space.shared.truncate(self.ram, inode, len);
                Ok(0)
            }
            _ => Err(EINVAL),
        }
    }

    /// Longer files; holes are not made.
    fn fallocate(&mut self, fd: u64, mode: u64, from: u64, len: u64) -> R {
        let file = self.p.files.get(fd)?;
        let Target::File(f) = &file.target else { return Err(Errno(libc::ENODEV)) };
        let end = from.checked_add(len).filter(|end| len != 0 && (*end as i64) >= 0 && (from as i64) >= 0);
        match (end.ok_or(EINVAL)?, mode) {
            _ if file.flags & open::ACCESS == 0 => Err(EBADF),
            (end, _) if end > WRITE_LIMIT => Err(EFBIG),
            (_, FALLOC_FL_KEEP_SIZE) => Ok(0),
            (end, 0) => {
                if f.metadata()?.len() < end {
                    f.set_len(end)?;
                }
                Ok(0)
            }
            _ => Err(Errno(libc::EOPNOTSUPP)),
        }
    }

    /// `struct statfs`: an ext4 of what the process may write.
    fn file_system(&mut self, to: u64) -> R {
        let free = self.p.space.shared.room.left(false) / BLOCK;
        let files = self.p.files.max_files();
        let mut words = vec![EXT4_MAGIC, BLOCK, WRITE_LIMIT / BLOCK, free, free, files, files, 1, 255, BLOCK];
        words.resize(15, 0);
        self.write_words(to, &words)?;
        Ok(0)
    }
}

/// Whether a symbolic link to `target` may lead above the allowed directory, from one that lies `depth` directories below it.
/// Only its first components may go up: behind another link, `..` would be that link's directory's parent.
fn leads_out(depth: usize, target: &Path) -> bool {
    let mut parts = target.components().filter(|part| *part != Component::CurDir).peekable();
    let mut up = 0;
    while parts.next_if_eq(&Component::ParentDir).is_some() {
        up += 1;
    }
    up > depth || parts.any(|part| !matches!(part, Component::Normal(_)))
}
