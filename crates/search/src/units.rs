//! Units of measure by all their names, so that `C`, `°C` and `celsius` are one.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A unit of measure: its number in the table of units.
pub type Unit = usize;

/// The names of each unit, in lower case.
const UNITS: [&str; 33] = [
    "celsius c °c centigrade",
    "fahrenheit f °f",
    "kelvin k °k",
    "metre meter metres meters m",
    "kilometre kilometer kilometres kilometers km",
    "centimetre centimeter centimetres centimeters cm",
    "millimetre millimeter millimetres millimeters mm",
    "mile miles mi",
    "foot feet ft",
    "inch inches in",
    "yard yards yd",
    "kilogram kilograms kilo kilos kg",
    "gram grams g",
    "pound pounds lb lbs",
    "ounce ounces oz",
    "litre liter litres liters l",
    "millilitre milliliter millilitres milliliters ml",
    "gallon gallons gal",
    "euro euros eur €",
    "dollar dollars usd $ bucks",
    "gbp £ sterling quid",
    "yen jpy ¥",
    "franc francs chf",
    "percent % pct",
    "millisecond milliseconds ms",
    "second seconds sec secs s",
    "minute minutes min mins",
    "hour hours h hr hrs",
    "day days d",
    "week weeks",
    "kilobyte kilobytes kb",
    "megabyte megabytes mb",
    "gigabyte gigabytes gb",
];

/// The units by their names.
static UNIT_NAMES: LazyLock<HashMap<&str, Unit>> = LazyLock::new(|| {
    let units = UNITS.iter().enumerate();
    units.flat_map(|(unit, names)| names.split(' ').map(move |name| (name, unit))).collect()
});

/// Returns the unit with this name.
pub fn unit_named(name: &str) -> Option<Unit> {
    UNIT_NAMES.get(name.to_lowercase().as_str()).copied()
}

/// Returns the names of a unit, the full name first.
pub fn unit_names(unit: Unit) -> impl Iterator<Item = &'static str> {
    UNITS.get(unit).into_iter().flat_map(|names| names.split(' '))
}
