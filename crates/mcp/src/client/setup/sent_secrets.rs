//! The secrets that a server receives, masked in what it prints or answers.

use std::sync::Arc;

use toolwright_core::Secret;

/// A shorter secret is found by chance in other text.
const MIN_SECRET_LEN: usize = 6;

const MASK: &str = "***";

/// The secrets that are sent to one server; cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct SentSecrets(Arc<[Secret]>);

impl SentSecrets {
    /// Takes the values of headers or variables; of `Bearer abc`, the token alone.
    pub(crate) fn new<'a>(values: impl Iterator<Item = &'a Secret>) -> Self {
        let token = |value: &'a Secret| {
            let text = value.expose();
            text.strip_prefix("Bearer ").unwrap_or(text).trim()
        };
        let tokens = values.map(token).filter(|token| token.len() >= MIN_SECRET_LEN);
        Self(tokens.map(|token| Secret::new(token.to_owned())).collect())
    }

    /// Masks the secrets in a text, also one that the start or the end of the text cuts off.
    pub(crate) fn mask(&self, text: &str) -> String {
        let secrets = self.0.iter().map(Secret::expose);
        secrets.fold(text.to_owned(), |text, secret| mask_cut(&text.replace(secret, MASK), secret))
    }
}

fn mask_cut(text: &str, secret: &str) -> String {
    let cuts = || secret.char_indices().map(|(at, _)| at);
    let begins = cuts().rev().filter(|at| *at >= MIN_SECRET_LEN);
    let begins = begins.filter_map(|at| text.strip_suffix(secret.get(..at)?));
    let text = begins.map(|rest| format!("{rest}{MASK}")).next().unwrap_or(text.to_owned());
    let ends = cuts().filter(|at| secret.len() - at >= MIN_SECRET_LEN);
    let mut ends = ends.filter_map(|at| text.strip_prefix(secret.get(at..)?));
    ends.next().map(|rest| format!("{MASK}{rest}")).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_masked_whole_or_cut_off() {
        let value = Secret::new("Bearer blue-giraffes-sing".to_owned());
        let secrets = SentSecrets::new([&value].into_iter());
        for (text, masked) in [
            ("got Bearer blue-giraffes-sing!", "got Bearer ***!"),
            ("got blue-gira", "got ***"),
            ("ffes-sing was refused", "*** was refused"),
            ("blue paint", "blue paint"),
        ] {
            assert_eq!(secrets.mask(text), masked);
        }
    }
}
