//! Runs a program under Bochs, from a floppy disk.

use std::process::{Command, Stdio};

use iced_x86::code_asm::*;
use iced_x86::IcedError;

use super::program::{Program, MARK, MARK_AT, PROGRAM};

const SECTOR: usize = 512;
const TRACK: usize = 18 * SECTOR;
/// What one read takes of a track, so that none crosses 64 KiB.
const READ: usize = 16 * SECTOR;

/// Loads `reads` tracks from the second on, builds page tables where the engine has them, and jumps to the program in
/// 64-bit mode.
fn boot_sector(reads: u32) -> Result<Vec<u8>, IcedError> {
    let mut a = CodeAssembler::new(16)?;
    let mut read = a.create_label();
    let mut fill = a.create_label();
    a.cli()?;
    a.xor(ax, ax)?;
    a.mov(ds, ax)?;
    a.mov(ss, ax)?;
    a.mov(sp, 0x7c00)?;
    a.sti()?;
    a.mov(dword_ptr(MARK_AT), MARK as i32)?;
    a.mov(si, 1)?;
    a.mov(di, (PROGRAM >> 4) as i32)?;
    a.set_label(&mut read)?;
    a.mov(es, di)?;
    a.xor(bx, bx)?;
    a.mov(cx, si)?;
    a.shr(cx, 1)?;
    a.mov(ch, cl)?;
    a.mov(cl, 1)?;
    a.mov(ax, si)?;
    a.and(ax, 1)?;
    a.mov(dh, al)?;
    a.mov(dl, 0)?;
    a.mov(ax, 0x0210)?;
    a.int(0x13)?;
    a.add(di, (READ >> 4) as i32)?;
    a.inc(si)?;
    a.cmp(si, reads as i32)?;
    a.jbe(read)?;
    a.cli()?;
    a.in_(al, 0x92)?;
    a.or(al, 2)?;
    a.out(0x92, al)?;
    // A root, a directory pointer, one directory of 2 MiB pages.
    a.mov(ax, 0x7000)?;
    a.mov(es, ax)?;
    a.xor(di, di)?;
    a.xor(eax, eax)?;
    a.mov(cx, 0x3000 / 4)?;
    a.cld()?;
    a.rep().stosd()?;
    a.mov(dword_ptr(0).es(), 0x7_1007)?;
    a.mov(dword_ptr(0x1000).es(), 0x7_2007)?;
    a.mov(di, 0x2000)?;
    a.mov(eax, 0x87)?;
    a.set_label(&mut fill)?;
    a.mov(dword_ptr(di).es(), eax)?;
    a.add(di, 8)?;
    a.add(eax, 0x20_0000)?;
    a.cmp(di, 0x3000)?;
    a.jne(fill)?;
    a.mov(eax, 0x20)?;
    a.mov(cr4, eax)?;
    a.mov(eax, 0x7_0000)?;
    a.mov(cr3, eax)?;
    a.mov(ecx, 0xc000_0080u32 as i32)?;
    a.rdmsr()?;
    a.or(eax, 0x100)?;
    a.wrmsr()?;
    a.lgdt(ptr(0x7dd0))?;
    a.mov(eax, cr0)?;
    a.or(eax, 0x8000_0001u32 as i32)?;
    a.mov(cr0, eax)?;
    // jmp 8:PROGRAM
    a.db(&[0x66, 0xea])?;
    a.dd(&[PROGRAM as u32])?;
    a.dw(&[8])?;
    let mut code = a.assemble(0x7c00)?;
    // The descriptor table's limit and address, the table.
    assert!(code.len() <= 0x1d0, "{} bytes", code.len());
    code.resize(0x1d0, 0);
    code.extend([23, 0, 0xd8, 0x7d, 0, 0, 0, 0]);
    for descriptor in [0u64, 0x00af_9b00_0000_ffff, 0x00cf_9300_0000_ffff] {
        code.extend(descriptor.to_le_bytes());
    }
    code.resize(510, 0);
    code.extend([0x55, 0xaa]);
    Ok(code)
}

fn disk(program: &[u8]) -> Vec<u8> {
    let chunks: Vec<&[u8]> = program.chunks(READ).collect();
    let mut disk = vec![0; 2880 * SECTOR];
    let boot = boot_sector(chunks.len() as u32).expect("assembles");
    disk[..boot.len()].copy_from_slice(&boot);
    for (n, chunk) in chunks.iter().enumerate() {
        disk[(n + 1) * TRACK..][..chunk.len()].copy_from_slice(chunk);
    }
    disk
}

/// The log that the program leaves under Bochs.
pub fn log(program: &Program) -> Vec<u64> {
    let dir = std::env::temp_dir().join(format!("breakeven-bochs-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory");
    std::fs::write(dir.join("floppy.img"), disk(&program.image)).expect("writes");
    let configuration = "megs: 32\n\
        romimage: file=/usr/share/bochs/BIOS-bochs-latest\n\
        vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest\n\
        cpu: model=corei7_skylake_x, count=1, ips=20000000\n\
        display_library: rfb, options=\"timeout=0\"\n\
        floppya: 1_44=floppy.img, status=inserted\n\
        boot: floppy\n\
        port_e9_hack: enabled=1\n\
        sound: driver=dummy\n\
        panic: action=fatal\n\
        log: bochs.log\n";
    std::fs::write(dir.join("bochsrc"), configuration).expect("writes");
    // Debian's has a debugger, which waits for a command.
    std::fs::write(dir.join("commands"), "c\n").expect("writes");
    let arguments = ["300", "bochs", "-q", "-f", "bochsrc", "-rc", "commands"];
    let run = Command::new("timeout").args(arguments).stdin(Stdio::null()).current_dir(&dir).output();
    let output =
        String::from_utf8_lossy(&run.expect("`bochs` starts (Debian's package of that name)").stdout).into_owned();
    let log = output.split('>').nth(1).and_then(|rest| rest.split('<').next()).unwrap_or_default();
    let words: Vec<u64> =
        log.as_bytes().chunks(16).filter_map(|c| u64::from_str_radix(std::str::from_utf8(c).ok()?, 16).ok()).collect();
    assert_eq!(words.len(), program.cases.len(), "Bochs ended early; its log is {}", dir.join("bochs.log").display());
    std::fs::remove_dir_all(&dir).expect("removes");
    words
}
