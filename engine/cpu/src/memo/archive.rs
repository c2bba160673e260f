//! The state of the pipeline between two cycles, relative to where it stands: numbers of micro-ops to the oldest in flight,
//! cycles to the next one, places in the load and store queue to their ends. Two states with the same bytes do the same
//! from there on, apart from where their memory references go, which stands beside the bytes.
//!
//! Each unit has one method, `archive`, that is both ways: it hands each of its fields over, to be written or to be read.
//! What is over, or unused, is written as one value whatever it holds, so that equal states have equal bytes.

use bitflags::Flags;
use breakeven_base::{Cycle, MemRef, OpClass, Reg, Tick, Uop, UopFlags, PAGE};

use crate::seq::Seq;

/// Where a pipeline stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Base {
    /// The oldest micro-op in flight.
    pub seq: Seq,
    /// The next cycle, and its tick.
    pub cycle: Cycle,
    pub tick: u64,
    /// What else the pipeline numbers from reset on: of O3 places in the load and in the store queue, and stores dispatched;
    /// of Minor streams and predictions.
    pub numbers: [u64; NUMBERS],
}

pub const NUMBERS: usize = 3;

/// What of addresses the pipeline looks at, beside whether two references overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRules {
    pub line: u64,
    /// Bytes of the unit by which violations are found, and of those by which misaligned scalar and vector accesses cost.
    pub granule: u64,
    pub costs: [u64; 2],
    /// References whose units of so many bytes are others do not touch each other.
    pub apart: u64,
    /// Overlaps are those of physical addresses.
    pub physical: bool,
}

impl AddressRules {
    /// The address by which references overlap.
    #[inline]
    pub fn place_of(&self, m: &MemRef) -> u64 {
        if self.physical {
            m.paddr.0
        } else {
            m.vaddr
        }
    }

    /// All that the pipeline sees of a reference but for its overlaps with others: two of one class are treated alike.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // fields of their own width
    pub fn class_of(&self, m: &MemRef) -> u64 {
        if !m.valid {
            return 0;
        }
        let size = u64::from(m.size);
        let crosses = |unit: u64| (m.vaddr & (unit - 1)) + size > unit;
        let mut bits = size | u64::from(m.page_shift & 63) << 16 | (m.kind as u64) << 24;
        bits |= u64::from(m.uncacheable) << 32
            | u64::from(m.valid) << 33
            | u64::from(u8::BITS - m.element.leading_zeros()) << 37;
        let granule = if m.kind.acts_on_line() { self.line.max(self.granule) } else { self.granule };
        bits |= (m.vaddr & (granule - 1)) << 48;
        if m.vaddr & (size.next_power_of_two() - 1) != 0 {
            bits |= 1 << 34
                | u64::from(crosses(self.costs[usize::from(m.element != 0)])) << 35
                | u64::from(crosses(PAGE)) << 36;
            // Firmware emulates a vector's where its elements are misaligned.
            let is_element_aligned = m.element != 0 && m.vaddr & u64::from(m.element - 1) == 0;
            bits |= u64::from(is_element_aligned) << 22;
            if crosses(self.line) {
                bits |= (self.line - (m.vaddr & (self.line - 1))) << 40;
            }
        }
        bits
    }
}

/// A reference in flight, and which micro-op's it is.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// Relative to [`Base::seq`].
    pub seq: i32,
    pub mem: MemRef,
}

/// Bytes of the longest state that is written: a machine with 512 micro-ops in flight takes half of it.
const LONGEST: usize = 128 << 10;

/// A state that has been written.
#[derive(Clone, Debug, Default)]
pub struct Written {
    buffer: Box<[u8]>,
    used: usize,
    /// The references in flight.
    pub references: Vec<Reference>,
}

impl Written {
    pub fn new() -> Self {
        Written { buffer: vec![0; LONGEST].into_boxed_slice(), used: 0, references: Vec::new() }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.used]
    }

    /// Writes what `archive` hands over. False: it has no relative form.
    pub fn write(&mut self, base: Base, rules: AddressRules, archive: impl FnOnce(&mut Archive)) -> bool {
        self.references.clear();
        let mode = Mode::Save { free: &mut self.buffer, references: &mut self.references };
        let mut a = Archive { mode, base, rules, refused: false };
        archive(&mut a);
        let (refused, left) = (a.refused, a.left());
        self.used = self.buffer.len() - left;
        !refused
    }
}

enum Mode<'a> {
    Save { free: &'a mut [u8], references: &'a mut Vec<Reference> },
    Load { bytes: &'a [u8], references: &'a [MemRef] },
}

/// One pass over the state, to write it or to read it.
pub struct Archive<'a> {
    mode: Mode<'a>,
    pub base: Base,
    pub rules: AddressRules,
    /// This state cannot be written: something is under way that has no relative form.
    pub refused: bool,
}

