//! Changing what is served: what is written is there byte for byte, what could not be written is as it was, and
//! nothing outside is ever touched.
//!
//! | module | holds |
//! | --- | --- |
//! | `update` | a change made out of what is there: nothing of others is lost |

mod update;
