//! The memory of a process: areas as Linux keeps them, and real page tables in guest RAM that the front ends walk.
//!
//! Frames are handed out from the bottom of RAM when a page is first touched, as gem5 does; page tables from the top, where
//! no page of the process is ever mapped. An area is a promise and costs nothing, so a process may ask for more than there
//! is RAM; it ends when it touches too much of it.

use std::collections::BTreeMap;

use breakeven_base::PhysMem;

use crate::IsaName;

pub(super) const PAGE: u64 = 4096;
/// Areas of one process, as Linux bounds them.
const MOST_AREAS: usize = 65_530;

/// What a page may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prot(pub u8);

impl Prot {
    pub const NONE: Prot = Prot(0);
    pub const READ: Prot = Prot(1);
    pub const WRITE: Prot = Prot(2);
    pub const EXEC: Prot = Prot(4);
    pub const RW: Prot = Prot(3);

    pub fn from_bits(bits: u64) -> Prot {
        Prot((bits & 7) as u8)
    }
    pub fn has(self, other: Prot) -> bool {
        self.0 & other.0 == other.0
    }
    pub fn with(self, other: Prot) -> Prot {
        Prot(self.0 | other.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Area {
    end: u64,
    prot: Prot,
}

/// Why an access or a request cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Nothing is mapped there, or not for this.
    Fault,
    /// RAM is full.
    OutOfMemory,
}

/// How an instruction set writes a page-table entry.
#[derive(Clone, Copy, Debug)]
struct Entries {
    isa: IsaName,
    /// Tables on the way to a page, root first.
    levels: u32,
}

impl Entries {
    fn table(self, at: u64) -> u64 {
        match self.isa {
            // Valid; the rest would make it a leaf.
            IsaName::Riscv => (at >> 12) << 10 | 1,
            // Present, writable, user, accessed: the leaf decides.
            IsaName::X86 => at | 0x27,
        }
    }
    /// A leaf, accessed and dirty from the start. Without a right it is not present but keeps its frame.
    fn leaf(self, frame: u64, prot: Prot) -> u64 {
        let bit = |on: bool, n: u32| u64::from(on) << n;
        let any = prot != Prot::NONE;
        match self.isa {
            // V, R, W, X, U, A, D; writable pages are readable.
            IsaName::Riscv => {
                let write = prot.has(Prot::WRITE);
                let rights = bit(prot.has(Prot::READ) || write, 1) | bit(write, 2) | bit(prot.has(Prot::EXEC), 3);
                (frame >> 12) << 10 | bit(any, 0) | rights | 1 << 4 | 1 << 6 | 1 << 7
            }
            // P, W, U, A, D, NX.
            IsaName::X86 => {
                frame
                    | bit(any, 0)
                    | bit(prot.has(Prot::WRITE), 1)
                    | 1 << 2
                    | 1 << 5
                    | 1 << 6
                    | bit(!prot.has(Prot::EXEC), 63)
            }
        }
    }
    /// The same rights to another frame.
    fn with_frame(self, entry: u64, frame: u64) -> u64 {
        match self.isa {
            IsaName::Riscv => entry & !(((1 << 44) - 1) << 10) | (frame >> 12) << 10,
            IsaName::X86 => entry & !0x000f_ffff_ffff_f000 | frame,
        }
    }
    fn frame(self, entry: u64) -> u64 {
        match self.isa {
            IsaName::Riscv => (entry >> 10 & ((1 << 44) - 1)) << 12,
            IsaName::X86 => entry & 0x000f_ffff_ffff_f000,
        }
    }
}

/// Free RAM.
#[derive(Debug)]
struct Frames {
    next: u64,
    /// Page tables lie from here on.
    end: u64,
    freed: Vec<u64>,
    freed_tables: Vec<u64>,
}

impl Frames {
    fn frame(&mut self, ram: &mut PhysMem) -> Option<u64> {
        if let Some(at) = self.freed.pop() {
            ram.slice_mut(at, PAGE)?.fill(0);
            return Some(at);
        }
        let at = self.next;
        (at < self.end).then(|| self.next += PAGE)?;
        Some(at)
    }
    fn table(&mut self, ram: &mut PhysMem) -> Option<u64> {
        if let Some(at) = self.freed_tables.pop() {
            ram.slice_mut(at, PAGE)?.fill(0);
            return Some(at);
        }
        if self.next < self.end {
            self.end -= PAGE;
            return Some(self.end);
        }
        self.frame(ram)
    }
}

/// What one process has mapped, and its page tables. The default is nobody's: it has no table.
#[derive(Debug, Default)]
pub(super) struct Map {
    root: u64,
    areas: BTreeMap<u64, Area>,
}

/// See the module. All processes share the frames; the map is the running one's.
#[derive(Debug)]
pub(super) struct AddressSpace {
    entries: Entries,
    frames: Frames,
    map: Map,
    /// First address that is not the process's.
    pub limit: u64,
    /// Where mappings without an address end.
    pub mmap_top: u64,
    /// Translations have become narrower or memory has changed under them since [`AddressSpace::take_stale`].
    stale: bool,
}

fn up(n: u64) -> u64 {
    n.saturating_add(PAGE - 1) & !(PAGE - 1)
}

impl AddressSpace {
    /// An empty one; `None` when RAM has no room for a page table.
    pub fn new(ram: &mut PhysMem, isa: IsaName) -> Option<AddressSpace> {
        // Linux's user half: 47 bits of four-level paging, 38 of Sv39.
        let (levels, limit) = match isa {
            IsaName::Riscv => (3, 1 << 38),
            IsaName::X86 => (4, (1 << 47) - PAGE),
        };
        let mut frames =
            Frames { next: ram.start(), end: ram.start() + ram.len(), freed: Vec::new(), freed_tables: Vec::new() };
        let root = frames.table(ram)?;
        let entries = Entries { isa, levels };
        let map = Map { root, areas: BTreeMap::new() };
        Some(AddressSpace { entries, frames, map, limit, mmap_top: limit, stale: false })
    }

    /// A map of nothing; `None`: RAM is full.
    pub fn empty(&mut self, ram: &mut PhysMem) -> Option<Map> {
        Some(Map { root: self.frames.table(ram)?, areas: BTreeMap::new() })
    }

    /// Makes `map` the present one, and returns the one that was.
    pub fn switch(&mut self, map: Map) -> Map {
        self.stale = true;
        std::mem::replace(&mut self.map, map)
    }

    /// A copy of the present map, with copies of all pages that have a frame; `None`: RAM is full. Returns their number, too.
    pub fn copy(&mut self, ram: &mut PhysMem) -> Option<(Map, u64)> {
        let mut map = self.empty(ram)?;
        map.areas.clone_from(&self.map.areas);
        let leaves = self.leaves(ram, 0, u64::MAX);
        let pages = leaves.len() as u64;
        for (page, at) in leaves {
            if self.copy_page(ram, &map, page, at).is_none() {
                self.free(ram, map);
                return None;
            }
        }
        Some((map, pages))
    }

    fn copy_page(&mut self, ram: &mut PhysMem, to: &Map, page: u64, at: u64) -> Option<()> {
        let entry = ram.read::<u64>(at)?;
        let slot = self.slot_in(ram, to.root, page, true)?;
        let frame = self.frames.frame(ram)?;
        let from = self.entries.frame(entry);
        let bytes = ram.slice(from, PAGE)?.to_vec();
        ram.slice_mut(frame, PAGE)?.copy_from_slice(&bytes);
        ram.write(slot, self.entries.with_frame(entry, frame))
    }

    /// Frees the frames and tables of a map that is not the present one.
    pub fn free(&mut self, ram: &PhysMem, map: Map) {
        let mut open = vec![(self.entries.levels - 1, map.root)];
        while let Some((level, table)) = open.pop() {
            for entry in (0..512).filter_map(|n| ram.read::<u64>(table + 8 * n)).filter(|entry| *entry != 0) {
                match level {
                    0 => self.frames.freed.push(self.entries.frame(entry)),
                    _ => open.push((level - 1, self.entries.frame(entry))),
                }
            }
            self.frames.freed_tables.push(table);
        }
        self.stale = true;
    }

    /// Physical address of the root page table.
    pub fn root(&self) -> u64 {
        self.map.root
    }
    /// Whether translations have changed since the last call.
    pub fn take_stale(&mut self) -> bool {
        std::mem::take(&mut self.stale)
    }
    pub fn mark_stale(&mut self) {
        self.stale = true;
    }

    /// Where the entry of a page's leaf lies; the tables on the way are made when `make`.
    fn slot(&mut self, ram: &mut PhysMem, vaddr: u64, make: bool) -> Option<u64> {
        self.slot_in(ram, self.map.root, vaddr, make)
    }
    fn slot_in(&mut self, ram: &mut PhysMem, root: u64, vaddr: u64, make: bool) -> Option<u64> {
        let mut table = root;
        for level in (1..self.entries.levels).rev() {
            let at = table + (vaddr >> (12 + 9 * level) & 0x1ff) * 8;
            let mut entry = ram.read::<u64>(at)?;
            if entry == 0 {
                if !make {
                    return None;
                }
                entry = self.entries.table(self.frames.table(ram)?);
                ram.write(at, entry)?;
            }
            table = self.entries.frame(entry);
        }
        Some(table + (vaddr >> 12 & 0x1ff) * 8)
    }

    /// The leaves between `start` and `end`: page and entry's address. What has no table is passed over at once.
    fn leaves(&self, ram: &PhysMem, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut found = Vec::new();
        let mut open = vec![(self.entries.levels - 1, self.map.root, 0u64)];
        while let Some((level, table, base)) = open.pop() {
            let span = 1u64 << (12 + 9 * level);
            for n in 0..512 {
                let from = base + n * span;
                if from >= end || from + span <= start {
                    continue;
                }
                let at = table + 8 * n;
                match ram.read::<u64>(at) {
                    Some(0) | None => {}
                    Some(_) if level == 0 => found.push((from, at)),
                    Some(entry) => open.push((level - 1, self.entries.frame(entry), from)),
                }
            }
        }
        found
    }

    fn area(&self, vaddr: u64) -> Option<Area> {
        self.map.areas.range(..=vaddr).next_back().map(|(_, a)| *a).filter(|a| vaddr < a.end)
    }

    /// Whether all of `start..end` may be asked for.
    pub fn inside(&self, start: u64, end: u64) -> bool {
        start < end && end <= self.limit
    }
    pub fn is_free(&self, start: u64, end: u64) -> bool {
        self.map.areas.range(..end).next_back().is_none_or(|(_, a)| a.end <= start)
    }
    /// How far from `at` on, up to `end`, all is free or all is one area, and that area's rights.
    pub fn span(&self, at: u64, end: u64) -> (u64, Option<Prot>) {
        match self.area(at) {
            Some(a) => (a.end.min(end), Some(a.prot)),
            None => (self.map.areas.range(at..end).next().map_or(end, |(start, _)| *start), None),
        }
    }
    /// Whether all of `start..end` is mapped.
    pub fn is_mapped(&self, start: u64, end: u64) -> bool {
        let mut at = start;
        while at < end {
            match self.area(at) {
                Some(a) => at = a.end,
                None => return false,
            }
        }
        true
    }
    /// Room for another mapping.
    pub fn has_room(&self) -> bool {
        self.map.areas.len() < MOST_AREAS
    }
    /// The highest free range of `len` bytes below the top for mappings.
    pub fn find_free(&self, len: u64) -> Option<u64> {
        let mut end = self.mmap_top;
        for (start, area) in self.map.areas.range(..self.mmap_top).rev() {
            if end.checked_sub(len).is_some_and(|from| from >= area.end) {
                break;
            }
            end = end.min(*start);
        }
        // The first page stays unmapped.
        end.checked_sub(len).filter(|from| *from >= 16 * PAGE)
    }

    /// Makes sure that an area starts at `at` when one covers it.
    fn split(&mut self, at: u64) {
        if let Some((_, area)) = self.map.areas.range_mut(..at).next_back() {
            if at < area.end {
                let rest = *area;
                area.end = at;
                self.map.areas.insert(at, rest);
            }
        }
    }

    /// Maps zeroed pages, in place of what was there. Addresses are multiples of a page.
    pub fn map(&mut self, ram: &mut PhysMem, start: u64, end: u64, prot: Prot) {
        self.unmap(ram, start, end);
        let mut area = Area { end, prot };
        let mut at = start;
        if let Some((before, a)) = self.map.areas.range(..start).next_back() {
            if a.end == start && a.prot == prot {
                at = *before;
            }
        }
        if let Some(after) = self.map.areas.get(&end).copied().filter(|a| a.prot == prot) {
            self.map.areas.remove(&end);
            area.end = after.end;
        }
        self.map.areas.insert(at, area);
    }

    /// Unmaps, and frees the frames.
    pub fn unmap(&mut self, ram: &mut PhysMem, start: u64, end: u64) {
        if self.is_free(start, end) {
            return;
        }
        self.split(start);
        self.split(end);
        let gone: Vec<u64> = self.map.areas.range(start..end).map(|(s, _)| *s).collect();
        for s in gone {
            self.map.areas.remove(&s);
        }
        self.discard(ram, start, end);
    }

    /// Frees the frames of mapped pages: they read as zeros again.
    pub fn discard(&mut self, ram: &mut PhysMem, start: u64, end: u64) {
        for (_, at) in self.leaves(ram, start, end) {
            if let Some(entry) = ram.read::<u64>(at) {
                self.frames.freed.push(self.entries.frame(entry));
                // Inside RAM: it has just been read.
                let _ = ram.write::<u64>(at, 0);
                self.stale = true;
            }
        }
    }

    /// Changes the rights of mapped pages.
    pub fn protect(&mut self, ram: &mut PhysMem, start: u64, end: u64, prot: Prot) {
        self.split(start);
        self.split(end);
        for (_, area) in self.map.areas.range_mut(start..end) {
            area.prot = prot;
        }
        for (_, at) in self.leaves(ram, start, end) {
            if let Some(entry) = ram.read::<u64>(at) {
                let _ = ram.write(at, self.entries.leaf(self.entries.frame(entry), prot));
                self.stale = true;
            }
        }
    }

    /// Moves the pages of one range to another of the same length, which is mapped with the same rights.
    pub fn relocate(&mut self, ram: &mut PhysMem, from: u64, len: u64, to: u64) -> Result<(), Refused> {
        let Some(area) = self.area(from) else { return Err(Refused::Fault) };
        self.map(ram, to, to + len, area.prot);
        for (page, at) in self.leaves(ram, from, from + len) {
            let entry = ram.read::<u64>(at).ok_or(Refused::Fault)?;
            let slot = self.slot(ram, to + (page - from), true).ok_or(Refused::OutOfMemory)?;
            ram.write(slot, entry).and_then(|()| ram.write(at, 0u64)).ok_or(Refused::Fault)?;
        }
        self.unmap(ram, from, from + len);
        self.stale = true;
        Ok(())
    }

    /// The rights of the page that holds `vaddr`.
    pub fn rights(&self, vaddr: u64) -> Option<Prot> {
        self.area(vaddr).map(|a| a.prot)
    }

    /// Gives the page a frame unless it has one; the physical address of `vaddr`. The caller has looked at its rights.
    fn back(&mut self, ram: &mut PhysMem, vaddr: u64, prot: Prot) -> Result<u64, Refused> {
        let slot = self.slot(ram, vaddr, true).ok_or(Refused::OutOfMemory)?;
        let mut entry = ram.read::<u64>(slot).ok_or(Refused::OutOfMemory)?;
        if entry == 0 {
            let frame = self.frames.frame(ram).ok_or(Refused::OutOfMemory)?;
            entry = self.entries.leaf(frame, prot);
            ram.write(slot, entry).ok_or(Refused::OutOfMemory)?;
        }
        Ok(self.entries.frame(entry) + (vaddr & (PAGE - 1)))
    }

    /// The physical address of `vaddr` for an access that needs the rights `wanted`.
    pub fn touch(&mut self, ram: &mut PhysMem, vaddr: u64, wanted: Prot) -> Result<u64, Refused> {
        let prot = self.rights(vaddr).ok_or(Refused::Fault)?;
        let readable = prot.has(Prot::WRITE) && self.entries.isa == IsaName::Riscv;
        let effective = if readable { prot.with(Prot::READ) } else { prot };
        // x86 has no page that can be written or executed but not read.
        let effective =
            if self.entries.isa == IsaName::X86 && prot != Prot::NONE { prot.with(Prot::READ) } else { effective };
        if !effective.has(wanted) {
            return Err(Refused::Fault);
        }
        self.back(ram, vaddr, prot)
    }

    /// Writes whatever the rights: the loader.
    pub fn put(&mut self, ram: &mut PhysMem, vaddr: u64, bytes: &[u8]) -> Result<(), Refused> {
        for (at, part) in pieces(vaddr, bytes) {
            let prot = self.rights(at).ok_or(Refused::Fault)?;
            let paddr = self.back(ram, at, prot)?;
            ram.slice_mut(paddr, part.len() as u64).ok_or(Refused::Fault)?.copy_from_slice(part);
        }
        Ok(())
    }

    /// Writes as the process may.
    pub fn write(&mut self, ram: &mut PhysMem, vaddr: u64, bytes: &[u8]) -> Result<(), Refused> {
        for (at, part) in pieces(vaddr, bytes) {
            let paddr = self.touch(ram, at, Prot::WRITE)?;
            ram.slice_mut(paddr, part.len() as u64).ok_or(Refused::Fault)?.copy_from_slice(part);
            // What is executable may have been decoded.
            self.stale |= self.rights(at).is_some_and(|p| p.has(Prot::EXEC));
        }
        Ok(())
    }

    /// Reads as the process may.
    pub fn read(&mut self, ram: &mut PhysMem, vaddr: u64, to: &mut [u8]) -> Result<(), Refused> {
        let mut done = 0;
        while done < to.len() {
            let at = vaddr.checked_add(done as u64).ok_or(Refused::Fault)?;
            let n = ((PAGE - (at & (PAGE - 1))) as usize).min(to.len() - done);
            let paddr = self.touch(ram, at, Prot::READ)?;
            to[done..done + n].copy_from_slice(ram.slice(paddr, n as u64).ok_or(Refused::Fault)?);
            done += n;
        }
        Ok(())
    }

    /// A string up to its NUL, at most `most` bytes; `None` when it is longer.
    pub fn read_string(&mut self, ram: &mut PhysMem, vaddr: u64, most: usize) -> Result<Option<Vec<u8>>, Refused> {
        let mut text = Vec::new();
        while text.len() <= most {
            let at = vaddr.checked_add(text.len() as u64).ok_or(Refused::Fault)?;
            let paddr = self.touch(ram, at, Prot::READ)?;
            let rest = ram.slice(paddr, PAGE - (at & (PAGE - 1))).ok_or(Refused::Fault)?;
            if let Some(end) = rest.iter().position(|b| *b == 0) {
                text.extend_from_slice(&rest[..end]);
                return Ok((text.len() <= most).then_some(text));
            }
            text.extend_from_slice(rest);
        }
        Ok(None)
    }
}

/// Bytes cut at page boundaries; what would wrap around is at an address that nothing maps.
fn pieces(vaddr: u64, bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut done = 0;
    std::iter::from_fn(move || {
        (done < bytes.len()).then(|| {
            let at = vaddr.saturating_add(done as u64);
            let n = ((PAGE - (at & (PAGE - 1))) as usize).min(bytes.len() - done);
            let part = &bytes[done..done + n];
            done += n;
            (at, part)
        })
    })
}

/// A range in whole pages; `None` when it wraps or is empty.
pub(super) fn whole_pages(start: u64, len: u64) -> Option<(u64, u64)> {
    let end = start.checked_add(len).filter(|e| *e <= u64::MAX - PAGE).map(up)?;
    (start & (PAGE - 1) == 0 && start < end).then_some((start, end))
}
