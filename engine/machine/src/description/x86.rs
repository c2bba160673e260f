//! The x86-64 instruction set of a description: what CPUID says, and how instructions become micro-ops.
//!
//! gem5's `X86ISA` has CPUID's leaves as numbers; of them vendor, name and signature are taken. Which extensions there are
//! is ours to say (`enable_*`). `microcode` is ours, too; its defaults are gem5's.

use breakeven_x86::{CrackConfig, Features, FlagMerge, RepConfig, X86Config};

use super::reader::Obj;

pub(super) fn isa(system: Obj, cpu: Obj) -> X86Config {
    let mut config = X86Config {
        line: system.pow2("cache_line_size", 16..=256) as u16,
        crack: CrackConfig::gem5(),
        rep: RepConfig { per_element: true, ..RepConfig::default() },
        ..X86Config::default()
    };
    for isa in cpu.refs("isa") {
        if !isa.expect_class("instruction set", &["X86ISA"]) {
            continue;
        }
        identity(isa, &mut config);
        config.features = features(isa);
        if let Some(m) = isa.opt_ref("microcode") {
            (config.crack, config.rep) = (crack(m), rep(m));
        }
    }
    config
}

/// gem5's Minor asks the predictor for what its decoder calls control flow before it is microcode: of x86 next to nothing,
/// so that every taken branch costs a misprediction. Part of `microcode.gem5`.
pub(super) fn unpredicted(cpu: Obj) -> bool {
    let gem5s = |isa: &Obj| isa.opt_ref("microcode").is_none_or(|m| m.bool_or("gem5", true));
    cpu.class() == "X86MinorCPU" && cpu.refs("isa").iter().any(gem5s)
}

fn identity(isa: Obj, config: &mut X86Config) {
    let vendor = isa.text_or("vendor_string", "GenuineIntel");
    match <[u8; 12]>::try_from(vendor.as_bytes()) {
        Ok(v) => config.vendor = v,
        Err(_) => isa.param_error("vendor_string", format!("is \"{vendor}\"; CPUID's vendor has 12 characters")),
    }
    let name = isa.text_or("name_string", &config.brand);
    if name.len() > 48 {
        isa.param_error("name_string", format!("has {} characters; CPUID has room for 48", name.len()));
    } else {
        config.brand = name.to_owned();
    }
    if let Some(&signature) = isa.ints("FamilyModelStepping", 0..=u64::from(u32::MAX)).first() {
        config.signature = signature as u32;
    }
}

/// Every extension has its `enable_*`, on unless said otherwise.
fn features(isa: Obj) -> Features {
    let on = |name| isa.bool_or(name, true);
    Features {
        cmov: on("enable_cmov"),
        mmx: on("enable_mmx"),
        sse: on("enable_sse"),
        sse2: on("enable_sse2"),
        sse3: on("enable_sse3"),
        ssse3: on("enable_ssse3"),
        sse4_1: on("enable_sse4_1"),
        sse4_2: on("enable_sse4_2"),
        popcnt: on("enable_popcnt"),
        movbe: on("enable_movbe"),
        lzcnt: on("enable_lzcnt"),
        avx: on("enable_avx"),
        avx2: on("enable_avx2"),
        bmi1: on("enable_bmi1"),
        bmi2: on("enable_bmi2"),
        adx: on("enable_adx"),
        clflush: on("enable_clflush"),
        clflushopt: on("enable_clflushopt"),
        clwb: on("enable_clwb"),
        prefetchw: on("enable_prefetchw"),
        rdtscp: on("enable_rdtscp"),
        cx16: on("enable_cx16"),
        erms: on("enable_erms"),
        fsrm: on("enable_fsrm"),
        smep: on("enable_smep"),
        smap: on("enable_smap"),
        fsgsbase: on("enable_fsgsbase"),
        pdpe1gb: on("enable_pdpe1gb"),
    }
}

fn crack(m: Obj) -> CrackConfig {
    let on = |name| m.bool_or(name, false);
    CrackConfig {
        gem5_microcode: m.bool_or("gem5", true),
        micro_fusion: on("micro_fusion"),
        fuse_cmp_test: on("fuse_cmp_test"),
        fuse_add_sub_and: on("fuse_add_sub_and"),
        fuse_inc_dec: on("fuse_inc_dec"),
        split_stores: on("split_stores"),
        stack_engine: on("stack_engine"),
        zero_idioms: on("zero_idioms"),
        eliminate_zero_idioms: on("eliminate_zero_idioms"),
        eliminate_moves: on("eliminate_moves"),
        flag_merge: [FlagMerge::None, FlagMerge::Uop, FlagMerge::Stall]
            [m.choice_or("flag_merge", 0, &["none", "uop", "stall"])],
        max_access: m.u32_or("max_access", 8, 8..=32) as u8,
        ..CrackConfig::gem5()
    }
}

fn rep(m: Obj) -> RepConfig {
    RepConfig { per_element: m.bool_or("rep_per_element", true), block: m.u32_or("rep_block", 32, 8..=64) as u8 }
}
