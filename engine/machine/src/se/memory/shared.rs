//! Memory that processes share (`MAP_SHARED`): frames that belong to nobody's map. Those of a file hold its pages, whoever
//! mapped it; what was stored there goes back to the file before anybody reads it and when nobody maps it any more.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use breakeven_base::PhysMem;

use super::frames::Frames;
use super::{Refused, PAGE};
use crate::se::errno::{Errno, ENOSPC};
use crate::se::files::Room;
use crate::se::host::Inode;

/// What an area shows of shared memory, from its start on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::se) struct Share {
    pub object: u64,
    /// Bytes; a multiple of a page.
    pub offset: u64,
    /// Whether `mprotect` may make it writable.
    pub writable: bool,
}

impl Share {
    /// As seen `by` bytes further on.
    pub fn after(self, by: u64) -> Share {
        Share { offset: self.offset + by, ..self }
    }
}

/// The file behind shared memory.
#[derive(Debug)]
pub(in crate::se) struct Behind {
    pub inode: Inode,
    pub file: File,
    /// It is open for writing, too: somebody may have stored to the memory.
    pub writable: bool,
    /// It is in the host's memory.
    pub in_memory: bool,
}

#[derive(Debug)]
struct Object {
    /// None: anonymous, of a fixed size.
    file: Option<Behind>,
    size: u64,
    /// By the number of the page.
    frames: BTreeMap<u64, u64>,
    /// Pages of all areas that show it.
    mapped: u64,
}

