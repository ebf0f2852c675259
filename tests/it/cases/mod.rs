//! What went wrong for people who use such servers: one test per public report, named after its id in the list of
//! cases that the project keeps. A file for each group.

// A: editing.
mod editing;

// J: appending.
mod appending;

// E: what led out of the served directory.
mod confinement;

// H: the process and the wire.
mod process;

// J: what line N is.
mod lines;

// J: what was read, and is written then.
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
// I: globs and what other tools take for them.
mod globs;

// I: what ignore files hide.
mod hidden;

// I: links to directories.
#[cfg(unix)]
mod links;

// F and G: resources, schemas and results as clients take them.
mod clients;

// L: the served directory is not what it was.
#[cfg(unix)]
mod roots;

// F8: watches.
#[cfg(target_os = "linux")]
mod watches;
