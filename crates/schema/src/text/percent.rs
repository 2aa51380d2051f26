//! Percent-encoding: what is encoded, and what a malformed encoding means.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// All but RFC 3986's unreserved characters.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Encodes all but the unreserved characters of RFC 3986.
pub fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// Decodes a text; `None` if its encoding is malformed, or is not UTF-8.
pub fn percent_decode(text: &str) -> Option<String> {
    let is_code = |rest: &str| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    // The library keeps what is malformed as it is.
    if !text.split('%').skip(1).all(is_code) {
        return None;
    }
    Some(percent_decode_str(text).decode_utf8().ok()?.into_owned())
}

/// Decodes a text; what is malformed stays as it is.
pub fn percent_decode_lossy(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_encoded_is_decoded() {
        let text = "a-b_c.d~e/f g%ü";
        assert_eq!(percent_encode(text), "a-b_c.d~e%2Ff%20g%25%C3%BC");
        assert_eq!(percent_decode(&percent_encode(text)).as_deref(), Some(text));
    }

    #[test]
    fn a_malformed_encoding_is_rejected_or_kept() {
        for malformed in ["%", "a%2", "%zz", "%+1", "%ü"] {
            assert_eq!(percent_decode(malformed), None, "{malformed}");
            assert_eq!(percent_decode_lossy(malformed), malformed);
        }
        assert_eq!(percent_decode("%ff"), None);
        assert_eq!(percent_decode_lossy("%ff"), "\u{fffd}");
    }
}
