//! What people read first: the pages, and the examples that they link to.

mod examples;
mod messages;
mod pages;
