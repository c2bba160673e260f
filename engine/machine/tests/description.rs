//! Descriptions: what can be built is built, and each thing that cannot gets one sentence that names it.

mod common;

use breakeven_machine::MachineConfig;
use common::{reference, Tree, RAM};
use serde_json::{json, Value};

fn errors(t: &Tree) -> Vec<String> {
    MachineConfig::parse(&t.json()).err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

#[test]
fn the_reference_machines_can_be_built() {
    for core in ["atomic", "timing", "minor"] {
        assert_eq!(errors(&reference(core)), Vec::<String>::new(), "{core}");
    }
}

/// (object, parameter, value): each is wrong, and the error names exactly that parameter.
fn bad_values() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("system.cpu.dcache", "size", json!(0)),
        ("system.cpu.dcache", "size", json!(1u64 << 60)),
        ("system.cpu.dcache", "size", json!(-1)),
        ("system.cpu.dcache", "size", json!("32KiB")),
        ("system.cpu.dcache", "size", json!(32.5)),
        ("system.cpu.dcache", "size", Value::Null),
        ("system.cpu.dcache", "assoc", json!(0)),
        ("system.cpu.dcache", "assoc", json!(1u64 << 40)),
        ("system.cpu.dcache", "tag_latency", json!(-3)),
        ("system.cpu.dcache", "data_latency", json!(1e300)),
        ("system.cpu.dcache", "mshrs", json!(0)),
        ("system.cpu.dcache", "tgts_per_mshr", json!(0)),
        ("system.cpu.dcache", "write_buffers", json!([])),
        ("system.cpu.dcache", "sequential_access", json!(1)),
        ("system.cpu.dcache", "clusivity", json!("exclusive")),
        ("system.cpu.dcache", "prefetcher", json!({"ref": "system"})),
        ("system.cpu.dcache", "replacement_policy", json!({"ref": "nowhere"})),
        ("system.cpu.dcache", "replacement_policy", Value::Null),
        ("system.cpu.dcache", "clk_domain", json!({"ref": "system.clock"})),
        ("system.clk_domain", "clock", json!([0])),
        ("system.clk_domain", "clock", json!([])),
        ("system.clk_domain", "clock", json!([500, 1000])),
        ("system.mem_ctrl.dram", "enable_dram_powerdown", json!(true)),
        ("system.clk_domain", "clock", json!([u64::MAX])),
        ("system", "cache_line_size", json!(48)),
        ("system", "cache_line_size", json!(0)),
        ("system", "mem_mode", json!("atomic")),
        ("system", "mem_mode", json!("timeing")),
        ("system", "mem_ranges", json!([{"start": 0, "end": 4096}])),
        ("system", "mem_ranges", json!([{"start": 5, "end": 5}])),
        ("system.l2bus", "width", json!(0)),
        ("system.l2bus", "frontend_latency", json!(10_000_000)),
        ("system.mem_ctrl", "write_high_thresh_perc", json!(101)),
        ("system.mem_ctrl", "dram", Value::Null),
        ("system.mem_ctrl.dram", "tCK", json!(0)),
        ("system.mem_ctrl.dram", "tRP", json!(u64::MAX)),
        ("system.mem_ctrl.dram", "range", json!({"start": RAM + 4096, "end": RAM})),
        ("system.mem_ctrl.dram", "page_policy", json!("open_adaptiv")),
        ("system.mem_ctrl.dram", "addr_mapping", json!(3)),
        ("system.cpu", "numThreads", json!(2)),
        ("system.cpu", "executeIssueLimit", json!(0)),
        ("system.cpu", "executeIssueLimit", json!(1u64 << 33)),
        ("system.cpu", "executeInputBufferSize", json!(100_000)),
        ("system.cpu", "executeMemoryWidth", json!(12)),
        ("system.cpu", "decodeCycleInput", json!("yes")),
        ("system.cpu", "executeFuncUnits", Value::Null),
        ("system.cpu.executeFuncUnits.funcUnits0", "opLat", json!(0)),
        ("system.cpu.executeFuncUnits.funcUnits0", "opClasses", json!(7)),
        ("system.cpu.executeFuncUnits.funcUnits0.timings", "mask", json!(127)),
        ("system.cpu.executeFuncUnits.funcUnits0.opClasses.opClasses0", "opClass", json!("IntAlo")),
        ("system.cpu.branchPred", "localCtrBits", json!(0)),
        ("system.cpu.branchPred", "globalPredictorSize", json!(1u64 << 50)),
        ("system.cpu.branchPred.btb", "numEntries", json!(0)),
        ("system.cpu.branchPred.ras", "numEntries", json!(-16)),
        ("system.cpu.mmu", "dtb", Value::Null),
        ("system.cpu.mmu.dtb", "size", json!(0)),
        ("system.cpu.mmu.dtb", "l2_size", json!(1u64 << 40)),
        ("system.cpu.mmu.pma_checker", "uncacheable", json!([{"start": "a"}])),
        ("system.cpu.isa", "riscv_type", json!("RV32")),
        ("root", "full_system", json!(false)),
    ]
}

