//! The memory of a process: areas as Linux keeps them, and real page tables in guest RAM that the front ends walk.
//!
//! Frames are handed out from the bottom of RAM when a page is first touched, as gem5 does; page tables from the top, where
//! no page of the process is ever mapped. An area is a promise and costs nothing, so a process may ask for more than there
//! is RAM; it ends when it touches too much of it.

mod access;
mod frames;
pub(super) mod shared;

use std::collections::BTreeMap;

use breakeven_base::PhysMem;

use self::frames::{Entries, Frames};
use self::shared::{Share, Shared};
use super::errno::{Errno, EFAULT, ENOMEM};
use crate::IsaName;

pub(super) use frames::Prot;

pub(super) use breakeven_base::PAGE;
/// Areas of one process, as Linux bounds them.
const MOST_AREAS: usize = 65_530;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Area {
    end: u64,
    prot: Prot,
    /// None: the process's own.
    share: Option<Share>,
}

/// Why an access or a request cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Nothing is mapped there, or not for this.
    Fault,
    /// RAM is full.
    OutOfMemory,
    /// Behind the end of the file, or of the shared memory, that is mapped there.
    Beyond,
}

impl From<Refused> for Errno {
    fn from(r: Refused) -> Errno {
        match r {
            Refused::Fault | Refused::Beyond => EFAULT,
            Refused::OutOfMemory => ENOMEM,
        }
    }
}

/// What one process has mapped, and its page tables. The default is nobody's: it has no table.
#[derive(Debug, Default)]
pub(super) struct Map {
    root: u64,
    areas: BTreeMap<u64, Area>,
}

impl Map {
    /// The area that covers an address, and where it starts.
    fn area(&self, vaddr: u64) -> Option<(u64, Area)> {
        self.areas.range(..=vaddr).next_back().map(|(start, a)| (*start, *a)).filter(|(_, a)| vaddr < a.end)
    }
}

/// See the module. All processes share the frames; the map is the running one's.
#[derive(Debug)]
pub(super) struct AddressSpace {
    entries: Entries,
    frames: Frames,
    pub shared: Shared,
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
        Some(AddressSpace { entries, frames, shared: Shared::default(), map, limit, mmap_top: limit, stale: false })
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

    /// A copy of the present map, with copies of all pages that have a frame and are not shared; `None`: RAM is full.
    /// Returns their number, too.
    pub fn copy(&mut self, ram: &mut PhysMem) -> Option<(Map, u64)> {
        let mut map = self.empty(ram)?;
        map.areas.clone_from(&self.map.areas);
        for (start, area) in &map.areas {
            area.share.inspect(|share| self.shared.show(*share, (area.end - start) / PAGE));
        }
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
        if to.area(page).is_some_and(|(_, area)| area.share.is_some()) {
            return ram.write(slot, entry);
        }
        let frame = self.frames.frame(ram)?;
        let from = self.entries.frame(entry);
        let bytes = ram.slice(from, PAGE)?.to_vec();
        ram.slice_mut(frame, PAGE)?.copy_from_slice(&bytes);
        ram.write(slot, self.entries.with_frame(entry, frame))
    }

