//! Operations that AVX-512 has and AVX2 has not, or that cross 256-bit halves.

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::{table, W};
use crate::exec::Exec;
use crate::inst::Kind;
use crate::simd::Lane;

/// The first `lanes` lanes of two tables one behind the other, by index.
fn pick<T: Lane>(tables: [&W; 2], index: &W, lanes: usize) -> W {
    W::build::<T>(|n| {
        let at = index.get::<T>(n).bits() as usize & (2 * lanes - 1);
        tables[usize::from(at >= lanes)].get(at & (lanes - 1))
    })
}

/// The three-input function whose table is `imm`.
fn ternary(a: u64, b: u64, c: u64, imm: u64) -> u64 {
    (0..8).filter(|n| imm >> n & 1 != 0).fold(0, |r, n| {
        let side = |v: u64, bit: u32| if n >> bit & 1 != 0 { v } else { !v };
        r | side(a, 2) & side(b, 1) & side(c, 0)
    })
}

/// A comparison's predicate by its immediate.
fn holds<T: PartialOrd>(a: T, b: T, predicate: u64) -> bool {
    match predicate & 7 {
        0 => a == b,
        1 => a < b,
        2 => a <= b,
        3 => false,
        4 => a != b,
        5 => a >= b,
        6 => a > b,
        _ => true,
    }
}

/// Bits of the lanes before each that are equal to it.
fn conflicts<T: Lane + PartialEq>(w: &W, from_bits: impl Fn(u64) -> T) -> W {
    W::build::<T>(|n| {
        let mine: T = w.get(n);
        from_bits((0..n).fold(0, |m, k| m | u64::from(w.get::<T>(k) == mine) << k))
    })
}

/// `part` in place of the `at`th piece of `bytes` bytes.
fn insert(a: &W, part: &W, bytes: usize, at: usize) -> W {
    let words = bytes / 8;
    W(std::array::from_fn(|n| if n / words == at { part.0[n % words] } else { a.0[n] }))
}

fn extract(a: &W, bytes: usize, at: usize) -> W {
    let words = bytes / 8;
    W(std::array::from_fn(|n| if n < words { a.0[(at * words + n) & 7] } else { 0 }))
}

/// Bytes of the piece that an insertion or extraction moves; 0: the instruction is none.
fn piece(op: Mnemonic) -> usize {
    use Mnemonic::*;
    match op {
        Vinserti32x4 | Vinsertf32x4 | Vinserti64x2 | Vinsertf64x2 | Vextracti32x4 | Vextractf32x4 | Vextracti64x2
        | Vextractf64x2 => 16,
        Vinserti32x8 | Vinsertf32x8 | Vinserti64x4 | Vinsertf64x4 | Vextracti32x8 | Vextractf32x8 | Vextracti64x4
        | Vextractf64x4 => 32,
        _ => 0,
    }
}

