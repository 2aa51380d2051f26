//! Suggestions for mistyped names, by edit distance.

/// Names are compared by their first characters only.
const MAX_COMPARED_CHARS: usize = 128;

/// The form in which names are compared: lower case, with `-` and `.` replaced by `_`.
pub fn fold_name(name: &str) -> String {
    name.chars()
        .flat_map(char::to_lowercase)
        .map(|c| if matches!(c, '-' | '.') { '_' } else { c })
        .collect()
}

/// The candidates that are similar to `candidate`, closest first, at most `limit` of them.
pub fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    limit: usize,
) -> Vec<&'a str> {
    let name = truncate_name(name);
    let mut found: Vec<_> = candidates
        .into_iter()
        .filter_map(|candidate| Some((edit_distance(&name, &truncate_name(candidate))?, candidate)))
        .collect();
    found.sort_by_key(|(distance, _)| *distance);
    found.into_iter().map(|(_, candidate)| candidate).take(limit).collect()
}

/// The sentence "did you mean `…`?" with the closest candidate, if one is similar.
pub fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let closest = nearest(name, candidates, 1);
    closest.first().map(|name| format!("did you mean `{name}`?"))
}

/// Returns true if `name` is `known` with one letter wrong, or two if that has at least six; swapped letters count as one, and
/// letter case and separators not at all. The name itself is no misspelling.
pub fn is_misspelling(name: &str, known: &str) -> bool {
    let tolerated = if known.chars().count() >= 6 { 2 } else { 1 };
    name != known && strsim::osa_distance(&truncate_name(name), &truncate_name(known)) <= tolerated
}

fn truncate_name(name: &str) -> String {
    let end = name.char_indices().nth(MAX_COMPARED_CHARS).map_or(name.len(), |(at, _)| at);
    fold_name(name.get(..end).unwrap_or(name))
}

fn edit_distance(name: &str, candidate: &str) -> Option<usize> {
    let (long, short) = (name.chars().count(), candidate.chars().count());
    let (short, long) = (short.min(long), short.max(long));
    let tolerated = (long / 3).max(1);
    let edits =
        if long - short <= tolerated { strsim::osa_distance(name, candidate) } else { usize::MAX };
    if edits <= tolerated && edits < long {
        return Some(edits);
    }
    let contained = short >= 3 && (name.contains(candidate) || candidate.contains(name));
    contained.then_some(long)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_the_name() {
        assert_eq!(nearest("citty", ["country", "city", "unit"], 3), ["city"]);
        assert_eq!(nearest("getWeather", ["get_weather", "get_time"], 3), ["get_weather"]);
    }

    #[test]
    fn separators_and_letter_case_do_not_count() {
        assert_eq!(fold_name("Dry-Run.Now"), "dry_run_now");
        assert_eq!(nearest("DRY-RUN", ["dry_run"], 1), ["dry_run"]);
    }

    #[test]
    fn a_part_of_a_name_finds_it() {
        assert_eq!(nearest("weather", ["time", "get_current_weather"], 1), ["get_current_weather"]);
    }

    #[test]
    fn names_that_share_nothing_are_not_offered() {
        assert!(nearest("x", ["y", "ab"], 3).is_empty());
        assert!(nearest("banana", ["city", "unit"], 3).is_empty());
    }

    #[test]
    fn a_misspelling_has_one_letter_wrong_or_two_of_a_long_name() {
        for (name, known) in [
            ("qouta", "quota"),
            ("sever", "server"),
            ("servres", "server"),
            ("Server", "server"),
            ("mcp_1", "MCP_1"),
            ("map", "mcp"),
        ] {
            assert!(is_misspelling(name, known), "{name}");
        }
        for (name, known) in [
            ("quota", "quota"),
            ("qouat", "quota"),
            ("mail", "mcp"),
            ("my", "mcp"),
            ("serves_us", "server"),
        ] {
            assert!(!is_misspelling(name, known), "{name}");
        }
    }

    #[test]
    fn absurdly_long_names_cost_little() {
        let long = "a".repeat(1 << 20);
        assert!(nearest(&long, ["city"], 3).is_empty());
    }
}
