//! Converts tool names to unique names that a dialect accepts.

use std::collections::{HashMap, HashSet};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use toolwright_schema::NameRule;

/// Returns a unique wire name for each tool of a request; none is a reserved name.
///
/// A valid name stays. In another, invalid characters become `_`; if that is too long or not unique, a
/// hash of the whole name is appended. So a tool's wire name does not depend on the order of the tools.
pub fn wire_names(names: &[&str], rule: NameRule, reserved: &[String]) -> Vec<String> {
    let is_free = |name: &str| rule.is_valid(name) && !reserved.iter().any(|other| other == name);
    let unchanged: HashSet<&str> = names.iter().copied().filter(|name| is_free(name)).collect();
    let mut sanitized_counts: HashMap<String, usize> = HashMap::new();
    for name in names.iter().filter(|name| !unchanged.contains(*name)) {
        *sanitized_counts.entry(sanitize(name, rule)).or_default() += 1;
    }
    let wire_name = |name: &&str| {
        if unchanged.contains(name) {
            return (*name).to_owned();
        }
        let sanitized = sanitize(name, rule);
        let is_unique = is_free(&sanitized)
            && sanitized.chars().any(|letter| letter.is_ascii_alphanumeric())
            && !unchanged.contains(sanitized.as_str())
            && sanitized_counts.get(&sanitized) == Some(&1);
        if is_unique { sanitized } else { with_hash(name, &sanitized, rule) }
    };
    names.iter().map(wire_name).collect()
}

/// Replaces invalid characters by `_`; the name may still be too long.
fn sanitize(name: &str, rule: NameRule) -> String {
    let mut sanitized = String::with_capacity(name.len());
    for letter in name.chars() {
        let index = sanitized.len();
        if rule.is_valid_char(index, letter) {
            sanitized.push(letter);
        } else {
            if index == 0 && rule.is_valid_char(1, letter) {
                sanitized.push('_');
                sanitized.push(letter);
                continue;
            }
            sanitized.push('_');
        }
    }
    sanitized
}

fn with_hash(name: &str, sanitized: &str, rule: NameRule) -> String {
    let digest = Sha256::digest(name.as_bytes());
    let hash = HEXLOWER.encode(digest.get(..4).unwrap_or_default());
    let room = rule.max_length.saturating_sub(hash.len() + 1);
    let start: String = sanitized.chars().take(room).collect();
    let start = if start.chars().any(|letter| letter.is_ascii_alphanumeric()) {
        start
    } else {
        "tool".to_owned()
    };
    format!("{start}_{hash}")
}

#[cfg(test)]
mod tests {
    use toolwright_schema::Dialect;

    use super::*;

    fn named(names: &[&str], dialect: Dialect) -> Vec<String> {
        let wire = wire_names(names, dialect.tool_name(), &[]);
        let distinct: HashSet<&String> = wire.iter().collect();
        assert_eq!(distinct.len(), names.len(), "names are unique: {wire:?}");
        assert!(wire.iter().all(|name| dialect.tool_name().is_valid(name)), "{wire:?}");
        wire
    }

    #[test]
    fn a_valid_name_stays() {
        assert_eq!(named(&["get_weather", "a-b"], Dialect::OPENAI), ["get_weather", "a-b"]);
        assert_eq!(named(&["files.read"], Dialect::GEMINI), ["files.read"]);
        assert_eq!(named(&["files.read"], Dialect::MCP), ["files.read"]);
    }

    #[test]
    fn an_invalid_character_becomes_an_underscore() {
        assert_eq!(
            named(&["files.read", "files/write", "müll", "9lives"], Dialect::PORTABLE),
            ["files_read", "files_write", "m_ll", "_9lives"]
        );
    }

    #[test]
    fn names_that_sanitize_alike_get_a_hash_in_any_order() {
        let forward = named(&["a.b", "a/b", "a_b"], Dialect::OPENAI);
        assert_eq!(forward.get(2).map(String::as_str), Some("a_b"));
        assert!(forward.iter().take(2).all(|name| name.starts_with("a_b_") && name.len() == 12));
        let mut backward = named(&["a_b", "a/b", "a.b"], Dialect::OPENAI);
        backward.reverse();
        assert_eq!(forward, backward);
    }

    #[test]
    fn a_long_name_is_truncated_and_gets_a_hash() {
        let long = format!("{}.x", "a".repeat(90));
        let wire = named(&[&long], Dialect::OPENAI);
        assert_eq!(wire.first().map(String::len), Some(64));
        assert_eq!(named(&[&long], Dialect::MCP), [long.as_str()]);
    }

    #[test]
    fn a_name_without_a_valid_character_becomes_tool_and_a_hash() {
        let wire = named(&["天気", "時間"], Dialect::OPENAI);
        assert!(wire.iter().all(|name| name.starts_with("tool_")), "{wire:?}");
        assert_ne!(wire.first(), wire.last());
    }

    #[test]
    fn the_name_of_a_hosted_tool_is_reserved() {
        let reserved = ["web_search".to_owned()];
        let wire = wire_names(&["web_search"], Dialect::OPENAI.tool_name(), &reserved);
        assert!(wire.iter().all(|name| name.starts_with("web_search_")), "{wire:?}");
    }
}
