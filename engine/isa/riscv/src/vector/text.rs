//! Disassembly of vector instructions.

use super::forms::{Category, Form, Second};
use super::zvbb::{high_amount, name};

/// Mnemonics by funct6, without suffix; empty: the encoding is reserved.
const INTEGER: [&str; 64] = [
    "vadd",
    "vandn",
    "vsub",
    "vrsub",
    "vminu",
    "vmin",
    "vmaxu",
    "vmax",
    "",
    "vand",
    "vor",
    "vxor",
    "vrgather",
    "",
    "vslideup",
    "vslidedown",
    "vadc",
    "vmadc",
    "vsbc",
    "vmsbc",
    "vror",
    "vrol",
    "",
    "vmerge",
    "vmseq",
    "vmsne",
    "vmsltu",
    "vmslt",
    "vmsleu",
    "vmsle",
    "vmsgtu",
    "vmsgt",
    "vsaddu",
    "vsadd",
    "vssubu",
    "vssub",
    "",
    "vsll",
    "",
    "vsmul",
    "vsrl",
    "vsra",
    "vssrl",
    "vssra",
    "vnsrl",
    "vnsra",
    "vnclipu",
    "vnclip",
    "vwredsumu",
    "vwredsum",
    "",
    "",
    "",
    "vwsll",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
];
const MULTIPLY: [&str; 64] = [
    "vredsum",
    "vredand",
    "vredor",
    "vredxor",
    "vredminu",
    "vredmin",
    "vredmaxu",
    "vredmax",
    "vaaddu",
    "vaadd",
    "vasubu",
    "vasub",
    "",
    "",
    "vslide1up",
    "vslide1down",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "vcompress",
    "vmandn",
    "vmand",
    "vmor",
    "vmxor",
    "vmorn",
    "vmnand",
    "vmnor",
    "vmxnor",
    "vdivu",
    "vdiv",
    "vremu",
    "vrem",
    "vmulhu",
    "vmul",
    "vmulhsu",
    "vmulh",
    "",
    "vmadd",
    "",
    "vnmsub",
    "",
    "vmacc",
    "",
    "vnmsac",
    "vwaddu",
    "vwadd",
    "vwsubu",
    "vwsub",
    "vwaddu",
    "vwadd",
    "vwsubu",
    "vwsub",
    "vwmulu",
    "",
    "vwmulsu",
    "vwmul",
    "vwmaccu",
    "vwmacc",
    "vwmaccus",
    "vwmaccsu",
];
const FLOAT: [&str; 64] = [
    "vfadd",
    "vfredusum",
    "vfsub",
    "vfredosum",
    "vfmin",
    "vfredmin",
    "vfmax",
    "vfredmax",
    "vfsgnj",
    "vfsgnjn",
    "vfsgnjx",
    "",
    "",
    "",
    "vfslide1up",
    "vfslide1down",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "vfmerge",
    "vmfeq",
    "vmfle",
    "",
    "vmflt",
    "vmfne",
    "vmfgt",
    "",
    "vmfge",
    "vfdiv",
    "vfrdiv",
    "",
    "",
    "vfmul",
    "",
    "",
    "vfrsub",
    "vfmadd",
    "vfnmadd",
    "vfmsub",
    "vfnmsub",
    "vfmacc",
    "vfnmacc",
    "vfmsac",
    "vfnmsac",
    "vfwadd",
    "vfwredusum",
    "vfwsub",
    "vfwredosum",
    "vfwadd",
    "",
    "vfwsub",
    "",
    "vfwmul",
    "",
    "",
    "",
    "vfwmacc",
    "vfwnmacc",
    "vfwmsac",
    "vfwnmsac",
];
const CONVERSIONS: [&str; 8] = ["xu.f", "x.f", "f.xu", "f.x", "f.f", "rod.f.f", "rtz.xu.f", "rtz.x.f"];
const MASK_UNARY: [&str; 4] = ["", "vmsbf.m", "vmsof.m", "vmsif.m"];

/// The instruction in `raw`; `x` and `f` name scalar registers. `None`: the encoding is reserved.
pub(crate) fn text(raw: u32, x: impl Fn(usize) -> String, f: impl Fn(usize) -> String) -> Option<String> {
    match (raw & 0x7f, raw >> 12 & 7) {
        (0x57, 7) => Some(config(raw, x)),
        (0x57, _) => arith(&Form::new(raw), x, f),
        _ => memory(raw, x),
    }
}

