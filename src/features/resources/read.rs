//! `resources/read`: one resource, under the requested URI.
//!
//! Clients put a text resource into the model's context as a whole, and drop errors silently. So a text that is too
//! long is cut, with a note at the end that says where it continues; reading part after part yields the file byte for
//! byte. A blob cannot be cut, and one that is too large is refused.

use super::failure;
use crate::call::{Contents, Continuation, Data, Failure};
use crate::features::content;
use crate::features::format::{grouped, push_entry};
use crate::features::text::{self, Part, TextError, Window};
use crate::limits::LONGEST_URI;
use crate::object;
use crate::root::write::Version;
use crate::root::{File, RequestedPath, Root, RootError};
use crate::runtime::permits::Work;
use crate::services::context::Context;
use crate::text::Text;

/// Reads the resource at `uri`.
pub(crate) fn read(uri: &str, context: &Context) -> Result<Contents, Failure> {
    let mut reader = Reader { uri: uri.to_owned(), context };
    let (reference, window) = split_range(uri)?;
    let asked = context.root().locate_uri(reference).map_err(|error| reader.failure(error))?;
    match context.open_file(&asked) {
        Err(RootError::IsDirectory) if window.is_some() => Err(range_on("a directory")),
        Err(error) if error != RootError::IsDirectory => Err(reader.failure(error)),
        opened => {
            // The answer must contain a URI, not a relative reference.
            reader.uri = context.root().absolute_uri(reference, &asked.path) + &uri[reference.len()..];
            opened.map_or_else(|_| reader.directory(&asked), |file| reader.file(&file, window))
        }
    }
}

/// The path that `uri` names, if it is valid.
pub(crate) fn path_of(uri: &str, root: &Root) -> Option<RequestedPath> {
    split_range(uri).ok().and_then(|(reference, _)| root.locate_uri(reference).ok())
}

struct Reader<'a> {
    /// As requested; made absolute in answers.
    uri: String,
    context: &'a Context,
}

impl Reader<'_> {
    fn file(&self, file: &File, window: Option<Window>) -> Result<Contents, Failure> {
        let limits = self.context.limits();
        let (size, text_limit) = (file.stat.size, limits.resource_bytes as u64);
        if size <= text_limit.max(limits.blob_bytes as u64) {
            // Small enough to read completely, so whether it is text is known for certain, in every part of it.
            self.context.reserve(size)?;
            let bytes = text::head(file, size as usize, &self.context.cancel).map_err(|error| self.failure(error))?;
            return match Text::from_bytes(bytes) {
                Ok(text) if window.is_none() && size <= text_limit => Ok(self.whole(file, Data::Text(text))),
                Ok(_) => self.part(file, window),
                Err(_) if window.is_some() => Err(range_on("a binary file")),
                Err(bytes) if size <= limits.blob_bytes as u64 => Ok(self.whole(file, Data::Blob(bytes))),
                Err(_) => Err(self.too_big(size)),
            };
        }
        self.context.reserve(text_limit)?;
        let sample = text::head(file, text::SAMPLE, &self.context.cancel).map_err(|error| self.failure(error))?;
        if sample.contains(&0) || content::utf8_prefix(&sample).is_none() {
            return Err(if window.is_some() { range_on("a binary file") } else { self.too_big(size) });
        }
        self.part(file, window)
    }

    fn whole(&self, file: &File, data: Data) -> Contents {
        self.contents(file, media_type(file, &data), data, None)
    }

    fn contents(&self, file: &File, mime_type: String, data: Data, continues: Option<Continuation>) -> Contents {
        // The version from before reading: if the file has changed since, a write that names this version fails.
        let version = self.context.writable().map(|_| Version::of(&file.stat));
        Contents { uri: self.uri.clone(), mime_type, data, continues, version }
    }

    /// A range of lines of a text.
    fn part(&self, file: &File, window: Option<Window>) -> Result<Contents, Failure> {
        let asked = window.unwrap_or(Window::ALL);
        let (limits, cancel) = (self.context.limits(), self.context.search_cancel());
        let read = text::read_raw(file, asked, limits.resource_bytes, &cancel);
        if read.is_err() && self.context.check_search(&cancel)? {
            let seconds = limits.search_time.as_secs();
            return Err(self.unreadable(&format!("these lines were not found in {seconds} seconds")));
        }
        let part = read.map_err(|error| match error {
            TextError::Root(error) => self.failure(error),
            _ => self.unreadable("not valid UTF-8 in this part; read it with the read_text_file tool"),
        })?;
        let mime_type = content::media_type(name(file), part.text.as_bytes(), true).to_owned();
        let total = file.stat.size;
        let is_past_end = part.text.is_empty() && part.next.is_none() && total > 0;
        let past_end = is_past_end.then_some(Continuation::PastEnd { total });
        let continues = part.next.map(|next| self.continuation(file, asked, &part, next)).or(past_end);
        let mut text = part.text;
        if let (true, Some(Continuation::Next { from, to, total, next })) = (part.is_cut, &continues) {
            let newline = if text.as_bytes().ends_with(b"\n") { "" } else { "\n" };
            text.push_str(&format!("{newline}[mcp-fs: {} of {total} bytes; continue: {next}]", to - from));
        }
        Ok(self.contents(file, mime_type, Data::Text(text), continues))
    }

    fn continuation(&self, file: &File, asked: Window, part: &Part, (line, column): (u64, u64)) -> Continuation {
        let mut next = format!("{}?offset={line}", self.context.root().uri(&file.path));
        if let Some(limit) = asked.limit.filter(|_| part.is_cut) {
            next += &format!("&limit={}", limit - (line - part.first_line));
        }
        if column > 1 {
            next += &format!("&column={column}");
        }
        Continuation::Next { from: part.range.0, to: part.range.1, total: file.stat.size, next }
    }

    /// A directory: one line per entry.
    fn directory(&self, asked: &RequestedPath) -> Result<Contents, Failure> {
        let _permit = self.context.permit(Work::Walk)?;
        let root = self.context.root();
        let dir = root.open_directory(asked, &self.context.cancel).map_err(|error| self.failure(error))?;
        let listing = dir.list(&self.context.cancel).map_err(|error| self.failure(error))?;
        let max = self.context.limits().resource_bytes;
        let mut text = String::new();
        let shown = listing.iter().take_while(|entry| push_entry(&mut text, max, root, &dir.path, *entry)).count();
        if shown < listing.len() || listing.cut {
            let (shown, all) = (grouped(shown as u64), grouped(listing.len() as u64));
            text += &format!("\n[mcp-fs: {shown} of {all} entries; list_directory shows the others]");
        }
        let mime_type = "inode/directory".to_owned();
        Ok(Contents { uri: self.uri.clone(), mime_type, data: Data::Text(text.into()), continues: None, version: None })
    }

    fn failure(&self, error: RootError) -> Failure {
        failure(&self.uri, error)
    }

    fn unreadable(&self, why: &str) -> Failure {
        Failure::Unreadable { uri: self.uri.clone(), message: format!("Cannot be read: {why}.") }
    }

    fn too_big(&self, size: u64) -> Failure {
        let (size, limit) = (grouped(size), grouped(self.context.limits().blob_bytes as u64));
        self.unreadable(&format!("binary file of {size} bytes; the limit is {limit} (--max-blob-bytes)"))
    }
}

