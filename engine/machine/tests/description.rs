//! Descriptions: what can be built is built, and each thing that cannot gets one sentence that names it.

mod common;

use breakeven_cpu::bpred::{BranchPredictorParams, DirectionParams, LtageParams};
use breakeven_cpu::o3::{FuDesc, Gem5Quirks, O3Config};
use breakeven_machine::MachineConfig;
use breakeven_memory::config::{PrefetcherConfig, PrefetcherKind, Replacement, WriteCombiningConfig};
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
        ("system.cpu.dcache", "prefetcher", json!({"ref": "nowhere"})),
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
        ("root", "full_system", json!("no")),
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
    t.object("system.cpu.branchPred")["type"] = json!("TAGE_SC_L");
    t.object("system.l2.replacement_policy")["type"] = json!("LRUPR");
    let found = errors(&t).join("\n");
    assert!(found.contains("TAGE_SC_L is not a branch predictor that this engine models; known: LocalBP"), "{found}");
    assert!(found.contains("did you mean LRURP?"), "{found}");
    let mut t = reference("minor");
    t.object("system.cpu")["type"] = json!("RiscvKvmCPU");
    assert!(errors(&t).join("\n").contains("RiscvKvmCPU is not a core that this engine models"), "{:?}", errors(&t));
}

/// A prefetcher at `path` with gem5's defaults and what `more` says.
fn prefetcher(t: &mut Tree, path: &str, class: &str, more: Value) {
    let mut params = json!({"on_miss": false, "on_read": true, "on_write": true, "on_data": true, "on_inst": true,
        "prefetch_on_access": false, "prefetch_on_pf_hit": true, "page_bytes": 4096, "use_virtual_addresses": false,
        "queue_size": 32, "queue_squash": true, "queue_filter": true, "cache_snoop": false, "latency": 1,
        "tag_prefetch": true, "throttle_control_percentage": 0});
    if let (Some(all), Some(more)) = (params.as_object_mut(), more.as_object()) {
        all.extend(more.clone());
    }
    t.add(path, class, &["QueuedPrefetcher", "BasePrefetcher"], params);
}

#[test]
fn prefetchers_are_read_in_the_order_of_their_lists() {
    let mut t = reference("minor");
    let (multi, stride, stream) = ("system.l2.prefetcher", "system.l2.stride", "system.l2.stream");
    t.set("system.l2", "prefetcher", json!({"ref": multi}));
    t.add(multi, "MultiPrefetcher", &["BasePrefetcher"], json!({"prefetchers": [{"ref": stream}, {"ref": stride}]}));
    prefetcher(
        &mut t,
        stream,
        "StreamPrefetcher",
        json!({"trackers": 32, "train": 2, "degree": 2, "distance": 20,
        "prefetch_on_access": true, "prefetch_on_pf_hit": false, "cache_snoop": true}),
    );
    prefetcher(
        &mut t,
        stride,
        "StridePrefetcher",
        json!({"on_inst": false, "confidence_counter_bits": 3,
        "initial_confidence": 4, "confidence_threshold": 50, "use_requestor_id": true, "degree": 4, "distance": 0,
        "table_assoc": 4, "table_entries": 64, "table_replacement_policy": {"ref": "system.l2.lru"}}),
    );
    t.add("system.l2.lru", "LRURP", &["BaseReplacementPolicy"], json!({}));
    let config = MachineConfig::parse(&t.json()).expect("can be built");
    let l2 = config.memory.caches.iter().find(|c| c.path == "system.l2").expect("the L2");
    let mut expected = vec![
        PrefetcherConfig::new(stream, PrefetcherKind::stream()),
        PrefetcherConfig::new(stride, PrefetcherKind::stride()),
    ];
    if let PrefetcherKind::Stride { table_replacement, .. } = &mut expected[1].kind {
        *table_replacement = Replacement::Lru;
    }
    assert_eq!(l2.prefetchers, expected);

    t.set(multi, "prefetchers", json!([{"ref": multi}]));
    assert!(errors(&t).join("\n").contains("system.l2.prefetcher.prefetchers: goes through"), "{:?}", errors(&t));
    t.set(multi, "prefetchers", json!([{"ref": stride}])).set(stride, "use_virtual_addresses", json!(true));
    assert!(errors(&t).join("\n").contains("physical addresses"), "{:?}", errors(&t));
    t.object(stride)["type"] = json!("AMPMPrefetcher");
    assert!(errors(&t).join("\n").contains("not a prefetcher that this engine models"), "{:?}", errors(&t));
}

