//! One tagged table: how its index is made.

use crate::bpred::counters::low_bits;

/// One tagged table; its entries are a range of the common vector.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub base: u32,
    /// Its number, from 1: how far the path is turned to the left, and `turn_back` to the right.
    pub bank: u32,
    pub turn_back: u32,
    pub log: u32,
    pub index_mask: u32,
    /// How far the address is shifted to be mixed with itself.
    pub spread: u32,
    pub tag_mask: u32,
    pub path_mask: u32,
    pub enabled: bool,
}

impl Table {
    pub fn new(base: u32, bank: u32, log: u32, tag: u32, path_bits: u32, enabled: bool) -> Self {
        Table {
            base,
            bank,
            // Negative for a number above the width: see the module's text.
            turn_back: log.wrapping_sub(bank) & 31,
            log,
            index_mask: low_bits(log) as u32,
            spread: log.abs_diff(bank) + 1,
            tag_mask: low_bits(tag) as u32,
            path_mask: low_bits(path_bits) as u32,
            enabled,
        }
    }

    #[inline]
    pub fn index(&self, pc: u32, folded: u32, path: u32) -> u32 {
        (pc ^ (pc >> self.spread) ^ folded ^ self.mix(path)) & self.index_mask
    }

    /// gem5's `F`: the path history folded to the index's width and turned by the table's number.
    #[inline]
    fn mix(&self, path: u32) -> u32 {
        let turn = |a: u32| ((a << self.bank) & self.index_mask).wrapping_add(a >> self.turn_back);
        let a = path & self.path_mask;
        turn((a & self.index_mask) ^ turn(a >> self.log))
    }
}
