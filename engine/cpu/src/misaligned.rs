//! What a misaligned access costs, on every core: one access becomes the fragments that the memory port carries and the
//! extra cycles that the description asks for (`cpu.misaligned`, see `docs/description.md`).
//!
//! The costs that hardware shows for crossing an access granule, a line and a page differ between loads and stores and
//! between machines; published measurements give them as cycles above the aligned access, so that is what the
//! parameters are. All zero (the default) is gem5's behaviour: only the second fragment of a line crossing costs its slot.

use breakeven_base::{ConfigError, MemRef, PAGE};

/// `cpu.misaligned`: extra cycles by what an access crosses. The default changes nothing against gem5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MisalignedCosts {
    /// Bytes, a power of two; 0: the line. An access inside one granule is free.
    pub granule: u32,
    pub granule_cross_load: u32,
    pub granule_cross_store: u32,
    pub line_cross_load: u32,
    pub line_cross_store: u32,
    pub page_cross_load: u32,
    pub page_cross_store: u32,
    /// Extra cycles the memory pipeline stays occupied by an access that crosses.
    pub split_slots: u32,
    /// Further ones where that access is a store.
    pub split_store_slots: u32,
    /// `policy = "emulate"`: every misaligned access stops the core for `emulate_cycles + size * emulate_cycles_per_byte`
    /// cycles, standing for firmware; the crossing costs above do not come on top.
    pub emulate: bool,
    pub emulate_cycles: u32,
    pub emulate_cycles_per_byte: u32,
}

/// One access as the memory port sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Bytes before the boundary; the access is in one piece when this is its size.
    pub first: u16,
    /// Cycles by which the result is late.
    pub extra: u32,
    /// Cycles for which nothing else enters the memory pipeline.
    pub slots: u32,
    /// Cycles for which the core stands still before the access (`emulate`).
    pub stall: u32,
}

impl MisalignedCosts {
    /// # Errors
    /// A granule that is not a power of two, or latencies that could not be meant.
    pub fn check(&self, path: &str) -> Result<(), Vec<ConfigError>> {
        let mut errors = Vec::new();
        if self.granule != 0 && !self.granule.is_power_of_two() {
            errors.push(ConfigError::new(
                format!("{path}.granule"),
                format!("{} is not a power of two; use 8, 16, 32, 64, ... or 0 for the line", self.granule),
            ));
        }
        let costs = [
            ("granule_cross_load", self.granule_cross_load),
            ("granule_cross_store", self.granule_cross_store),
            ("line_cross_load", self.line_cross_load),
            ("line_cross_store", self.line_cross_store),
            ("page_cross_load", self.page_cross_load),
            ("page_cross_store", self.page_cross_store),
            ("split_slots", self.split_slots),
            ("split_store_slots", self.split_store_slots),
            ("emulate_cycles", self.emulate_cycles),
            ("emulate_cycles_per_byte", self.emulate_cycles_per_byte),
        ];
        for (name, value) in costs {
            if value > MAX_COST {
                errors.push(ConfigError::new(
                    format!("{path}.{name}"),
                    format!("{value} cycles; at most {MAX_COST} make sense"),
                ));
            }
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(errors)
        }
    }

    /// Splits `mem` at the memory port's width (`port` bytes, a power of two; `line` bytes are a cache line) and adds up its costs.
    #[inline]
    #[must_use]
    pub fn split(&self, mem: &MemRef, is_store: bool, port: u32, line: u32) -> Split {
        let size = u64::from(mem.size);
        let to_port = u64::from(port) - (mem.vaddr & u64::from(port - 1));
        let mut split = Split { first: mem.size, ..Split::default() };
        if size > to_port {
            #[allow(clippy::cast_possible_truncation)] // smaller than `size`
            {
                split.first = to_port as u16;
            }
        }
        // Most accesses are aligned, and an aligned one crosses nothing.
        if mem.vaddr & (size.next_power_of_two() - 1) == 0 {
            return split;
        }
        self.add_costs(&mut split, mem, is_store, line);
        split
    }

    #[cold]
    fn add_costs(&self, split: &mut Split, mem: &MemRef, is_store: bool, line: u32) {
        let size = u64::from(mem.size);
        if self.emulate {
            // Hardware does what a vector instruction with aligned elements moves.
            if mem.element != 0 && mem.vaddr & u64::from(mem.element - 1) == 0 {
                return;
            }
            let per_byte = u32::from(mem.size).saturating_mul(self.emulate_cycles_per_byte);
            split.stall = self.emulate_cycles.saturating_add(per_byte);
            return;
        }
        let crosses = |unit: u64| (mem.vaddr & (unit - 1)) + size > unit;
        let pick = |load: u32, store: u32| if is_store { store } else { load };
        let granule = if self.granule == 0 { line } else { self.granule };
        if crosses(PAGE) {
            split.extra = pick(self.page_cross_load, self.page_cross_store);
        } else if crosses(u64::from(line)) {
            split.extra = pick(self.line_cross_load, self.line_cross_store);
        } else if crosses(u64::from(granule)) {
            split.extra = pick(self.granule_cross_load, self.granule_cross_store);
        } else {
            return;
        }
        split.slots = self.split_slots.saturating_add(pick(0, self.split_store_slots));
    }
}

