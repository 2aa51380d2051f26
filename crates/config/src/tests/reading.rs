//! Text and TOML as typed values, and the location in errors.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::Deserialize;

use super::*;
use crate::Secret;

fn flag(text: &str) -> Settings {
    load(ConfigSources::new().flag("x", text, "--x")).0
}

#[test]
fn text_from_outside_becomes_what_is_asked_for() {
    assert_eq!(flag(" 5 ").get::<u16>("x").unwrap(), 5);
    assert_eq!(flag("-5").get::<i64>("x").unwrap(), -5);
    assert_eq!(flag("18446744073709551615").get::<u64>("x").unwrap(), u64::MAX);
    assert_eq!(flag("0.5").get::<f64>("x").unwrap(), 0.5);
    assert_eq!(flag("5").get::<f32>("x").unwrap(), 5.0);
    assert_eq!(flag("5").get::<String>("x").unwrap(), "5");
    assert_eq!(flag("5s").get::<String>("x").unwrap(), "5s");
    assert_eq!(flag("::1").get::<IpAddr>("x").unwrap().to_string(), "::1");
    assert_eq!(flag("5").get::<Option<u8>>("x").unwrap(), Some(5));
    for (text, yes) in
        [("true", true), ("Yes", true), ("on", true), ("1", true), ("FALSE", false), ("off", false)]
    {
        assert_eq!(flag(text).get::<bool>("x").unwrap(), yes, "{text}");
    }
}

#[test]
fn text_from_outside_becomes_a_list_at_its_commas() {
    assert_eq!(flag("a, b,").get::<Vec<String>>("x").unwrap(), ["a", "b"]);
    assert_eq!(flag("1,2").get::<(u8, u8)>("x").unwrap(), (1, 2));
    assert_eq!(
        message(flag("1,x").get::<Vec<u8>>("x")),
        "setting `x` (--x): expected a whole number from 0 to 255, found `1,x`"
    );
}

#[test]
fn toml_means_what_it_says() {
    let config =
        toml("n = 5\nt = '5'\nf = 2.5\nlist = [1, 2]\nwhen = 2026-01-02\nyes = true\nhex = 0xff");
    assert_eq!(config.get::<u8>("n").unwrap(), 5);
    assert_eq!(config.get::<f64>("n").unwrap(), 5.0);
    assert_eq!(config.get::<f64>("f").unwrap(), 2.5);
    assert_eq!(config.get::<Vec<u8>>("list").unwrap(), [1, 2]);
    assert_eq!(config.get::<String>("when").unwrap(), "2026-01-02");
    assert!(config.get::<bool>("yes").unwrap());
    assert_eq!(config.get::<u8>("hex").unwrap(), 255);
    assert_eq!(
        message(config.get::<u8>("t")),
        "setting `t` (toolwright.toml:2): expected a whole number from 0 to 255, found `5`"
    );
    assert_eq!(
        message(config.get::<String>("n")),
        "setting `n` (toolwright.toml:1): expected text, found `5`"
    );
    assert_eq!(
        message(config.get::<bool>("list")),
        "setting `list` (toolwright.toml:4): expected true or false, found `[1, 2]`"
    );
}

#[test]
fn a_missing_setting_says_how_to_set_it() {
    assert_eq!(
        message(Settings::default().get::<String>("tools.mail.host")),
        "setting `tools.mail.host` is missing: set it in toolwright.toml, or set TOOLWRIGHT_TOOLS_MAIL_HOST"
    );
    assert_eq!(
        message(properties("a=1").get::<String>("b")),
        "setting `b` is missing: set it in toolwright.properties, or set TOOLWRIGHT_B"
    );
}

#[test]
fn a_missing_setting_may_be_looked_for_or_have_a_default() {
    let config = properties("port=80");
    assert_eq!(config.get_optional::<u16>("port").unwrap(), Some(80));
    assert_eq!(config.get_optional::<u16>("threads").unwrap(), None);
    assert_eq!(config.get_or("threads", 4).unwrap(), 4);
    assert_eq!(config.get::<Option<u16>>("threads").unwrap(), None);
}

