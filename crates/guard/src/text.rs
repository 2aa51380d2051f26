//! Bytes in, text out.

/// Makes text of bytes, replacing what is not UTF-8.
///
/// A character that was `cut` in two at the end is left out, not replaced.
pub(crate) fn lossy(mut bytes: Vec<u8>, cut: bool) -> String {
    if cut {
        bytes.truncate(whole_characters(&bytes));
    }
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}

/// How many bytes there are before a character that is only begun.
fn whole_characters(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last();
    let rest = last.map_or(&[][..], |chunk| chunk.invalid());
    let begun = match std::str::from_utf8(rest) {
        Err(error) if error.error_len().is_none() => rest.len(),
        _ => 0,
    };
    bytes.len() - begun
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_cut_in_two_is_left_out() {
        assert_eq!(lossy("a€".as_bytes()[..3].to_vec(), true), "a");
        assert_eq!(lossy("a€".as_bytes().to_vec(), true), "a€");
        assert_eq!(lossy(Vec::new(), true), "");
    }

    #[test]
    fn what_is_not_utf_8_is_replaced() {
        assert_eq!(lossy(b"caf\xe9!".to_vec(), false), "caf\u{fffd}!");
        assert_eq!(lossy(b"caf\xe9!".to_vec(), true), "caf\u{fffd}!");
        assert_eq!(lossy("€".as_bytes()[..2].to_vec(), false), "\u{fffd}");
    }
}
