//! What the two search tools share: search by name with globs, search by content with ripgrep's engine, and workers
//! that share the files of a tree.
//!
//! | module | holds |
//! | --- | --- |
//! | [`glob`] | a glob in the form in which models write it |
//! | [`pattern`] | one or several globs as a call passes them, and why they may match nothing |
//! | [`query`] | a text or regular expression to search for, and its options |
//! | [`regex`] | a regular expression rewritten for the engine |
//! | [`compile`] | compiling all of these, in bounded memory |
//! | [`mod@file`] | searching one file |
//! | [`collect`] | the matching lines of one file, as many as an answer holds |
//! | [`results`] | entries found by name, no more than an answer holds |
//! | [`workers`] | searching many files on all processors, with a result that does not depend on their number |
//! | [`gather`] | the results of the workers, put together in order |

mod collect;
pub(super) mod compile;
pub(super) mod file;
pub(super) mod gather;
pub(super) mod glob;
pub(super) mod pattern;
pub(super) mod query;
mod regex;
pub(super) mod results;
pub(super) mod workers;
