//! ELFs, whole, cut and lying: loaded as they say, or refused in one sentence.

mod common;

use breakeven_base::PhysMem;
use breakeven_machine::{Elf, EngineError, IsaName, RoutineKind};
use common::elf::{build, field, poke};
use common::RAM;

const REFERENCE: &[u8] = include_bytes!("../../../tests/data/gem5/micro.rv64.elf");

fn ram() -> PhysMem {
    PhysMem::new(RAM, 16 << 20).expect("maps")
}

fn load(file: &[u8]) -> Result<PhysMem, EngineError> {
    let mut ram = ram();
    Elf::parse(file)?.load(&mut ram)?;
    Ok(ram)
}

fn refused(file: &[u8]) -> String {
    let text = load(file).expect_err("refused").to_string();
    assert!(!text.contains('\n') && text.len() < 400, "{text}");
    text
}

#[test]
fn the_reference_guest_is_loaded_at_its_physical_addresses() {
    let elf = Elf::parse(REFERENCE).expect("parses");
    assert_eq!(elf.entry, RAM);
    assert_eq!(elf.symbol("_start"), Some(RAM));
    let ram = load(REFERENCE).expect("loads");
    assert_eq!(ram.slice(RAM, 0xe82), REFERENCE.get(0x1000..0x1000 + 0xe82));
    assert_eq!(ram.read::<u64>(RAM + 0x2000), Some(0));
}

#[test]
fn every_truncation_is_refused_or_loads_the_same() {
    for len in (0..REFERENCE.len()).step_by(64) {
        refused(&REFERENCE[..len]);
    }
    let small = build(RAM, &[0x13; 256], 256, &[("tohost", RAM + 128)]);
    for len in 0..small.len() {
        refused(&small[..len]);
    }
    assert!(load(&small).is_ok());
}

#[test]
fn each_lie_has_its_sentence() {
    let lies: &[(usize, &[u8], &str)] = &[
        (0, b"\x7fELV", "not an ELF file"),
        (field::CLASS, &[1], "32-bit"),
        (field::CLASS, &[9], "are not ELF's"),
        (field::DATA, &[2], "big-endian"),
        (field::TYPE, &[3, 0], "position-independent"),
        (field::TYPE, &[1, 0], "not an executable"),
        (field::MACHINE, &[40, 0], "machine 40 is neither RISC-V"),
        (field::ENTRY, &[1, 0, 0, 0x80], "entry point"),
        (field::ENTRY, &[0, 0, 0, 0x10], "entry point"),
        (field::PHOFF, &[0xff; 8], "damaged"),
        (field::PHENTSIZE, &[8, 0], "damaged"),
        (field::PHNUM, &[0, 0], "no segment"),
        (field::PHNUM, &[0xff, 0x7f], "damaged"),
        (field::SHOFF, &[0xf0, 0xff, 0xff], "damaged"),
        (field::SHNUM, &[0, 0xff], "damaged"),
        (field::P_TYPE, &[3], "dynamic loader"),
        (field::P_TYPE, &[2], "dynamic loader"),
        (field::P_OFFSET, &[0xff; 8], "beyond the end of the file"),
        (field::P_PADDR, &[0; 8], "outside the memory"),
        (field::P_PADDR, &[0xff; 8], "wraps"),
        (field::P_FILESZ, &[0xff, 0xff, 0xff], "more bytes in the file"),
        (field::P_MEMSZ, &[0, 0, 0, 0, 0, 0, 1, 0], "outside the memory"),
        (field::P_MEMSZ, &[0xff; 8], "wraps"),
    ];
    for (at, bytes, sentence) in lies {
        let mut file = build(RAM, &[0x13; 64], 64, &[]);
        poke(&mut file, *at, bytes);
        let text = refused(&file);
        assert!(text.contains(sentence), "byte {at} = {bytes:x?}: {text}");
    }
}

#[test]
fn a_guest_for_another_core_is_told() {
    let mut file = build(RAM, &[0x13; 64], 64, &[]);
    let told =
        |file: &[u8], isa| Elf::parse(file).expect("parses").expect_isa(isa, "system.cpu").map_err(|e| e.to_string());
    assert_eq!(told(&file, IsaName::Riscv), Ok(()));
    poke(&mut file, field::MACHINE, &[62, 0]);
    assert_eq!(told(&file, IsaName::X86), Ok(()));
    let text = told(&file, IsaName::Riscv).expect_err("another instruction set");
    assert!(text.contains("it is for x86-64, but system.cpu is a core for RISC-V"), "{text}");
}