/// All that is wrong with the costs of the core at `path`.
#[must_use]
pub fn check_costs(path: &str, scalar: &MisalignedCosts, vector: Option<&MisalignedCosts>) -> Vec<ConfigError> {
    let all = [("misaligned", Some(scalar)), ("vector_misaligned", vector)];
    let checked = all.into_iter().filter_map(|(name, costs)| costs?.check(&format!("{path}.{name}")).err());
    checked.flatten().collect()
}

/// What accesses cost: those of scalar instructions and those of vector instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessCosts {
    scalar: MisalignedCosts,
    vector: MisalignedCosts,
}

impl AccessCosts {
    /// `vector`: `cpu.vector_misaligned`; without it vector accesses cost what scalar ones do.
    #[must_use]
    pub fn new(scalar: MisalignedCosts, vector: Option<MisalignedCosts>) -> Self {
        AccessCosts { scalar, vector: vector.unwrap_or(scalar) }
    }

    /// As [`MisalignedCosts::split`], by what `mem` belongs to.
    #[inline]
    #[must_use]
    pub fn split(&self, mem: &MemRef, is_store: bool, port: u32, line: u32) -> Split {
        let costs = if mem.element != 0 { &self.vector } else { &self.scalar };
        costs.split(mem, is_store, port, line)
    }

    /// Whether firmware emulates accesses of either kind.
    #[inline]
    #[must_use]
    pub fn emulate(&self) -> bool {
        self.scalar.emulate | self.vector.emulate
    }

    /// Nothing is described: gem5's behaviour.
    #[must_use]
    pub fn are_gem5s(&self) -> bool {
        *self == AccessCosts::default()
    }

    /// Bytes of the units inside which a scalar and a vector access are free; lines have `line` bytes.
    #[must_use]
    pub fn granules(&self, line: u32) -> [u32; 2] {
        [self.scalar.granule, self.vector.granule].map(|g| if g == 0 { line } else { g })
    }
}

/// Beyond this a cost is a typing error.
const MAX_COST: u32 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use breakeven_base::PhysAddr;

    fn at(vaddr: u64, size: u16) -> MemRef {
        MemRef { vaddr, paddr: PhysAddr(vaddr), size, valid: true, ..MemRef::default() }
    }

    fn costs() -> MisalignedCosts {
        MisalignedCosts {
            granule: 16,
            granule_cross_load: 1,
            granule_cross_store: 2,
            line_cross_load: 3,
            line_cross_store: 4,
            page_cross_load: 5,
            page_cross_store: 6,
            split_slots: 7,
            split_store_slots: 2,
            ..MisalignedCosts::default()
        }
    }

    #[test]
    fn each_boundary_has_its_cost() {
        let c = costs();
        for (addr, load, store) in [(0x1001, 0, 0), (0x100c, 1, 2), (0x103c, 3, 4), (0x1ffc, 5, 6)] {
            assert_eq!(c.split(&at(addr, 8), false, 64, 64).extra, load, "load at {addr:#x}");
            assert_eq!(c.split(&at(addr, 8), true, 64, 64).extra, store, "store at {addr:#x}");
        }
        assert_eq!(c.split(&at(0x1001, 8), false, 64, 64).slots, 0);
        assert_eq!(c.split(&at(0x103c, 8), false, 64, 64).slots, 7);
        assert_eq!(c.split(&at(0x103c, 8), true, 64, 64).slots, 9);
    }

    #[test]
    fn fragments_follow_the_port_not_the_costs() {
        let c = MisalignedCosts::default();
        assert_eq!(c.split(&at(0x103c, 8), false, 64, 64).first, 4);
        assert_eq!(c.split(&at(0x1038, 8), false, 64, 64).first, 8);
        assert_eq!(c.split(&at(0x1004, 8), false, 8, 64).first, 4);
        assert_eq!(c.split(&at(0x1000, 16), false, 8, 64).first, 8);
    }

    #[test]
    fn emulation_replaces_the_crossing_costs() {
        let c = MisalignedCosts { emulate: true, emulate_cycles: 100, emulate_cycles_per_byte: 10, ..costs() };
        let s = c.split(&at(0x1ffc, 8), false, 64, 64);
        assert_eq!((s.stall, s.extra, s.slots), (180, 0, 0));
        assert_eq!(c.split(&at(0x1ff8, 8), false, 64, 64).stall, 0);
        let pieces = |element, addr| c.split(&MemRef { element, ..at(addr, 16) }, false, 64, 64).stall;
        assert_eq!((pieces(4, 0x1004), pieces(4, 0x1005), pieces(0, 0x1004)), (0, 260, 260));
    }

    #[test]
    fn vectors_have_costs_of_their_own_or_the_scalar_ones() {
        let vector = MisalignedCosts { granule: 8, granule_cross_load: 9, ..MisalignedCosts::default() };
        let own = AccessCosts::new(costs(), Some(vector));
        let cost = |c: &AccessCosts, element| c.split(&MemRef { element, ..at(0x100c, 8) }, false, 64, 64).extra;
        assert_eq!((cost(&own, 0), cost(&own, 4)), (1, 9));
        assert_eq!((own.granules(64), own.emulate()), ([16, 8], false));
        let shared = AccessCosts::new(costs(), None);
        assert_eq!((cost(&shared, 0), cost(&shared, 4)), (1, 1));
        assert!(AccessCosts::default().are_gem5s() && !shared.are_gem5s());
    }

    #[test]
    fn a_granule_must_be_a_power_of_two() {
        assert!(MisalignedCosts { granule: 12, ..MisalignedCosts::default() }.check("cpu.misaligned").is_err());
        assert!(costs().check("cpu.misaligned").is_ok());
    }
}
