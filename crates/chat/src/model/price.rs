//! Prices of models, and the cost of the tokens they used.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use toolwright_core::{Config, ConfigError, Origin};

use crate::model::ModelId;
use crate::model::usage::Usage;

/// The price of a million tokens, in any currency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Price {
    /// Of input tokens.
    pub input: f64,
    /// Of output tokens.
    pub output: f64,
    /// Of input tokens read from a cache; the price of input if `None`.
    #[serde(default)]
    pub cached: Option<f64>,
    /// Of input tokens written to a cache; the price of input if `None`.
    #[serde(default)]
    pub cache_written: Option<f64>,
}

impl Price {
    /// Creates a price per million input and output tokens.
    pub fn new(input: f64, output: f64) -> Self {
        Self { input, output, cached: None, cache_written: None }
    }

    /// Returns the cost of this usage.
    pub fn cost(&self, usage: &Usage) -> f64 {
        let fresh = usage.input.saturating_sub(usage.cached).saturating_sub(usage.cache_written);
        let sum = fresh as f64 * self.input
            + usage.cached as f64 * self.cached.unwrap_or(self.input)
            + usage.cache_written as f64 * self.cache_written.unwrap_or(self.input)
            + usage.output as f64 * self.output;
        sum / 1_000_000.0
    }
}

/// An entry of `[[prices]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceRow {
    model: String,
    input: f64,
    output: f64,
    cached: Option<f64>,
    cache_written: Option<f64>,
}

/// The prices of models; no vendor's prices are built in, because they change.
///
/// # Examples
///
/// ```
/// use toolwright::chat::{ModelId, Price, Prices, Usage};
///
/// let prices = Prices::default().with("openai:gpt-5", Price::new(1.25, 10.0));
/// let usage = Usage::new(1_000_000, 100_000);
/// assert_eq!(prices.cost(&ModelId::new("openai", "gpt-5"), &usage), Some(2.25));
/// assert_eq!(prices.cost(&ModelId::new("openai", "gpt-6"), &usage), None);
/// ```
#[derive(Clone, Debug)]
pub struct Prices(HashMap<String, Price>);

impl Default for Prices {
    /// `demo` is free; no other price is known.
    fn default() -> Self {
        Self(HashMap::from([("demo".to_owned(), Price::new(0.0, 0.0))]))
    }
}

impl Prices {
    /// Reads the prices per million tokens: a section `[prices."VENDOR:MODEL"]` for each model, or a list `[[prices]]` whose
    /// entries name their `model`.
    ///
    /// # Errors
    ///
    /// When a key is unknown, or a price lacks its input or output.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::chat::{ModelId, Prices, Usage};
    /// use toolwright::{Config, ConfigSources};
    ///
    /// let sources = ConfigSources::new()
    ///     .defaults([("prices.openai:gpt-5.input", "1.25"), ("prices.openai:gpt-5.output", "10")]);
    /// let prices = Prices::from_config(&Config::load(sources)?.config)?;
    /// let cost = prices.cost(&ModelId::new("openai", "gpt-5"), &Usage::new(1_000_000, 0));
    /// assert_eq!(cost, Some(1.25));
    /// # Ok::<(), toolwright::ConfigError>(())
    /// ```
    pub fn from_config(config: &Config) -> Result<Self, ConfigError> {
        if config.origin("prices").is_some() {
            let rows: Vec<PriceRow> = config.get("prices")?;
            return Ok(rows.into_iter().fold(Self::default(), |prices, row| {
                let PriceRow { model, input, output, cached, cache_written } = row;
                prices.with(model, Price { input, output, cached, cache_written })
            }));
        }
        let mut prices = Self::default();
        for key in config.keys_under("prices") {
            let rest = key.strip_prefix("prices.").unwrap_or(key);
            // The name of a model may have dots, the name of a price has none.
            let Some((model, "input" | "output" | "cached" | "cache_written")) =
                rest.rsplit_once('.')
            else {
                return Err(ConfigError::Invalid {
                    key: key.to_owned(),
                    origin: config.origin(key).cloned().unwrap_or(Origin::Default),
                    problem: "there is no such price: a model has input, output, cached and cache_written, each of a \
                              million tokens"
                        .to_owned(),
                });
            };
            prices = prices.with(model, config.get(&format!("prices.{model}"))?);
        }
        Ok(prices)
    }

    /// Adds the price of `VENDOR:MODEL`.
    #[must_use]
    pub fn with(mut self, model: impl Into<String>, price: Price) -> Self {
        self.0.insert(model.into(), price);
        self
    }

    /// Returns the cost of this usage; `None` if the model has no price.
    pub fn cost(&self, model: &ModelId, usage: &Usage) -> Option<f64> {
        self.0.get(&model.to_string()).map(|price| price.cost(usage))
    }
}

#[cfg(test)]
mod tests {
    use toolwright_core::ConfigSources;

    use super::*;

    fn load(settings: &[(&str, &str)]) -> Result<Prices, ConfigError> {
        let sources = ConfigSources::new().defaults(settings.iter().copied());
        Prices::from_config(&Config::load(sources).unwrap().config)
    }

    #[test]
    fn prices_are_read_by_model_whose_name_may_have_dots() {
        let prices = load(&[
            ("prices.openai:gpt-5.6-terra.input", "1.25"),
            ("prices.openai:gpt-5.6-terra.output", "10"),
            ("prices.ollama:qwen3.input", "0"),
            ("prices.ollama:qwen3.output", "0"),
        ])
        .unwrap();
        let model = ModelId::new("openai", "gpt-5.6-terra");
        let usage = Usage::new(1_000_000, 100_000);
        assert_eq!(prices.cost(&model, &usage), Some(2.25));
        let free = ModelId::new("ollama", "qwen3");
        assert_eq!(prices.cost(&free, &usage), Some(0.0));
    }

    #[test]
    fn an_invalid_price_names_its_key() {
        let message = load(&[("prices.openai:gpt-5.inptu", "1")]).unwrap_err().to_string();
        assert!(message.contains("`prices.openai:gpt-5.inptu`"), "{message}");
        let message = load(&[("prices.openai:gpt-5.input", "1")]).unwrap_err().to_string();
        assert!(message.contains("prices.openai:gpt-5.output"), "{message}");
    }
}
