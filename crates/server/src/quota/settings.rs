//! The settings `[quota]` and `[quota.roles.ROLE]`.

use std::collections::{BTreeMap, BTreeSet};

use toolwright_core::{Config, ConfigError, Origin};

const SECTION: &str = "quota";

/// The text that sets no limit, for a role whose members are not limited.
const UNLIMITED: &str = "unlimited";

/// The limits of one person; `None` sets none, [`u64::MAX`] and [`f64::INFINITY`] lift one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct QuotaLimits {
    /// Messages, and calls of tools over MCP and `/api/tools`, in a minute.
    pub messages_per_minute: Option<u64>,
    /// Turns that run at once, at all nodes.
    pub concurrent_turns: Option<u64>,
    /// Tokens that models read and write in 24 hours.
    pub tokens_per_day: Option<u64>,
    /// The cost in 24 hours, in the currency of the prices.
    pub cost_per_day: Option<f64>,
}

impl QuotaLimits {
    /// Creates limits that limit nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits the messages in a minute.
    #[must_use]
    pub fn messages_per_minute(mut self, max: u64) -> Self {
        self.messages_per_minute = Some(max);
        self
    }

    /// Limits the turns that run at once.
    #[must_use]
    pub fn concurrent_turns(mut self, max: u64) -> Self {
        self.concurrent_turns = Some(max);
        self
    }

    /// Limits the tokens in 24 hours.
    #[must_use]
    pub fn tokens_per_day(mut self, max: u64) -> Self {
        self.tokens_per_day = Some(max);
        self
    }

    /// Limits the cost in 24 hours.
    #[must_use]
    pub fn cost_per_day(mut self, max: f64) -> Self {
        self.cost_per_day = Some(max);
        self
    }

    /// The names of the settings, in the order in which they are shown.
    pub(crate) const KEYS: [&str; 4] =
        ["messages_per_minute", "concurrent_turns", "tokens_per_day", "cost_per_day"];

    /// Reads the limits of a section.
    fn from_section(section: &Config) -> Result<Self, ConfigError> {
        Ok(Self {
            messages_per_minute: read_count(section, "messages_per_minute")?,
            concurrent_turns: read_count(section, "concurrent_turns")?,
            tokens_per_day: read_count(section, "tokens_per_day")?,
            cost_per_day: read_cost(section, "cost_per_day")?,
        })
    }

    /// The more generous of two limits, each; one that is not set is ignored.
    fn or_larger(self, other: Self) -> Self {
        let larger_cost = match (self.cost_per_day, other.cost_per_day) {
            (Some(one), Some(two)) => Some(one.max(two)),
            (one, two) => one.or(two),
        };
        Self {
            messages_per_minute: self.messages_per_minute.max(other.messages_per_minute),
            concurrent_turns: self.concurrent_turns.max(other.concurrent_turns),
            tokens_per_day: self.tokens_per_day.max(other.tokens_per_day),
            cost_per_day: larger_cost,
        }
    }

    /// These limits, and those of `other` where none is set.
    fn or(self, other: Self) -> Self {
        Self {
            messages_per_minute: self.messages_per_minute.or(other.messages_per_minute),
            concurrent_turns: self.concurrent_turns.or(other.concurrent_turns),
            tokens_per_day: self.tokens_per_day.or(other.tokens_per_day),
            cost_per_day: self.cost_per_day.or(other.cost_per_day),
        }
    }

    /// Without the limits that limit nothing.
    fn without_unlimited(self) -> Self {
        let finite = |max: Option<u64>| max.filter(|max| *max != u64::MAX);
        Self {
            messages_per_minute: finite(self.messages_per_minute),
            concurrent_turns: finite(self.concurrent_turns),
            tokens_per_day: finite(self.tokens_per_day),
            cost_per_day: self.cost_per_day.filter(|max| max.is_finite()),
        }
    }
}

/// The quotas of all people: their limits, and other limits for members of roles.
///
/// A role replaces the limits that it sets. Of several roles, the most generous limit counts.
///
/// # Examples
///
/// ```
/// use toolwright::server::{QuotaLimits, QuotaSettings};
///
/// let quota = QuotaSettings::new(QuotaLimits::new().messages_per_minute(20).cost_per_day(1.0))
///     .role("staff", QuotaLimits::new().cost_per_day(10.0));
/// ```
#[derive(Clone, Debug, Default)]
pub struct QuotaSettings {
    limits: QuotaLimits,
    roles: BTreeMap<String, QuotaLimits>,
}

impl QuotaSettings {
    /// Creates settings with the limits of everyone.
    pub fn new(limits: QuotaLimits) -> Self {
        Self { limits, roles: BTreeMap::new() }
    }

    /// Sets other limits for members of a role.
    #[must_use]
    pub fn role(mut self, role: impl Into<String>, limits: QuotaLimits) -> Self {
        self.roles.insert(role.into(), limits);
        self
    }

