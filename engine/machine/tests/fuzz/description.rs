//! A description with parts replaced: built or refused, never a panic. The input names an object, a parameter and a value.

use crate::common;
use breakeven_machine::MachineConfig;

pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let _ = MachineConfig::parse(text);
    let mut tree = common::reference("minor");
    let mut lines = text.lines();
    while let (Some(path), Some(param), Some(value)) = (lines.next(), lines.next(), lines.next()) {
        if let Ok(value) = value.parse() {
            tree.set_any(path, param, value);
        }
    }
    let _ = MachineConfig::parse(&tree.json());
}