#[test]
fn every_bad_value_is_named_in_one_sentence() {
    for (object, param, value) in bad_values() {
        let mut t = reference("minor");
        t.set(object, param, value.clone());
        let found = errors(&t);
        let path = format!("{object}.{param}:");
        assert!(found.iter().any(|e| e.starts_with(&path)), "{path} {value} gave {found:?}");
        assert!(found.iter().all(|e| !e.contains('\n') && e.len() < 600), "{found:?}");
    }
}

#[test]
fn all_errors_are_reported_together() {
    let mut t = reference("minor");
    t.set("system.cpu.dcache", "size", json!(0)).set("system.l2", "mshrs", json!(0)).set(
        "system.cpu",
        "numThreads",
        json!(4),
    );
    assert_eq!(errors(&t).len(), 3, "{:?}", errors(&t));
}

#[test]
fn missing_parameters_and_objects_are_named() {
    let mut t = reference("timing");
    t.remove_param("system.l2", "assoc");
    assert_eq!(errors(&t), ["system.l2.assoc: is missing; a Cache has this parameter"]);
    assert!(MachineConfig::parse("{\"format\": 1, \"objects\": []}").expect_err("empty")[0].what.contains("no System"));
}

#[test]
fn ports_that_lead_nowhere_or_back_are_refused() {
    let mut t = reference("timing");
    t.disconnect("system.cpu", "icache_port");
    assert!(errors(&t)[0].starts_with("system.cpu.icache_port: is connected to 0 ports"), "{:?}", errors(&t));

    let mut t = reference("timing");
    t.disconnect("system.l2", "mem_side");
    t.connect("system.l2.mem_side", "system.l2bus.cpu_side_ports");
    assert!(errors(&t).iter().any(|e| e.contains("circle")), "{:?}", errors(&t));

    let mut t = reference("timing");
    t.object("system.cpu")["ports"]["icache_port"] = json!(["system.cpu.icache.mem_side"]);
    assert!(errors(&t).iter().any(|e| e.contains("enter a Cache at cpu_side")), "{:?}", errors(&t));

    let mut t = reference("timing");
    t.object("system.cpu")["ports"]["dcache_port"] = json!(["system.gone.cpu_side"]);
    assert!(errors(&t).iter().any(|e| e.contains("system.gone.cpu_side")), "{:?}", errors(&t));
}

#[test]
fn unknown_classes_come_with_near_matches() {
    let mut t = reference("minor");
    t.object("system.cpu.branchPred")["type"] = json!("TAGE");
    t.object("system.l2.replacement_policy")["type"] = json!("LRUPR");
    let found = errors(&t).join("\n");
    assert!(found.contains("TAGE is not a branch predictor that this engine models; known: LocalBP"), "{found}");
    assert!(found.contains("did you mean LRURP?"), "{found}");
    let mut t = reference("minor");
    t.object("system.cpu")["type"] = json!("RiscvO3CPU");
    assert!(errors(&t).join("\n").contains("RiscvO3CPU is not a core that this engine models"), "{:?}", errors(&t));
}

#[test]
fn clock_domains_divide_and_circles_are_found() {
    let mut t = reference("timing");
    t.add(
        "system.slow",
        "DerivedClockDomain",
        &["ClockDomain"],
        json!({"clk_domain": {"ref": "system.clk_domain"}, "clk_divider": 4}),
    );
    t.set("system.l2", "clk_domain", json!({"ref": "system.slow"}));
    let config = MachineConfig::parse(&t.json()).expect("can be built");
    let l2 = config.memory.caches.iter().find(|c| c.path == "system.l2").expect("the L2");
    assert_eq!(l2.clock.period(), 2000);
    t.set("system.slow", "clk_domain", json!({"ref": "system.slow"}));
    assert!(errors(&t).join("\n").contains("circle"), "{:?}", errors(&t));
}

#[test]
fn text_that_is_no_description_is_refused() {
    for text in ["", "{", "[]", "{\"format\": 2, \"objects\": []}", "{\"format\": 1}", "\u{0}"] {
        let e = MachineConfig::parse(text).expect_err("refused");
        assert_eq!(e.len(), 1);
    }
    let deep = "[".repeat(100_000);
    assert_eq!(MachineConfig::parse(&deep).expect_err("refused").len(), 1);
    let mut t = reference("timing");
    t.add("system.l2", "Cache", &[], json!({}));
    assert!(errors(&t)[0].contains("described twice"));
}

#[test]
fn memory_must_be_one_piece_and_clear_of_devices() {
    let mut t = reference("timing");
    t.set("system.mem_ctrl.dram", "range", json!({"start": 0, "end": 0x2000_0000}));
    t.set("system", "mem_ranges", json!([]));
    assert!(errors(&t).join("\n").contains("covers the CLINT"), "{:?}", errors(&t));
    let mut t = reference("timing");
    t.add(
        "system.more",
        "SimpleMemory",
        &["AbstractMemory"],
        json!({"range": {"start": 1u64 << 33, "end": (1u64 << 33) + 4096}}),
    );
    assert!(errors(&t).join("\n").contains("without a gap"), "{:?}", errors(&t));
}