impl Object {
    fn size(&self) -> u64 {
        match &self.file {
            Some(behind) => behind.file.metadata().map_or(0, |meta| meta.len()),
            None => self.size,
        }
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(in crate::se) struct Shared {
    objects: BTreeMap<u64, Object>,
    by_file: BTreeMap<Inode, u64>,
    last: u64,
    /// For what goes back to files, and for what is written to them.
    pub room: Room,
    /// Why something could not go back to its file, where nobody could be told.
    pub lost: Option<Errno>,
}

impl Shared {
    /// Anonymous memory of `size` bytes.
    pub fn anonymous(&mut self, size: u64) -> Share {
        Share { object: self.add(size), offset: 0, writable: true }
    }

    /// A file from `offset` on.
    pub fn of_file(&mut self, file: Behind, offset: u64) -> Share {
        let writable = file.writable;
        let object = match self.by_file.get(&file.inode) {
            Some(known) => *known,
            None => self.add(0),
        };
        self.by_file.insert(file.inode, object);
        if let Some(o) = self.objects.get_mut(&object) {
            if o.file.as_ref().is_none_or(|known| writable && !known.writable) {
                o.file = Some(file);
            }
        }
        Share { object, offset, writable }
    }

    fn add(&mut self, size: u64) -> u64 {
        self.last += 1;
        self.objects.insert(self.last, Object { file: None, size, frames: BTreeMap::new(), mapped: 0 });
        self.last
    }

    /// More pages show it.
    pub fn show(&mut self, share: Share, pages: u64) {
        if let Some(o) = self.objects.get_mut(&share.object) {
            o.mapped += pages;
        }
    }

    /// Fewer pages show it; where none does, it is gone.
    pub(super) fn hide(&mut self, ram: &PhysMem, frames: &mut Frames, share: Share, pages: u64) {
        let Some(o) = self.objects.get_mut(&share.object) else { return };
        o.mapped = o.mapped.saturating_sub(pages);
        if o.mapped > 0 {
            return;
        }
        if let Err(e) = self.write_back(ram, share.object, 0, u64::MAX) {
            self.lost = Some(e);
        }
        let Some(o) = self.objects.remove(&share.object) else { return };
        if let Some(behind) = o.file {
            self.by_file.remove(&behind.inode);
        }
        frames.freed.extend(o.frames.into_values());
    }

    /// The frame behind a page of it.
    pub(super) fn frame(&mut self, ram: &mut PhysMem, frames: &mut Frames, share: Share) -> Result<u64, Refused> {
        let o = self.objects.get_mut(&share.object).ok_or(Refused::Fault)?;
        let page = share.offset / PAGE;
        if let Some(frame) = o.frames.get(&page) {
            return Ok(*frame);
        }
        if share.offset >= o.size() {
            return Err(Refused::Beyond);
        }
        let frame = frames.frame(ram).ok_or(Refused::OutOfMemory)?;
        if let Some(Behind { file, .. }) = &o.file {
            let bytes = ram.slice_mut(frame, PAGE).ok_or(Refused::Fault)?;
            if read_page(file, share.offset, bytes).is_err() {
                frames.freed.push(frame);
                return Err(Refused::Beyond);
            }
        }
        o.frames.insert(page, frame);
        Ok(frame)
    }

    pub fn has_files(&self) -> bool {
        !self.by_file.is_empty()
    }

    /// What was stored to `len` bytes of a mapped file goes back to it.
    pub fn write_back_file(&mut self, ram: &PhysMem, inode: Inode, from: u64, len: u64) -> Result<(), Errno> {
        match self.by_file.get(&inode) {
            Some(object) => self.write_back(ram, *object, from, len),
            None => Ok(()),
        }
    }
    pub fn write_back_all(&mut self, ram: &PhysMem) {
        for object in self.by_file.values().copied().collect::<Vec<_>>() {
            if let Err(e) = self.write_back(ram, object, 0, u64::MAX) {
                self.lost = Some(e);
            }
        }
    }
    /// As [`Shared::write_back_file`]. Pages that are as the file has them are not written.
    pub fn write_back(&mut self, ram: &PhysMem, object: u64, from: u64, len: u64) -> Result<(), Errno> {
        let Some(o) = self.objects.get(&object) else { return Ok(()) };
        let Some(Behind { file, writable: true, in_memory, .. }) = &o.file else { return Ok(()) };
        let size = o.size();
        let mut known = [0; PAGE as usize];
        for (page, frame) in o.frames.range(from / PAGE..from.saturating_add(len).div_ceil(PAGE)) {
            let at = page * PAGE;
            // What lies behind the file's end is not its.
            let n = size.saturating_sub(at).min(PAGE);
            let (Some(bytes), true) = (ram.slice(*frame, n), n > 0) else { continue };
            read_page(file, at, &mut known)?;
            if known[..n as usize] == *bytes {
                continue;
            }
            if n > self.room.left(*in_memory) {
                return Err(ENOSPC);
            }
            file.write_all_at(bytes, at)?;
            self.room.take(n, *in_memory);
        }
        Ok(())
    }

    /// A file has been written: what is mapped of it shows that.
    pub fn refresh(&mut self, ram: &mut PhysMem, inode: Inode, from: u64, bytes: &[u8]) {
        let Some(o) = self.by_file.get(&inode).and_then(|object| self.objects.get(object)) else { return };
        let end = from.saturating_add(bytes.len() as u64);
        for (page, frame) in o.frames.range(from / PAGE..end.div_ceil(PAGE)) {
            let at = page * PAGE;
            let (first, last) = (from.max(at), end.min(at + PAGE));
            let part = &bytes[(first - from) as usize..(last - from) as usize];
            if let Some(slot) = ram.slice_mut(frame + (first - at), last - first) {
                slot.copy_from_slice(part);
            }
        }
    }

    /// A file has become shorter: what is mapped behind its end is zero.
    pub fn truncate(&mut self, ram: &mut PhysMem, inode: Inode, len: u64) {
        let Some(o) = self.by_file.get(&inode).and_then(|object| self.objects.get(object)) else { return };
        for (page, frame) in o.frames.range(len / PAGE..) {
            let kept = len.saturating_sub(page * PAGE).min(PAGE);
            if let Some(slot) = ram.slice_mut(frame + kept, PAGE - kept) {
                slot.fill(0);
            }
        }
    }
}

/// A page of a file, zeros behind its end.
fn read_page(file: &File, at: u64, to: &mut [u8]) -> Result<(), Errno> {
    let mut done = 0;
    while done < to.len() {
        match file.read_at(&mut to[done..], at + done as u64)? {
            0 => break,
            n => done += n,
        }
    }
    to[done..].fill(0);
    Ok(())
}
