//! What the architecture leaves to the processor, and two makers' processors do differently: the host may differ from the
//! engine in that and in nothing else. (Intel's manual, volume 2, each instruction's page; seen between Sapphire Rapids and
//! a processor of AMD's, 2026-11-22.)

use iced_x86::{Code, Instruction, Mnemonic};

use super::state::{Outcome, State};

/// Flags that are undefined although the operand's value would leave them alone: OF of a rotation through carry by more
/// than one. (Where the count is a multiple of 9 or 17, some processors keep it.)
pub fn undefined_flags(ins: &Instruction) -> u64 {
    let rotates = matches!(ins.mnemonic(), Mnemonic::Rcl | Mnemonic::Rcr);
    let immediate = ins.op_count() == 2 && ins.op1_kind() == iced_x86::OpKind::Immediate8;
    u64::from(rotates && immediate && ins.immediate8() & 31 > 1) << 11
}

/// A masked move: which of its bytes in the page that is missing the fault names, and whether bytes that are masked out
/// fault.
pub fn masked_move(code: Code) -> bool {
    format!("{code:?}").contains("askmov")
}

/// Whether both addresses of a fault may be given for it.
pub fn same_fault(code: Code, a: u64, b: u64) -> bool {
    a == b || masked_move(code) && a >> 12 == b >> 12 && a.abs_diff(b) < 32
}

/// Whether a call that faulted has written its return address, `word` below the stack pointer: before the fault of a target
/// that is not canonical Sapphire Rapids does.
pub fn pushed_before_the_fault(ins: &Instruction, fault: u8, word: &[u8], next: u64) -> bool {
    fault == 3 && ins.mnemonic() == Mnemonic::Call && word == next.to_le_bytes()
}

/// The outcome as the host's, where `got`, the engine's, differs from it in nothing that is defined.
pub fn settle(ins: &Instruction, want: &Outcome, got: &Outcome) -> Outcome {
    let mut got = got.clone();
    match ins.mnemonic() {
        // Of two NaNs in a sum of products either may come out: the order of the additions is not given.
        Mnemonic::Dpps | Mnemonic::Vdpps => nans(&want.state, &mut got.state, 32),
        Mnemonic::Dppd | Mnemonic::Vdppd => nans(&want.state, &mut got.state, 64),
        Mnemonic::Vgatherdps | Mnemonic::Vgatherqps | Mnemonic::Vpgatherdd | Mnemonic::Vpgatherqd
            if want.fault == 3 && got.fault == 3 =>
        {
            gathered(ins, &want.state, &mut got.state, 32);
        }
        Mnemonic::Vgatherdpd | Mnemonic::Vgatherqpd | Mnemonic::Vpgatherdq | Mnemonic::Vpgatherqq
            if want.fault == 3 && got.fault == 3 =>
        {
            gathered(ins, &want.state, &mut got.state, 64);
        }
        _ => {}
    }
    got
}

fn element(register: &[u64; 4], k: usize, bits: usize) -> u64 {
    register[k * bits / 64] >> (k * bits % 64) & (!0 >> (64 - bits))
}

fn set_element(register: &mut [u64; 4], k: usize, bits: usize, v: u64) {
    let at = k * bits % 64;
    let word = &mut register[k * bits / 64];
    *word = *word & !((!0 >> (64 - bits)) << at) | v << at;
}

fn nan(v: u64, bits: usize) -> bool {
    if bits == 32 {
        f32::from_bits(v as u32).is_nan()
    } else {
        f64::from_bits(v).is_nan()
    }
}

fn nans(want: &State, got: &mut State, bits: usize) {
    for (w, g) in want.ymm.iter().zip(&mut got.ymm) {
        for k in 0..256 / bits {
            let v = element(w, k, bits);
            if nan(v, bits) && nan(element(g, k, bits), bits) {
                set_element(g, k, bits, v);
            }
        }
    }
}

/// A gather that faulted: elements below the one that did are done, those above may be; of the mask only the signs count.
fn gathered(ins: &Instruction, want: &State, got: &mut State, bits: usize) {
    let number = |n: u32| ins.op_register(n).number();
    let (to, mask) = (number(0), number(2));
    let sign = |register: &[u64; 4], k| element(register, k, bits) >> (bits - 1) != 0;
    let faulted = (0..256 / bits).find(|k| sign(&got.ymm[mask], *k)).unwrap_or(256 / bits);
    for k in 0..256 / bits {
        if sign(&want.ymm[mask], k) == sign(&got.ymm[mask], k) || k > faulted {
            set_element(&mut got.ymm[mask], k, bits, element(&want.ymm[mask], k, bits));
        }
        if k > faulted {
            set_element(&mut got.ymm[to], k, bits, element(&want.ymm[to], k, bits));
        }
    }
}

#[test]
fn a_nan_may_be_another_one_and_nothing_else() {
    let state = |v: u64| State { ymm: [[v, 0, 0, 0]; 16], ..State::default() };
    let settled = |want: u64, got: u64| {
        let mut s = state(got);
        nans(&state(want), &mut s, 32);
        s.ymm[3][0]
    };
    assert_eq!(settled(0xffff_ffff_7f80_0000, 0xffff_ffd1_7f80_0000), 0xffff_ffff_7f80_0000);
    assert_eq!(settled(0xffff_ffff_7f80_0000, 0xffff_ffd1_0000_0001), 0xffff_ffff_0000_0001);
    assert_eq!(settled(0x7f80_0000, 0xffff_ffff), 0xffff_ffff, "an infinity is none");
}

#[test]
fn behind_a_gathers_fault_elements_may_be_done() {
    // vgatherqpd %ymm12,(%r15,%ymm3),%ymm13
    let ins = iced_x86::Decoder::new(64, &[0xc4, 0x42, 0x9d, 0x93, 0x2c, 0x1f], 0).decode();
    let outcome = |mask: [u64; 4], to: [u64; 4]| {
        let mut state = State::default();
        (state.ymm[12], state.ymm[13]) = (mask, to);
        Outcome { state, fault: 3, next: 0, address: 0 }
    };
    let got = outcome([0, 0x2000, !7, !0], [5, 6, 7, 8]);
    // The mask's bits other than signs, and what comes behind element 2.
    let want = outcome([0, 0, !0, 0], [5, 6, 7, 9]);
    assert_eq!(settle(&ins, &want, &got), want);
    // What comes before it, and whether it is done.
    for want in [
        outcome([!0, 0, !0, 0], [5, 6, 7, 9]),
        outcome([0, 0, 0, 0], [5, 6, 7, 9]),
        outcome([0, 0, !0, 0], [5, 1, 7, 9]),
    ] {
        assert_ne!(settle(&ins, &want, &got), want);
    }
}
