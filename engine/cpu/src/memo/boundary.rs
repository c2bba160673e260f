//! Where segments begin and end.

/// Where a segment may begin or end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// Fetch has taken a branch back to the head of a loop.
    Loop { head: u64 },
    /// Nothing is in flight any more.
    Empty,
    /// Fetch has been set to another stream.
    Stream,
}

impl Boundary {
    /// Whether it is in another loop than `earlier`.
    pub fn is_another(self, earlier: Boundary) -> bool {
        self != earlier && self != Boundary::Stream && earlier != Boundary::Stream
    }
}
