//! The prices of models, from the settings.
//!
//! A price is set as `[prices."VENDOR:NAME"]` or as an entry of `[[prices]]` with its `model`: names with dots would be read
//! as sections.

use serde::Deserialize;
use toolwright_chat::{Price, Prices};
use toolwright_core::{Config, ConfigError};

use crate::cli_error::CliError;

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

/// Reads the prices, per million tokens.
pub(crate) fn load_prices(config: &Config) -> Result<Prices, CliError> {
    let rows = match config.origin("prices") {
        Some(_) => config.get("prices")?,
        None => read_price_sections(config)?,
    };
    let prices = rows.into_iter().fold(Prices::default(), |prices, row| {
        let mut price = Price::new(row.input, row.output);
        (price.cached, price.cache_written) = (row.cached, row.cache_written);
        prices.with(row.model, price)
    });
    Ok(prices)
}

fn read_price_sections(config: &Config) -> Result<Vec<PriceRow>, CliError> {
    let mut models: Vec<&str> = Vec::new();
    for key in config.keys_under("prices") {
        let rest = key.strip_prefix("prices.").unwrap_or(key);
        let Some((model, "input" | "output" | "cached" | "cache_written")) = rest.rsplit_once('.')
        else {
            return Err(CliError::failure(format!(
                "`{key}` is no price: a model has input, output, cached and cache_written, each of a million tokens"
            )));
        };
        if !models.contains(&model) {
            models.push(model);
        }
    }
    let read = |model: &str| {
        let section = config.section(&format!("prices.{model}"));
        Ok(PriceRow {
            model: model.to_owned(),
            input: section.get("input")?,
            output: section.get("output")?,
            cached: section.get_optional("cached")?,
            cache_written: section.get_optional("cache_written")?,
        })
    };
    let rows: Result<Vec<PriceRow>, ConfigError> = models.into_iter().map(read).collect();
    Ok(rows?)
}

#[cfg(test)]
mod tests {
    use toolwright_chat::{ModelId, Usage};
    use toolwright_core::ConfigSources;

    use super::*;

    fn config(settings: &[(&str, &str)]) -> Config {
        let sources = ConfigSources::new().defaults(settings.iter().copied());
        Config::load(sources).unwrap().config
    }

    #[test]
    fn prices_are_read_by_model_whose_name_may_have_dots() {
        let config = config(&[
            ("prices.openai:gpt-5.6-terra.input", "1.25"),
            ("prices.openai:gpt-5.6-terra.output", "10"),
            ("prices.ollama:qwen3.input", "0"),
            ("prices.ollama:qwen3.output", "0"),
        ]);
        let prices = load_prices(&config).unwrap();
        let model = ModelId::new("openai", "gpt-5.6-terra");
        let usage = Usage::new(1_000_000, 100_000);
        assert_eq!(prices.cost(&model, &usage), Some(2.25));
        let free = ModelId::new("ollama", "qwen3");
        assert_eq!(prices.cost(&free, &usage), Some(0.0));
    }

    #[test]
    fn an_invalid_price_names_its_key() {
        let misspelt = config(&[("prices.openai:gpt-5.inptu", "1")]);
        let message = load_prices(&misspelt).err().unwrap().message();
        assert!(message.contains("`prices.openai:gpt-5.inptu`"), "{message}");
        let half = config(&[("prices.openai:gpt-5.input", "1")]);
        let message = load_prices(&half).err().unwrap().message();
        assert!(message.contains("prices.openai:gpt-5.output"), "{message}");
    }
}
