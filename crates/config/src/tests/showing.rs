//! Displayed settings never contain secrets.

use super::*;
use crate::Secret;

fn shown(config: &Settings) -> Vec<String> {
    config.entries().iter().map(ToString::to_string).collect()
}

#[test]
fn entries_are_sorted_and_say_where_they_came_from() {
    let sources = ConfigSources::new()
        .defaults([("store", "memory"), ("port", "80")])
        .environment(variables(&[("TOOLWRIGHT_PORT", "81")]))
        .flag("model", "demo", "--model");
    assert_eq!(
        shown(&load(sources).0),
        ["model = demo (--model)", "port = 81 (TOOLWRIGHT_PORT)", "store = memory (default)"]
    );
}

#[test]
fn a_variable_that_no_key_names_is_listed_under_a_key_that_reads_it() {
    let config = environment(&[("TOOLWRIGHT_MCP_1_NAME", "wiki"), ("HOME", "/root")]);
    assert_eq!(shown(&config), ["mcp.1.name = wiki (TOOLWRIGHT_MCP_1_NAME)"]);
    assert_eq!(config.get::<String>("mcp.1.name").unwrap(), "wiki");
}

#[test]
fn a_section_lists_only_its_own() {
    let sources = ConfigSources::new()
        .defaults([("a.b", "1"), ("ab.c", "2")])
        .environment(variables(&[("TOOLWRIGHT_A_X", "3"), ("TOOLWRIGHT_AB", "4")]));
    let section = load(sources).0.section("a");
    assert_eq!(shown(&section), ["a.b = 1 (default)", "a.x = 3 (TOOLWRIGHT_A_X)"]);
}

#[test]
fn lists_are_shown_as_toml_writes_them() {
    let config = toml("a = ['x', 1, 2.0, true, { b = 'c' }]");
    assert_eq!(shown(&config), [r#"a = ["x", 1, 2.0, true, { b = "c" }] (toolwright.toml:1)"#]);
}

const SECRETS: &str = "
MCP.authorization = 'Basic hunter2hunter2'
api_key = 'hunter2'
pin.password = 4711
token = ['hunter2']
plain = 'sk-hunter2hunter2'
store = 'postgres://ada:hunter2@db/x'
text = 'uses password=hunter2 there'
relay = [{ host = 'h', password = 'hunter2' }, 'sk-hunter2hunter2']
models.mistral.key = 'hunter2'
models.vllm.headers.X-Team = 'hunter2'
mcp.servers.a.args = ['--root', '/srv', '--api-key', 'hunter2', '--token=hunter2']
mcp.servers.a.url = 'https://a.example/mcp?key=hunter2&team=blue'
credentials.key_file = '/etc/credentials.key'
";

#[test]
fn what_is_secret_by_its_key_or_inside_of_its_value_is_masked() {
    assert_eq!(
        shown(&toml(SECRETS)),
        [
            "MCP.authorization = *** (toolwright.toml:2)",
            "api_key = *** (toolwright.toml:3)",
            "credentials.key_file = /etc/credentials.key (toolwright.toml:14)",
            r#"mcp.servers.a.args = ["--root", "/srv", "--api-key", "***", "--token=***"] (toolwright.toml:12)"#,
            "mcp.servers.a.url = https://a.example/mcp?key=***&team=blue (toolwright.toml:13)",
            "models.mistral.key = *** (toolwright.toml:10)",
            "models.vllm.headers.X-Team = *** (toolwright.toml:11)",
            "pin.password = *** (toolwright.toml:4)",
            "plain = *** (toolwright.toml:6)",
            r#"relay = [{ host = "h", password = "***" }, "***"] (toolwright.toml:9)"#,
            "store = postgres://***@db/x (toolwright.toml:7)",
            "text = uses password=*** there (toolwright.toml:8)",
            "token = *** (toolwright.toml:5)",
        ]
    );
}

#[test]
fn errors_do_not_show_what_looks_secret() {
    let config = toml(SECRETS);
    let keys = config.keys_under("");
    assert_eq!(keys.len(), 13);
    for key in keys {
        for error in [message(config.get::<u8>(key)), message(config.get::<std::net::IpAddr>(key))]
        {
            assert_ne!(error, "no error");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}

#[test]
fn debug_shows_keys_and_origins_and_no_values() {
    let loaded = load(ConfigSources::new().defaults([("model", "demo")]).flag("x", "y", "--x"));
    assert_eq!(format!("{:?}", loaded.0), r#"{"model": Default, "x": Flag { name: "--x" }}"#);
    assert!(!format!("{loaded:?}").contains("demo"));
    assert_eq!(format!("{:?}", Settings::default()), "{}");
}

#[test]
fn a_secret_is_read_whole_and_never_printed() {
    let config = properties("license=abc def");
    let secret = config.secret("license").unwrap().unwrap();
    assert_eq!(secret.expose(), "abc def");
    assert_eq!(format!("{secret:?}"), "Secret(***)");
    assert!(config.secret("other").unwrap().is_none());
    assert_eq!(
        message(toml("license = 4711").get::<Secret>("license")),
        "setting `license` (toolwright.toml:1): expected a secret as text, found something else"
    );
}
