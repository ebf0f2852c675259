//! What the two search tools share: names by glob, text by ripgrep's engine, and the workers that share a tree out.
//!
//! | module | holds |
//! | --- | --- |
//! | [`glob`] | a glob as models write them |
//! | [`pattern`] | one or several globs, as a call gives them, and why they may match nothing |
//! | [`query`] | a text or regular expression, and how it is to be found |
//! | [`regex`] | a regular expression as the engine has to be given it |
//! | [`compile`] | compiling all of these, in bounded memory |
//! | [`mod@file`] | one file, searched |
//! | [`collect`] | the lines of one file in which it is, as many as an answer holds |
//! | [`results`] | entries found by their names, no more than an answer holds |
//! | [`workers`] | many files on all processors, with an answer that does not depend on how many there are |
//! | [`gather`] | what the workers found, put together in order |

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
