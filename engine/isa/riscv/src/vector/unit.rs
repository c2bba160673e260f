//! The vector state of a hart.

use crate::config::{VectorConfig, VectorTiming};

use super::cracked::Cracked;
use super::vtype::Vtype;

/// The vector state of a hart. Without vectors `vlenb` is 0 and the file empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct VectorUnit {
    /// Bytes of a register.
    pub vlenb: usize,
    /// Bytes of the datapath.
    pub dlenb: usize,
    pub timing: VectorTiming,
    /// v0..v31, one after the other: a register group is contiguous.
    pub file: Vec<u8>,
    pub vtype: Vtype,
    pub vl: u64,
    pub vstart: u64,
    pub vxrm: u8,
    pub vxsat: bool,
    /// A vector load or store is in progress.
    pub accesses: bool,
    /// Micro-ops of the instruction in progress.
    pub cracked: Cracked,
    /// Where an operation copies its sources: two groups of eight registers, and the mask.
    pub sources: Vec<u8>,
    /// The register files at the open forks, oldest first.
    saved: Vec<u8>,
}

/// What a fork saves of the vector state besides the register file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SavedVector {
    vtype: Vtype,
    vl: u64,
    vstart: u64,
    vxrm: u8,
    vxsat: bool,
}

impl VectorUnit {
    pub fn new(config: Option<VectorConfig>) -> VectorUnit {
        let Some(c) = config else { return VectorUnit::default() };
        let vlenb = c.vlen as usize / 8;
        VectorUnit {
            vlenb,
            dlenb: c.dlen as usize / 8,
            timing: c.timing,
            file: vec![0; 32 * vlenb],
            cracked: Cracked::new(),
            sources: vec![0; 17 * vlenb],
            ..VectorUnit::default()
        }
    }

    #[inline]
    pub fn exists(&self) -> bool {
        self.vlenb != 0
    }

    pub fn fork(&mut self) -> SavedVector {
        self.saved.extend_from_slice(&self.file);
        let (vtype, vl, vstart) = (self.vtype, self.vl, self.vstart);
        SavedVector { vtype, vl, vstart, vxrm: self.vxrm, vxsat: self.vxsat }
    }

    /// Back to the fork of depth `keep` + 1, whose state beside the file is `s`.
    pub fn rollback(&mut self, keep: usize, s: &SavedVector) {
        (self.vtype, self.vl, self.vstart) = (s.vtype, s.vl, s.vstart);
        (self.vxrm, self.vxsat) = (s.vxrm, s.vxsat);
        self.cracked.clear();
        let bytes = self.file.len();
        if let Some(file) = self.saved.get(keep * bytes..(keep + 1) * bytes) {
            self.file.copy_from_slice(file);
        }
        self.saved.truncate(keep * bytes);
    }

    /// Elements of a register group of `lmul` (a logarithm) with elements of `1 << sew` bytes.
    #[inline]
    pub fn vlmax(&self, sew: u8, lmul: i8) -> u64 {
        let bytes = self.vlenb as u64;
        let group = if lmul >= 0 { bytes << lmul } else { bytes >> -lmul };
        group >> sew
    }
}
