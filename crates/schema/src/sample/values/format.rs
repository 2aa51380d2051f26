//! The name of a format in, a text of that format out.

use crate::sample::rng::Rng;

/// A text of the format; `None` if it is not known.
pub(crate) fn generate(format: &str, dice: &mut Rng) -> Option<String> {
    Some(match format {
        "date" => date(dice),
        "time" => time(dice),
        "date-time" => format!("{}T{}", date(dice), time(dice)),
        "duration" => duration(dice),
        "email" | "idn-email" => format!("{}@{}", dice.pick_str(&EMAIL_USERS), hostname(dice)),
        "hostname" | "idn-hostname" => hostname(dice),
        "ipv4" => format!("192.0.2.{}", dice.below(256)),
        "ipv6" => format!("2001:db8::{:x}", 1 + dice.below(0xffff)),
        "uri" | "iri" | "url" => format!("https://{}{}", hostname(dice), url_path(dice)),
        "uri-reference" | "iri-reference" => match dice.below(3) {
            0 => url_path(dice),
            1 => format!("?page={}", dice.below(10)),
            _ => format!("https://{}{}", hostname(dice), url_path(dice)),
        },
        "uri-template" => format!("https://{}/{{id}}", hostname(dice)),
        "uuid" => uuid(dice),
        "json-pointer" => dice.pick_str(&["", "/a", "/a/0", "/a~1b/c~0d"]).to_owned(),
        "relative-json-pointer" => dice.pick_str(&["0", "1/a", "0#"]).to_owned(),
        "regex" => dice.pick_str(&["^a+$", "[0-9]{3}", "a|b"]).to_owned(),
        "base64" | "byte" => dice.pick_str(&["aGVsbG8=", "", "AAEC"]).to_owned(),
        _ => return None,
    })
}

const EMAIL_USERS: [&str; 5] = ["ada", "grace", "alan.t", "emmy+list", "linus"];

fn date(dice: &mut Rng) -> String {
    if dice.chance_one_in(8) {
        return dice
            .pick_str(&["2024-02-29", "1970-01-01", "1999-12-31", "9999-12-31"])
            .to_owned();
    }
    let (year, month, day) = (
        2020 + dice.below(10),
        1 + dice.below(12),
        1 + dice.below(28),
    );
    format!("{year}-{month:02}-{day:02}")
}

fn time(dice: &mut Rng) -> String {
    let (hour, minute, second) = (dice.below(24), dice.below(60), dice.below(60));
    let part = dice.pick_str(&["", "", "", ".5", ".123456"]);
    let zone = dice.pick_str(&["Z", "Z", "Z", "+02:00", "-05:30"]);
    format!("{hour:02}:{minute:02}:{second:02}{part}{zone}")
}

fn duration(dice: &mut Rng) -> String {
    let (many, few) = (1 + dice.below(30), 1 + dice.below(12));
    match dice.below(5) {
        0 => format!("P{many}D"),
        1 => format!("PT{few}H{many}M"),
        2 => format!("P{few}W"),
        3 => format!("P1Y{few}M{many}DT{few}H"),
        _ => format!("PT{many}S"),
    }
}

fn hostname(dice: &mut Rng) -> String {
    dice.pick_str(&[
        "example.com",
        "example.org",
        "www.example.net",
        "a.b-c.example",
    ])
    .to_owned()
}

fn url_path(dice: &mut Rng) -> String {
    let page = dice.below(100);
    match dice.below(4) {
        0 => "/".to_owned(),
        1 => format!("/orders/{page}"),
        2 => format!("/search?q=a%20b&page={page}#top"),
        _ => format!("/docs/page-{page}.html"),
    }
}

fn uuid(dice: &mut Rng) -> String {
    let (high, low) = (dice.next_u64(), dice.next_u64());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        low >> 48 & 0x3fff | 0x8000,
        low & 0xffff_ffff_ffff
    )
}
