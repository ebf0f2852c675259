//! The revisions of the protocol, and the features of each
//! (<https://modelcontextprotocol.io/specification/versioning>).

/// A legacy revision, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Revision {
    /// 2024-11-05.
    V2024_11_05,
    /// 2025-03-26: audio, tool annotations, batches, completions capability.
    V2025_03_26,
    /// 2025-06-18: titles, lastModified; batches removed.
    V2025_06_18,
    /// 2025-11-25.
    V2025_11_25,
}

/// The one modern revision.
pub(crate) const MODERN: &str = "2026-07-28";

/// Every version that this server speaks, newest first.
pub(crate) const SUPPORTED: [&str; 5] = [MODERN, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

impl Revision {
    /// The answer to a client that requests a version which `initialize` cannot negotiate.
    pub(crate) const LATEST_LEGACY: Self = Self::V2025_11_25;

    /// All legacy revisions, oldest first.
    pub(crate) const ALL: [Self; 4] = [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25];

    /// The version as written on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
        }
    }

    /// The version to answer with: the requested one if it is a legacy revision, else the latest. rmcp requests
    /// 2026-07-28 here.
    pub(crate) fn negotiate(asked: &str) -> Self {
        Self::ALL.into_iter().find(|revision| revision.as_str() == asked).unwrap_or(Self::LATEST_LEGACY)
    }

    /// 2025-03-26 requires batches, 2024-11-05 inherits them from JSON-RPC, and later revisions have none.
    pub(crate) fn has_batches(self) -> bool {
        self <= Self::V2025_03_26
    }

    /// Up to 2025-06-18, an error without a readable id has `"id": null`, as in JSON-RPC 2.0. Later schemas forbid it.
    pub(crate) fn writes_null_id(self) -> bool {
        self <= Self::V2025_06_18
    }

    /// Audio content, tool annotations and messages in progress notifications.
    pub(crate) fn has_audio_and_annotations(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// `title` and `_meta` on tools, `title` on templates and the server, `lastModified` on resources.
    pub(crate) fn has_titles(self) -> bool {
        self >= Self::V2025_06_18
    }
}
