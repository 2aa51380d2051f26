//! Removes what surrounds the JSON: whitespace, a byte order mark, a code fence, a second JSON encoding.

use super::RepairError;
use crate::{InputLimits, Tape};

const FENCE: &str = "```";

/// Returns the text without its wrapping, and how many bytes came before it.
pub(super) fn strip_wrapping<'t>(
    text: &'t str,
    notes: &mut Vec<&'static str>,
) -> Result<(&'t str, usize), RepairError> {
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
    if text.starts_with('\u{feff}') {
        notes.push("byte order mark removed");
    }
    let inner = match bare.strip_prefix(FENCE) {
        None => bare,
        Some(opened) => {
            // A fence inside a string is content: only one at the very end closes the block.
            let body = opened.strip_suffix(FENCE).ok_or(RepairError::Truncated)?;
            notes.push("code fence removed");
            strip_fence_language(body).trim()
        }
    };
    let before = text.len() - text.trim_start_matches('\u{feff}').len();
    Ok((inner, text.find(inner).unwrap_or(before)))
}

/// The first word is a language only if a line break or a bracket follows; otherwise it is content.
fn strip_fence_language(body: &str) -> &str {
    let end = body.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(0);
    match body.get(end..) {
        Some(rest)
            if rest.trim_start_matches([' ', '\t', '\r']).starts_with(['\n', '{', '['])
                && !rest.trim().is_empty() =>
        {
            rest
        }
        _ => body,
    }
}

/// Decodes a JSON string that contains an object or array; other text is returned unchanged.
pub(super) fn decode_json_string(
    text: String,
    limits: &InputLimits,
    notes: &mut Vec<&'static str>,
) -> String {
    if !text.starts_with('"') {
        return text;
    }
    let Ok(inner) = serde_json::from_str::<String>(&text) else {
        return text;
    };
    let held = inner.trim();
    if !held.starts_with(['{', '[']) || Tape::parse(held, limits).is_err() {
        return text;
    }
    notes.push("doubled encoding undone");
    held.to_owned()
}
