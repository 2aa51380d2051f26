//! Tool names in, names that a dialect admits out, each of which leads back to one tool.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};
use toolwright_schema::NameRule;

/// Names the tools of one request; none gets a reserved name.
///
/// A name that fits stays. Of another, what does not fit becomes `_`; where that is too long or no longer tells tools apart, a
/// hash of the whole name follows. So a tool's wire name does not depend on the order of the tools.
pub fn wire_names(names: &[&str], rule: NameRule, reserved: &[String]) -> Vec<String> {
    let fits = |name: &str| rule.is_valid(name) && !reserved.iter().any(|taken| taken == name);
    let kept: HashSet<&str> = names.iter().copied().filter(|name| fits(name)).collect();
    let mut wanted: HashMap<String, usize> = HashMap::new();
    for name in names.iter().filter(|name| !kept.contains(*name)) {
        *wanted.entry(sanitize(name, rule)).or_default() += 1;
    }
    let named = |name: &&str| {
        if kept.contains(name) {
            return (*name).to_owned();
        }
        let plain = sanitize(name, rule);
        let tells = fits(&plain)
            && plain.chars().any(|letter| letter.is_ascii_alphanumeric())
            && !kept.contains(plain.as_str())
            && wanted.get(&plain) == Some(&1);
        if tells {
            plain
        } else {
            with_hash(name, &plain, rule)
        }
    };
    names.iter().map(named).collect()
}

/// The name with `_` for what does not fit, perhaps too long.
fn sanitize(name: &str, rule: NameRule) -> String {
    let mut plain = String::with_capacity(name.len());
    for letter in name.chars() {
        let place = plain.len();
        if rule.is_valid_char(place, letter) {
            plain.push(letter);
        } else {
            if place == 0 && rule.is_valid_char(1, letter) {
                plain.push('_');
                plain.push(letter);
                continue;
            }
            plain.push('_');
        }
    }
    plain
}

fn with_hash(name: &str, plain: &str, rule: NameRule) -> String {
    let digest = Sha256::digest(name.as_bytes());
    let hash: String = digest
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let room = rule.max_length.saturating_sub(hash.len() + 1);
    let start: String = plain.chars().take(room).collect();
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
        assert_eq!(
            distinct.len(),
            names.len(),
            "each leads back to one: {wire:?}"
        );
        assert!(
            wire.iter().all(|name| dialect.tool_name().is_valid(name)),
            "{wire:?}"
        );
        wire
    }

    #[test]
    fn a_name_that_fits_stays() {
        assert_eq!(
            named(&["get_weather", "a-b"], Dialect::OPENAI),
            ["get_weather", "a-b"]
        );
        assert_eq!(named(&["files.read"], Dialect::GEMINI), ["files.read"]);
        assert_eq!(named(&["files.read"], Dialect::MCP), ["files.read"]);
    }

    #[test]
    fn what_does_not_fit_becomes_an_underscore() {
        assert_eq!(
            named(
                &["files.read", "files/write", "müll", "9lives"],
                Dialect::PORTABLE
            ),
            ["files_read", "files_write", "m_ll", "_9lives"]
        );
    }

    #[test]
    fn names_that_would_fall_together_are_told_apart_in_any_order() {
        let there = named(&["a.b", "a/b", "a_b"], Dialect::OPENAI);
        assert_eq!(there.get(2).map(String::as_str), Some("a_b"));
        assert!(
            there
                .iter()
                .take(2)
                .all(|name| name.starts_with("a_b_") && name.len() == 12)
        );
        let mut back = named(&["a_b", "a/b", "a.b"], Dialect::OPENAI);
        back.reverse();
        assert_eq!(there, back);
    }

    #[test]
    fn a_long_name_is_cut_and_told_apart() {
        let long = format!("{}.x", "a".repeat(90));
        let wire = named(&[&long], Dialect::OPENAI);
        assert_eq!(wire.first().map(String::len), Some(64));
        assert_eq!(named(&[&long], Dialect::MCP), [long.as_str()]);
    }

    #[test]
    fn a_name_of_which_nothing_remains_is_a_tool() {
        let wire = named(&["天気", "時間"], Dialect::OPENAI);
        assert!(
            wire.iter().all(|name| name.starts_with("tool_")),
            "{wire:?}"
        );
        assert_ne!(wire.first(), wire.last());
    }

    #[test]
    fn the_name_of_a_hosted_tool_is_left_to_it() {
        let reserved = ["web_search".to_owned()];
        let wire = wire_names(&["web_search"], Dialect::OPENAI.tool_name(), &reserved);
        assert!(
            wire.iter().all(|name| name.starts_with("web_search_")),
            "{wire:?}"
        );
    }
}
