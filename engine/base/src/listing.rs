//! An instruction as a listing shows it, of any instruction set.

/// One instruction of code that is looked at, not executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub address: u64,
    /// Bytes.
    pub len: u8,
    /// As an assembler writes it.
    pub text: String,
    /// The extensions beyond the base instruction set that a machine must have for it, by the names that machine descriptions
    /// give them (`enable_...`); those that no front end here executes by the manuals' names.
    pub needs: Vec<String>,
    /// Where a direct branch, jump or call goes.
    pub target: Option<u64>,
    /// A jump through a register: where it goes is not to be seen.
    pub indirect: bool,
    /// It never falls through: a jump, a return, or no instruction.
    pub ends: bool,
}
