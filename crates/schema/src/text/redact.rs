//! Masks passwords, tokens and keys in text that is logged or shown.

use std::borrow::Cow;

const MASK: &str = "***";

/// Words that make a name secret anywhere in it.
const SECRET_WORDS: [&str; 16] = [
    "password", "passwords", "passwd", "passphrase", "passcode", "pwd", "secret", "secrets",
    "apikey", "authorization", "credential", "credentials", "bearer", "cookie", "privatekey",
    "jwt",
];

/// Words that make a name secret as its last word: `auth_token` is, `token_count` is not.
const SECRET_LAST_WORDS: [&str; 6] =
    ["token", "auth", "accesskey", "secretkey", "authtoken", "accesstoken"];

/// Words that make `key` secret when it follows them.
const SECRET_KEY_PREFIX_WORDS: [&str; 7] =
    ["api", "private", "access", "signing", "encryption", "auth", "ssh"];

/// Prefixes of well-known tokens, by the minimum length of the rest.
const SECRET_PREFIXES: [(usize, &[&str]); 5] = [
    (8, &["sk-", "sk_live_", "sk_test_", "rk_live_", "pk_live_", "xoxb-", "xoxp-", "xoxa-"]),
    (12, &["glpat-"]),
    (16, &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "AKIA", "ASIA"]),
    (20, &["hf_"]),
    (30, &["AIza"]),
];

/// Returns true if a property, header or variable of this name usually contains a secret.
pub fn looks_secret_name(name: &str) -> bool {
    let words = split_words(name);
    let last = words.last().map(String::as_str).unwrap_or_default();
    words.iter().any(|word| SECRET_WORDS.contains(&word.as_str()))
        || SECRET_LAST_WORDS.contains(&last)
        || words.windows(2).any(|pair| matches!(pair, [owner, key] if SECRET_KEY_PREFIX_WORDS.contains(&owner.as_str()) && key == "key"))
}

/// Splits `apiKey`, `api-key` and `API_KEY` into the same words.
fn split_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower_before = false;
    for c in name.chars().take(256) {
        if !c.is_alphanumeric() || (c.is_uppercase() && lower_before) {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
        lower_before = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns true if the text has the form of a secret.
pub fn looks_secret_value(text: &str) -> bool {
    text.contains("-----BEGIN ") && text.contains("PRIVATE KEY")
        || text
            .split_once(' ')
            .is_some_and(|(scheme, rest)| is_auth_scheme(scheme) && rest.trim().len() >= 8)
        || is_secret_token(text)
}

fn is_auth_scheme(word: &str) -> bool {
    word.eq_ignore_ascii_case("bearer") || word.eq_ignore_ascii_case("basic")
}

fn is_secret_token(word: &str) -> bool {
    let plain =
        |rest: &str| rest.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    SECRET_PREFIXES.iter().any(|(min_length, prefixes)| {
        let mut rests = prefixes.iter().filter_map(|prefix| word.strip_prefix(prefix));
        rests.any(|rest| rest.len() >= *min_length && plain(rest))
    }) || (word.starts_with("eyJ")
        && word.len() >= 20
        && word.matches('.').count() == 2
        && word.split('.').all(plain))
}

/// Masks tokens, the values of secret names, and the user part of URLs inside free text.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    let mut key_label = KeyLabel::default();
    while let Some((start, end)) = next_word(text, at) {
        at = end;
        let Some((from, to)) = secret_range(text, start, end, &mut key_label) else {
            continue;
        };
        out.push_str(text.get(kept..from).unwrap_or_default());
        out.push_str(MASK);
        (kept, at) = (to, to);
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    Cow::Owned(out)
}

fn next_word(text: &str, at: usize) -> Option<(usize, usize)> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let rest = text.get(at..)?;
    let start = rest.find(is_word)?;
    let rest = rest.get(start..)?;
    let len = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    Some((at + start, at + start + len))
}

/// The next label of a private key and the next end of a line, so that no part of the text is searched twice.
#[derive(Default)]
struct KeyLabel {
    label: usize,
    line_end: usize,
}

impl KeyLabel {
    /// Returns true if the line of `at` has a label after it; `at` is after the start of the text, and must not decrease.
    fn is_on_line(&mut self, text: &str, at: usize) -> bool {
        for (found, pattern) in [(&mut self.label, "PRIVATE KEY-----"), (&mut self.line_end, "\n")]
        {
            if *found < at {
                let next = text.get(at..).and_then(|rest| rest.find(pattern));
                *found = next.map_or(text.len(), |next| at + next);
            }
        }
        self.label < self.line_end
    }
}

/// The byte range to mask: this word itself, or the value that follows it.
fn secret_range(
    text: &str,
    start: usize,
    end: usize,
    key_label: &mut KeyLabel,
) -> Option<(usize, usize)> {
    let word = text.get(start..end)?;
    let rest = text.get(end..)?;
    let bare = word.trim_end_matches(['.', '-']);
    if is_secret_token(bare) {
        return Some((start, start + bare.len()));
    }
    if word.ends_with("-----BEGIN") && key_label.is_on_line(text, end) {
        let close = rest
            .find("-----END")
            .and_then(|at| Some(at + rest.get(at..)?.find("KEY-----")? + "KEY-----".len()));
        return Some((start, close.map_or(text.len(), |len| end + len)));
    }
    if let Some(address) = rest.strip_prefix("://") {
        let host = address
            .find(|c: char| c.is_whitespace() || "/?#\"'<>".contains(c))
            .unwrap_or(address.len());
        let user = address.get(..host)?.rfind('@')?;
        return (user > 0).then_some((end + 3, end + 3 + user));
    }
    if is_auth_scheme(word) {
        let value = rest.strip_prefix(' ')?;
        let len = value_length(value);
        return (len >= 8).then_some((end + 1, end + 1 + len));
    }
    let is_url_key = word == "key" && text.get(..start)?.ends_with(['?', '&']);
    (is_url_key || looks_secret_name(word)).then(|| value_range(text, end))?
}

/// The value in `name=value`, `name: value` and `"name": "value"`.
fn value_range(text: &str, end: usize) -> Option<(usize, usize)> {
    let rest = text.get(end..)?;
    let sign = rest.trim_start_matches(['"', '\'', ' ']);
    let value = sign
        .strip_prefix("=>")
        .or_else(|| sign.strip_prefix(['=', ':']))?
        .trim_start_matches([' ', '\t']);
    let from = text.len() - value.len();
    if let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let mut escaped = false;
        let close = value.char_indices().skip(1).find(|(_, c)| {
            let closes = *c == quote && !escaped;
            escaped = *c == '\\' && !escaped;
            closes
        });
        return Some((from + 1, close.map_or(text.len(), |(at, _)| from + at)));
    }
    // The first word, unless it is too long for a scheme: a search for its end would read the same text for each name.
    let word_end = value.bytes().take("bearer ".len()).position(|byte| byte == b' ');
    let word = value.get(..word_end.unwrap_or(value.len()))?;
    let scheme = if is_auth_scheme(word) { word.len() + 1 } else { 0 };
    let len = value_length(value.get(scheme..)?);
    (len > 0).then_some((from + scheme, from + scheme + len))
}

