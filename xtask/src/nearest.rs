//! A mistyped name in, the names it may have meant out.

/// Names within a few edits of `word`, or sharing its beginning; closest first.
pub(crate) fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let allowed = (word.chars().count() / 2).clamp(1, 3);
    let mut near: Vec<(usize, &str)> = names
        .into_iter()
        .map(|name| (edits(word, name), name))
        .filter(|(edits, name)| {
            *edits <= allowed
                || (!word.is_empty() && (name.starts_with(word) || word.starts_with(name)))
        })
        .collect();
    near.sort();
    near.into_iter().map(|(_, name)| name).take(3).collect()
}

/// `", did you mean `a` or `b`?"`, or nothing when nothing is near.
pub(crate) fn did_you_mean(near: &[&str]) -> String {
    if near.is_empty() {
        return String::new();
    }
    let quoted: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    format!(", did you mean {}?", quoted.join(" or "))
}

/// Levenshtein distance, one row at a time.
fn edits(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (done, x) in from.chars().enumerate() {
        let (mut diagonal, mut left) = (done, done + 1);
        let mut next = vec![left];
        for (y, &above) in to.chars().zip(row.iter().skip(1)) {
            left = (above + 1)
                .min(left + 1)
                .min(diagonal + usize::from(x != y));
            diagonal = above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["fmt", "clippy", "examples", "forbidden", "fuzz"];

    #[test]
    fn edits_count_insertions_removals_and_changes() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "fmt"), 3);
        assert_eq!(edits("fmt", "fmt"), 0);
    }

    #[test]
    fn a_slip_of_the_finger_finds_its_name() {
        assert_eq!(nearest("clipy", NAMES), ["clippy"]);
        assert_eq!(nearest("fm", NAMES), ["fmt"]);
        assert_eq!(nearest("example", NAMES), ["examples"]);
    }

    #[test]
    fn a_strange_word_finds_nothing() {
        assert!(nearest("deploy-to-moon", NAMES).is_empty());
        assert!(nearest("", NAMES).is_empty());
    }
}
