//! What a process under syscall emulation is made of: gem5's `Process`, as far as its system calls show it.

/// One process. Its program is the ELF that the machine gets; what it may reach of the host is the caller's to say
/// ([`super::Host`]), never the description's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessConfig {
    /// Of the `Process` object.
    pub path: String,
    /// `argv`; at least one.
    pub args: Vec<String>,
    /// `NAME=value`.
    pub env: Vec<String>,
    /// What the program is called: `AT_EXECFN`, `/proc/self/exe`.
    pub executable: String,
    /// Where relative paths start; empty or `.`: the directory that the process may use.
    pub cwd: String,
    pub ids: Ids,
    /// The kernel's release in `uname`.
    pub release: String,
    /// Bytes.
    pub max_stack: u64,
    /// Translations go through the timing TLBs and the page walker; off, as in gem5: they cost nothing.
    pub timed_translation: bool,
}

/// What the calls of that name answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ids {
    pub uid: u32,
    pub euid: u32,
    pub gid: u32,
    pub egid: u32,
    pub pid: u32,
    pub ppid: u32,
    pub pgid: u32,
}
