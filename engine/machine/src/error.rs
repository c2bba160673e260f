//! What can go wrong between a description, an ELF and a result: one sentence each, naming the thing and the fix.

use breakeven_base::ConfigError;

/// An error that a user sees.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The description cannot be built: everything that is wrong with it.
    #[error("{}", join(.0))]
    Description(Vec<ConfigError>),
    /// The guest's ELF cannot be loaded.
    #[error("ELF: {0}")]
    Elf(String),
    /// A process under syscall emulation: what it was given, what it needs.
    #[error("process: {0}")]
    Process(String),
    /// The points of a sweep, or the guest that should run them.
    #[error("sweep: {0}")]
    Sweep(String),
    /// A trace that cannot be made or written.
    #[error("{0}")]
    Trace(String),
    /// The host refused something (memory, threads).
    #[error("{0}")]
    Host(ConfigError),
}

fn join(errors: &[ConfigError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

impl From<ConfigError> for EngineError {
    fn from(e: ConfigError) -> Self {
        EngineError::Host(e)
    }
}

/// What the host says, without its number.
#[must_use]
pub fn reason(e: &std::io::Error) -> String {
    let text = e.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