#[test]
fn prefetchers_of_the_configuration_language_have_the_memory_systems_defaults() {
    let mut found = 0;
    for text in [
        include_str!("../../../tests/data/descriptions/c910.json"),
        include_str!("../../../tests/data/descriptions/o3_large.json"),
    ] {
        let config = MachineConfig::parse(text).expect("can be built");
        for p in config.memory.caches.iter().flat_map(|c| &c.prefetchers) {
            // A random table has a seed of its own.
            let mut kind = p.kind.clone();
            if let (
                PrefetcherKind::Stride { table_replacement: ours, degree: lines, .. },
                PrefetcherKind::Stride { table_replacement, degree, .. },
            ) = (PrefetcherKind::stride(), &mut kind)
            {
                assert!(matches!(table_replacement, Replacement::Random { .. }));
                *table_replacement = ours;
                // The C910's boot loader sets 16 lines.
                if *degree == 16 {
                    *degree = lines;
                }
                assert_eq!(kind, PrefetcherKind::stride());
            }
            assert_eq!(*p, PrefetcherConfig::new(&p.path, p.kind.clone()));
            found += 1;
        }
    }
    assert_eq!(found, 5, "two of the C910, three of the large core");
}

/// gem5's `LTAGE` in place of the core's predictor.
fn ltage(t: &mut Tree) {
    let p = "system.cpu.branchPred";
    t.object(p)["type"] = json!("LTAGE");
    t.set(p, "tage", json!({"ref": "system.cpu.branchPred.tage"}));
    t.set(p, "loop_predictor", json!({"ref": "system.cpu.branchPred.loop_predictor"}));
    let tage = json!({"nHistoryTables": 12, "minHist": 4, "maxHist": 640, "tagTableCounterBits": 3, "tagTableUBits": 2,
        "logTagTableSizes": [14, 10, 10, 11, 11, 11, 11, 10, 10, 10, 10, 9, 9], "maxNumAlloc": 1, "noSkip": [],
        "tagTableTagWidths": [0, 7, 7, 8, 8, 9, 10, 11, 12, 12, 13, 14, 15], "logUResetPeriod": 19,
        "logRatioBiModalHystEntries": 2, "initialTCounterValue": 131_072, "pathHistBits": 16, "useAltOnNaBits": 4,
        "histBufferSize": 2_097_152, "instShiftAmt": 2, "speculativeHistUpdate": true});
    t.add("system.cpu.branchPred.tage", "LTAGE_TAGE", &["TAGEBase"], tage);
    let loops = json!({"logSizeLoopPred": 8, "withLoopBits": 7, "loopTableAgeBits": 8, "loopTableConfidenceBits": 2,
        "loopTableTagBits": 14, "loopTableIterBits": 14, "logLoopTableAssoc": 2, "useDirectionBit": false,
        "useSpeculation": false, "useHashing": false, "restrictAllocation": false, "initialLoopIter": 1,
        "initialLoopAge": 255, "optionalAgeReset": true});
    t.add("system.cpu.branchPred.loop_predictor", "LoopPredictor", &["SimObject"], loops);
}

