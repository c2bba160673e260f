//! Which micro-op register holds each group of flags as the program runs, and what reading them together costs.

use breakeven_base::{OpClass, Reg, Uop, UopFlags, MAX_UOPS};

use super::{flag_name, uop, GROUPS};
use crate::config::FlagMerge;
use crate::flags::FlagGroups;
use crate::regs::{C, Z};

type F = UopFlags;

/// Which register holds each group of flags, and the last writer.
pub(crate) struct FlagRenamer<'a> {
    pub holders: &'a mut [Reg; 3],
    pub policy: FlagMerge,
}

impl FlagRenamer<'_> {
    /// Replaces group names among the sources by their holders and applies the merge policy.
    /// The first `from` read none.
    pub fn read(&mut self, uops: &mut [Uop; MAX_UOPS], from: u8, n: &mut usize) {
        let mut k = usize::from(from);
        while k < *n {
            let mut apart = false;
            let last = self.holders[2];
            for s in &mut uops[k].src {
                if (C.0..=Z.0).contains(&s.0) {
                    *s = self.holders[usize::from(s.0 - C.0)];
                    apart |= *s != last;
                }
            }
            if apart && self.policy != FlagMerge::None {
                if self.policy == FlagMerge::Stall {
                    // Fused micro-ops are renamed as one: a fused load waits with its reader.
                    let mut first = k;
                    while first > 0 && uops[first].flags.any(F::MICRO_FUSED) {
                        first -= 1;
                    }
                    uops[first].flags |= F::FLAG_STALL;
                } else if *n < MAX_UOPS {
                    uops.copy_within(k..*n, k + 1);
                    *n += 1;
                    let first = F::FIRST | F::FIRST_DECODER;
                    uops[k] = uop(OpClass::IntAlu, self.holders.to_owned(), [C, Reg::NONE], uops[k].flags & first);
                    uops[k + 1].flags &= !first;
                    for s in &mut uops[k + 1].src {
                        if (C.0..=Z.0).contains(&s.0) {
                            *s = C;
                        }
                    }
                    k += 1;
                }
                *self.holders = [C; 3];
            }
            k += 1;
        }
    }

    /// Records who holds the groups that have been written.
    #[inline]
    pub fn write(&mut self, written: FlagGroups) {
        let name = flag_name(written);
        for ((group, _), holders) in GROUPS.into_iter().zip(self.holders.iter_mut()) {
            if written.contains(group) {
                *holders = name;
            }
        }
    }
}
