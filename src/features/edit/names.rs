//! Characters in words: their names and code points, so that invisible ones can be told apart.

/// How many kinds of characters in a row are named.
const NAMED: usize = 3;

/// Characters that are invisible or look like others. The names are Unicode's.
const NAMES: &[(char, &str)] = &[
    ('\t', "tab"),
    ('\n', "line feed"),
    ('\u{b}', "line tabulation"),
    ('\u{c}', "form feed"),
    ('\r', "carriage return"),
    (' ', "space"),
    ('"', "quotation mark"),
    ('\'', "apostrophe"),
    ('`', "grave accent"),
    ('-', "hyphen-minus"),
    ('.', "full stop"),
    ('\u{85}', "next line"),
    ('\u{a0}', "no-break space"),
    ('\u{ad}', "soft hyphen"),
    ('\u{61c}', "Arabic letter mark"),
    ('\u{2002}', "en space"),
    ('\u{2003}', "em space"),
    ('\u{2007}', "figure space"),
    ('\u{2009}', "thin space"),
    ('\u{200a}', "hair space"),
    ('\u{200b}', "zero-width space"),
    ('\u{200c}', "zero-width non-joiner"),
    ('\u{200d}', "zero-width joiner"),
    ('\u{200e}', "left-to-right mark"),
    ('\u{200f}', "right-to-left mark"),
    ('\u{2010}', "hyphen"),
    ('\u{2011}', "non-breaking hyphen"),
    ('\u{2012}', "figure dash"),
    ('\u{2013}', "en dash"),
    ('\u{2014}', "em dash"),
    ('\u{2015}', "horizontal bar"),
    ('\u{2018}', "left single quotation mark"),
    ('\u{2019}', "right single quotation mark"),
    ('\u{201a}', "single low-9 quotation mark"),
    ('\u{201c}', "left double quotation mark"),
    ('\u{201d}', "right double quotation mark"),
    ('\u{201e}', "double low-9 quotation mark"),
    ('\u{2026}', "horizontal ellipsis"),
    ('\u{2028}', "line separator"),
    ('\u{2029}', "paragraph separator"),
    ('\u{202a}', "left-to-right embedding"),
    ('\u{202b}', "right-to-left embedding"),
    ('\u{202c}', "pop directional formatting"),
    ('\u{202d}', "left-to-right override"),
    ('\u{202e}', "right-to-left override"),
    ('\u{202f}', "narrow no-break space"),
    ('\u{2032}', "prime"),
    ('\u{2033}', "double prime"),
    ('\u{2060}', "word joiner"),
    ('\u{2066}', "left-to-right isolate"),
    ('\u{2067}', "right-to-left isolate"),
    ('\u{2068}', "first strong isolate"),
    ('\u{2069}', "pop directional isolate"),
    ('\u{2212}', "minus sign"),
    ('\u{3000}', "ideographic space"),
    ('\u{feff}', "zero-width no-break space"),
];

/// Describes a few characters: `no-break space (U+00A0)`, `4 spaces (U+0020)`, `'e' (U+0065), combining mark (U+0301)`.
pub(super) fn described(text: &str) -> String {
    let chars: Vec<char> = text.chars().take(1_000).collect();
    let mut runs = chars.chunk_by(|a, b| a == b);
    let named: Vec<_> = runs.by_ref().take(NAMED).map(|run| run_described(run[0], run.len())).collect();
    if named.is_empty() {
        return "nothing".to_owned();
    }
    named.join(", ") + if runs.next().is_some() { " and more" } else { "" }
}

fn run_described(c: char, length: usize) -> String {
    let code = format!("(U+{:04X})", u32::from(c));
    let name = NAMES.iter().find(|(known, _)| *known == c).map_or_else(|| by_block(c), |(_, name)| (*name).to_owned());
    if length > 1 { format!("{length} {name}s {code}") } else { format!("{name} {code}") }
}

/// A description of a character without a name here: itself, if it is visible.
fn by_block(c: char) -> String {
    match c {
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' => {
            "combining mark".to_owned()
        }
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => "variation selector".to_owned(),
        '\u{e0000}'..='\u{e007f}' => "tag character".to_owned(),
        _ if c.is_whitespace() => "space character".to_owned(),
        _ if c.is_control() || crate::hostile::is_hostile(c) => "invisible character".to_owned(),
        '\u{370}'..='\u{3ff}' => format!("Greek '{c}'"),
        '\u{400}'..='\u{52f}' => format!("Cyrillic '{c}'"),
        '\u{ff01}'..='\u{ffee}' => format!("full-width '{c}'"),
        _ => format!("'{c}'"),
    }
}