#[test]
fn l_tage_is_read_with_its_parts() {
    let mut t = reference("minor");
    ltage(&mut t);
    let config = MachineConfig::parse(&t.json()).expect("can be built");
    let expected = format!("{:?}", DirectionParams::Ltage(LtageParams::default()));
    assert!(format!("{:?}", config.core).contains(&expected), "{:?}", config.core);
    for (object, param, value) in [
        ("tage", "nHistoryTables", json!(0)),
        ("tage", "logTagTableSizes", json!([14, 60])),
        ("tage", "speculativeHistUpdate", json!(false)),
        ("loop_predictor", "loopTableIterBits", json!(40)),
    ] {
        let mut t = reference("minor");
        ltage(&mut t);
        t.set(&format!("system.cpu.branchPred.{object}"), param, value);
        let found = errors(&t).join("\n");
        assert!(found.contains(param), "{param} gave {found:?}");
    }
}

/// The preset `o3` as the configuration language describes it, with one parameter changed.
fn o3_with(object: &str, param: &str, value: &Value) -> String {
    let text = include_str!("../../../tests/data/descriptions/o3.json");
    let mut description: Value = serde_json::from_str(text).expect("JSON");
    let objects = description["objects"].as_array_mut().expect("objects");
    if let Some(o) = objects.iter_mut().find(|o| o["path"] == object) {
        o["params"][param] = value.clone();
    }
    description.to_string()
}

#[test]
fn the_default_out_of_order_core_is_gem5s() {
    let config = MachineConfig::parse(&o3_with("", "", &Value::Null)).expect("can be built");
    // What gem5 does of itself, and the preset therefore.
    let mut gem5s = O3Config { quirks: Gem5Quirks::ALL, ..O3Config::default() };
    // The order of the classes in a unit means nothing.
    let sorted = |mut units: Vec<FuDesc>| {
        units.retain(|unit| unit.count > 0);
        units.iter_mut().for_each(|unit| unit.opList.sort_by_key(|op| op.opClass as u8));
        units
    };
    let breakeven_machine::CoreConfig::O3(mut o3, predictor) = config.core else { panic!("an out-of-order core") };
    o3.fuPool = sorted(o3.fuPool);
    gem5s.fuPool = sorted(gem5s.fuPool);
    assert_eq!(*o3, gem5s);
    assert_eq!(predictor, Some(BranchPredictorParams::default()));
}

#[test]
fn every_bad_value_of_the_out_of_order_core_is_named() {
    let core = "system.cpu";
    for (object, param, value, said) in [
        (core, "numROBEntries", json!(0), "system.cpu.numROBEntries:"),
        (core, "numRobs", json!(2), "system.cpu.numRobs:"),
        (core, "fetchBufferSize", json!(48), "system.cpu.fetchBufferSize:"),
        (core, "issueWidth", json!(1u64 << 40), "system.cpu.issueWidth:"),
        (core, "renameRecovery", json!("checkpoints"), "did you mean checkpoint?"),
        (core, "needsTSO", json!(1), "system.cpu.needsTSO:"),
        (core, "fuPool", Value::Null, "system.cpu.fuPool:"),
        (core, "iqInsertionPolicy", json!("LeastLoad"), "did you mean LeastLoaded?"),
        (core, "instQueues", json!({"ref": "system.cpu"}), "system.cpu.numEntries"),
        (core, "partialForwardPolicy", json!("never"), "system.cpu.partialForwardPolicy:"),
        (core, "numPhysIntRegs", json!(8), "system.cpu.numPhysIntRegs:"),
        ("system.cpu.fuPool.FUList0", "count", json!(0), "IntAlu"),
        ("system.cpu.fuPool.FUList0.opList", "opLat", json!(0), "opLat"),
        ("system.cpu.fuPool.FUList0.opList", "opClass", json!("IntAlo"), "did you mean IntAlu?"),
    ] {
        let found = MachineConfig::parse(&o3_with(object, param, &value)).err().unwrap_or_default();
        let text: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(text.iter().any(|e| e.contains(said)), "{object}.{param} = {value} gave {text:?}");
    }
}