#[test]
fn any_single_wrong_byte_is_survived() {
    let good = build(RAM, &[0x13; 32], 64, &[("tohost", RAM), ("fromhost", RAM + 8)]);
    for at in 0..good.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut file = good.clone();
            file[at] = value;
            let _ = load(&file).map_err(|e| assert!(!e.to_string().contains('\n')));
        }
    }
}

#[test]
fn overlapping_segments_are_refused() {
    // The reference guest's second segment moved into the first.
    let mut file = REFERENCE.to_vec();
    let second_load = 64 + 2 * 56;
    poke(&mut file, second_load + 24, &(RAM + 16).to_le_bytes());
    assert!(refused(&file).contains("overlap"));
}

#[test]
fn routines_are_listed_and_bad_tables_refused() {
    let mut table = vec![0u8; 128];
    poke(&mut table, 0, b"rv-byte");
    poke(&mut table, 64, b"csum");
    poke(&mut table, 64 + 40, &[1, 0, 0, 0, 3]);
    let end = RAM + 128;
    let symbols = [("__routines_start", RAM), ("__routines_end", end)];
    let file = build(RAM, &table, 128, &symbols);
    let routines = Elf::parse(&file).expect("parses").routines().expect("a table");
    assert_eq!(routines.len(), 2);
    assert_eq!(
        (routines[0].name.as_str(), routines[0].kind.clone(), routines[0].flags),
        ("rv-byte", RoutineKind::Copy, 0)
    );
    assert_eq!(
        (routines[1].name.as_str(), routines[1].kind.clone(), routines[1].flags),
        ("csum", RoutineKind::Checksum, 3)
    );

    // The second of two tables: what clears, and a checksum like one whose name stands in the file.
    let mut more = table.clone();
    more.resize(64 * 4 + 40, 0);
    poke(&mut more, 128, b"clear");
    poke(&mut more, 128 + 40, &[6]);
    poke(&mut more, 192, b"crc");
    poke(&mut more, 192 + 40, &[7]);
    poke(&mut more, 192 + 56, &(RAM + 256).to_le_bytes());
    poke(&mut more, 256, b"crc32c");
    let both = [("__routines_start", RAM), ("__routines_end", end), ("__all_routines_end", RAM + 256)];
    let file = build(RAM, &more, more.len() as u64, &both);
    let routines = Elf::parse(&file).expect("parses").routines().expect("two tables");
    let kinds: Vec<_> = routines.iter().map(|r| (r.name.as_str(), r.kind.name())).collect();
    assert_eq!(kinds, [("rv-byte", "copy"), ("csum", "checksum"), ("clear", "clear"), ("crc", "crc32c")]);

    poke(&mut more, 256, b"copy\0\0");
    let file = build(RAM, &more, more.len() as u64, &both);
    let text = Elf::parse(&file).expect("parses").routines().expect_err("refused").to_string();
    assert!(text.contains("without a name of its own"), "{text}");

    let error = |table: &[u8], symbols: &[(&str, u64)]| {
        let file = build(RAM, table, table.len() as u64, symbols);
        Elf::parse(&file).expect("parses").routines().expect_err("refused").to_string()
    };
    assert!(error(&table, &[]).contains("no routines"));
    assert!(error(&table, &[("__routines_start", end), ("__routines_end", RAM)]).contains("routine table"));
    assert!(error(&table, &[("__routines_start", RAM), ("__routines_end", RAM + 64_000)]).contains("routine table"));
    assert!(error(&table, &[("__routines_start", RAM), ("__routines_end", RAM + 100)]).contains("routine table"));
    poke(&mut table, 40, &[8]);
    assert!(error(&table, &symbols).contains("kind 8"));
    poke(&mut table, 40, &[7]);
    assert!(error(&table, &symbols).contains("like one without a name"));
    poke(&mut table, 0, &[0xff]);
    assert!(error(&table, &symbols).contains("name"));
}
