//! Globs compiled together, in bounded memory.
//!
//! globset's own sets may take 10 MiB for the program of each set, 10 MiB for the cache of each thread that uses it
//! and, where that is not enough, a table of all patterns times all states: 100 patterns of `*a*a...` took 70 MiB. Here
//! the program is limited to [`MAX_COMPILED`], and all threads share one cache of at most [`MAX_CACHE`] or a few bytes
//! per state.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use globset::Glob;
use regex_automata::meta::{Cache, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::syntax;
use regex_automata::{Input, MatchKind, PatternSet};

/// The limit of compiled globs, in bytes: more than all that one call may pass.
const MAX_COMPILED: usize = 2 << 20;
/// The cache for the states of their automaton, in bytes.
pub(crate) const MAX_CACHE: usize = 256 << 10;

/// Compiled globs.
pub(crate) struct Globs {
    regex: Regex,
    /// The cache of the matcher. Threads wait for each other here: matching takes less than a microsecond per name.
    working: Mutex<(Cache, PatternSet)>,
}

impl Globs {
    /// Compiles globs, with `cache` bytes for the states of their automaton. Fails if they are too many or too long.
    pub(crate) fn new(globs: &[Glob], cache: usize) -> Result<Self, String> {
        let config = Regex::config()
            .match_kind(MatchKind::All)
            .utf8_empty(false)
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(MAX_COMPILED))
            .hybrid_cache_capacity(cache.min(MAX_CACHE));
        let patterns: Vec<&str> = globs.iter().map(Glob::regex).collect();
        let regex = Regex::builder()
            .syntax(syntax::Config::new().utf8(false).dot_matches_new_line(true))
            .configure(config)
            .build_many(&patterns)
            .map_err(|_| "the patterns are too many or too long".to_owned())?;
        let working = Mutex::new((regex.create_cache(), PatternSet::new(regex.pattern_len())));
        Ok(Self { regex, working })
    }

    /// Whether any glob matches a path.
    pub(crate) fn is_match(&self, path: &[u8]) -> bool {
        self.last_match(path, |_| true).is_some()
    }

    /// The last glob that matches a path, of those that are `wanted`.
    pub(crate) fn last_match(&self, path: &[u8], wanted: impl Fn(usize) -> bool) -> Option<usize> {
        let mut working = self.working.lock().unwrap_or_else(PoisonError::into_inner);
        let (cache, found) = &mut *working;
        found.clear();
        self.regex.which_overlapping_matches_with(cache, &Input::new(path), found);
        found.iter().map(|pattern| pattern.as_usize()).filter(|index| wanted(*index)).last()
    }
}

impl fmt::Debug for Globs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} globs", self.regex.pattern_len())
    }
}
