//! Faults that users of such servers reported: one test per public report, named after its id in the list of cases that
//! the project keeps. One file per group.

// A: editing.
mod editing;

// J: appending.
mod appending;

// E: ways out of the served directory.
mod confinement;

// H: the process and the wire.
mod process;

// J: what line N means.
mod lines;

// J: reading, then writing.
mod versions;

// B: reading.
mod reading;

// A and D: changing files.
mod writing;

// J: other servers, mounts, hard links.
#[cfg(unix)]
mod together;

// K: media.
mod media;

// C: listing.
mod listing;

// I: search.
mod searching;
// I: globs, and the filters of other tools.
mod globs;

// I: what ignore files hide.
mod hidden;

// I: links to directories.
#[cfg(unix)]
mod links;

// F and G: resources, schemas and results in clients.
mod clients;

// L: the served directory is moved or replaced.
#[cfg(unix)]
mod roots;

// F8: watches.
#[cfg(target_os = "linux")]
mod watches;