fn config(raw: u32, x: impl Fn(usize) -> String) -> String {
    let (rd, rs1) = (x((raw >> 7 & 31) as usize), (raw >> 15 & 31) as usize);
    if raw >> 30 == 2 {
        return format!("vsetvl {rd}, {}, {}", x(rs1), x((raw >> 20 & 31) as usize));
    }
    let vtype = raw >> 20 & 0x3ff;
    let lmul = ["m1", "m2", "m4", "m8", "m?", "mf8", "mf4", "mf2"][(vtype & 7) as usize];
    let (tail, mask) = (if vtype & 64 == 0 { "tu" } else { "ta" }, if vtype & 128 == 0 { "mu" } else { "ma" });
    let settings = format!("e{}, {lmul}, {tail}, {mask}", 8u32 << (vtype >> 3 & 7));
    if raw >> 30 == 3 {
        format!("vsetivli {rd}, {rs1}, {settings}")
    } else {
        format!("vsetvli {rd}, {}, {settings}", x(rs1))
    }
}

fn memory(raw: u32, x: impl Fn(usize) -> String) -> Option<String> {
    let (vd, rs1) = (raw >> 7 & 31, x((raw >> 15 & 31) as usize));
    let (second, fields) = (raw >> 20 & 31, (raw >> 29) + 1);
    let letter = if raw & 0x20 == 0 { 'l' } else { 's' };
    let eew = match raw >> 12 & 7 {
        0 => 8,
        w => 8u32 << (w - 4),
    };
    let mask = if raw >> 25 & 1 == 0 { ", v0.t" } else { "" };
    let segment = if fields > 1 { format!("seg{fields}") } else { String::new() };
    let plain = |name: String| Some(format!("{name} v{vd}, ({rs1}){mask}"));
    match (raw >> 26 & 3, second) {
        (0, 0) => plain(format!("v{letter}{segment}e{eew}.v")),
        (0, 8) if letter == 'l' => plain(format!("vl{fields}re{eew}.v")),
        (0, 8) => plain(format!("vs{fields}r.v")),
        (0, 0x0b) => plain(format!("v{letter}m.v")),
        (0, 0x10) => plain(format!("v{letter}{segment}e{eew}ff.v")),
        (0, _) => None,
        (2, _) => Some(format!("v{letter}s{segment}e{eew}.v v{vd}, ({rs1}), {}{mask}", x(second as usize))),
        (order, _) => {
            let order = if order == 1 { 'u' } else { 'o' };
            Some(format!("v{letter}{order}x{segment}ei{eew}.v v{vd}, ({rs1}), v{second}{mask}"))
        }
    }
}

fn arith(i: &Form, x: impl Fn(usize) -> String, f: impl Fn(usize) -> String) -> Option<String> {
    if let Some(text) = unary(i, &x, &f) {
        return Some(text);
    }
    let name = match i.category {
        Category::Integer if i.funct6 == 0x0e && i.second == Second::Vector => "vrgatherei16",
        Category::Integer if i.is_whole_move() => return Some(format!("vmv{}r.v v{}, v{}", i.vs1 + 1, i.vd, i.vs2)),
        Category::Integer if i.funct6 == 0x15 && i.second == Second::Immediate => "vror",
        Category::Integer => INTEGER[i.funct6 as usize],
        Category::Multiply => MULTIPLY[i.funct6 as usize],
        Category::Float => FLOAT[i.funct6 as usize],
    };
    if name.is_empty() {
        return None;
    }
    let last = match (i.second, i.category) {
        (Second::Vector, _) => format!("v{}", i.vs1),
        (Second::Scalar, Category::Float) => f(i.vs1),
        (Second::Scalar, _) => x(i.vs1),
        (Second::Immediate, _) if matches!(i.funct6, 0x14 | 0x15) => (high_amount(i) + i.vs1 as u64).to_string(),
        (Second::Immediate, _) if matches!(i.funct6, 0x0c..=0x0f | 0x25..=0x2f | 0x35) => i.vs1.to_string(),
        (Second::Immediate, _) => (i.simm() as i64).to_string(),
    };
    let kind = match (i.second, i.category) {
        (Second::Vector, _) => 'v',
        (Second::Scalar, Category::Float) => 'f',
        (Second::Scalar, _) => 'x',
        (Second::Immediate, _) => 'i',
    };
    let (vd, vs2) = (i.vd, i.vs2);
    let mask = if i.masked { ", v0.t" } else { "" };
    let integer = i.category == Category::Integer;
    Some(match i.funct6 {
        // v0 is an operand.
        0x10 | 0x12 | 0x17 if integer && i.masked => format!("{name}.v{kind}m v{vd}, v{vs2}, {last}, v0"),
        0x11 | 0x13 if integer && i.masked => format!("{name}.v{kind}m v{vd}, v{vs2}, {last}, v0"),
        0x17 if integer => format!("vmv.v.{kind} v{vd}, {last}"),
        0x17 if i.category == Category::Multiply => format!("vcompress.vm v{vd}, v{vs2}, {last}"),
        0x17 if i.masked => format!("vfmerge.vfm v{vd}, v{vs2}, {last}, v0"),
        0x17 => format!("vfmv.v.f v{vd}, {last}"),
        0x18..=0x1f if i.category == Category::Multiply => format!("{name}.mm v{vd}, v{vs2}, {last}"),
        _ => {
            let reduces = name.contains("red");
            let wide = !integer && (0x34..0x38).contains(&i.funct6) || integer && (0x2c..0x30).contains(&i.funct6);
            let form = match (reduces, wide) {
                (true, _) => "vs".to_owned(),
                (_, true) => format!("w{kind}"),
                _ => format!("v{kind}"),
            };
            // A multiply-add has its second operand first.
            let fused = name.contains("mac") || name.contains("msac") || name.contains("madd") || name.contains("msub");
            if fused {
                format!("{name}.{form} v{vd}, {last}, v{vs2}{mask}")
            } else {
                format!("{name}.{form} v{vd}, v{vs2}, {last}{mask}")
            }
        }
    })
}

