//! Processes that make any calls in any order under syscall emulation, forks among them: eight bytes of input are a call
//! with its arguments. They may use a directory of their own.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::common::asm::{Asm, A0, DATA, S0, T0, ZERO};
use crate::process;
use breakeven_machine::{Host, Limits, Machine};
use serde_json::json;

/// Calls that a run gets; the program must fit in front of its data.
const CALLS: usize = 28;
/// The register of the call's number.
const A7: u32 = 17;
const ECALL: u32 = 0x73;
/// The lowest number that is no call of RISC-V's.
const NUMBERS: u64 = 460;

fn descriptions() -> &'static [String; 2] {
    static MADE: OnceLock<[String; 2]> = OnceLock::new();
    MADE.get_or_init(|| ["atomic", "minor"].map(|core| process::emulated(core, &["program"], json!({}))))
}

fn folder_name() -> PathBuf {
    std::env::temp_dir().join(format!("breakeven-fuzz-{}", std::process::id()))
}

/// A directory with a file, as it is at the start of every run.
fn folder() -> PathBuf {
    let path = folder_name();
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(path.join("d")).expect("a directory");
    std::fs::write(path.join("f"), [7; 5000]).expect("a file");
    path
}

/// Puts what `selector` stands for into `register`.
fn argument(a: &mut Asm, register: u32, selector: u8) {
    let n = u64::from(selector & 31);
    match selector >> 5 {
        0 | 1 => a.li(register, u64::from(selector)),
        2 => a.addi(register, ZERO, -(n as i32) - 1),
        3 => a.li(register, DATA + 64 * n),
        4 => a.li(register, 1 << n),
        5 => a.li(register, n * 0x1000),
        // What the call before this one returned, and near it.
        6 => a.addi(register, S0, 8 * n as i32),
        // AT_FDCWD.
        _ => a.addi(register, ZERO, -100),
    };
}

fn program(input: &[u8]) -> Asm {
    let mut a = Asm::new();
    let names = [b"f\0d\0d/x\0/\0", b"d/y\0f\0../\0"].map(|b| b.as_slice()).concat();
    a.data(DATA, &names);
    a.mv(S0, ZERO);
    for record in input.chunks_exact(8).take(CALLS) {
        for (n, selector) in record[1..7].iter().enumerate() {
            argument(&mut a, A0 + n as u32, *selector);
        }
        let number = u64::from(record[0]) | u64::from(record[7] & 1) << 8;
        a.li(A7, number % NUMBERS).word(ECALL);
        a.mv(S0, A0);
        match record[7] >> 1 & 3 {
            // What was mapped, or not, is used.
            1 => a.sd(A7, S0, 0),
            2 => a.ld(T0, S0, 0),
            _ => &mut a,
        };
    }
    a.li(A7, 93).word(ECALL);
    a.spin();
    a
}

pub fn run(input: &[u8]) {
    let [core, input @ ..] = input else { return };
    let path = folder();
    let host = Host { directory: Some(path), writable: true, max_files: 50, ..Host::default() };
    let description = &descriptions()[usize::from(*core & 1)];
    let file = program(input).elf();
    let mut machine = Machine::new_with(description, &file, &host).expect("a whole ELF");
    let end = machine.run(Limits { insts: 20_000, cycles: 200_000, ticks: 0 });
    assert!(end.cause.text() != "deadlock", "{}", end.detail);
    drop(machine);
    let _ = std::fs::remove_dir_all(folder_name());
}
