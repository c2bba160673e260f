//! Functional-unit classes of vector operations, gem5's names.

use breakeven_base::OpClass;
use iced_x86::Mnemonic;

/// The class of a vector operation by its family.
pub(crate) fn class_of(op: Mnemonic) -> OpClass {
    let name = format!("{op:?}");
    let name = name.strip_prefix('V').map_or(name.clone(), str::to_lowercase).to_lowercase();
    let has = |list: &[&str]| list.iter().any(|p| name.starts_with(p));
    let float = name.ends_with("ps") || name.ends_with("pd") || name.ends_with("ss") || name.ends_with("sd");
    if has(&["pmul", "pmadd", "psadbw", "mpsadbw"]) {
        OpClass::SimdMult
    } else if has(&["psll", "psrl", "psra"]) {
        OpClass::SimdShift
    } else if has(&["padd", "psub", "phadd", "phsub", "pavg", "pabs", "psign"]) {
        OpClass::SimdAdd
    } else if has(&["pcmp", "pmax", "pmin"]) {
        OpClass::SimdCmp
    } else if has(&["cvt"]) {
        OpClass::SimdFloatCvt
    } else if float && has(&["mul", "dp"]) {
        OpClass::SimdFloatMult
    } else if float && has(&["div", "rcp"]) {
        OpClass::SimdFloatDiv
    } else if float && has(&["sqrt", "rsqrt"]) {
        OpClass::SimdFloatSqrt
    } else if float && has(&["add", "sub", "hadd", "hsub", "round"]) {
        OpClass::SimdFloatAdd
    } else if float && has(&["cmp", "min", "max", "comi", "ucomi"]) {
        OpClass::SimdFloatCmp
    } else if has(&[
        "punpck", "pack", "pshuf", "palignr", "shuf", "unpck", "perm", "insert", "extract", "pinsr", "pextr", "pmov",
        "movmsk",
    ]) {
        OpClass::SimdMisc
    } else {
        OpClass::SimdAlu
    }
}
