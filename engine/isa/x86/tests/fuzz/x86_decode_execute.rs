//! Any bytes as code and data. The first byte chooses how: by steps, with wrong paths in between, or by the fast path;
//! the registers point into the input's neighbourhood, exceptions lead back into it.

use crate::common::{now, Machine, CODE};
use breakeven_base::{FrontEnd, StepResult, SysEffect};
use breakeven_x86::{RepConfig, X86Config};

pub fn run(input: &[u8]) {
    let [how, vector, code @ ..] = input else { return };
    let mut config = X86Config::default();
    if how & 4 != 0 {
        config.rep = RepConfig::default();
    }
    let mut m = Machine::with(&config);
    m.fe.enable_avx();
    for n in 0..16 {
        m.fe.set_gpr(n, CODE + 512 * n as u64 + u64::from(*vector));
    }
    m.handler(u64::from(*vector & 31), CODE + 2, 0);
    m.code(CODE, &code[..code.len().min(8192)]);
    for k in 0..256u64 {
        if how & 1 != 0 {
            m.fe.run_fast(&mut m.bus, now(false), 16);
        }
        if how & 2 != 0 && k % 4 == 0 {
            let depth = m.fe.fork(CODE + k);
            for _ in 0..4 {
                if m.fe.step(&mut m.bus, now(true), &mut m.step) != StepResult::Done {
                    break;
                }
            }
            m.fe.rollback(depth);
        }
        m.step();
        if matches!(m.step.effect, SysEffect::Exit { .. }) {
            let _ = m.halt_reason();
            return;
        }
    }
}
