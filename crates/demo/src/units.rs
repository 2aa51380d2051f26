//! Units of measure by all their names, so that `C`, `°C` and `celsius` are one.

/// A row of the table.
pub(crate) type Unit = usize;

/// The names of each unit, in lower case.
const UNITS: [&[&str]; 33] = [
    &["celsius", "c", "°c", "centigrade"],
    &["fahrenheit", "f", "°f"],
    &["kelvin", "k", "°k"],
    &["metre", "meter", "metres", "meters", "m"],
    &["kilometre", "kilometer", "kilometres", "kilometers", "km"],
    &[
        "centimetre",
        "centimeter",
        "centimetres",
        "centimeters",
        "cm",
    ],
    &[
        "millimetre",
        "millimeter",
        "millimetres",
        "millimeters",
        "mm",
    ],
    &["mile", "miles", "mi"],
    &["foot", "feet", "ft"],
    &["inch", "inches", "in"],
    &["yard", "yards", "yd"],
    &["kilogram", "kilograms", "kilo", "kilos", "kg"],
    &["gram", "grams", "g"],
    &["pound", "pounds", "lb", "lbs"],
    &["ounce", "ounces", "oz"],
    &["litre", "liter", "litres", "liters", "l"],
    &[
        "millilitre",
        "milliliter",
        "millilitres",
        "milliliters",
        "ml",
    ],
    &["gallon", "gallons", "gal"],
    &["euro", "euros", "eur", "€"],
    &["dollar", "dollars", "usd", "$", "bucks"],
    &["gbp", "£", "sterling", "quid"],
    &["yen", "jpy", "¥"],
    &["franc", "francs", "chf"],
    &["percent", "%", "pct"],
    &["millisecond", "milliseconds", "ms"],
    &["second", "seconds", "sec", "secs", "s"],
    &["minute", "minutes", "min", "mins"],
    &["hour", "hours", "h", "hr", "hrs"],
    &["day", "days", "d"],
    &["week", "weeks"],
    &["kilobyte", "kilobytes", "kb"],
    &["megabyte", "megabytes", "mb"],
    &["gigabyte", "gigabytes", "gb"],
];

/// Reads a unit that is written onto its number.
pub(crate) fn attached(text: &str) -> Option<Unit> {
    let lower = text.to_lowercase();
    UNITS
        .iter()
        .position(|names| names.contains(&lower.as_str()))
}

/// Reads a unit that stands alone.
///
/// A short one is one only behind its number or in capitals, as `C`; and `in` is never one: it is another word.
pub(crate) fn standing(text: &str, behind_number: bool) -> Option<Unit> {
    let short = text.chars().count() == 1;
    let capital = text.chars().all(|c| !c.is_alphabetic() || c.is_uppercase());
    if text.eq_ignore_ascii_case("in") || short && !behind_number && !capital {
        return None;
    }
    attached(text)
}

/// Returns all names of a unit.
pub(crate) fn names(unit: Unit) -> &'static [&'static str] {
    UNITS.get(unit).copied().unwrap_or_default()
}