    /// Frees the frames and tables of a map that is not the present one.
    pub fn free(&mut self, ram: &PhysMem, map: Map) {
        let mut open = vec![(self.entries.levels - 1, map.root, 0u64)];
        while let Some((level, table, base)) = open.pop() {
            for n in 0..512 {
                let at = base + (n << (12 + 9 * level));
                match ram.read::<u64>(table + 8 * n) {
                    Some(0) | None => {}
                    Some(entry) if level > 0 => open.push((level - 1, self.entries.frame(entry), at)),
                    Some(_) if map.area(at).is_some_and(|(_, area)| area.share.is_some()) => {}
                    Some(entry) => self.frames.freed.push(self.entries.frame(entry)),
                }
            }
            self.frames.freed_tables.push(table);
        }
        for (start, area) in map.areas {
            self.hide(ram, start, area);
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
        self.map.area(vaddr).map(|(_, area)| area)
    }
    /// What shared memory a page shows.
    pub fn share(&self, vaddr: u64) -> Option<Share> {
        let (start, area) = self.map.area(vaddr)?;
        area.share.map(|share| share.after((vaddr & !(PAGE - 1)) - start))
    }
    /// An area that shows shared memory is gone.
    fn hide(&mut self, ram: &PhysMem, start: u64, area: Area) {
        if let Some(share) = area.share {
            self.shared.hide(ram, &mut self.frames, share, (area.end - start) / PAGE);
        }
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
        if let Some((start, area)) = self.map.areas.range_mut(..at).next_back() {
            if at < area.end {
                let rest = Area { share: area.share.map(|share| share.after(at - start)), ..*area };
                area.end = at;
                self.map.areas.insert(at, rest);
            }
        }
    }

    /// Maps zeroed pages, in place of what was there. Addresses are multiples of a page.
    pub fn map(&mut self, ram: &mut PhysMem, start: u64, end: u64, prot: Prot) {
        self.unmap(ram, start, end);
        let mut area = Area { end, prot, share: None };
        let mut at = start;
        if let Some((before, a)) = self.map.areas.range(..start).next_back() {
            if a.end == start && a.prot == prot && a.share.is_none() {
                at = *before;
            }
        }
        if let Some(after) = self.map.areas.get(&end).copied().filter(|a| a.prot == prot && a.share.is_none()) {
            self.map.areas.remove(&end);
            area.end = after.end;
        }
        self.map.areas.insert(at, area);
    }

    /// As [`AddressSpace::map`], shared memory; `None`: the process's own.
    pub fn map_as(&mut self, ram: &mut PhysMem, start: u64, end: u64, prot: Prot, share: Option<Share>) {
        let Some(share) = share else { return self.map(ram, start, end, prot) };
        // It may be what was there.
        self.shared.show(share, (end - start) / PAGE);
        self.unmap(ram, start, end);
        self.map.areas.insert(start, Area { end, prot, share: Some(share) });
    }

    /// Unmaps, and frees the frames.
    pub fn unmap(&mut self, ram: &mut PhysMem, start: u64, end: u64) {
        if self.is_free(start, end) {
            return;
        }
        self.split(start);
        self.split(end);
        self.discard(ram, start, end);
        let gone: Vec<u64> = self.map.areas.range(start..end).map(|(s, _)| *s).collect();
        for s in gone {
            if let Some(area) = self.map.areas.remove(&s) {
                self.hide(ram, s, area);
            }
        }
    }

    /// Frees the frames of mapped pages: they read as zeros again, shared ones as the others see them.
    pub fn discard(&mut self, ram: &mut PhysMem, start: u64, end: u64) {
        for (page, at) in self.leaves(ram, start, end) {
            if let Some(entry) = ram.read::<u64>(at) {
                if self.share(page).is_none() {
                    self.frames.freed.push(self.entries.frame(entry));
                }
                // Inside RAM: it has just been read.
                let _ = ram.write::<u64>(at, 0);
                self.stale = true;
            }
        }
    }

    /// The shared memory that is mapped there: from where on, and how many bytes.
    pub fn shares(&self, start: u64, end: u64) -> Vec<(Share, u64)> {
        let areas = self.map.areas.range(..end).rev().take_while(|(_, a)| a.end > start);
        let part = |(from, a): (&u64, &Area)| {
            let (first, last) = (start.max(*from), end.min(a.end));
            a.share.map(|share| (share.after(first - from), last - first))
        };
        areas.filter_map(part).collect()
    }

    /// Whether what is mapped there may be made writable.
    pub fn may_be_written(&self, start: u64, end: u64) -> bool {
        self.shares(start, end).iter().all(|(share, _)| share.writable)
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
        self.map_as(ram, to, to + len, area.prot, self.share(from));
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
    fn ensure_frame(&mut self, ram: &mut PhysMem, vaddr: u64, prot: Prot) -> Result<u64, Refused> {
        let share = self.share(vaddr);
        let slot = self.slot(ram, vaddr, true).ok_or(Refused::OutOfMemory)?;
        let mut entry = ram.read::<u64>(slot).ok_or(Refused::OutOfMemory)?;
        if entry == 0 {
            let frame = match share {
                Some(share) => self.shared.frame(ram, &mut self.frames, share)?,
                None => self.frames.frame(ram).ok_or(Refused::OutOfMemory)?,
            };
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
        self.ensure_frame(ram, vaddr, prot)
    }
}

/// A range in whole pages; `None` when it wraps or is empty.
pub(super) fn whole_pages(start: u64, len: u64) -> Option<(u64, u64)> {
    let end = start.checked_add(len).filter(|e| *e <= u64::MAX - PAGE).map(up)?;
    (start & (PAGE - 1) == 0 && start < end).then_some((start, end))
}
