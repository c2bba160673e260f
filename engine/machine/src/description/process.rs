//! `Root.full_system` false: the process that runs under syscall emulation.

use serde_json::json;

use super::reader::Obj;
use crate::se::{Ids, ProcessConfig};

/// argv and envp together, as Linux bounds them.
const LARGEST_ARGUMENTS: usize = 128 << 10;

/// The one process of the core.
pub(super) fn process(system: Obj, cpu: Obj, x86: bool) -> Option<ProcessConfig> {
    let known: &[&str] = if x86 { &["X86EmuLinux"] } else { &["RiscvEmuLinux"] };
    let workload = system.a_ref("workload").filter(|w| w.expect_class("workload for syscall emulation", known))?;
    let all = cpu.refs("workload");
    let [p] = all[..] else {
        let what = format!("holds {} processes; syscall emulation (full_system false) runs exactly one", all.len());
        cpu.param_error("workload", what);
        return None;
    };
    if !p.expect_class("process", &["Process"]) {
        return None;
    }
    p.only("kvmInSE", &json!(false), "there is no KVM");
    p.only("drivers", &json!([]), "there are no device drivers");
    let owned = |name| p.texts(name).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let (args, env) = (owned("cmd"), owned("env"));
    if args.is_empty() {
        p.param_error("cmd", "is empty; its first word is the program's name");
    }
    for (name, list) in [("cmd", &args), ("env", &env)] {
        if list.iter().any(|text| text.contains('\0')) {
            p.param_error(name, "has a NUL byte in a string");
        }
    }
    let bytes: usize = args.iter().chain(&env).map(|text| text.len() + 9).sum();
    if bytes > LARGEST_ARGUMENTS {
        p.param_error("cmd", format!("and env take {bytes} bytes; Linux takes {LARGEST_ARGUMENTS}"));
    }
    let id = |name, default| p.u32_or(name, default, 0..=i32::MAX as u32);
    let ids = Ids {
        uid: id("uid", 100),
        euid: id("euid", 100),
        gid: id("gid", 100),
        egid: id("egid", 100),
        pid: id("pid", 100),
        ppid: id("ppid", 0),
        pgid: id("pgid", 100),
    };
    let executable = match p.text_or("executable", "") {
        "" => args.first().cloned().unwrap_or_default(),
        named => named.to_owned(),
    };
    Some(ProcessConfig {
        path: p.path().to_owned(),
        args,
        env,
        executable,
        cwd: p.text_or("cwd", "").to_owned(),
        ids,
        release: p.text_or("release", "5.1.0").to_owned(),
        max_stack: p.int_or("maxStackSize", 64 << 20, 64 << 10..=1 << 30),
        timed_translation: workload.bool_or("timed_translation", false),
    })
}