fn value_length(value: &str) -> usize {
    value.find(|c: char| c.is_whitespace() || ",;&\"'}])".contains(c)).unwrap_or(value.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_in_every_spelling() {
        for name in [
            "password", "apiKey", "API_KEY", "x-api-key", "githubToken", "Authorization",
            "client_secret", "privateKey", "DB_PASSWD",
        ] {
            assert!(looks_secret_name(name), "{name}");
        }
    }

    #[test]
    fn names_that_only_resemble_secrets_stay_readable() {
        for name in [
            "max_tokens", "token_count", "city", "key", "author", "keyboard", "monkey", "passenger",
        ] {
            assert!(!looks_secret_name(name), "{name}");
        }
    }

    #[test]
    fn values_that_are_secrets_are_known_by_their_shape() {
        for value in [
            "sk-abcdefgh12345678",
            "ghp_0123456789abcdefghij",
            "AKIAIOSFODNN7EXAMPLE",
            "Bearer abcdefghij",
            "eyJhbGciOi.eyJzdWIiOiIx.SflKxwRJSM",
            "-----BEGIN RSA PRIVATE KEY-----\nabc",
        ] {
            assert!(looks_secret_value(value), "{value}");
        }
        for value in ["sk-1", "hello", "risk-averse people", "eyJ", "Basic income", "A-1042"] {
            assert!(!looks_secret_value(value), "{value}");
        }
    }

    #[test]
    fn free_text_loses_its_secrets_and_nothing_else() {
        for (text, shown) in [
            ("used sk-abcdefgh12345678.", "used ***."),
            ("password=hunter2!x, retry", "password=***, retry"),
            (r#"{"api_key": "a\"b", "city": "Rome"}"#, r#"{"api_key": "***", "city": "Rome"}"#),
            ("Authorization: Bearer abc.def", "Authorization: Bearer ***"),
            ("sent Bearer abcdefghijk there", "sent Bearer *** there"),
            ("https://user:pass@host/x", "https://***@host/x"),
            ("https://host/x?key=abc&v=1", "https://host/x?key=***&v=1"),
            ("monkey=1, key=1", "monkey=1, key=1"),
            ("-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY----- done", "*** done"),
            ("max_tokens: 5, city: Rome", "max_tokens: 5, city: Rome"),
            ("the bearer of news", "the bearer of news"),
        ] {
            assert_eq!(redact(text), shown);
        }
    }

    #[test]
    fn secrets_that_touch_or_overlap_are_masked_once() {
        for (text, shown) in [
            ("token=sk-abcdefgh12345678", "token=***"),
            ("password=token=secret=x", "password=***"),
            ("password=,password=;secret=a,jwt=", "password=,password=;secret=***,jwt="),
            ("password=Bearer abc,password=Basic", "password=Bearer ***,password=Basic"),
            ("password=Bearers abc", "password=*** abc"),
            ("sk-abcdefgh-----BEGIN PRIVATE KEY-----\nx", "*** PRIVATE KEY-----\nx"),
            ("-----BEGIN -----BEGIN A PRIVATE KEY-----\nx", "***"),
            ("-----BEGIN X\n-----BEGIN PRIVATE KEY-----\nx", "-----BEGIN X\n***"),
            ("PRIVATE KEY----- -----BEGIN CERTIFICATE", "PRIVATE KEY----- -----BEGIN CERTIFICATE"),
            (
                "-----BEGIN A PRIVATE KEY-----\nx-----END A PRIVATE KEY-----\n-----BEGIN\nPRIVATE KEY-----",
                "***\n-----BEGIN\nPRIVATE KEY-----",
            ),
        ] {
            assert_eq!(redact(text), shown);
        }
    }

    #[test]
    fn text_without_secrets_is_not_copied() {
        assert!(matches!(redact("nothing here"), Cow::Borrowed(_)));
    }
}
