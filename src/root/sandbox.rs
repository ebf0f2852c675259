//! The second wall: the kernel confines the whole process to the served directory, so that not even a bug in this
//! program leads outside.
//!
//! The first wall is the way each path is opened ([`super::sys`]), which also gives the clear errors. The second knows
//! no paths, only what the process may do at all. It is [Landlock](https://docs.kernel.org/userspace-api/landlock.html)
//! (landlock(7)), so it exists on Linux only. It applies for good to the thread that enables it and to threads started
//! later, so it is enabled before there is any other thread and after everything outside has been opened. SECURITY.md
//! lists what it does not cover.

use std::fmt;

use super::{Root, sys};

/// Whether the process is to be confined by the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sandbox {
    /// As far as the kernel can.
    Auto,
    /// Required: otherwise the server does not start.
    Require,
    /// Not at all.
    Off,
}

/// What the kernel enforces on the process. Shown to people and to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SandboxStatus {
    /// Landlock.
    Landlock {
        /// The version of its interface, which says what it covers.
        abi: u32,
        /// The content of the directory may be changed.
        writable: bool,
    },
    /// Nothing.
    None {
        /// Why not.
        why: String,
    },
}

/// The process should have been confined and is not.
#[derive(Debug, thiserror::Error)]
#[error("--sandbox require: the kernel sandbox is not available: {0}; use --sandbox auto to start without it")]
pub struct SandboxError(String);

impl Root {
    /// Confines this thread, and all threads that it starts from now on, to the directory: for reading, and for changes
    /// if `writable`. This cannot be undone. Fails only if confinement is required.
    pub fn enter_sandbox(&mut self, sandbox: Sandbox, writable: bool) -> Result<(), SandboxError> {
        let required = sandbox == Sandbox::Require;
        let confined = match sandbox {
            Sandbox::Off => Err("switched off (--sandbox off)".to_owned()),
            Sandbox::Auto | Sandbox::Require => sys::enter_sandbox(&self.dir, writable, required),
        };
        self.sandbox = match confined {
            Ok(abi) => SandboxStatus::Landlock { abi, writable },
            Err(why) if required || cfg!(mcp_fs_unsandboxed) => return Err(SandboxError(why)),
            Err(why) => SandboxStatus::None { why },
        };
        Ok(())
    }

    /// What the kernel enforces on this process.
    pub fn sandbox(&self) -> &SandboxStatus {
        &self.sandbox
    }
}

impl SandboxStatus {
    /// Before the process is confined, or if it never is.
    pub(super) fn not_applied() -> Self {
        Self::None { why: "not asked for".to_owned() }
    }
}

impl fmt::Display for SandboxStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Landlock { abi, writable } => {
                let access = if *writable { "" } else { ", read-only" };
                let truncation = if *abi < 3 { " (except truncating)" } else { "" };
                let network = if *abi < 4 { "" } else { "; no TCP bind or connect" };
                let others = if *abi < 6 { "" } else { "; no signals or abstract sockets of other processes" };
                write!(f, "Landlock ABI {abi}: files below the directory only{access}{truncation}{network}{others}")
            }
            Self::None { why } => write!(f, "none: {why}"),
        }
    }
}

impl fmt::Display for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Require => "require",
            Self::Off => "off",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_says_what_it_covers() {
        let says = |abi, writable| SandboxStatus::Landlock { abi, writable }.to_string();
        assert_eq!(says(1, false), "Landlock ABI 1: files below the directory only, read-only (except truncating)");
        assert_eq!(says(3, true), "Landlock ABI 3: files below the directory only");
        assert_eq!(says(4, true), "Landlock ABI 4: files below the directory only; no TCP bind or connect");
        assert!(
            says(7, false)
                .ends_with("read-only; no TCP bind or connect; no signals or abstract sockets of other processes")
        );
    }
}