/// Operations that are encoded in `vs1` or `vs2`.
fn unary(i: &Form, x: &impl Fn(usize) -> String, f: &impl Fn(usize) -> String) -> Option<String> {
    let (vd, vs2) = (i.vd, i.vs2);
    let mask = if i.masked { ", v0.t" } else { "" };
    let vector = i.second == Second::Vector;
    match (i.category, i.funct6, i.vs1) {
        (Category::Multiply, 0x10, _) if !vector => Some(format!("vmv.s.x v{vd}, {}", x(i.vs1))),
        (Category::Multiply, 0x10, 0) => Some(format!("vmv.x.s {}, v{vs2}", x(vd))),
        (Category::Multiply, 0x10, 0x10) => Some(format!("vcpop.m {}, v{vs2}{mask}", x(vd))),
        (Category::Multiply, 0x10, 0x11) => Some(format!("vfirst.m {}, v{vs2}{mask}", x(vd))),
        (Category::Multiply, 0x12, 2..=7) if vector => {
            let letter = if i.vs1 & 1 == 0 { 'z' } else { 's' };
            Some(format!("v{letter}ext.vf{} v{vd}, v{vs2}{mask}", 16 >> (i.vs1 / 2)))
        }
        (Category::Multiply, 0x12, code) if vector => name(code).map(|name| format!("{name} v{vd}, v{vs2}{mask}")),
        (Category::Multiply, 0x14, 1..=3) if vector => Some(format!("{} v{vd}, v{vs2}{mask}", MASK_UNARY[i.vs1])),
        (Category::Multiply, 0x14, 0x10) if vector => Some(format!("viota.m v{vd}, v{vs2}{mask}")),
        (Category::Multiply, 0x14, 0x11) if vector => Some(format!("vid.v v{vd}{mask}")),
        (Category::Float, 0x10, 0) if vector => Some(format!("vfmv.f.s {}, v{vs2}", f(vd))),
        (Category::Float, 0x10, _) if !vector => Some(format!("vfmv.s.f v{vd}, {}", f(i.vs1))),
        (Category::Float, 0x12, code) if vector => {
            let (name, form) = match code >> 3 {
                0 => ("vfcvt", 'v'),
                1 => ("vfwcvt", 'v'),
                2 => ("vfncvt", 'w'),
                _ => return None,
            };
            Some(format!("{name}.{}.{form} v{vd}, v{vs2}{mask}", CONVERSIONS[code & 7]))
        }
        (Category::Float, 0x13, code) if vector => {
            let name = match code {
                0 => "vfsqrt",
                4 => "vfrsqrt7",
                5 => "vfrec7",
                0x10 => "vfclass",
                _ => return None,
            };
            Some(format!("{name}.v v{vd}, v{vs2}{mask}"))
        }
        _ => None,
    }
}
