//! What the two search tools share: names by glob, text by ripgrep's engine, and the workers that share a tree out.
//!
//! | module | holds |
//! | --- | --- |
//! | [`glob`] | a glob as models write them |
//! | [`query`] | a text or regular expression, and how it is to be found |
//! | [`mod@file`] | the lines of one file in which it is |
//! | [`workers`] | many files on all processors, with an answer that does not depend on how many there are |

pub(super) mod file;
pub(super) mod glob;
pub(super) mod query;
pub(super) mod workers;