const NONE: i32 = i32::MIN;
const NEVER: Cycle = Cycle::MAX;

macro_rules! plain {
    ($($name:ident: $type:ty, $bytes:literal;)*) => {$(
        #[inline]
        pub fn $name(&mut self, value: &mut $type) {
            match &mut self.mode {
                Mode::Save { free, .. } => self.refused |= !put(free, value.to_le_bytes()),
                Mode::Load { bytes, .. } => *value = <$type>::from_le_bytes(take::<$bytes>(bytes)),
            }
        }
    )*};
}

/// The next bytes; nothing is left over or missing as long as both ways hand the same fields over.
#[inline]
fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let (first, rest) = bytes.split_first_chunk::<N>().unwrap_or((&[0; N], &[]));
    *bytes = rest;
    *first
}

/// Writes bytes, if there is room.
#[inline]
fn put<const N: usize>(free: &mut &mut [u8], bytes: [u8; N]) -> bool {
    match std::mem::take(free).split_first_chunk_mut::<N>() {
        Some((first, rest)) => {
            *first = bytes;
            *free = rest;
            true
        }
        None => false,
    }
}

impl<'a> Archive<'a> {
    /// `references`: of each reference, in the order in which they were saved.
    pub fn load(bytes: &'a [u8], references: &'a [MemRef], base: Base, rules: AddressRules) -> Archive<'a> {
        Archive { mode: Mode::Load { bytes, references }, base, rules, refused: false }
    }

    #[inline]
    pub fn loads(&self) -> bool {
        matches!(self.mode, Mode::Load { .. })
    }

    /// Bytes and references that have not been read, or bytes that may still be written.
    pub fn left(&self) -> usize {
        match &self.mode {
            Mode::Save { free, .. } => free.len(),
            Mode::Load { bytes, references } => bytes.len() + references.len(),
        }
    }

    /// This state cannot be written if `so`.
    #[inline]
    pub fn refuse(&mut self, so: bool) {
        self.refused |= so;
    }

    /// What is not written, since it always is `value` where it matters.
    #[inline]
    pub fn empty<T>(&mut self, field: &mut T, value: T) {
        if self.loads() {
            *field = value;
        }
    }

    plain! {
        u8: u8, 1;
        u16: u16, 2;
        u32: u32, 4;
        u64: u64, 8;
        i32: i32, 4;
        i64: i64, 8;
    }

    /// Several small fields at once.
    #[inline]
    pub fn word(&mut self, value: &mut [u8; 8]) {
        let mut word = u64::from_le_bytes(*value);
        self.u64(&mut word);
        *value = word.to_le_bytes();
    }

    #[inline]
    pub fn flag(&mut self, value: &mut bool) {
        let mut byte = u8::from(*value);
        self.u8(&mut byte);
        *value = byte != 0;
    }

    /// Whether something is there; written before what it is.
    #[inline]
    pub fn present(&mut self, value: bool) -> bool {
        let mut there = value;
        self.flag(&mut there);
        there
    }

    /// One of the variants of an enumeration, all of which `all` lists.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // few variants
    pub fn one_of<T: Copy + PartialEq>(&mut self, value: &mut T, all: &[T]) {
        let mut index = all.iter().position(|v| v == value).unwrap_or(0) as u8;
        self.u8(&mut index);
        *value = all[usize::from(index) % all.len()];
    }

    #[inline]
    fn relative(&mut self, value: &mut u64, to: u64) {
        #[allow(clippy::cast_possible_truncation)] // refused where it does not fit
        let mut distance = value.wrapping_sub(to) as i32;
        if !self.loads() {
            self.refuse(to.wrapping_add_signed(distance.into()) != *value);
        }
        self.i32(&mut distance);
        *value = to.wrapping_add_signed(distance.into());
    }

    /// The number of a micro-op, in flight or not.
    #[inline]
    pub fn seq(&mut self, value: &mut Seq) {
        let base = self.base.seq.0;
        self.relative(&mut value.0, base);
    }

    /// The number of a micro-op in flight. 0, and whatever has left, are written as none and read as 0.
    #[inline]
    pub fn seq_in_flight(&mut self, value: &mut Seq) {
        let base = self.base.seq;
        #[allow(clippy::cast_possible_truncation)] // refused where it does not fit
        let mut distance = if *value < base { NONE } else { value.distance(base) as i32 };
        self.i32(&mut distance);
        *value = if distance == NONE { Seq::NONE } else { base.at_distance(distance.into()) };
    }

    /// As [`Archive::seq_in_flight`], but for those that have left lately, too; 0 is none.
    #[inline]
    pub fn seq_or_none(&mut self, value: &mut Seq) {
        let there = self.present(value.is_some());
        if there {
            self.seq(value);
        } else {
            *value = Seq::NONE;
        }
    }

    /// A cycle to come, or [`Cycle::MAX`]; one that is over is read as 0.
    #[inline]
    pub fn cycle(&mut self, value: &mut Cycle) {
        let base = self.base.cycle;
        let mut ahead = match *value {
            NEVER => u32::MAX,
            past if past < base => 0,
            #[allow(clippy::cast_possible_truncation)] // refused where it does not fit
            at => (at - base + 1) as u32,
        };
        if !self.loads() && *value != NEVER && *value >= base {
            self.refuse(*value - base >= u64::from(u32::MAX) - 1);
        }
        self.u32(&mut ahead);
        *value = match ahead {
            u32::MAX => NEVER,
            0 => Cycle::ZERO,
            n => base + u64::from(n) - 1,
        };
    }

    /// A cycle that may be over and counts all the same.
    #[inline]
    pub fn cycle_then(&mut self, value: &mut Cycle) {
        self.relative(&mut value.0, self.base.cycle.0);
    }

    /// An instant to come; one before the next cycle is read as 0.
    #[inline]
    pub fn tick(&mut self, value: &mut Tick) {
        let base = self.base.tick;
        let mut ahead = if value.0 < base { 0 } else { value.0 - base + 1 };
        self.u64(&mut ahead);
        value.0 = if ahead == 0 { 0 } else { base + ahead - 1 };
    }

    /// One of [`Base::numbers`].
    #[inline]
    pub fn number(&mut self, which: usize, value: &mut u64) {
        self.relative(value, self.base.numbers[which]);
    }

    /// A list; `blank` is what an element is before it is read.
    pub fn list<T: Copy>(&mut self, list: &mut Vec<T>, blank: T, mut each: impl FnMut(&mut Self, &mut T)) {
        #[allow(clippy::cast_possible_truncation)] // of what is in flight
        let mut n = list.len() as u32;
        self.u32(&mut n);
        if self.loads() {
            list.clear();
            list.resize(n as usize, blank);
        }
        for item in list {
            each(self, item);
        }
    }

    /// The numbers of micro-ops in flight.
    pub fn seqs(&mut self, list: &mut Vec<Seq>) {
        self.list(list, Seq::NONE, Archive::seq);
    }

    /// The reference of the micro-op `seq`: its class is of the bytes, where it goes stands beside them.
    #[inline]
    pub fn reference(&mut self, seq: Seq, mem: &mut MemRef) {
        match &mut self.mode {
            Mode::Save { free, references } => {
                self.refused |= !put(free, self.rules.class_of(mem).to_le_bytes());
                #[allow(clippy::cast_possible_truncation)] // refused where it does not fit
                let distance = seq.distance(self.base.seq) as i32;
                self.refused |= self.base.seq.at_distance(distance.into()) != seq;
                references.push(Reference { seq: distance, mem: *mem });
            }
            Mode::Load { bytes, references } => {
                let _class: [u8; 8] = take(bytes);
                if let Some((first, rest)) = references.split_first() {
                    *mem = *first;
                    *references = rest;
                }
            }
        }
    }

    /// As [`Archive::number`], of 32 bits.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // modulo 2^32
    pub fn number32(&mut self, which: usize, value: &mut u32) {
        let base = self.base.numbers[which] as u32;
        let mut distance = value.wrapping_sub(base);
        self.u32(&mut distance);
        *value = base.wrapping_add(distance);
    }

    /// A micro-op, and five small fields of its record: two words, as one by one these fields would take most of the time.
    pub fn uop(&mut self, uop: &mut Uop, more: &mut [u8; 5]) {
        let Uop { class, latency, src: [Reg(s0), Reg(s1), Reg(s2)], dst: [Reg(d0), Reg(d1)], flags } = uop;
        let [f0, f1, f2, f3] = flags.bits().to_le_bytes();
        let mut what = [*class as u8, *latency, *s0, *s1, *s2, *d0, *d1, more[0]];
        let mut how = [f0, f1, f2, f3, more[1], more[2], more[3], more[4]];
        self.word(&mut what);
        self.word(&mut how);
        if self.loads() {
            let index;
            [index, *latency, *s0, *s1, *s2, *d0, *d1, more[0]] = what;
            *class = OpClass::ALL[usize::from(index) % OpClass::COUNT];
            let [f0, f1, f2, f3, ..] = how;
            *flags = UopFlags::from_bits_retain(u32::from_le_bytes([f0, f1, f2, f3]));
            more[1..].copy_from_slice(&how[4..]);
        }
    }

    /// A set of flags.
    #[inline]
    pub fn bits<F: Flags<Bits = u8> + Copy>(&mut self, flags: &mut F) {
        let mut bits = flags.bits();
        self.u8(&mut bits);
        *flags = F::from_bits_retain(bits);
    }

    #[inline]
    pub fn flags(&mut self, flags: &mut UopFlags) {
        let mut bits = flags.bits();
        self.u32(&mut bits);
        *flags = UopFlags::from_bits_retain(bits);
    }
}
