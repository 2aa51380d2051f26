//! The current time, here and in other cities.

use jiff::Zoned;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use toolwright::{ToolError, tool};

/// Cities without a time zone of their name, and short names.
const CITIES: [(&str, &str); 8] = [
    ("tokyo", "Asia/Tokyo"),
    ("london", "Europe/London"),
    ("paris", "Europe/Paris"),
    ("sydney", "Australia/Sydney"),
    ("new york", "America/New_York"),
    ("nyc", "America/New_York"),
    ("los angeles", "America/Los_Angeles"),
    ("la", "America/Los_Angeles"),
];

/// Returns the current date and time in the server's time zone.
#[tool(read_only, title = "Current time")]
pub fn get_current_time() -> String {
    Zoned::now().strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
}

/// Returns the current time in a city.
#[tool(read_only, title = "City time")]
pub fn get_city_time(
    /// The city's English name, for example `Tokyo` or `New York`.
    city: String,
) -> Result<String, ToolError> {
    let zone = zone_of(&city).ok_or_else(|| {
        ToolError::failed(format!(
            "unknown city `{city}`; known ones are Tokyo, London, Paris, Sydney, New York, Los Angeles and the cities of the IANA time zones"
        ))
    })?;
    Ok(city_time(&city, &Zoned::now().with_time_zone(zone)))
}

fn city_time(city: &str, now: &Zoned) -> String {
    format!("{city}: {}", now.strftime("%H:%M:%S (%Z)"))
}

fn zone_of(city: &str) -> Option<TimeZone> {
    let wanted = city.trim().to_lowercase();
    let known = CITIES.iter().find(|(name, _)| *name == wanted);
    if let Some((_, zone)) = known {
        return TimeZone::get(zone).ok();
    }
    // `America/Argentina/Buenos_Aires` is the zone of Buenos Aires.
    let wanted = wanted.replace(' ', "_");
    let database = TimeZoneDatabase::bundled();
    let zone = database.available().find(|zone| {
        let zone = zone.as_str().to_lowercase();
        zone.rsplit_once('/').is_some_and(|(area, name)| name == wanted && area != "etc")
    })?;
    TimeZone::get(zone.as_str()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_noon(city: &str) -> String {
        let noon = "2026-01-15T12:00:00[UTC]".parse::<Zoned>().unwrap();
        let zone = zone_of(city).unwrap_or_else(|| panic!("{city} is unknown"));
        city_time(city, &noon.with_time_zone(zone))
    }

    #[test]
    fn a_city_is_echoed_as_given() {
        assert_eq!(at_noon("Tokyo"), "Tokyo: 21:00:00 (JST)");
        assert_eq!(at_noon("nyc"), "nyc: 07:00:00 (EST)");
        assert_eq!(at_noon("NEW YORK"), "NEW YORK: 07:00:00 (EST)");
        assert_eq!(at_noon("LA"), "LA: 04:00:00 (PST)");
    }

    #[test]
    fn any_iana_city_is_known_by_its_own_name() {
        assert_eq!(at_noon("Buenos Aires"), "Buenos Aires: 09:00:00 (-03)");
        assert_eq!(at_noon("helsinki"), "helsinki: 14:00:00 (EET)");
    }

    #[test]
    fn an_unknown_city_lists_a_few_known_ones() {
        let error = get_city_time("Atlantis".to_owned()).unwrap_err();
        assert!(error.message().contains("Tokyo"), "{error:?}");
    }

    #[test]
    fn the_current_time_names_its_zone() {
        let time = get_current_time();
        let parts: Vec<&str> = time.split(' ').collect();
        assert_eq!(parts.len(), 3, "{time}");
        assert_eq!((parts[0].len(), parts[1].len()), (10, 8), "{time}");
    }
}
