//! Finds the name that a mistyped word was meant to be.

/// The error about a word that is not among the names, with the nearest one, or all if none is near.
pub(crate) fn unknown(kind: &str, word: &str, names: &[&str]) -> String {
    let nearest = names.iter().map(|name| (strsim::levenshtein(word, name), name)).min();
    match nearest {
        Some((distance, name)) if distance <= 1 + word.len() / 4 => {
            format!("no {kind} `{word}`: did you mean `{name}`?")
        }
        _ => format!("no {kind} `{word}`: there are {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_suggested_and_without_one_all_are_listed() {
        let names = ["clippy", "test", "schema"];
        assert_eq!(unknown("step", "clipy", &names), "no step `clipy`: did you mean `clippy`?");
        assert_eq!(unknown("crate", "scehma", &names), "no crate `scehma`: did you mean `schema`?");
        let all = "no step `browser`: there are clippy, test, schema";
        assert_eq!(unknown("step", "browser", &names), all);
    }
}
