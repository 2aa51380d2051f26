//! Finds the name that a mistyped word was meant to be.

/// The error about a word that is not among the names, with the nearest one, or all if none is near.
pub(crate) fn unknown(kind: &str, word: &str, names: &[&str]) -> String {
    let nearest = names.iter().map(|name| (distance(word, name), name)).min();
    match nearest {
        Some((distance, name)) if distance <= 1 + word.len() / 4 => {
            format!("no {kind} `{word}`: did you mean `{name}`?")
        }
        _ => format!("no {kind} `{word}`: there are {}", names.join(", ")),
    }
}

/// How many letters have to be inserted, removed or replaced.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (index, letter) in from.chars().enumerate() {
        let mut left = index + 1;
        let mut diagonal = std::mem::replace(row.first_mut().unwrap_or(&mut 0), left);
        for (cell, other) in row.iter_mut().skip(1).zip(to.chars()) {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = *cell;
            left = replaced.min(left + 1).min(diagonal + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_suggested_and_without_one_all_are_listed() {
        assert_eq!(distance("kitten", "sitting"), 3);
        let names = ["clippy", "test", "schema"];
        assert_eq!(unknown("step", "clipy", &names), "no step `clipy`: did you mean `clippy`?");
        assert_eq!(unknown("crate", "scehma", &names), "no crate `scehma`: did you mean `schema`?");
        let all = "no step `browser`: there are clippy, test, schema";
        assert_eq!(unknown("step", "browser", &names), all);
    }
}