impl<B: Bus> Exec<'_, B> {
    fn lane_count<T: Lane>(&self) -> usize {
        usize::from(self.i.evex.length) / T::BYTES
    }

    /// The result of an operation that is not an AVX2 instruction's by halves; `None`: it is one.
    pub(super) fn wide_op(&self, w: &[W; 4]) -> Option<W> {
        self.wide_logic(w).or_else(|| self.wide_permute(w)).or_else(|| self.wide_arithmetic(w))
    }

    fn wide_logic(&self, [d, a, b, _]: &[W; 4]) -> Option<W> {
        use Mnemonic::*;
        let imm = self.i.imm;
        Some(match self.i.op {
            Vmovdqu8 | Vmovdqu16 | Vmovdqu32 | Vmovdqu64 | Vmovdqa32 | Vmovdqa64 | Vmovups | Vmovupd | Vmovaps
            | Vmovapd | Vmovntdq | Vmovntps | Vmovntpd | Vmovntdqa | Vbroadcasti32x2 | Vbroadcastf32x2
            | Vbroadcasti32x4 | Vbroadcastf32x4 | Vbroadcasti64x2 | Vbroadcastf64x2 => self.repeated_source(a),
            Vbroadcasti32x8 | Vbroadcastf32x8 | Vbroadcasti64x4 | Vbroadcastf64x4 => *a,
            Vpandd | Vpandq => a.map2(b, |x: u64, y| x & y),
            Vpandnd | Vpandnq => a.map2(b, |x: u64, y| !x & y),
            Vpord | Vporq => a.map2(b, |x: u64, y| x | y),
            Vpxord | Vpxorq => a.map2(b, |x: u64, y| x ^ y),
            Vpternlogd | Vpternlogq => W(std::array::from_fn(|n| ternary(d.0[n], a.0[n], b.0[n], imm))),
            // Where the mask is clear the first source stays (`write_chosen`).
            Vpblendmb | Vpblendmw | Vpblendmd | Vpblendmq | Vblendmps | Vblendmpd => *b,
            Vpmovm2b => self.spread::<u8>(),
            Vpmovm2w => self.spread::<u16>(),
            Vpmovm2d => self.spread::<u32>(),
            Vpmovm2q => self.spread::<u64>(),
            Vpbroadcastmb2q => W([self.source_mask() & 0xff; 8]),
            Vpbroadcastmw2d => {
                let v = self.source_mask() as u32 & 0xffff;
                W::build::<u32>(|_| v)
            }
            _ => return None,
        })
    }

    /// A broadcast of eight bytes from a register repeats its low half alone.
    fn repeated_source(&self, a: &W) -> W {
        match self.i.op {
            Mnemonic::Vbroadcasti32x2 | Mnemonic::Vbroadcastf32x2 => W([a.0[0]; 8]),
            _ => *a,
        }
    }

    fn source_mask(&self) -> u64 {
        self.cpu.wide.k[usize::from(self.i.k[1].r & 7)]
    }

    fn spread<T: Lane>(&self) -> W {
        let k = self.source_mask();
        W::build::<T>(|n| T::from_bits(if k >> n & 1 != 0 { !0 } else { 0 }))
    }

    fn wide_permute(&self, [d, a, b, _]: &[W; 4]) -> Option<W> {
        use Mnemonic::*;
        let imm = self.i.imm as usize;
        let by_imm = self.i.k[2].kind == Kind::Imm;
        let bytes = piece(self.i.op);
        if let Some(pieces) = usize::from(self.i.evex.length).checked_div(bytes) {
            let at = imm & (pieces.max(1) - 1);
            return Some(if by_imm { extract(a, bytes, at) } else { insert(a, b, bytes, at) });
        }
        if let Some(from) = table::narrows_from(self.i.op) {
            return Some(self.narrow(a, usize::from(from)));
        }
        Some(match self.i.op {
            Vpermw => pick::<u16>([b, b], a, self.lane_count::<u16>()),
            Vpermd | Vpermps => pick::<u32>([b, b], a, self.lane_count::<u32>()),
            Vpermq | Vpermpd if by_imm => W::build::<u64>(|n| a.get((n & !3) + (imm >> (2 * (n & 3)) & 3))),
            Vpermq | Vpermpd => pick::<u64>([b, b], a, self.lane_count::<u64>()),
            Vpermi2w => pick::<u16>([a, b], d, self.lane_count::<u16>()),
            Vpermi2d | Vpermi2ps => pick::<u32>([a, b], d, self.lane_count::<u32>()),
            Vpermi2q | Vpermi2pd => pick::<u64>([a, b], d, self.lane_count::<u64>()),
            Vpermt2w => pick::<u16>([d, b], a, self.lane_count::<u16>()),
            Vpermt2d | Vpermt2ps => pick::<u32>([d, b], a, self.lane_count::<u32>()),
            Vpermt2q | Vpermt2pd => pick::<u64>([d, b], a, self.lane_count::<u64>()),
            Valignd => self.aligned::<u32>(a, b),
            Valignq => self.aligned::<u64>(a, b),
            Vshufi32x4 | Vshuff32x4 | Vshufi64x2 | Vshuff64x2 => {
                // Lanes of 16 bytes, the lower half of them from the first source.
                let lanes = self.lane_count::<u64>() / 2;
                let bits = if lanes == 4 { 2 } else { 1 };
                W::build::<u64>(|n| {
                    let lane = (n / 2) & (lanes - 1);
                    let from = imm >> (bits * lane) & (lanes - 1);
                    (if lane < lanes / 2 { a } else { b }).get(2 * from + (n & 1))
                })
            }
            _ => return None,
        })
    }

    /// Elements of both sources from the immediate on, the second's first.
    fn aligned<T: Lane>(&self, a: &W, b: &W) -> W {
        let lanes = self.lane_count::<T>();
        let shift = self.i.imm as usize & (lanes - 1);
        W::build::<T>(|n| if n + shift < lanes { b.get(n + shift) } else { a.get(n + shift - lanes) })
    }

    /// The low bytes of each element of `from` bytes.
    fn narrow(&self, a: &W, from: usize) -> W {
        let to = usize::from(self.i.evex.element.max(1));
        let b = a.bytes();
        W::from_bytes(&std::array::from_fn(|n| *b.get(n / to * from + n % to).unwrap_or(&0)))
    }

    fn wide_arithmetic(&self, [_, a, b, _]: &[W; 4]) -> Option<W> {
        use Mnemonic::*;
        let imm = self.i.imm;
        // A shift's immediate stands behind one source.
        let by_imm = self.i.k[2].kind == Kind::Imm;
        Some(match self.i.op {
            Vpminuq => a.map2::<u64>(b, Ord::min),
            Vpminsq => a.map2::<i64>(b, Ord::min),
            Vpmaxuq => a.map2::<u64>(b, Ord::max),
            Vpmaxsq => a.map2::<i64>(b, Ord::max),
            Vpabsq => a.map2(a, |x: i64, _| x.wrapping_abs()),
            Vpmullq => a.map2::<u64>(b, u64::wrapping_mul),
            Vpsraq => {
                let n = if by_imm { imm } else { b.0[0] };
                a.map2(a, |x: i64, _| x >> n.min(63))
            }
            Vpsravq => a.map2(b, |x: u64, n| (x as i64 >> n.min(63)) as u64),
            Vpsllvw => a.map2(b, |x: u16, n| x.checked_shl(n.into()).unwrap_or(0)),
            Vpsrlvw => a.map2(b, |x: u16, n| x.checked_shr(n.into()).unwrap_or(0)),
            Vpsravw => a.map2(b, |x: u16, n| (x as i16 >> n.min(15)) as u16),
            Vprold => a.map2(a, |x: u32, _| x.rotate_left(imm as u32 & 31)),
            Vprord => a.map2(a, |x: u32, _| x.rotate_right(imm as u32 & 31)),
            Vprolq => a.map2(a, |x: u64, _| x.rotate_left(imm as u32 & 63)),
            Vprorq => a.map2(a, |x: u64, _| x.rotate_right(imm as u32 & 63)),
            Vprolvd => a.map2(b, |x: u32, n| x.rotate_left(n & 31)),
            Vprorvd => a.map2(b, |x: u32, n| x.rotate_right(n & 31)),
            Vprolvq => a.map2(b, |x: u64, n| x.rotate_left(n as u32 & 63)),
            Vprorvq => a.map2(b, |x: u64, n| x.rotate_right(n as u32 & 63)),
            Vplzcntd => a.map2(a, |x: u32, _| x.leading_zeros()),
            Vplzcntq => a.map2(a, |x: u64, _| u64::from(x.leading_zeros())),
            Vpconflictd => conflicts::<u32>(a, |m| m as u32),
            Vpconflictq => conflicts::<u64>(a, |m| m),
            _ => return None,
        })
    }

    /// The bits of a comparison into an opmask; `None`: the instruction is none.
    pub(super) fn compare(&self, [_, a, b, _]: &[W; 4]) -> Option<u64> {
        use Mnemonic::*;
        if self.i.k[0].kind != Kind::K {
            return None;
        }
        let p = self.i.imm;
        Some(match self.i.op {
            Vpcmpeqb => a.test2::<u8>(b, |x, y| x == y),
            Vpcmpeqw => a.test2::<u16>(b, |x, y| x == y),
            Vpcmpeqd => a.test2::<u32>(b, |x, y| x == y),
            Vpcmpeqq => a.test2::<u64>(b, |x, y| x == y),
            Vpcmpgtb => a.test2::<i8>(b, |x, y| x > y),
            Vpcmpgtw => a.test2::<i16>(b, |x, y| x > y),
            Vpcmpgtd => a.test2::<i32>(b, |x, y| x > y),
            Vpcmpgtq => a.test2::<i64>(b, |x, y| x > y),
            Vpcmpb => a.test2::<i8>(b, |x, y| holds(x, y, p)),
            Vpcmpw => a.test2::<i16>(b, |x, y| holds(x, y, p)),
            Vpcmpd => a.test2::<i32>(b, |x, y| holds(x, y, p)),
            Vpcmpq => a.test2::<i64>(b, |x, y| holds(x, y, p)),
            Vpcmpub => a.test2::<u8>(b, |x, y| holds(x, y, p)),
            Vpcmpuw => a.test2::<u16>(b, |x, y| holds(x, y, p)),
            Vpcmpud => a.test2::<u32>(b, |x, y| holds(x, y, p)),
            Vpcmpuq => a.test2::<u64>(b, |x, y| holds(x, y, p)),
            Vptestmb => a.test2::<u8>(b, |x, y| x & y != 0),
            Vptestmw => a.test2::<u16>(b, |x, y| x & y != 0),
            Vptestmd => a.test2::<u32>(b, |x, y| x & y != 0),
            Vptestmq => a.test2::<u64>(b, |x, y| x & y != 0),
            Vptestnmb => a.test2::<u8>(b, |x, y| x & y == 0),
            Vptestnmw => a.test2::<u16>(b, |x, y| x & y == 0),
            Vptestnmd => a.test2::<u32>(b, |x, y| x & y == 0),
            Vptestnmq => a.test2::<u64>(b, |x, y| x & y == 0),
            _ => return None,
        })
    }

    /// Bytes of a lane whose top bit vpmovb2m and its relatives take.
    pub(super) fn sign_lane(&self) -> u8 {
        match self.i.op {
            Mnemonic::Vpmovb2m => 1,
            Mnemonic::Vpmovw2m => 2,
            Mnemonic::Vpmovd2m => 4,
            _ => 8,
        }
    }

    pub(super) fn sign_bits(&self, w: &W) -> u64 {
        match self.sign_lane() {
            1 => w.test2::<i8>(w, |x, _| x < 0),
            2 => w.test2::<i16>(w, |x, _| x < 0),
            4 => w.test2::<i32>(w, |x, _| x < 0),
            _ => w.test2::<i64>(w, |x, _| x < 0),
        }
    }
}
