//! What waits in gem5 for committed stores to be written, and in a processor does not.

use super::*;

#[test]
fn system_instructions_wait_for_stores_in_gem5_only() {
    // A store of 40 cycles; then a system instruction, and an operation behind it.
    let system = Inst::op(OpClass::IntAlu, 5, &[]).flags(UopFlags::NON_SPECULATIVE | UopFlags::SERIALIZE_AFTER);
    let cycles = |own, behind| {
        let quirks = Gem5Quirks { gem5NonSpeculativeDrains: own, gem5RobEmptyDrains: behind, ..Gem5Quirks::ALL };
        let program = vec![Inst::store(1, 2, DATA, 8), system.clone(), add(3, 4)];
        cycles_with_data(40, O3Config { quirks, ..O3Config::default() }, program)
    };
    let neither = cycles(false, false);
    // The instruction itself waits; with that off, what is behind it waits, and the instruction's own five cycles are gone.
    let waits = [(true, true), (true, false), (false, true)].map(|(own, behind)| cycles(own, behind) - neither);
    assert_eq!(waits, [42, 42, 37]);
}
