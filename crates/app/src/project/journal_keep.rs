//! How long conversations are kept: the setting `journal.keep`.

use std::time::Duration;

use jiff::{Span, SpanRelativeTo};
use toolwright_core::{Config, ConfigError, Origin};

use crate::error::AppError;

const KEY: &str = "journal.keep";

/// Reads the setting; `None` keeps conversations forever.
pub(crate) fn journal_keep(config: &Config) -> Result<Option<Duration>, AppError> {
    let Some(text) = config.get_optional::<String>(KEY)? else {
        return Ok(None);
    };
    let invalid = |problem| ConfigError::Invalid {
        key: KEY.to_owned(),
        origin: config.origin(KEY).cloned().unwrap_or(Origin::Default),
        problem,
    };
    Ok(Some(parse_age(&text).map_err(invalid)?))
}

/// Parses a duration of days, or of other units of a fixed length.
pub(crate) fn parse_age(text: &str) -> Result<Duration, String> {
    let parse = || {
        let span: Span = text.parse()?;
        let duration = span.to_duration(SpanRelativeTo::days_are_24_hours())?;
        Duration::try_from(duration)
    };
    let age = parse().ok().filter(|age| !age.is_zero());
    age.ok_or_else(|| format!("`{text}` is no age: write 90d, 12w or 36h"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_units_of_a_fixed_length() {
        let hours = |text| parse_age(text).map(|age| age.as_secs() / 3600);
        assert_eq!(hours("90d"), Ok(90 * 24));
        assert_eq!(hours("2w"), Ok(14 * 24));
        assert_eq!(hours("1d 12h"), Ok(36));
        for text in ["", "90", "0d", "-3d", "90d ago", "1y", "3 months", "soon", "99999999999d"] {
            let error = parse_age(text).unwrap_err();
            assert!(error.contains("write 90d"), "{error}");
        }
    }
}
