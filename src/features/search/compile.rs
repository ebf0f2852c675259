//! Compiles what a call passes: queries, globs and exclude patterns.
//!
//! This starts when the call has its permit, so there are no more at once than permits. The
//! [`Compiler`](crate::services::compiler::Compiler) runs one at a time and shares equal ones.

use std::sync::Arc;

use super::pattern::{Pattern, Purpose};
use super::query::{Compiled, Options};
use crate::call::Failure;
use crate::root::Exclude;
use crate::services::context::Context;

/// The result, or a text for the model about what is wrong with the input, or a failure of the call.
type Wrong = Result<String, Failure>;

/// A query. The error shows where it is wrong.
pub(crate) fn query(context: &Context, text: &str, options: Options) -> Result<Arc<Compiled>, Wrong> {
    compile(context, (text.to_owned(), options), |(text, options)| Compiled::new(text, *options))
}

/// One or several globs that select files or entries.
pub(crate) fn pattern(context: &Context, text: &str, purpose: Purpose) -> Result<Arc<Pattern>, Wrong> {
    let services = Arc::clone(context.services());
    compile(context, (purpose, text.to_owned()), move |(purpose, text)| Pattern::new(&services.root, text, *purpose))
}

/// Exclude patterns. The error says which one is invalid.
pub(crate) fn exclude(context: &Context, patterns: &[String]) -> Result<Arc<Exclude>, Wrong> {
    if patterns.is_empty() {
        return Ok(Exclude::nothing().into());
    }
    compile(context, patterns.to_vec(), |patterns: &Vec<String>| Exclude::new(patterns))
}

fn compile<K, V>(
    context: &Context,
    key: K,
    make: impl FnOnce(&K) -> Result<V, String> + Send + 'static,
) -> Result<Arc<V>, Wrong>
where
    K: PartialEq + Send + 'static,
    V: Send + Sync + 'static,
{
    let made = context.services().compiler.compile(key, make);
    context.cancel.check().map_err(|cancelled| Err(cancelled.into()))?;
    made.ok_or_else(|| Err(Failure::Internal("The pattern could not be compiled; try again.".to_owned())))?.map_err(Ok)
}
