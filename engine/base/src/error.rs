//! The one error a user sees for a description that cannot be built: it names the object, the parameter and the fix.

/// A value or shape in a machine description that the engine cannot build.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {what}")]
pub struct ConfigError {
    /// Dotted path of the object or parameter, e.g. `system.cpu.dcache.size`.
    pub path: String,
    /// What is wrong and what would be right, one sentence.
    pub what: String,
}

impl ConfigError {
    pub fn new(path: impl Into<String>, what: impl Into<String>) -> Self {
        ConfigError { path: path.into(), what: what.into() }
    }
}
