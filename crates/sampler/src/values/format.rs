//! Generates text of a given format.

use crate::rng::SeededRng;

/// A text of the format; `None` if the format is unknown.
pub(crate) fn generate(format: &str, rng: &mut SeededRng) -> Option<String> {
    Some(match format {
        "date" => date(rng),
        "time" => time(rng),
        "date-time" => format!("{}T{}", date(rng), time(rng)),
        "duration" => duration(rng),
        "email" | "idn-email" => format!("{}@{}", rng.pick_str(&EMAIL_USERS), hostname(rng)),
        "hostname" | "idn-hostname" => hostname(rng),
        "ipv4" => format!("192.0.2.{}", rng.below(256)),
        "ipv6" => format!("2001:db8::{:x}", 1 + rng.below(0xffff)),
        "uri" | "iri" | "url" => format!("https://{}{}", hostname(rng), url_path(rng)),
        "uri-reference" | "iri-reference" => match rng.below(3) {
            0 => url_path(rng),
            1 => format!("?page={}", rng.below(10)),
            _ => format!("https://{}{}", hostname(rng), url_path(rng)),
        },
        "uri-template" => format!("https://{}/{{id}}", hostname(rng)),
        "uuid" => uuid(rng),
        "json-pointer" => rng.pick_str(&["", "/a", "/a/0", "/a~1b/c~0d"]).to_owned(),
        "relative-json-pointer" => rng.pick_str(&["0", "1/a", "0#"]).to_owned(),
        "regex" => rng.pick_str(&["^a+$", "[0-9]{3}", "a|b"]).to_owned(),
        "base64" | "byte" => rng.pick_str(&["aGVsbG8=", "", "AAEC"]).to_owned(),
        _ => return None,
    })
}

const EMAIL_USERS: [&str; 5] = ["ada", "grace", "alan.t", "emmy+list", "linus"];

fn date(rng: &mut SeededRng) -> String {
    if rng.chance_one_in(8) {
        return rng.pick_str(&["2024-02-29", "1970-01-01", "1999-12-31", "9999-12-31"]).to_owned();
    }
    let (year, month, day) = (2020 + rng.below(10), 1 + rng.below(12), 1 + rng.below(28));
    format!("{year}-{month:02}-{day:02}")
}

fn time(rng: &mut SeededRng) -> String {
    let (hour, minute, second) = (rng.below(24), rng.below(60), rng.below(60));
    let part = rng.pick_str(&["", "", "", ".5", ".123456"]);
    let zone = rng.pick_str(&["Z", "Z", "Z", "+02:00", "-05:30"]);
    format!("{hour:02}:{minute:02}:{second:02}{part}{zone}")
}

fn duration(rng: &mut SeededRng) -> String {
    let (many, few) = (1 + rng.below(30), 1 + rng.below(12));
    match rng.below(5) {
        0 => format!("P{many}D"),
        1 => format!("PT{few}H{many}M"),
        2 => format!("P{few}W"),
        3 => format!("P1Y{few}M{many}DT{few}H"),
        _ => format!("PT{many}S"),
    }
}

fn hostname(rng: &mut SeededRng) -> String {
    rng.pick_str(&["example.com", "example.org", "www.example.net", "a.b-c.example"]).to_owned()
}

fn url_path(rng: &mut SeededRng) -> String {
    let page = rng.below(100);
    match rng.below(4) {
        0 => "/".to_owned(),
        1 => format!("/orders/{page}"),
        2 => format!("/search?q=a%20b&page={page}#top"),
        _ => format!("/docs/page-{page}.html"),
    }
}

fn uuid(rng: &mut SeededRng) -> String {
    let (high, low) = (rng.next_u64(), rng.next_u64());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        low >> 48 & 0x3fff | 0x8000,
        low & 0xffff_ffff_ffff
    )
}
