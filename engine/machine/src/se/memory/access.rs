//! What the emulation itself reads and writes of a process's memory.

use breakeven_base::PhysMem;

use super::frames::Prot;
use super::{AddressSpace, Refused, PAGE};

impl AddressSpace {
    /// Writes whatever the rights: the loader.
    pub fn put(&mut self, ram: &mut PhysMem, vaddr: u64, bytes: &[u8]) -> Result<(), Refused> {
        for (at, part) in pieces(vaddr, bytes) {
            let prot = self.rights(at).ok_or(Refused::Fault)?;
            let paddr = self.ensure_frame(ram, at, prot)?;
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
