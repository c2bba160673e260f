//! The traces of a machine (O3PipeView, Exec) on their way into a file.

use std::io::Write;

/// What to trace.
#[derive(Clone, Copy, Debug)]
pub struct TraceOptions {
    /// Micro-ops fetched from this tick on and before that one (0: to the end).
    pub start: u64,
    pub end: u64,
    /// Bytes after which the trace ends; a micro-op takes some 250.
    pub limit: u64,
    /// O3PipeView: the stages of each micro-op, of an out-of-order core or Minor.
    pub pipeline: bool,
    /// With the functional unit of each.
    pub units: bool,
    /// Exec: each instruction, of any core.
    pub instructions: bool,
}

/// Where a trace goes.
pub(crate) struct Trace {
    pub to: Box<dyn Write + Send + Sync>,
    pub left: u64,
    pub truncated: bool,
}

/// Instructions run between two looks at the trace, which is also how late a store's record may come: gem5's viewer sorts
/// within a thousand.
pub(crate) const TRACE_SLICE: u64 = 1 << 8;

impl Trace {
    /// Takes what the core has recorded; the error is what the host says, `Ok(false)` that the trace is full.
    /// `last_line`: how the last line of a record begins, empty: a record is a line.
    pub fn drain(&mut self, records: &str, last_line: &str) -> std::io::Result<bool> {
        let room = usize::try_from(self.left).unwrap_or(usize::MAX);
        let fits = if records.len() <= room {
            records.len()
        } else {
            self.truncated = true;
            let end_of = |at: usize| records[at..].find('\n').map_or(records.len(), |n| at + n + 1);
            records
                .match_indices(last_line)
                .map(|(at, _)| end_of(at))
                .take_while(|&end| end <= room)
                .last()
                .unwrap_or(0)
        };
        self.to.write_all(&records.as_bytes()[..fits])?;
        self.left -= fits as u64;
        if self.truncated {
            self.left = 0;
        }
        Ok(!self.truncated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("not poisoned").extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_trace_ends_at_its_limit_with_a_whole_record() {
        const LAST: &str = "O3PipeView:retire:";
        let record = "O3PipeView:fetch:1:0x0:0:1:  nop\nO3PipeView:retire:2:store:0\n";
        let file = Shared::default();
        let mut t = Trace { to: Box::new(file.clone()), left: 3 * record.len() as u64 - 1, truncated: false };
        assert!(t.drain(record, LAST).expect("written"));
        assert!(!t.drain(&record.repeat(5), LAST).expect("written"), "full");
        assert!(!t.drain(record, LAST).expect("written"), "stays full");
        assert_eq!(*file.0.lock().expect("not poisoned"), record.repeat(2).into_bytes());
    }
}
