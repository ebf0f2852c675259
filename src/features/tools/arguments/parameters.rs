//! Parameters that several tools share, and sentences that occur in several descriptions: each is written once, here.

use super::{Description, Kind, Parameter};

/// How a path may be written. After the word "directory", [`SPELLED_ONE`] is used.
const SPELLED: &str = ": relative to the served directory, absolute inside it, or a file:// URI.";
const SPELLED_ONE: &str = ": relative to the served one, absolute inside it, or a file:// URI.";

const SERVED_BY_DEFAULT: &str = " Default: the served directory.";
const FALSE_BY_DEFAULT: &str = " Default false.";

/// The number of results of a search.
pub(in crate::features::tools) const RESULTS: Kind = Kind::Number { least: 1, most: 1_000_000 };

/// The path of something; required.
pub(in crate::features::tools) const fn path(what: &'static str) -> Parameter {
    Parameter { name: "path", kind: Kind::Text, required: true, description: [what, SPELLED, "", ""] }
}

/// The path of a file; required.
pub(in crate::features::tools) const fn file() -> Parameter {
    path("The file")
}

/// The path of a directory; required.
pub(in crate::features::tools) const fn named_directory() -> Parameter {
    let description = ["The directory", SPELLED_ONE, "", ""];
    Parameter { name: "path", kind: Kind::Text, required: true, description }
}

/// The path of a directory; by default the served one.
pub(in crate::features::tools) const fn directory() -> Parameter {
    let description = ["The directory", SPELLED_ONE, SERVED_BY_DEFAULT, ""];
    Parameter { name: "path", kind: Kind::Text, required: false, description }
}

/// The path of a directory or a file; by default the served directory.
pub(in crate::features::tools) const fn directory_or_file(what: &'static str) -> Parameter {
    let description = [what, SPELLED, SERVED_BY_DEFAULT, ""];
    Parameter { name: "path", kind: Kind::Text, required: false, description }
}

/// The path of a file or directory under this name; required.
pub(in crate::features::tools) const fn file_or_directory(name: &'static str) -> Parameter {
    let description = ["The file or directory", SPELLED_ONE, "", ""];
    Parameter { name, kind: Kind::Text, required: true, description }
}

/// The parameter `source`.
pub(in crate::features::tools) const fn source() -> Parameter {
    file_or_directory("source")
}

/// The parameter `destination`.
pub(in crate::features::tools) const fn destination(description: &'static str) -> Parameter {
    text("destination", description)
}

/// The parameter `createParents`.
pub(in crate::features::tools) const fn create_parents() -> Parameter {
    flag("createParents", "Create missing parent directories.")
}

/// The parameter `ifMatch`.
pub(in crate::features::tools) const fn if_match() -> Parameter {
    let description = "Write only if the file still has this version. get_file_info, reads and writes return it. Default: write \
        in any case.";
    optional("ifMatch", Kind::Text, description)
}

/// The parameter `offset`, in lines, entries or results.
pub(in crate::features::tools) const fn offset(what: &'static str) -> Parameter {
    let description = ["Start at this ", what, ", counted from 1. Default 1.", ""];
    Parameter { name: "offset", kind: Kind::Count, required: false, description }
}

/// The parameter `limit`, in lines or entries.
pub(in crate::features::tools) const fn limit(what: &'static str) -> Parameter {
    let description = ["Return at most this many ", what, ". Default: as many as fit.", ""];
    Parameter { name: "limit", kind: Kind::Count, required: false, description }
}

/// The parameter `limit` of a search, and the default in words.
pub(in crate::features::tools) const fn limit_of_results(what: &'static str, default: &'static str) -> Parameter {
    let description = ["Return at most this many ", what, ". Default ", default];
    Parameter { name: "limit", kind: RESULTS, required: false, description }
}

/// The parameter `sortBy`.
pub(in crate::features::tools) const fn sort_by(
    orders: &'static [&'static str],
    description: &'static str,
) -> Parameter {
    optional("sortBy", Kind::Choice(orders), description)
}

/// The parameter `excludePatterns`, with examples.
pub(in crate::features::tools) const fn exclude_patterns(examples: &'static str) -> Parameter {
    let description =
        ["Leave out entries that match these patterns, in gitignore syntax", examples, "; at most 100.", ""];
    Parameter { name: "excludePatterns", kind: Kind::Texts { least: 0, most: 100 }, required: false, description }
}

/// The parameter `includeIgnored`: what is done with ignored entries as well, and which entries that includes beyond
/// .gitignore.
pub(in crate::features::tools) const fn include_ignored(also: &'static str, more: &'static str) -> Parameter {
    let description = [also, " files hidden by .gitignore", more, ". Default false."];
    Parameter { name: "includeIgnored", kind: Kind::Flag, required: false, description }
}

/// A flag that is false if absent.
pub(in crate::features::tools) const fn flag(name: &'static str, description: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Flag, required: false, description: [description, FALSE_BY_DEFAULT, "", ""] }
}

/// A string; required.
pub(in crate::features::tools) const fn text(name: &'static str, description: &'static str) -> Parameter {
    required(name, Kind::Text, description)
}

/// A required parameter.
pub(in crate::features::tools) const fn required(
    name: &'static str,
    kind: Kind,
    description: &'static str,
) -> Parameter {
    Parameter { name, kind, required: true, description: whole(description) }
}

/// An optional parameter.
pub(in crate::features::tools) const fn optional(
    name: &'static str,
    kind: Kind,
    description: &'static str,
) -> Parameter {
    Parameter { name, kind, required: false, description: whole(description) }
}

/// A description in a single piece.
const fn whole(description: &'static str) -> Description {
    [description, "", "", ""]
}
