//! Streamable HTTP: every rule of the transport, by its number in the list of rules (HT1 to HT171), on the real program
//! and over bare sockets.
//!
//! | module | holds |
//! | --- | --- |
//! | `support`, `requests` | the server, and requests that are written by hand |
//! | `access` | hosts, origins, tokens, paths, methods, types and sizes: A and J |
//! | `legacy` | POST, GET, DELETE, sessions, versions: B to E |
//! | `modern` | headers, errors, cancelling, listening: G to I |
//! | `clients` | many at once, in both eras: nothing of one reaches another |
//! | `edges` | what HTTP allows and few clients do |
//! | `startup` | options, tokens, sockets, the sandbox, the end |

mod access;
mod clients;
mod edges;
mod legacy;
mod modern;
mod requests;
mod startup;
pub(crate) mod support;
