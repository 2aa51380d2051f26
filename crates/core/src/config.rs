//! [`Config`]: the settings as an extractor.

use std::ops::Deref;

use toolwright_config::{ConfigError, ConfigSources, Settings};

use crate::call::context::CallContext;
use crate::error::ToolError;
use crate::tool::param::Param;

/// The settings of a program; cheap to clone.
///
/// As a parameter of a tool it is an extractor; the model never sees it.
//
// Not `Settings` itself: only a type of this crate may be an exception from the `Param` of all arguments.
#[derive(Clone, Debug, Default)]
pub struct Config(Settings);

/// Settings that were loaded, with warnings.
#[derive(Debug)]
#[non_exhaustive]
pub struct LoadedConfig {
    /// The settings.
    pub config: Config,
    /// Sentences about settings that have no effect.
    pub warnings: Vec<String>,
}

impl Config {
    /// Merges the sources: defaults < file < environment < flags.
    ///
    /// # Errors
    ///
    /// When a file cannot be read or is not well-formed, or the requested one does not exist.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::{Config, ConfigSources};
    ///
    /// let sources = ConfigSources::from_process().directory(".").flag("model", "demo", "--model");
    /// let loaded = Config::load(sources)?;
    /// for warning in &loaded.warnings {
    ///     eprintln!("warning: {warning}");
    /// }
    /// assert_eq!(loaded.config.get::<String>("model")?, "demo");
    /// # Ok::<(), toolwright::ConfigError>(())
    /// ```
    pub fn load(sources: ConfigSources) -> Result<LoadedConfig, ConfigError> {
        let (settings, warnings) = sources.load()?;
        Ok(LoadedConfig { config: Self(settings), warnings })
    }

    /// Returns the settings below a key; their keys are relative to it.
    #[must_use]
    pub fn section(&self, key: &str) -> Self {
        Self(self.0.section(key))
    }
}

impl Deref for Config {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.0
    }
}

impl Param for Config {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        Ok(cx.invoker_context().config().clone())
    }
}
