//! Pipes between descriptors: bytes in memory.

use std::collections::VecDeque;

use super::errno::{Errno, EAGAIN, EPIPE};

/// Bytes that a pipe holds, as Linux's.
const CAPACITY: usize = 1 << 16;
/// `PIPE_BUF`: what is written in one piece.
pub(super) const WHOLE: usize = 4096;

/// One pipe. Descriptors that `dup` made share an end.
#[derive(Debug)]
struct Pipe {
    data: VecDeque<u8>,
    reader: bool,
    writer: bool,
}

/// All pipes.
#[derive(Debug, Default)]
pub(super) struct Pipes(Vec<Option<Pipe>>);

/// What can be done with an end now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ready {
    pub read: bool,
    pub write: bool,
    /// The other end is closed.
    pub hung_up: bool,
}

impl Pipes {
    /// A pipe with both ends open.
    pub fn make(&mut self) -> usize {
        let pipe = Some(Pipe { data: VecDeque::new(), reader: true, writer: true });
        match self.0.iter().position(Option::is_none) {
            Some(free) => {
                self.0[free] = pipe;
                free
            }
            None => {
                self.0.push(pipe);
                self.0.len() - 1
            }
        }
    }

    fn at(&mut self, n: usize) -> Result<&mut Pipe, Errno> {
        self.0.get_mut(n).and_then(Option::as_mut).ok_or(EPIPE)
    }

    pub fn close(&mut self, n: usize, writes: bool) {
        let Ok(pipe) = self.at(n) else { return };
        if writes {
            pipe.writer = false;
        } else {
            pipe.reader = false;
        }
        if !pipe.reader && !pipe.writer {
            self.0[n] = None;
        }
    }

    /// Takes what is there; EAGAIN: nothing yet.
    pub fn read(&mut self, n: usize, to: &mut [u8]) -> Result<usize, Errno> {
        let pipe = self.at(n)?;
        let len = to.len().min(pipe.data.len());
        if len == 0 && !to.is_empty() && pipe.writer {
            return Err(EAGAIN);
        }
        for (slot, byte) in to.iter_mut().zip(pipe.data.drain(..len)) {
            *slot = byte;
        }
        Ok(len)
    }

    /// Puts in what fits, up to [`WHOLE`] bytes all or nothing; EAGAIN: nothing does, EPIPE: nobody reads.
    pub fn write(&mut self, n: usize, from: &[u8]) -> Result<usize, Errno> {
        let pipe = self.at(n)?;
        if !pipe.reader {
            return Err(EPIPE);
        }
        let len = from.len().min(CAPACITY - pipe.data.len());
        if (len == 0 && !from.is_empty()) || (len < from.len() && from.len() <= WHOLE) {
            return Err(EAGAIN);
        }
        pipe.data.extend(&from[..len]);
        Ok(len)
    }

    /// Bytes that can be written; `None`: nobody reads.
    pub fn room(&self, n: usize) -> Option<usize> {
        let pipe = self.0.get(n).and_then(Option::as_ref).filter(|p| p.reader)?;
        Some(CAPACITY - pipe.data.len())
    }
    pub fn ready(&self, n: usize, writes: bool) -> Ready {
        match self.0.get(n).and_then(Option::as_ref) {
            // As Linux: a page of room.
            Some(p) if writes => Ready { read: false, write: p.data.len() + WHOLE <= CAPACITY, hung_up: !p.reader },
            Some(p) => Ready { read: !p.data.is_empty(), write: false, hung_up: !p.writer },
            None => Ready { read: false, write: false, hung_up: true },
        }
    }
}
