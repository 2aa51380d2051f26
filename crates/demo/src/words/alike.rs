//! Words that mean the same, and words that are nearly the same.

/// Groups of stems that English uses for much the same thing.
const SYNONYMS: [&[&str]; 27] = [
    &["tim", "clock", "o'clock", "hour"],
    &["dat", "day", "calendar"],
    &[
        "temperatur",
        "warm",
        "hot",
        "cold",
        "degre",
        "heat",
        "cool",
        "celsius",
        "fahrenheit",
    ],
    &[
        "weather",
        "forecast",
        "rain",
        "rainy",
        "sun",
        "sunny",
        "snow",
        "wind",
        "windy",
        "umbrella",
        "storm",
        "cloudy",
        "humid",
        "warm",
        "cold",
        "hot",
        "temperatur",
    ],
    &["thermostat", "heat", "temperatur", "warm", "degre"],
    &["delet", "remov", "eras", "cancel", "drop"],
    &["creat", "add", "mak", "new", "open", "fil"],
    &["find", "search", "look", "seek", "lookup"],
    &["list", "show", "display", "see"],
    &[
        "set", "chang", "adjust", "updat", "turn", "switch", "modify", "mak",
    ],
    &["buy", "purchas", "order"],
    &["send", "mail", "email", "e-mail"],
    &["messag", "text", "not"],
    &["pric", "cost", "charg", "fee"],
    &["imag", "pictur", "photo"],
    &["loan", "borrow", "lend", "checkout"],
    &["refund", "reimburs", "repay"],
    &["status", "stat", "progress", "track"],
    &["ticket", "issu", "bug", "problem"],
    &["urgent", "priority", "critical"],
    &["convert", "chang", "turn", "transform"],
    &["calculat", "comput", "sum", "math"],
    &["area", "siz", "surfac"],
    &["mov", "transfer"],
    &["fetch", "download", "get", "open", "read"],
    &["light", "lamp"],
    &["read", "content", "open"],
];

/// Returns the stems that mean much the same as this one.
pub(crate) fn synonyms(stem: &str) -> impl Iterator<Item = &'static str> {
    // "Warmer" is warm enough.
    let plain = ["er", "est"]
        .iter()
        .find_map(|ending| stem.strip_suffix(ending));
    let plain = plain.unwrap_or(stem);
    let groups = SYNONYMS.iter();
    let groups = groups.filter(move |group| group.contains(&stem) || group.contains(&plain));
    groups.flat_map(|group| group.iter().copied())
}

/// Tells whether two stems begin the same, or differ by a slip of the pen.
pub(crate) fn alike(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() {
        (one, other)
    } else {
        (other, one)
    };
    if short.len() < 4 || long.len() > 32 {
        return false;
    }
    let shared = short
        .bytes()
        .zip(long.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let rest = long.len() - shared;
    let root = shared >= 5 && (shared == short.len() && rest <= 4 || rest <= 2);
    root || long.len() - short.len() <= 1 && is_typo(short, long, shared)
}

/// Whether one edit behind the shared beginning makes the words the same.
fn is_typo(short: &str, long: &str, shared: usize) -> bool {
    let from = |word: &str, skip: usize| word.bytes().skip(shared + skip).collect::<Vec<u8>>();
    if short.len() < long.len() {
        return from(short, 0) == from(long, 1);
    }
    let swapped = || {
        let (a, b) = (from(short, 0), from(long, 0));
        matches!((a.as_slice(), b.as_slice()), ([a0, a1, ..], [b0, b1, ..]) if a0 == b1 && a1 == b0)
            && from(short, 2) == from(long, 2)
    };
    // A first letter is seldom wrong, and `cold` is not `gold`.
    shared > 0 && (long.len() > 4 && from(short, 1) == from(long, 1) || swapped())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_and_kin_are_seen() {
        for (one, other) in [
            ("weahter", "weather"),
            ("wether", "weather"),
            ("weatherr", "weather"),
            ("tempertur", "temperatur"),
            ("tiem", "time"),
            ("reservat", "reserv"),
            ("convers", "convert"),
        ] {
            assert!(alike(one, other), "{one}, {other}");
        }
    }

    #[test]
    fn other_words_are_not() {
        for (one, other) in [
            ("cold", "gold"),
            ("tim", "dim"),
            ("paris", "pair"),
            ("book", "look"),
        ] {
            assert!(!alike(one, other), "{one}, {other}");
        }
    }
}
