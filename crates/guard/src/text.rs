//! Decodes bytes as UTF-8.

/// Decodes bytes as UTF-8; invalid sequences are replaced by `U+FFFD`.
///
/// If the bytes were truncated, an incomplete character at the end is dropped, not replaced.
pub(crate) fn decode_lossy(mut bytes: Vec<u8>, truncated: bool) -> String {
    if truncated {
        bytes.truncate(complete_len(&bytes));
    }
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}

/// The length of the bytes without an incomplete character at the end.
fn complete_len(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last();
    let rest = last.map_or(&[][..], |chunk| chunk.invalid());
    let incomplete = match std::str::from_utf8(rest) {
        Err(error) if error.error_len().is_none() => rest.len(),
        _ => 0,
    };
    bytes.len() - incomplete
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_incomplete_character_at_the_end_is_dropped() {
        assert_eq!(decode_lossy("a€".as_bytes()[..3].to_vec(), true), "a");
        assert_eq!(decode_lossy("a€".as_bytes().to_vec(), true), "a€");
        assert_eq!(decode_lossy(Vec::new(), true), "");
    }

    #[test]
    fn invalid_utf_8_is_replaced() {
        assert_eq!(decode_lossy(b"caf\xe9!".to_vec(), false), "caf\u{fffd}!");
        assert_eq!(decode_lossy(b"caf\xe9!".to_vec(), true), "caf\u{fffd}!");
        assert_eq!(decode_lossy("€".as_bytes()[..2].to_vec(), false), "\u{fffd}");
    }
}
