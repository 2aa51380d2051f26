//! The limits of one turn, and the settings `[turn]`.

use std::time::Duration;

use serde::de::DeserializeOwned;
use toolwright_core::__internal::parse_duration;
use toolwright_core::{Config, ConfigError, Origin};

const SECTION: &str = "turn";

/// The limits of one turn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TurnLimits {
    /// The maximum number of calls.
    pub calls: usize,
    /// The maximum number of calls of one tool.
    pub calls_per_tool: usize,
    /// The maximum number of steps of the model.
    pub steps: usize,
    /// The maximum number of tokens, estimated where a vendor reports none; `None` for no limit.
    pub tokens: Option<u64>,
    /// The maximum cost; `None` for no limit. With a limit, a model whose price is not known is not called.
    pub cost: Option<f64>,
    /// The maximum time, without the time in which it waits for approvals or results; 15 minutes by default. A response of the
    /// model or a call that is not complete by then is cut off.
    pub time: Duration,
    /// How often the same call may be made with the same arguments.
    pub repeats: usize,
}

impl Default for TurnLimits {
    fn default() -> Self {
        Self {
            calls: 150,
            calls_per_tool: 40,
            steps: 60,
            tokens: None,
            cost: None,
            time: Duration::from_secs(15 * 60),
            repeats: 3,
        }
    }
}

impl TurnLimits {
    /// The names of the settings.
    const KEYS: [&str; 7] =
        ["calls", "calls_per_tool", "steps", "tokens", "cost", "time", "repeats"];

    /// Reads the section `[turn]`, whose keys are the names of the fields; the defaults where a key is not set.
    ///
    /// # Errors
    ///
    /// When a key is unknown, or its value no limit.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use toolwright::chat::TurnLimits;
    /// use toolwright::{Config, ConfigSources};
    ///
    /// let sources = ConfigSources::new().defaults([("turn.time", "5m"), ("turn.cost", "0.50")]);
    /// let limits = TurnLimits::from_config(&Config::load(sources)?.config)?;
    /// assert_eq!((limits.time, limits.cost), (Duration::from_secs(300), Some(0.5)));
    /// # Ok::<(), toolwright::ConfigError>(())
    /// ```
    pub fn from_config(config: &Config) -> Result<Self, ConfigError> {
        config.reject_unknown(SECTION, &Self::KEYS)?;
        let mut limits = Self::default();
        for (name, limit) in [
            ("calls", &mut limits.calls),
            ("calls_per_tool", &mut limits.calls_per_tool),
            ("steps", &mut limits.steps),
            ("repeats", &mut limits.repeats),
        ] {
            if let Some(max) = read(config, name, Ok)? {
                *limit = max;
            }
        }
        limits.tokens = read(config, "tokens", Ok)?;
        limits.cost = read(config, "cost", |cost: f64| match cost >= 0.0 {
            true => Ok(cost),
            false => Err("expected an amount of money".to_owned()),
        })?;
        if let Some(time) = read(config, "time", |time: String| parse_duration(&time))? {
            limits.time = time;
        }
        Ok(limits)
    }
}

/// Reads a key of the section; `None` if it is not set.
fn read<T: DeserializeOwned, U>(
    config: &Config,
    name: &str,
    check: impl FnOnce(T) -> Result<U, String>,
) -> Result<Option<U>, ConfigError> {
    let key = format!("{SECTION}.{name}");
    let Some(value) = config.get_optional::<T>(&key)? else {
        return Ok(None);
    };
    let origin = || config.origin(&key).cloned().unwrap_or(Origin::Default);
    let invalid = |problem| ConfigError::Invalid { origin: origin(), key: key.clone(), problem };
    check(value).map(Some).map_err(invalid)
}

#[cfg(test)]
mod tests {
    use toolwright_core::ConfigSources;

    use super::*;

    fn load(key: &str, value: &str) -> Result<TurnLimits, String> {
        let sources = ConfigSources::new().defaults([(key, value)]);
        let config = Config::load(sources).unwrap().config;
        TurnLimits::from_config(&config).map_err(|error| error.to_string())
    }

    #[test]
    fn every_limit_can_be_set_and_the_others_keep_their_defaults() {
        let limits = TurnLimits::default;
        let minute = Duration::from_secs(60);
        for (key, value, expected) in [
            ("turn.calls", "9", TurnLimits { calls: 9, ..limits() }),
            ("turn.calls_per_tool", "9", TurnLimits { calls_per_tool: 9, ..limits() }),
            ("turn.steps", "9", TurnLimits { steps: 9, ..limits() }),
            ("turn.repeats", "9", TurnLimits { repeats: 9, ..limits() }),
            ("turn.tokens", "9", TurnLimits { tokens: Some(9), ..limits() }),
            ("turn.cost", "0.25", TurnLimits { cost: Some(0.25), ..limits() }),
            ("turn.time", "1m", TurnLimits { time: minute, ..limits() }),
            ("mine.time", "1m", limits()),
        ] {
            assert_eq!(load(key, value).unwrap(), expected, "{key}");
        }
        assert_eq!(limits().time, 15 * minute);
    }

    #[test]
    fn what_is_no_limit_is_an_error_that_names_its_key() {
        for (key, value, problem) in [
            ("turn.time", "5", "such as `30s`"),
            ("turn.time", "0s", "such as `30s`"),
            ("turn.cost", "-1", "an amount of money"),
            ("turn.cost", "NaN", "an amount of money"),
            ("turn.steps", "many", "many"),
            ("turn.tiem", "5m", "`time`"),
        ] {
            let error = load(key, value).unwrap_err();
            assert!(error.contains(key) && error.contains(problem), "{error}");
        }
    }
}
