//! Tokens in, money out; where no price is known, nothing.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::model::ModelId;
use crate::model::usage::Usage;

/// What a million tokens cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Price {
    /// Read by the model.
    pub input: f64,
    /// Written by the model.
    pub output: f64,
    /// Read from a cache; the price of input where it is not said.
    #[serde(default)]
    pub cached: Option<f64>,
    /// Written to a cache; the price of input where it is not said.
    #[serde(default)]
    pub cache_written: Option<f64>,
}

impl Price {
    /// Makes a price of a million tokens in, and out.
    pub fn new(input: f64, output: f64) -> Self {
        Self {
            input,
            output,
            cached: None,
            cache_written: None,
        }
    }

    /// What this much cost.
    pub fn cost(&self, usage: &Usage) -> f64 {
        let fresh = usage
            .input
            .saturating_sub(usage.cached)
            .saturating_sub(usage.cache_written);
        let sum = fresh as f64 * self.input
            + usage.cached as f64 * self.cached.unwrap_or(self.input)
            + usage.cache_written as f64 * self.cache_written.unwrap_or(self.input)
            + usage.output as f64 * self.output;
        sum / 1_000_000.0
    }
}

/// What models cost; no vendor's prices are built in, because they change.
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
    /// Knows that `demo` costs nothing.
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

    /// What this much cost, if the model's price is known.
    pub fn cost(&self, model: &ModelId, usage: &Usage) -> Option<f64> {
        self.0
            .get(&model.to_string())
            .map(|price| price.cost(usage))
    }
}
