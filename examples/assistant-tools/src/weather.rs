//! The weather, made up; and temperatures, converted.

use toolwright::{ToolError, tool};

/// Returns the weather in a city.
#[tool(read_only, title = "Weather")]
pub fn get_weather(
    /// The city's English name.
    city: String,
) -> String {
    let weather = match city.trim().to_lowercase().as_str() {
        "london" => "Cloudy, 15C / 59F, 80% humidity",
        "paris" => "Partly cloudy, 20C / 68F, 65% humidity",
        "tokyo" => "Rainy, 22C / 72F, 90% humidity",
        _ => "Clear, 22C / 72F, 50% humidity",
    };
    format!("{city}: {weather}")
}

/// Converts a temperature between Celsius and Fahrenheit.
#[tool(read_only, idempotent, title = "Convert temperature")]
pub fn convert_temperature(
    /// The temperature to convert.
    value: f64,
    /// The unit of `value`: `C` or `F`, or the whole word.
    from_unit: String,
) -> Result<String, ToolError> {
    match from_unit.to_lowercase().as_str() {
        "c" | "celsius" => Ok(format!("{value:.1}C = {:.1}F", value * 9.0 / 5.0 + 32.0)),
        "f" | "fahrenheit" => Ok(format!("{value:.1}F = {:.1}C", (value - 32.0) * 5.0 / 9.0)),
        _ => Err(ToolError::retry(format!(
            "unknown unit `{from_unit}`: use C, celsius, F or fahrenheit"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_cities_have_weather_of_their_own() {
        assert_eq!(get_weather("London".to_owned()), "London: Cloudy, 15C / 59F, 80% humidity");
        assert_eq!(
            get_weather("Paris".to_owned()),
            "Paris: Partly cloudy, 20C / 68F, 65% humidity"
        );
        assert_eq!(get_weather("Tokyo".to_owned()), "Tokyo: Rainy, 22C / 72F, 90% humidity");
        assert_eq!(get_weather("Oslo".to_owned()), "Oslo: Clear, 22C / 72F, 50% humidity");
    }

    #[test]
    fn temperatures_convert_both_ways_in_any_letter_case() {
        let convert = |value, unit: &str| convert_temperature(value, unit.to_owned()).unwrap();
        assert_eq!(convert(100.0, "C"), "100.0C = 212.0F");
        assert_eq!(convert(100.0, "celsius"), "100.0C = 212.0F");
        assert_eq!(convert(212.0, "f"), "212.0F = 100.0C");
        assert_eq!(convert(-40.0, "FAHRENHEIT"), "-40.0F = -40.0C");
    }

    #[test]
    fn any_other_unit_is_an_error() {
        assert!(convert_temperature(1.0, "K".to_owned()).is_err());
    }
}
