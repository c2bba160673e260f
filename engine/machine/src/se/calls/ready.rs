//! `poll` and `select`: files, devices and directories are always ready, pipes when there is something to take or room.

use super::super::errno::{Errno, EFAULT, EINVAL};
use super::super::process::signal;
use super::{Call, R};

const POLLIN: u16 = 1;
const POLLOUT: u16 = 4;
const POLLERR: u16 = 8;
const POLLHUP: u16 = 0x10;
const POLLNVAL: u16 = 0x20;
/// Descriptors of one `poll`, bits of one `select`.
const MOST: u64 = 1024;

impl Call<'_> {
    pub(super) fn ready_call(&mut self, name: &str) -> Option<R> {
        let timeout = match name {
            // Milliseconds; less than 0: for ever.
            "poll" => (self.args[2] as i32 >= 0).then_some(self.args[2]),
            "ppoll" => (self.args[2] != 0).then_some(0),
            _ => (self.args[4] != 0).then_some(0),
        };
        let ready = match name {
            "poll" | "ppoll" => self.poll(),
            "select" | "pselect6" => self.select(),
            _ => return None,
        };
        if ready == Ok(0) && timeout.is_none() && self.p.ended().is_none() {
            self.p.die(signal::KILL, "it waits for descriptors that nobody else could make ready");
        }
        Some(ready)
    }

    fn poll(&mut self) -> R {
        let (at, count) = (self.args[0], self.args[1]);
        if count > MOST {
            return Err(EINVAL);
        }
        let mut ready = 0;
        for n in 0..count {
            let entry = at.checked_add(8 * n).ok_or(EFAULT)?;
            let word = self.read_word(entry)?;
            let (fd, asked) = (word as u32, (word >> 32) as u16);
            let bit = |on: bool, bit: u16| if on { bit } else { 0 };
            let found = match self.p.files.ready(u64::from(fd)) {
                _ if fd >> 31 != 0 => 0,
                // A reader sees the end of the data, a writer its error.
                Ok(r) => {
                    asked & (bit(r.read, POLLIN) | bit(r.write, POLLOUT))
                        | bit(r.hung_up, if r.write { POLLERR } else { POLLHUP })
                }
                Err(_) => POLLNVAL,
            };
            ready += u64::from(found != 0);
            self.write(entry, &(word & 0xffff_ffff_ffff | u64::from(found) << 48).to_le_bytes())?;
        }
        Ok(ready)
    }

    fn select(&mut self) -> R {
        let [count, reads, writes, excepts, ..] = self.args;
        let count = u64::from(count as u32);
        if count > MOST {
            return Err(EINVAL);
        }
        let words = count.div_ceil(64);
        let mut results: Vec<(u64, Vec<u64>)> = Vec::new();
        let mut ready = 0;
        for (at, which) in [(reads, 0), (writes, 1), (excepts, 2)] {
            if at == 0 {
                continue;
            }
            let mut found = vec![0u64; words as usize];
            for n in 0..words {
                let asked = self.read_word(at.checked_add(8 * n).ok_or(EFAULT)?)?;
                let first = 64 * n;
                for bit in (0..64).filter(|bit| asked >> bit & 1 != 0 && first + bit < count) {
                    let r = self.p.files.ready(first + bit).map_err(|_| Errno(libc::EBADF))?;
                    if [r.read, r.write, false][which] {
                        found[n as usize] |= 1 << bit;
                        ready += 1;
                    }
                }
            }
            results.push((at, found));
        }
        for (at, found) in results {
            self.write_words(at, &found)?;
        }
        Ok(ready)
    }
}