#[test]
fn write_combining_buffers_are_read() {
    let mut t = reference("minor");
    let path = "system.cpu.write_combining";
    t.set("system.cpu", "write_combining", json!({"ref": path}));
    t.add(
        path,
        "WriteCombiningBuffers",
        &["SimObject"],
        json!({"buffers": 10, "buffer_bytes": 64, "partial_bytes": 8,
        "latency": 1, "prefetch_nta_first_level": true, "ranges": []}),
    );
    let config = MachineConfig::parse(&t.json()).expect("can be built");
    assert_eq!(config.memory.write_combining, Some(WriteCombiningConfig::new(path)));
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

/// The reference machine under syscall emulation.
fn emulated() -> common::Tree {
    let mut t = reference("minor");
    t.set("root", "full_system", json!(false));
    t.object("system.workload")["type"] = json!("RiscvEmuLinux");
    t.set("system.cpu", "workload", json!([{"ref": "system.cpu.workload"}]));
    t.add("system.cpu.workload", "Process", &["SimObject"], json!({"cmd": ["hello", "x"], "env": ["A=b"], "uid": 7}));
    t
}

#[test]
fn a_process_is_read_and_what_it_cannot_have_is_named() {
    let process = MachineConfig::parse(&emulated().json()).expect("builds").process.expect("is there");
    assert_eq!((process.args.len(), process.env.len(), process.ids.uid, process.ids.pid), (2, 1, 7, 100));
    assert_eq!((process.executable.as_str(), process.timed_translation), ("hello", false));
    assert!(MachineConfig::parse(&reference("minor").json()).expect("builds").process.is_none());

    for (object, param, value) in [
        ("system.cpu.workload", "cmd", json!([])),
        ("system.cpu.workload", "cmd", json!(["a\u{0}b"])),
        ("system.cpu.workload", "cmd", json!(["x".repeat(1 << 18)])),
        ("system.cpu.workload", "drivers", json!([{"ref": "system"}])),
        ("system.cpu.workload", "maxStackSize", json!(1u64 << 60)),
        ("system.cpu", "workload", json!([])),
    ] {
        let mut t = emulated();
        t.set(object, param, value);
        let found = errors(&t);
        assert!(found[0].starts_with(&format!("{object}.{param}:")) && found[0].len() < 600, "{found:?}");
    }
    let mut t = emulated();
    t.object("system.workload")["type"] = json!("X86EmuLinux");
    assert!(errors(&t)[0].contains("RiscvEmuLinux"), "{:?}", errors(&t));
}

#[test]
fn parameters_of_o3_without_effect_are_refused_by_name_unless_at_gem5_s_default() {
    let errors = |text: &str| -> Vec<String> {
        MachineConfig::parse(text).err().unwrap_or_default().iter().map(ToString::to_string).collect()
    };
    let plain = include_str!("../../../tests/data/descriptions/o3.json");
    assert_eq!(errors(plain), Vec::<String>::new());
    assert_eq!(errors(include_str!("../../../tests/data/descriptions/x86_o3.json")), Vec::<String>::new());
    for (name, default, other) in [
        ("renameToFetchDelay", "1", "2"),
        ("iewToFetchDelay", "1", "2"),
        ("iewToDecodeDelay", "1", "2"),
        ("fetchTrapLatency", "1", "2"),
        ("LSQCheckLoads", "true", "false"),
        ("numPhysVecRegs", "256", "128"),
        ("numPhysVecPredRegs", "32", "64"),
        ("numPhysMatRegs", "2", "4"),
        ("numPhysCCRegs", "0", "8"),
    ] {
        let is = |value: &str| format!("\"{name}\": {value}");
        assert!(plain.contains(&is(default)), "{name}");
        let found = errors(&plain.replace(&is(default), &is(other)));
        assert!(found.len() == 1 && found[0].contains(name), "{name}: {found:?}");
    }
}
