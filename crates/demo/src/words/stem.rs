//! A word in, what it stems from out: `books`, `booking` and `booked` are one word.

/// Cuts off the usual English endings; what remains need not be a word.
pub(crate) fn stem(lower: &str) -> String {
    let word = lower
        .strip_suffix("'s")
        .unwrap_or(lower)
        .trim_end_matches('\'');
    if word.len() <= 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let word = singular(word);
    let cut = [("ing", 6), ("ed", 5), ("ion", 7)]
        .into_iter()
        .find_map(|(ending, least)| {
            let rest = word.strip_suffix(ending)?;
            let whole = ending != "ion" || rest.ends_with(['t', 's']);
            let spoken = rest.contains(['a', 'e', 'i', 'o', 'u', 'y']);
            (word.len() >= least && whole && spoken).then_some(rest)
        });
    let mut stem = cut.unwrap_or(&word).to_owned();
    let doubled = |letter: &str| stem.ends_with(&letter.repeat(2));
    if cut.is_some()
        && ["b", "d", "g", "m", "n", "p", "r", "t"]
            .into_iter()
            .any(doubled)
    {
        stem.pop();
    }
    if stem.len() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    stem
}

fn singular(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("ies")
        && rest.len() > 1
    {
        return format!("{rest}y");
    }
    if let Some(rest) = word.strip_suffix("es")
        && ["ss", "x", "z", "ch", "sh"]
            .iter()
            .any(|end| rest.ends_with(end))
    {
        return rest.to_owned();
    }
    match word.strip_suffix('s') {
        Some(rest) if !rest.ends_with(['s', 'u', 'i']) => rest.to_owned(),
        _ => word.to_owned(),
    }
}

/// Returns the stems of a name's parts: `getUserName`, `get_user-name` and `get user name` have the same.
pub(crate) fn parts(name: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut part = String::new();
    let mut before = ' ';
    for letter in name.chars() {
        let inner = letter == '\'' || letter == '’';
        if letter.is_uppercase() && before.is_lowercase() || !letter.is_alphanumeric() && !inner {
            push(&mut all, &mut part);
        }
        if letter.is_alphanumeric() {
            part.extend(letter.to_lowercase());
        } else if inner {
            part.push('\'');
        }
        before = letter;
    }
    push(&mut all, &mut part);
    all
}

fn push(all: &mut Vec<String>, part: &mut String) {
    if !part.is_empty() {
        all.push(stem(part));
        part.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for (one, other) in [
            ("books", "booking"),
            ("reserve", "reserved"),
            ("cities", "city"),
            ("translation", "translate"),
            ("boxes", "box"),
            ("tokyo's", "tokyo"),
            ("refunding", "refunds"),
            ("stopping", "stop"),
        ] {
            assert_eq!(stem(one), stem(other), "{one}, {other}");
        }
        for word in ["status", "bus", "is", "the", "glass"] {
            assert_eq!(stem(word), word);
        }
    }

    #[test]
    fn names_fall_into_parts() {
        let expected = ["get", "user", "nam"];
        for name in ["getUserName", "get_user-name", "Get user name"] {
            assert_eq!(parts(name), expected);
        }
    }
}