/// The media type of a whole file. Text in another encoding than UTF-8 is a blob, and its encoding is named if known.
pub(crate) fn media_type(file: &File, data: &Data) -> String {
    let bytes = match data {
        Data::Text(text) => return content::media_type(name(file), text.as_bytes(), true).to_owned(),
        Data::Blob(bytes) => bytes,
    };
    let encoding = text::detect(bytes, true);
    let mut mime_type = content::media_type(name(file), bytes, encoding.is_some()).to_owned();
    if let Some(charset) = encoding.and_then(text::Encoding::known_charset) {
        mime_type += &format!("; charset={charset}");
    }
    mime_type
}

fn name(file: &File) -> &[u8] {
    file.path.file_name().unwrap_or_default()
}

/// The URI without its range, and the range. Any other query is part of the name.
pub(super) fn split_range(uri: &str) -> Result<(&str, Option<Window>), Failure> {
    if uri.len() > LONGEST_URI {
        let [length, most] = [uri.len(), LONGEST_URI].map(|bytes| grouped(bytes as u64));
        let message = format!("The URI is too long: it has {length} bytes, and the limit is {most}.");
        return Err(Failure::BadUri { uri: object::shortened(uri), message });
    }
    let Some((reference, query)) = uri.rsplit_once('?') else { return Ok((uri, None)) };
    let pairs: Vec<_> = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect();
    if !pairs.iter().all(|(key, _)| matches!(*key, "offset" | "limit" | "column")) {
        return Ok((uri, None));
    }
    let value = |key: &str| -> Result<Option<u64>, Failure> {
        let mut values = pairs.iter().filter(|(name, _)| *name == key).map(|(_, value)| *value);
        match (values.next(), values.next()) {
            (None, _) => Ok(None),
            (Some(value), None) if value.bytes().all(|b| b.is_ascii_digit()) => match value.parse() {
                Ok(number) if number >= 1 => Ok(Some(number)),
                _ => Err(bad_range(key)),
            },
            _ => Err(bad_range(key)),
        }
    };
    let (offset, limit, column) = (value("offset")?, value("limit")?, value("column")?);
    Ok((reference, Some(Window { offset: offset.unwrap_or(1), limit, column: column.unwrap_or(1) })))
}

fn bad_range(key: &str) -> Failure {
    Failure::InvalidParams(format!("\"{key}\" in the URI must be a single integer, at least 1."))
}

fn range_on(what: &str) -> Failure {
    Failure::InvalidParams(format!("offset, limit and column select lines of text, but this is {what}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(offset: u64, limit: Option<u64>, column: u64) -> Window {
        Window { offset, limit, column }
    }

    #[test]
    fn a_range_is_told_from_a_name_with_a_question_mark() {
        assert_eq!(split_range("file:///a"), Ok(("file:///a", None)));
        assert_eq!(split_range("file:///a?offset=3&limit=2"), Ok(("file:///a", Some(window(3, Some(2), 1)))));
        assert_eq!(split_range("file:///a?column=7"), Ok(("file:///a", Some(window(1, None, 7)))));
        assert_eq!(split_range("file:///what?"), Ok(("file:///what?", None)));
        assert_eq!(split_range("file:///what?x=1"), Ok(("file:///what?x=1", None)));
        assert_eq!(split_range("file:///a?offset=1&x=1"), Ok(("file:///a?offset=1&x=1", None)));
    }

    #[test]
    fn a_range_that_is_no_number_or_given_twice_is_wrong() {
        for query in ["offset=0", "offset=-1", "limit=x", "limit=", "offset", "offset=1&offset=2", "column=1.5"] {
            assert!(split_range(&format!("file:///a?{query}")).is_err(), "{query}");
        }
    }
}
