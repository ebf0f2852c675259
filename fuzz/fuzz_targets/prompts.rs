//! Prompt files: whatever a file and the arguments contain, the result is bounded, it embeds only files named by the
//! text itself and not by an argument, and text without placeholders is unchanged.
//!
//! An input is the format (a byte), the value of each argument (a line), and the file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_fs::features::prompts::{
    Format, MOST_ARGUMENTS, MOST_BYTES, MOST_FILES, Part, Piece, RenderError, Template, parse, render,
};

fuzz_target!(|input: &[u8]| {
    let Some((format, rest)) = input.split_first() else { return };
    let format = match format % 3 {
        0 => Format::Own,
        1 => Format::ClaudeCommand,
        _ => Format::CopilotPrompt,
    };
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let value = String::from_utf8_lossy(&rest[..end]).into_owned();
    let file = rest.get(end + 1..).unwrap_or_default();
    let Ok(template) = parse(file, format) else { return };
    assert_eq!(parse(file, format).as_ref(), Ok(&template), "the same file, another prompt");
    check(&template, &value, format);
});

fn check(template: &Template, value: &str, format: Format) {
    let named = files(template);
    assert!(template.arguments.len() <= MOST_ARGUMENTS && named.len() <= MOST_FILES);
    assert!(format == Format::Own || named.is_empty(), "only own prompts embed files");
    for piece in &template.pieces {
        let Piece::Argument(name) = piece else { continue };
        assert!(template.arguments.iter().any(|known| known.name == *name), "{name:?} cannot be given");
    }
    let given = |value: &str| -> Vec<(String, String)> {
        template.arguments.iter().map(|known| (known.name.clone(), value.to_owned())).collect()
    };
    match render(template, &given(value)) {
        Ok(parts) => {
            let said: usize = parts.iter().map(|part| if let Part::Text(text) = part { text.len() } else { 0 }).sum();
            assert!(said <= MOST_BYTES, "{said} bytes");
            let embedded: Vec<&String> =
                parts.iter().filter_map(|part| if let Part::File(path) = part { Some(path) } else { None }).collect();
            assert_eq!(embedded, named, "an argument has become a file");
        }
        Err(error) => assert_eq!(error, RenderError::TooLong, "all were given"),
    }
    let mut unknown = given("");
    unknown.push(("an unknown one".to_owned(), String::new()));
    assert!(matches!(render(template, &unknown), Err(RenderError::Unknown { .. })));
    if let Some(required) = template.arguments.iter().find(|known| known.required) {
        assert_eq!(render(template, &[]), Err(RenderError::Missing(required.name.clone())));
    }
}

/// The files that the text names.
fn files(template: &Template) -> Vec<&String> {
    template.pieces.iter().filter_map(|piece| if let Piece::File(path) = piece { Some(path) } else { None }).collect()
}
