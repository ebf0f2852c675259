//! Streamable HTTP: every rule of the transport, by its number in the list of rules (HT1 to HT171), against the real
//! program over bare sockets.
//!
//! | module | holds |
//! | --- | --- |
//! | `support`, `requests` | the server, and hand-written requests |
//! | `access` | hosts, origins, tokens, paths, methods, types and sizes: A and J |
//! | `legacy` | POST, GET, DELETE, sessions, versions: B to E |
//! | `modern` | headers, errors, cancelling, listening: G to I |
//! | `clients` | many clients in both eras: nothing of one reaches another |
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
