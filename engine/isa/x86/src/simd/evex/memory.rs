//! Memory operands of EVEX instructions.

use breakeven_base::Bus;

use super::{low_bits, table, W};
use crate::cpu::R;
use crate::exec::Exec;
use crate::inst::InstFlags;

impl<B: Bus> Exec<'_, B> {
    /// The memory source: what it has again and again up to 64 bytes. Elements that are left out read as zero where loading
    /// them would fault.
    pub(super) fn wide_load(&mut self) -> R<W> {
        let (at, e) = (self.vector_address()?, self.i.evex);
        let bytes = usize::from(self.i.msize.min(64));
        let lanes = usize::from(e.length) / usize::from(e.element.max(1));
        let mut b = [0; 64];
        let suppresses = e.mask != 0 && e.element != 0 && table::suppresses_faults(self.i.op, self.i.nreg);
        let mask = if suppresses { self.opmask_value() & low_bits(lanes) } else { !0 };
        // One element for all, or fewer than there are lanes.
        let one_each = !e.broadcast && lanes > 0 && bytes >= lanes && table::loads_by_lane(self.i.op);
        if mask == 0 {
        } else if suppresses && one_each && !self.cpu.may_load(self.bus, at, bytes as u64) {
            let size = bytes / lanes;
            let (from, to) = (mask.trailing_zeros() as usize * size, (64 - mask.leading_zeros() as usize) * size);
            self.cpu.load_bytes(self.bus, self.now, at.wrapping_add(from as u64), &mut b[from..to])?;
        } else {
            self.cpu.load_bytes(self.bus, self.now, at, &mut b[..bytes])?;
        }
        Ok(W::repeated(&b, bytes))
    }

    /// Stores the elements that `mask` chooses of `bytes` bytes.
    pub(super) fn store_chosen(&mut self, b: &[u8; 64], bytes: usize, element: usize, mask: u64) -> R<()> {
        debug_assert!(!self.i.has(InstFlags::LOCK));
        let at = self.vector_address()?;
        let mask = mask & low_bits(bytes / element.max(1));
        if mask == 0 {
            return Ok(());
        }
        let (first, end) = (mask.trailing_zeros() as usize, 64 - mask.leading_zeros() as usize);
        let (from, to) = (first * element, end * element);
        let at = at.wrapping_add(from as u64);
        if low_bits(end - first) == mask >> first {
            return self.cpu.store_bytes(self.bus, self.now, at, &b[from..to]);
        }
        // Between them some keep what memory has.
        let mut merged = [0; 64];
        let refs = self.cpu.outcome.nrefs;
        self.cpu.probe_store(self.bus, at, (to - from) as u64)?;
        self.cpu.load_bytes(self.bus, self.now, at, &mut merged[from..to])?;
        self.cpu.outcome.nrefs = refs;
        for n in (from..to).filter(|n| mask >> (n / element) & 1 != 0) {
            merged[n] = b[n];
        }
        self.cpu.store_bytes(self.bus, self.now, at, &merged[from..to])
    }
}