    /// Reads `[quota]` and `[quota.roles.ROLE]`; without them nothing is limited.
    ///
    /// # Errors
    ///
    /// When a key is unknown, or a limit is no number and not `unlimited`.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::server::{QuotaLimits, QuotaSettings};
    /// use toolwright::{Config, ConfigSources};
    ///
    /// let sources = ConfigSources::new().defaults([
    ///     ("quota.messages_per_minute", "20"),
    ///     ("quota.cost_per_day", "1.50"),
    ///     ("quota.roles.staff.cost_per_day", "unlimited"),
    /// ]);
    /// let quota = QuotaSettings::from_config(&Config::load(sources)?.config)?;
    /// assert_eq!(quota.limits_of(&["guest"]).cost_per_day, Some(1.5));
    /// assert_eq!(quota.limits_of(&["guest", "staff"]).cost_per_day, None);
    /// assert_eq!(quota.limits_of(&["staff"]).messages_per_minute, Some(20));
    /// # Ok::<(), toolwright::ConfigError>(())
    /// ```
    pub fn from_config(config: &Config) -> Result<Self, ConfigError> {
        let section = config.section(SECTION);
        let mut known = QuotaLimits::KEYS.to_vec();
        known.push("roles");
        config.reject_unknown(SECTION, &known)?;
        let mut settings = Self::new(QuotaLimits::from_section(&section)?);
        let roles = section.section("roles");
        let names = roles.keys_under("").into_iter();
        // The name of a role may have dots, the name of a limit has none.
        let names: BTreeSet<String> = names
            .map(|key| key.rsplit_once('.').map_or(key, |(role, _)| role).to_owned())
            .collect();
        for name in names {
            config.reject_unknown(&format!("{SECTION}.roles.{name}"), &QuotaLimits::KEYS)?;
            let limits = QuotaLimits::from_section(&roles.section(&name))?;
            settings = settings.role(name, limits);
        }
        Ok(settings)
    }

    /// The roles that have limits of their own.
    pub(crate) fn roles(&self) -> impl Iterator<Item = &str> {
        self.roles.keys().map(String::as_str)
    }

    /// Returns the limits of a person with these roles; `None` where there is none.
    pub fn limits_of(&self, roles: &[impl AsRef<str>]) -> QuotaLimits {
        let of_roles = roles.iter().filter_map(|role| self.roles.get(role.as_ref()));
        let of_roles = of_roles.fold(QuotaLimits::new(), |limits, other| limits.or_larger(*other));
        of_roles.or(self.limits).without_unlimited()
    }

    /// The limits that a person can have, each the most generous; `None` where no person has one.
    pub(crate) fn limits_in_use(&self) -> QuotaLimits {
        let all = self.roles.values().map(|limits| limits.without_unlimited());
        all.fold(self.limits.without_unlimited(), QuotaLimits::or_larger)
    }

    /// Returns true if nothing is limited.
    pub(crate) fn is_empty(&self) -> bool {
        self.limits_in_use() == QuotaLimits::new()
    }
}

/// Reads a limit that is a whole number.
fn read_count(section: &Config, key: &str) -> Result<Option<u64>, ConfigError> {
    match section.get_optional::<u64>(key) {
        Ok(max) => Ok(max),
        Err(error) if !is_unlimited(section, key) => Err(error),
        Err(_) => Ok(Some(u64::MAX)),
    }
}

/// Reads a limit that is an amount of money.
fn read_cost(section: &Config, key: &str) -> Result<Option<f64>, ConfigError> {
    if is_unlimited(section, key) {
        return Ok(Some(f64::INFINITY));
    }
    let max = section.get_optional::<f64>(key)?;
    if max.is_some_and(|max| !max.is_finite() || max < 0.0) {
        return Err(ConfigError::Invalid {
            key: format!("{SECTION}.{key}"),
            origin: section.origin(key).cloned().unwrap_or(Origin::Default),
            problem: format!("it is no amount of money: write a number, or \"{UNLIMITED}\""),
        });
    }
    Ok(max)
}

fn is_unlimited(section: &Config, key: &str) -> bool {
    section.get_optional::<String>(key).is_ok_and(|text| text.as_deref() == Some(UNLIMITED))
}

#[cfg(test)]
mod tests {
    use toolwright_core::ConfigSources;

    use super::*;

    fn read(settings: &[(&str, &str)]) -> Result<QuotaSettings, ConfigError> {
        let sources = ConfigSources::new().defaults(settings.iter().copied());
        QuotaSettings::from_config(&Config::load(sources)?.config)
    }

    #[test]
    fn without_settings_nothing_is_limited() {
        assert!(read(&[]).unwrap_or_default().is_empty());
        assert!(QuotaSettings::default().is_empty());
        let only_lifted = [("quota.roles.staff.tokens_per_day", "unlimited")];
        assert!(read(&only_lifted).is_ok_and(|settings| settings.is_empty()));
    }

    #[test]
    fn of_several_roles_the_most_generous_limit_counts() {
        let settings =
            QuotaSettings::new(QuotaLimits::new().tokens_per_day(10).concurrent_turns(2))
                .role("suspended", QuotaLimits::new().tokens_per_day(0))
                .role("staff", QuotaLimits::new().tokens_per_day(100));
        let tokens = |roles: &[&str]| settings.limits_of(roles).tokens_per_day;
        assert_eq!(tokens(&[]), Some(10));
        assert_eq!(tokens(&["suspended"]), Some(0));
        assert_eq!(tokens(&["suspended", "staff", "unknown"]), Some(100));
        assert_eq!(settings.limits_of(&["staff"]).concurrent_turns, Some(2));
    }

    #[test]
    fn a_misspelt_key_and_a_limit_that_is_no_number_are_errors() {
        for (key, value, wanted) in [
            ("quota.mesages_per_minute", "1", "did you mean `messages_per_minute`?"),
            ("quota.roles.staff.tokens", "1", "quota.roles.staff.tokens"),
            ("quota.tokens_per_day", "many", "quota.tokens_per_day"),
            ("quota.tokens_per_day", "-1", "quota.tokens_per_day"),
            ("quota.cost_per_day", "-1", "no amount of money"),
            ("quota.cost_per_day", "NaN", "no amount of money"),
        ] {
            let error = read(&[(key, value)]).map(|_| ()).map_err(|error| error.to_string());
            assert!(error.as_ref().is_err_and(|error| error.contains(wanted)), "{key}: {error:?}");
        }
    }
}
