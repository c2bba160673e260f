//! The x86-64 instruction set of a description: what CPUID says, and how instructions become micro-ops.
//!
//! gem5's `X86ISA` has CPUID's leaves as numbers; of them vendor, name and signature are taken. Which extensions there are
//! is ours to say (`enable_*`). `microcode` is ours, too; its defaults are gem5's.

use breakeven_base::OpClass;
use breakeven_x86::{CrackConfig, Features, FlagMerge, Pace, RepConfig, StringMode, X86Config};

use super::reader::Obj;

pub(super) fn isa(system: Obj, cpu: Obj) -> X86Config {
    let mut config = X86Config {
        line: system.pow2("cache_line_size", 16..=256) as u16,
        crack: CrackConfig::gem5(),
        rep: RepConfig::default(),
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

/// How long a reader of flags stalls beyond the retirement of their writers, in cycles.
pub(super) fn flag_stall(cpu: Obj) -> u32 {
    let of = |isa: Obj| isa.opt_ref("microcode").map_or(0, |m| m.u32_or("flag_stall", 0, 0..=15));
    cpu.refs("isa").into_iter().map(of).max().unwrap_or(0)
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

/// Every extension has its `enable_*`, on unless said otherwise; AVX-512 off.
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
        avx512: isa.bool_or("enable_avx512", false),
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
        max_access: m.u32_or("max_access", 8, 8..=64) as u8,
        max_store: m.u32_or("max_store", 0, 0..=64) as u8,
        max_operation: m.u32_or("max_operation", 64, 32..=64) as u8,
        latency: table(m, |i| number(i, "latency", 255)),
        uops: table(m, |i| number(i, "uops", 8)),
        class: table(m, class),
        carry_latency: table(m, |i| number(i, "carry_latency", 255)),
        simple_zero: table(m, |i| Some(i.bool_or("simple_zero", false)).filter(|&yes| yes)),
        first_decoder: on("first_decoder"),
    }
}

/// Mnemonics with a value, of those instructions that say one.
fn table<T: Copy>(m: Obj, value: impl Fn(Obj) -> Option<T>) -> Vec<(String, T)> {
    let mut table = Vec::new();
    for i in m.refs("instructions") {
        if let Some(v) = value(i) {
            table.extend(i.texts("mnemonics").into_iter().map(|name| (name.to_owned(), v)));
        }
    }
    table
}

/// A number of a `X86Instruction`; 0: not said.
fn number(i: Obj, name: &str, most: u32) -> Option<u8> {
    Some(i.u32_or(name, 0, 0..=most) as u8).filter(|&n| n != 0)
}

fn class(i: Obj) -> Option<OpClass> {
    let names: Vec<&str> = OpClass::ALL.iter().map(|c| c.name()).collect();
    Some(OpClass::ALL[i.choice_or("opClass", 0, &names)]).filter(|&c| c != OpClass::No_OpClass)
}

fn rep(m: Obj) -> RepConfig {
    let modes = |name| m.refs(name).into_iter().map(string_mode).collect();
    RepConfig { movs: modes("rep_movs"), stos: modes("rep_stos") }
}

fn string_mode(m: Obj) -> StringMode {
    let any = u32::MAX;
    // Cycles a byte are kept exactly enough; what is not said is as the case before.
    let pace = |name, before| match m.float_or(name, 0.0, 0.0..=64.0) {
        rate if rate > 0.0 => Pace::bytes_per_cycle(rate.max(0.01)),
        _ => before,
    };
    let aligned = pace("bytes_per_cycle", Pace::default());
    let misaligned = pace("bytes_per_cycle_misaligned", aligned);
    let power = |name| {
        let n = m.u32_or(name, 1, 1..=128);
        if !n.is_power_of_two() {
            m.param_error(name, format!("is {n}; it must be a power of two"));
        }
        n.next_power_of_two() as u8
    };
    let block = m.u32_or("block", 32, 0..=64);
    if block != 0 && (block < 8 || !block.is_power_of_two()) {
        m.param_error("block", format!("is {block}; it must be 0 (by element) or a power of two from 8 to 64"));
    }
    StringMode {
        min_count: m.u32_or("min_count", 0, 0..=any),
        max_count: m.u32_or("max_count", any, 0..=any),
        max_bytes: m.u32_or("max_bytes", any, 0..=any),
        min_element: m.u32_or("min_element", 1, 1..=8) as u8,
        backwards: m.bool_or("backwards", false),
        co_alignment: power("co_alignment"),
        destination_alignment: power("destination_alignment"),
        min_distance: m.u32_or("min_distance", 0, 0..=any),
        min_page_offset: m.u32_or("min_page_offset", 0, 0..=4095) as u16,
        equal_page_offset: m.bool_or("equal_page_offset", false),
        startup: m.u32_or("startup", 0, 0..=255) as u8,
        startup_uops: m.u32_or("startup_uops", 0, 0..=4096) as u16,
        element_cycles: m.u32_or("element_cycles", 0, 0..=255) as u8,
        element_uops: m.u32_or("element_uops", 0, 0..=4) as u8,
        block: block as u8,
        alignment: power("alignment"),
        pace: aligned,
        pace_misaligned: misaligned,
        pace_crossed: pace("bytes_per_cycle_crossed", misaligned),
        whole_lines: m.bool_or("whole_lines", false),
    }
}
