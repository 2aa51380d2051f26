//! Web search and MCP servers by the names of the original property files.

use super::*;
use crate::McpAttachMode;

#[test]
fn web_search_is_on_when_its_type_is_set() {
    assert_eq!(properties("WebSearchTool.city=Rome").web_search().unwrap(), None);
    assert_eq!(properties("WebSearchTool.type=").web_search().unwrap(), None);
    let search = properties("WebSearchTool.type=web_search_2026").web_search().unwrap().unwrap();
    assert_eq!(search.kind, "web_search_2026");
    assert_eq!((search.city, search.country, search.region), (None, None, None));
}

#[test]
fn the_default_web_search_has_a_name_at_the_vendor() {
    let text = "WebSearchTool.type=default \nWebSearchTool.city=San Jos\\u00e9\nWebSearchTool.country=CR\nWebSearchTool.region=";
    let search = properties(text).web_search().unwrap().unwrap();
    assert_eq!(search.kind, "web_search_preview");
    assert_eq!(search.city.as_deref(), Some("San José"));
    assert_eq!(search.country.as_deref(), Some("CR"));
    assert_eq!(search.region, None);
}

#[test]
fn web_search_can_be_asked_for_in_the_environment() {
    let config = environment(&[("TOOLWRIGHT_WEBSEARCHTOOL_TYPE", "default")]);
    assert_eq!(config.web_search().unwrap().unwrap().kind, "web_search_preview");
}

#[test]
fn a_group_counts_when_it_has_a_name_and_a_gap_hides_nothing() {
    let text = "
MCP.name=wiki
MCP.url=https://wiki.example/mcp
MCP_1.url=https://nameless.example/mcp
MCP_3.name=tickets
MCP_3.url=https://tickets.example/mcp
MCP_3.description=Open tickets
MCP_3.authorization=Bearer hunter2hunter2
MCP_3.mode=client
";
    let groups = properties(text).mcp_servers().unwrap();
    let keys: Vec<_> = groups.iter().map(|group| group.key.as_str()).collect();
    assert_eq!(keys, ["MCP", "MCP_3"]);
    assert_eq!((groups[0].name.as_str(), groups[0].mode), ("wiki", McpAttachMode::Auto));
    let tickets = &groups[1];
    assert_eq!(tickets.url, "https://tickets.example/mcp");
    assert_eq!(tickets.description.as_deref(), Some("Open tickets"));
    assert_eq!(tickets.authorization.as_ref().unwrap().expose(), "Bearer hunter2hunter2");
    assert_eq!(tickets.mode, McpAttachMode::Client);
}

#[test]
fn groups_can_be_toml_tables_and_variables() {
    let sources = |directory: &std::path::Path| {
        ConfigSources::new().directory(directory).environment(variables(&[
            ("TOOLWRIGHT_MCP_1_AUTHORIZATION", "Bearer x"),
            ("TOOLWRIGHT_MCP_2_NAME", "env"),
            ("TOOLWRIGHT_MCP_2_URL", "https://env.example"),
        ]))
    };
    let directory = tempfile::tempdir().unwrap();
    let text = "[MCP_1]\nname = 'file'\nurl = 'https://file.example'\nmode = 'hosted'";
    std::fs::write(directory.path().join("toolwright.toml"), text).unwrap();
    let groups = load(sources(directory.path())).0.mcp_servers().unwrap();
    let names: Vec<_> = groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["file", "env"]);
    assert_eq!(groups[0].authorization.as_ref().unwrap().expose(), "Bearer x");
}

#[test]
fn a_name_without_an_address_is_an_error_that_names_the_key() {
    assert_eq!(
        message(properties("\nMCP_2.name=wiki").mcp_servers()),
        "setting `MCP_2.url` is missing, but `MCP_2.name` is set (toolwright.properties:2): set both or neither"
    );
}

#[test]
fn an_unknown_mode_is_refused_with_those_there_are() {
    assert_eq!(
        message(properties("MCP.name=a\nMCP.url=b\nMCP.mode=vendor").mcp_servers()),
        "setting `MCP.mode` (toolwright.properties:3): expected one of `auto`, `hosted`, `client`, found `vendor`"
    );
}

#[test]
fn debug_of_a_group_shows_no_secrets() {
    let text = "MCP.name=a\nMCP.url=https://ada:hunter2@wiki.example\nMCP.authorization=hunter2";
    let groups = properties(text).mcp_servers().unwrap();
    let debug = format!("{groups:?}");
    assert!(debug.contains("wiki.example") && !debug.contains("hunter2"), "{debug}");
}
