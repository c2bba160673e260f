//! Which rank, bank and row an address lies in.

use breakeven_base::PhysAddr;

use crate::config::{AddrMapping, DramConfig};

/// Where a burst lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dram) struct DramLocation {
    pub rank: u16,
    /// Over all ranks.
    pub bank: u16,
    pub row: u64,
}

/// How addresses map to ranks, banks and rows.
#[derive(Clone, Copy, Debug)]
pub(in crate::dram) struct Geometry {
    start: u64,
    pub burst: u64,
    pub bursts_per_row: u64,
    pub banks: u64,
    pub ranks: u64,
    pub rows: u64,
    mapping: AddrMapping,
}

impl Geometry {
    pub(super) fn new(c: &DramConfig) -> Self {
        let devices = u64::from(c.devices_per_rank);
        let burst = (devices * u64::from(c.burst_length) * u64::from(c.device_bus_width) / 8).max(1);
        let row_bytes = c.device_rowbuffer_size * devices;
        let (banks, ranks) = (u64::from(c.banks_per_rank), u64::from(c.ranks_per_channel));
        let capacity = (c.range.end - c.range.start).checked_next_power_of_two().unwrap_or(1 << 63);
        Geometry {
            start: c.range.start,
            burst,
            bursts_per_row: (row_bytes / burst).max(1),
            banks,
            ranks,
            rows: (capacity / (row_bytes * banks * ranks)).max(1),
            mapping: c.addr_mapping,
        }
    }

    pub fn decode(&self, addr: PhysAddr) -> DramLocation {
        let n = addr.0.wrapping_sub(self.start) / self.burst;
        // With one channel the two mappings with the column at the bottom are the same.
        let above = match self.mapping {
            AddrMapping::RoRaBaChCo | AddrMapping::RoRaBaCoCh => n / self.bursts_per_row,
            AddrMapping::RoCoRaBaCh => n,
        };
        let bank = above % self.banks;
        let rank = above / self.banks % self.ranks;
        let rest = above / self.banks / self.ranks;
        let row = match self.mapping {
            AddrMapping::RoCoRaBaCh => rest / self.bursts_per_row,
            _ => rest,
        };
        DramLocation { rank: rank as u16, bank: (rank * self.banks + bank) as u16, row: row % self.rows }
    }
}
