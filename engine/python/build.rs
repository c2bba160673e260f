//! Fingerprints the engine: a hash over every source that decides a cycle count, and the versions it is built with.
//! Two engines with the same fingerprint give the same results, so a stored point need not be simulated again.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use sha2::{Digest, Sha256};

/// Relative to the workspace: what is simulated. This crate, benches and tests decide nothing.
const PARTS: &[&str] = &["base/src", "memory/src", "isa", "cpu/src", "machine/src"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if !path.ends_with("tests") {
                sources(&path, found)?;
            }
        } else if path.extension().is_some_and(|e| e == "rs" || e == "toml") {
            found.push(path);
        }
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let engine = manifest.join("..");
    let mut files = vec![engine.join("../Cargo.lock")];
    for part in PARTS {
        println!("cargo::rerun-if-changed={}", engine.join(part).display());
        sources(&engine.join(part), &mut files)?;
    }
    println!("cargo::rerun-if-changed={}", files[0].display());
    // The same order on every host, wherever the checkout lies.
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        let name = file.strip_prefix(&manifest).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        let text = fs::read(&file)?;
        hash.update(name.as_bytes());
        hash.update([0]);
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(&text);
    }
    let short: String = hash.finalize().iter().take(16).map(|b| format!("{b:02x}")).collect();
    println!("cargo::rustc-env=BREAKEVEN_ENGINE={short}");
    Ok(())
}
