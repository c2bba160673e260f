//! Going back to a snapshot without allocating.

/// `Clone` field by field, with a `clone_from` that reuses every buffer: a sweep copies a snapshot into the same machine
/// thousands of times.
#[macro_export]
macro_rules! clone_by_field {
    ($t:ident { $($f:ident),* $(,)? }) => {
        impl Clone for $t {
            fn clone(&self) -> Self {
                $t { $($f: self.$f.clone()),* }
            }
            fn clone_from(&mut self, from: &Self) {
                $(self.$f.clone_from(&from.$f);)*
            }
        }
    };
}
