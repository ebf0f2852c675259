//! What an edit means, in the simplest form: a text is a list of tokens, and a line ending of any kind is one token.
//!
//! The tests compare the real implementation with it. It compares everything with everything, and knows nothing of
//! bytes.

use super::Edit;
use super::lines::{Ending, LoneCr};

#[derive(Clone, Copy, Debug)]
enum Token {
    Char(char),
    End(Ending),
}

impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Char(a), Self::Char(b)) => a == b,
            (Self::End(_), Self::End(_)) => true,
            _ => false,
        }
    }
}

/// The text after all edits; `None` if one of them fails.
pub(super) fn apply(text: &str, edits: &[Edit], all: bool) -> Option<String> {
    let lone_cr = LoneCr::of_file(text);
    let mut tokens = tokens(text, lone_cr);
    for edit in edits {
        let (old, new) = (self::tokens(&edit.old_text, lone_cr), self::tokens(&edit.new_text, lone_cr));
        tokens = replaced(&tokens, &old, &new, all)?;
    }
    Some(tokens.into_iter().map(written).collect())
}

fn tokens(text: &str, lone_cr: LoneCr) -> Vec<Token> {
    let mut chars = text.chars().peekable();
    let mut tokens = Vec::new();
    while let Some(char) = chars.next() {
        tokens.push(match char {
            '\n' => Token::End(Ending::Lf),
            '\r' if chars.next_if_eq(&'\n').is_some() => Token::End(Ending::CrLf),
            '\r' if lone_cr == LoneCr::Ending => Token::End(Ending::Cr),
            char => Token::Char(char),
        });
    }
    tokens
}

fn written(token: Token) -> String {
    match token {
        Token::Char(char) => char.to_string(),
        Token::End(Ending::Lf) => "\n".to_owned(),
        Token::End(Ending::CrLf) => "\r\n".to_owned(),
        Token::End(Ending::Cr) => "\r".to_owned(),
    }
}

fn replaced(text: &[Token], old: &[Token], new: &[Token], all: bool) -> Option<Vec<Token>> {
    let is_place = |at: &usize| text[*at..].starts_with(old);
    let places: Vec<usize> = (0..text.len()).filter(is_place).collect();
    if old.is_empty() || places.is_empty() || (places.len() > 1 && !all) {
        return None;
    }
    let (mut out, mut from) = (Vec::new(), 0);
    for place in places {
        if place >= from {
            out.extend_from_slice(&text[from..place]);
            out.extend(with_endings(text, place, old, new));
            from = place + old.len();
        }
    }
    out.extend_from_slice(&text[from..]);
    Some(out)
}

/// What replaces the match at `place`: the lines that stay, and the new lines between them.
fn with_endings(text: &[Token], place: usize, old: &[Token], new: &[Token]) -> Vec<Token> {
    let (head, tail) = lines_that_stay(old, new);
    let (before, rest) = text.split_at(place);
    let (matched, after) = rest.split_at(old.len());
    let (first, rest) = matched.split_at(head);
    let (replaced, last) = rest.split_at(rest.len() - tail);
    let replaced = endings(replaced);
    let last_of = |tokens| endings(tokens).last().copied();
    let first_of = |tokens| endings(tokens).first().copied();
    let near = replaced.last().copied().or(last_of(first)).or(first_of(last)).or(last_of(before)).or(first_of(after));
    let mut at = 0;
    let middle = new[head..new.len() - tail].iter().map(|token| match token {
        Token::End(given) => {
            at += 1;
            Token::End(replaced.get(at - 1).copied().or(near).unwrap_or(*given))
        }
        Token::Char(_) => *token,
    });
    first.iter().copied().chain(middle).chain(last.iter().copied()).collect()
}

/// The number of tokens in the whole lines that both texts begin with, and in those that both end with.
fn lines_that_stay(old: &[Token], new: &[Token]) -> (usize, usize) {
    let split = |tokens| <[Token]>::split_inclusive(tokens, |token| matches!(token, Token::End(_))).collect::<Vec<_>>();
    let (old, new) = (split(old), split(new));
    let fewer = old.len().min(new.len());
    let head = (0..fewer).find(|at| old[*at] != new[*at]).unwrap_or(fewer);
    let from_end = |at: usize| old[old.len() - 1 - at] != new[new.len() - 1 - at];
    let tail = (0..fewer - head).find(|at| from_end(*at)).unwrap_or(fewer - head);
    (old[..head].concat().len(), old[old.len() - tail..].concat().len())
}

fn endings(tokens: &[Token]) -> Vec<Ending> {
    let ending = |token: &Token| match token {
        Token::End(ending) => Some(*ending),
        Token::Char(_) => None,
    };
    tokens.iter().filter_map(ending).collect()
}
