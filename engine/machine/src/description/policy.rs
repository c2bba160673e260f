//! What caches and prefetchers have in common.

use breakeven_memory::config::Replacement;

use super::reader::Obj;

/// Upper bound of a latency in cycles.
pub(super) const CYCLES: u32 = 100_000;

/// The policy that parameter `name` names.
pub(super) fn replacement(owner: Obj, name: &str) -> Replacement {
    let Some(policy) = owner.a_ref(name) else { return Replacement::Lru };
    policy.expect_class("replacement policy", &["LRURP", "TreePLRURP", "RandomRP", "FIFORP"]);
    match policy.class() {
        "TreePLRURP" => Replacement::TreePlru,
        "FIFORP" => Replacement::Fifo,
        // Fixed, and different per object so that two levels do not draw alike (FNV-1a of the path).
        "RandomRP" => Replacement::Random {
            seed: owner
                .path()
                .bytes()
                .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)),
            any_way: policy.bool_or("any_way", false),
        },
        _ => Replacement::Lru,
    }
}
