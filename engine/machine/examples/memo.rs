//! What memoized execution of an out-of-order core comes to: states, segments, instructions replayed, host time on and off.
//!
//! `cargo run --release -p breakeven-machine --example memo -- MACHINE.json GUEST.elf [POINTS.bin [on|off]]`: the guest's own
//! run (POINTS.bin `-`), or a sweep of points (records of 128 bytes, as `breakeven.points.pack` writes them).

use std::ops::ControlFlow;
use std::time::Instant;

use breakeven_machine::{Limits, Machine, Sweep};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [description, elf, rest @ ..] = &args[..] else {
        return Err("give a machine's description (JSON) and a guest".into());
    };
    let (description, elf) = (std::fs::read_to_string(description)?, std::fs::read(elf)?);
    let points = rest.first().filter(|path| *path != "-").map(std::fs::read).transpose()?;
    let mut outcomes = Vec::new();
    let which = rest.get(1).map_or("both", String::as_str);
    let runs: &[bool] = match which {
        "on" => &[true],
        "off" => &[false],
        _ => &[false, true, false, true],
    };
    for on in runs.iter().copied() {
        let start;
        let outcome = if let Some(records) = &points {
            let mut sweep = Sweep::new(&description, &elf)?;
            sweep.memoize(on);
            start = Instant::now();
            let results = sweep.run(records, 1, &mut |_| ControlFlow::Continue(()))?;
            println!("{:?}", sweep.memo_statistics());
            results
        } else {
            let mut machine = Machine::new(&description, &elf)?;
            machine.memoize(on);
            start = Instant::now();
            let end = machine.run(Limits { insts: 200_000_000, cycles: 1_000_000_000, ticks: 0 });
            let seconds = start.elapsed().as_secs_f64();
            println!("{} instructions, {:.2} million a second", end.insts, end.insts as f64 / seconds / 1e6);
            if let Some(statistics) = machine.memo_statistics() {
                println!("{statistics:?}");
            }
            let stats = machine.dumps().into_iter().chain([machine.stats()]).flatten();
            let stats = stats.filter(|s| !s.name.starts_with("host")).map(|s| format!("{} {:?}\n", s.name, s.value));
            format!("{:?}\n{}", (end.insts, end.cycles), stats.collect::<String>()).into_bytes()
        };
        println!("{}: {:.3} s", if on { "on" } else { "off" }, start.elapsed().as_secs_f64());
        outcomes.push(outcome);
    }
    if let (None, [one, other, ..]) = (&points, &outcomes[..]) {
        let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>();
        for (a, b) in lines(one).iter().zip(&lines(other)).filter(|(a, b)| a != b) {
            println!("{a} | {b}");
        }
    }
    let same = outcomes.windows(2).all(|pair| pair[0] == pair[1]);
    println!("{}", if same { "all the same" } else { "NOT the same" });
    Ok(())
}
