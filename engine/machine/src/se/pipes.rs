//! Pipes between descriptors: bytes in memory. A named one is found by its file, which holds no bytes.

use std::collections::VecDeque;

use super::errno::{Errno, EAGAIN, EPIPE};
use super::host::Inode;

/// Bytes that a pipe holds, as Linux's.
const CAPACITY: usize = 1 << 16;
/// `PIPE_BUF`: what is written in one piece.
pub(super) const WHOLE: usize = 4096;

/// One pipe. Descriptors that `dup` made share an end; a named one can be opened more than once.
#[derive(Debug, Default)]
struct Pipe {
    data: VecDeque<u8>,
    /// Ends that are open: to read from, to write to; how often each has been opened.
    open: [usize; 2],
    opened: [u64; 2],
    file: Option<Inode>,
}

impl Pipe {
    fn is_read(&self) -> bool {
        self.open[0] > 0
    }
    fn is_written(&self) -> bool {
        self.open[1] > 0
    }
}

/// An end of a named pipe that has been opened, if the other one has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opening {
    pub pipe: usize,
    pub writes: bool,
    /// How often the other one had been opened; `None`: it was open.
    before: Option<u64>,
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
        self.insert(Pipe { open: [1; 2], ..Pipe::default() })
    }
    fn insert(&mut self, pipe: Pipe) -> usize {
        let pipe = Some(pipe);
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

    fn of_file(&self, file: Inode) -> Option<usize> {
        self.0.iter().position(|p| p.as_ref().is_some_and(|p| p.file == Some(file)))
    }
    /// Whether somebody has the named pipe open to read from it.
    pub fn is_read(&self, file: Inode) -> bool {
        self.of_file(file).and_then(|n| self.0[n].as_ref()).is_some_and(Pipe::is_read)
    }
    /// Opens an end of the named pipe.
    pub fn open(&mut self, file: Inode, writes: bool) -> Opening {
        let n = self.of_file(file).unwrap_or_else(|| self.insert(Pipe { file: Some(file), ..Pipe::default() }));
        let (own, other) = (usize::from(writes), usize::from(!writes));
        let mut before = None;
        if let Some(pipe) = &mut self.0[n] {
            pipe.open[own] += 1;
            pipe.opened[own] += 1;
            before = (pipe.open[other] == 0).then_some(pipe.opened[other]);
        }
        Opening { pipe: n, writes, before }
    }
    /// Whether `end` is one of that file.
    pub fn is_of(&self, end: &Opening, file: Inode, writes: bool) -> bool {
        end.writes == writes && self.of_file(file) == Some(end.pipe)
    }
    /// Whether the other end is open, or has been meanwhile.
    pub fn is_open(&self, end: &Opening) -> bool {
        let opened = self.0.get(end.pipe).and_then(Option::as_ref).map(|p| p.opened[usize::from(!end.writes)]);
        end.before.is_none() || end.before != opened
    }

    fn at(&mut self, n: usize) -> Result<&mut Pipe, Errno> {
        self.0.get_mut(n).and_then(Option::as_mut).ok_or(EPIPE)
    }

    pub fn close(&mut self, n: usize, writes: bool) {
        let Ok(pipe) = self.at(n) else { return };
        let end = &mut pipe.open[usize::from(writes)];
        *end = end.saturating_sub(1);
        if pipe.open == [0; 2] {
            self.0[n] = None;
        }
    }

    /// Takes what is there; EAGAIN: nothing yet.
    pub fn read(&mut self, n: usize, to: &mut [u8]) -> Result<usize, Errno> {
        let pipe = self.at(n)?;
        let len = to.len().min(pipe.data.len());
        if len == 0 && !to.is_empty() && pipe.is_written() {
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
        if !pipe.is_read() {
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
        let pipe = self.0.get(n).and_then(Option::as_ref).filter(|p| p.is_read())?;
        Some(CAPACITY - pipe.data.len())
    }
    pub fn ready(&self, n: usize, writes: bool) -> Ready {
        match self.0.get(n).and_then(Option::as_ref) {
            // As Linux: a page of room.
            Some(p) if writes => Ready { read: false, write: p.data.len() + WHOLE <= CAPACITY, hung_up: !p.is_read() },
            Some(p) => Ready { read: !p.data.is_empty(), write: false, hung_up: !p.is_written() },
            None => Ready { read: false, write: false, hung_up: true },
        }
    }
}