#[test]
fn a_wrong_setting_is_an_error_even_where_a_missing_one_is_not() {
    let config = environment(&[("TOOLWRIGHT_PORT", "eighty")]);
    let expected =
        "setting `port` (TOOLWRIGHT_PORT): expected a whole number from 0 to 65535, found `eighty`";
    assert_eq!(message(config.get_optional::<u16>("port")), expected);
    assert_eq!(message(config.get_or("port", 80_u16)), expected);
}

#[test]
fn a_number_that_is_too_large_for_its_type_is_refused() {
    assert_eq!(
        message(flag("70000").get::<u16>("x")),
        "setting `x` (--x): expected a whole number from 0 to 65535, found `70000`"
    );
}

#[test]
fn an_objection_of_the_type_itself_is_passed_on() {
    assert_eq!(
        message(flag("nowhere").get::<IpAddr>("x")),
        "setting `x` (--x): invalid IP address syntax"
    );
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Level {
    Quiet,
    Loud,
}

#[test]
fn a_name_that_is_not_one_of_an_enums_is_refused_with_those_that_are() {
    assert_eq!(flag("loud").get::<Level>("x").unwrap(), Level::Loud);
    for text in ["x = 'noisy'", "x = 5"] {
        let found = text.trim_start_matches("x = ").trim_matches('\'');
        assert_eq!(
            message(toml(text).get::<Level>("x")),
            format!(
                "setting `x` (toolwright.toml:1): expected one of `quiet`, `loud`, found `{found}`"
            )
        );
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mail {
    host: String,
    #[serde(default)]
    port: u16,
    password: Option<Secret>,
    tls: Option<Tls>,
    level: Option<Level>,
}

#[derive(Debug, Deserialize)]
struct Tls {
    verify: bool,
}

#[test]
fn a_struct_is_read_from_the_keys_below_whatever_set_them() {
    let sources = ConfigSources::new()
        .defaults([("mail.host", "localhost"), ("mail.tls.verify", "no")])
        .environment(variables(&[
            ("TOOLWRIGHT_MAIL_PORT", "25"),
            ("TOOLWRIGHT_MAIL_PASSWORD", "hunter2"),
        ]))
        .flag("mail.level", "quiet", "--quiet");
    let config = load(sources).0;
    for mail in [config.get::<Mail>("mail"), config.section("mail").get("")] {
        let mail = mail.unwrap();
        assert_eq!((mail.host.as_str(), mail.port), ("localhost", 25));
        assert_eq!(mail.password.unwrap().expose(), "hunter2");
        assert!(!mail.tls.unwrap().verify);
        assert_eq!(mail.level, Some(Level::Quiet));
    }
}

#[test]
fn a_struct_of_which_nothing_is_set_is_missing() {
    let config = properties("other=1");
    assert!(config.get_optional::<Mail>("mail").unwrap().is_none());
    assert!(message(config.get::<Mail>("mail")).starts_with("setting `mail` is missing"));
}

#[test]
fn a_field_is_complained_about_by_its_own_key() {
    assert_eq!(
        message(properties("mail.port=25").get::<Mail>("mail")),
        "setting `mail.host` is missing: set it in toolwright.properties, or set TOOLWRIGHT_MAIL_HOST"
    );
    assert_eq!(
        message(toml("[mail]\nhost = 'h'\ntls = { verify = 'maybe' }").get::<Mail>("mail")),
        "setting `mail.tls.verify` (toolwright.toml:3): expected true or false, found `maybe`"
    );
    assert_eq!(
        message(toml("[mail]\nhost = 'h'\nprot = 1").get::<Mail>("mail")),
        "setting `mail.prot` (toolwright.toml:3): nothing reads it: the names here are host, port, password, tls, level"
    );
}

#[test]
fn a_section_is_not_a_value_nor_a_value_a_section() {
    let config = toml("[mail]\nhost = 'h'");
    assert_eq!(
        message(config.get::<u8>("mail")),
        "setting `mail` (toolwright.toml:2): expected a whole number from 0 to 255, found a section"
    );
    assert_eq!(
        message(config.get::<Mail>("mail.host")),
        "setting `mail.host` (toolwright.toml:2): expected a section, found `h`"
    );
}

#[test]
fn a_section_reads_as_a_map() {
    let config = toml("[limits]\nadd = 1\nsubtract = 2\n[limits.deep]\nx = 3");
    let limits: BTreeMap<String, serde_json::Value> = config.get("limits").unwrap();
    assert_eq!(serde_json::to_string(&limits).unwrap(), r#"{"add":1,"deep":{"x":3},"subtract":2}"#);
}

#[test]
fn a_list_of_tables_is_kept_whole() {
    let config = toml("[[relay]]\nhost = 'a'\n[[relay]]\nhost = 'b'\nport = 1");
    let relays: Vec<Mail> = config.get("relay").unwrap();
    let hosts: Vec<_> = relays.iter().map(|relay| relay.host.as_str()).collect();
    assert_eq!(hosts, ["a", "b"]);
    assert_eq!(
        message(toml("[[relay]]\nport = 1").get::<Vec<Mail>>("relay")),
        "setting `relay` (toolwright.toml:1): expected `host` in it"
    );
}

#[test]
fn a_section_leaves_its_name_out_of_its_keys() {
    let config = toml("[a.b]\nc = 1\nd.e = 2\n[a.bb]\nc = 3");
    let section = config.section("a").section("b");
    assert_eq!(section.get::<u8>("c").unwrap(), 1);
    assert_eq!(section.keys_under(""), ["c", "d.e"]);
    assert_eq!(section.keys_under("d"), ["d.e"]);
    assert_eq!(config.keys_under("a.b"), ["a.b.c", "a.b.d.e"]);
    assert!(message(section.get::<u8>("x")).starts_with("setting `a.b.x` is missing"));
    assert_eq!(section.get_optional::<u8>("x").unwrap(), None);
}

#[test]
fn a_section_is_empty_unless_a_key_or_a_variable_may_be_in_it() {
    let config = toml("[tools.a]\nenabled = true\n[toolset]\nx = 1");
    assert!(config.has_any_under("tools"));
    assert!(config.section("tools").has_any_under("a"));
    assert!(!config.has_any_under("tool"));
    assert!(!config.has_any_under("defaults"));
    let config = environment(&[("TOOLWRIGHT_DEFAULTS_TIMEOUT", "5s"), ("TOOLS_A", "1")]);
    assert!(config.has_any_under("defaults"));
    assert!(!config.has_any_under("tools"));
}

#[test]
fn sections_within_sections_end_somewhere() {
    let key = vec!["a"; 5_000].join(".");
    let config = properties(&format!("{key}=1\n...=2"));
    assert_eq!(config.get::<u8>(&key).unwrap(), 1);
    let error = message(config.get::<serde_json::Value>("a"));
    assert!(error.ends_with("expected at most 64 sections within each other"), "{error}");
}

#[test]
fn groups_come_in_the_order_of_their_numbers_with_or_without_gaps() {
    let config =
        properties("MCP_10.name=a\nMCP_2.name=b\nMCP.url=c\nMCP_x.name=d\nMCPS.name=e\nMCP_3=f");
    assert_eq!(config.numbered_groups("MCP"), ["MCP", "MCP_2", "MCP_10"]);
    let config = environment(&[("TOOLWRIGHT_MCP_4_NAME", "a"), ("TOOLWRIGHT_MCP_NAME", "b")]);
    assert_eq!(config.numbered_groups("MCP"), ["MCP", "MCP_4"]);
    let config = toml("[my.MCP_1]\nname = 'a'");
    assert_eq!(config.section("my").numbered_groups("MCP"), ["MCP_1"]);
    assert_eq!(config.numbered_groups("MCP"), Vec::<String>::new());
}
