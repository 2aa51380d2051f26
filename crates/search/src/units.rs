//! Units of measure by all their names, so that `C`, `°C` and `celsius` are one.

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

/// Returns the unit with this name.
pub fn unit_named(name: &str) -> Option<Unit> {
    let name = name.to_lowercase();
    let is_name = |names: &&str| names.split(' ').any(|other| other == name);
    UNITS.iter().position(is_name)
}

/// Returns the names of a unit, the full name first.
pub fn unit_names(unit: Unit) -> impl Iterator<Item = &'static str> {
    UNITS.get(unit).into_iter().flat_map(|names| names.split(' '))
}
