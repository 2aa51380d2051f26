//! Prices of models, and the cost of the tokens they used.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

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

/// The prices of models; no vendor's prices are built in, because they change.
///
/// # Examples
///
/// ```
/// use toolwright_chat::{ModelId, Price, Prices, Usage};
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
