//! The guest's console output: passed to a sink, or buffered.

use std::fmt;

/// Where output goes as it comes.
pub trait Sink: Send + Sync {
    /// Takes all of `bytes`.
    ///
    /// # Errors
    /// Linux's error number: what the guest's write gets.
    fn put(&mut self, bytes: &[u8]) -> Result<(), i32>;
}

/// One stream of a guest's output. Without a [`Sink`] it keeps [`Console::LIMIT`] bytes and refuses more.
#[derive(Default)]
pub struct Console {
    /// Buffered output; with a sink what has not been passed on yet.
    pub bytes: Vec<u8>,
    sink: Option<Box<dyn Sink>>,
    /// Why something was lost.
    failed: Option<i32>,
}

impl Clone for Console {
    /// A clone has no sink.
    fn clone(&self) -> Self {
        Console { bytes: self.bytes.clone(), sink: None, failed: self.failed }
    }
}

impl fmt::Debug for Console {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Console({} bytes, sink: {}, {:?})", self.bytes.len(), self.sink.is_some(), self.failed)
    }
}

impl Console {
    /// Bytes kept without a sink.
    pub const LIMIT: usize = 16 << 20;
    /// Devices print byte by byte: a sink gets lines, or this much.
    const LINE: usize = 4096;

    /// From now on everything goes to `sink`.
    pub fn set_sink(&mut self, sink: Box<dyn Sink>) {
        self.sink = Some(sink);
    }
    #[must_use]
    pub fn has_sink(&self) -> bool {
        self.sink.is_some()
    }

    /// All of `bytes`, at once.
    ///
    /// # Errors
    /// The sink's; EFBIG: there is none, and no room.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), i32> {
        let done = match &mut self.sink {
            Some(sink) => sink.put(bytes),
            None if bytes.len() > Self::LIMIT - self.bytes.len().min(Self::LIMIT) => Err(libc::EFBIG),
            None => {
                self.bytes.extend_from_slice(bytes);
                Ok(())
            }
        };
        self.failed = self.failed.or(done.err());
        done
    }

    /// Output of a device, which cannot report an error: [`Console::failure`] does.
    pub fn put(&mut self, bytes: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        if self.sink.is_none() {
            let _ = self.write(bytes);
            return;
        }
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= Self::LINE || bytes.contains(&b'\n') {
            self.flush();
        }
    }

    /// The sink gets what is left.
    pub fn flush(&mut self) {
        if self.sink.is_some() && !self.bytes.is_empty() {
            let bytes = std::mem::take(&mut self.bytes);
            let _ = self.write(&bytes);
        }
    }

    /// Why output was lost, if it was.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.failed.map(|number| match number {
            libc::EFBIG => {
                format!("the guest printed more than {} MiB, and nothing takes it as it comes", Self::LIMIT >> 20)
            }
            _ => format!(
                "cannot pass on what the guest prints: {}",
                crate::error::reason(&std::io::Error::from_raw_os_error(number))
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    struct Parts(Arc<Mutex<Vec<Vec<u8>>>>, usize);

    impl Sink for Parts {
        fn put(&mut self, bytes: &[u8]) -> Result<(), i32> {
            if self.1 == 0 {
                return Err(libc::ENOSPC);
            }
            self.1 -= 1;
            self.0.lock().expect("not poisoned").push(bytes.to_vec());
            Ok(())
        }
    }

    #[test]
    fn nothing_is_lost_without_a_word() {
        let mut kept = Console::default();
        kept.put(&vec![b'x'; Console::LIMIT - 1]);
        assert_eq!((kept.write(b"y"), kept.failure()), (Ok(()), None));
        assert_eq!(kept.write(b"z"), Err(libc::EFBIG));
        assert_eq!(kept.bytes.len(), Console::LIMIT);
        assert!(kept.failure().is_some_and(|f| f.contains("16 MiB")));
    }

    #[test]
    fn a_sink_gets_lines_and_what_is_left() {
        let parts = Arc::default();
        let mut c = Console::default();
        c.set_sink(Box::new(Parts(Arc::clone(&parts), 3)));
        for byte in b"one\ntw" {
            c.put(&[*byte]);
        }
        c.flush();
        c.flush();
        c.put(&[b'.'; 5000]);
        let got = parts.lock().expect("not poisoned").clone();
        assert_eq!(got, [b"one\n".to_vec(), b"tw".to_vec(), vec![b'.'; 5000]]);
        c.put(b"\n");
        assert!(c.failure().is_some_and(|f| f.contains("o space left")), "{:?}", c.failure());
    }
}
