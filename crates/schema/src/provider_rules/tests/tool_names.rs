//! Names and numbers of tools.

use super::*;
use crate::validate_tools_for;

fn rules(dialect: Dialect, names: &[&str]) -> Vec<String> {
    validate_tools_for(dialect, names.iter().copied()).iter().map(ToString::to_string).collect()
}

fn accepts(dialect: Dialect, name: &str) -> bool {
    validate_tools_for(dialect, [name]).is_empty()
}

#[test]
fn names_are_written_as_each_provider_wants() {
    let (n64, n65) = ("n".repeat(64), "n".repeat(65));
    let (n128, n129) = ("n".repeat(128), "n".repeat(129));
    for dialect in Dialect::ALL {
        let name = dialect.name();
        assert!(accepts(dialect, "find_order"), "{name}");
        assert!(accepts(dialect, "find-Order2"), "{name}");
        assert!(accepts(dialect, &n64), "{name}");
        assert!(!accepts(dialect, ""), "{name}");
        let family = name.split('-').next().unwrap();
        let long = matches!(family, "anthropic" | "gemini" | "mcp" | "ollama");
        assert_eq!(accepts(dialect, &n65), long, "{name}");
        assert_eq!(accepts(dialect, &n128), long, "{name}");
        assert_eq!(accepts(dialect, &n129), family == "ollama", "{name}");
        assert_eq!(
            accepts(dialect, "shop.find"),
            matches!(family, "gemini" | "mcp" | "ollama"),
            "{name}"
        );
        assert_eq!(accepts(dialect, "shop:find"), matches!(family, "gemini" | "ollama"), "{name}");
        assert_eq!(accepts(dialect, "shop/find"), family == "ollama", "{name}");
        assert_eq!(accepts(dialect, "größe"), family == "ollama", "{name}");
        assert_eq!(accepts(dialect, "2find"), !matches!(family, "gemini" | "portable"), "{name}");
        assert_eq!(accepts(dialect, "-find"), !matches!(family, "gemini" | "portable"), "{name}");
    }
}

#[test]
fn names_are_unique_by_case() {
    for dialect in Dialect::ALL {
        assert!(rules(dialect, &["find", "Find"]).is_empty());
        assert_eq!(rules(dialect, &["find", "get", "find"]), ["/2: the name `find` is taken"]);
    }
}

#[test]
fn lists_have_an_end() {
    let names: Vec<String> = (0..600).map(|number| format!("tool{number}")).collect();
    let first = |count: usize| names.iter().map(String::as_str).take(count);
    for dialect in Dialect::ALL {
        let most = match dialect.name() {
            "anthropic-strict" => 20,
            "openai" | "openai-strict" | "groq" | "deepseek" | "deepseek-strict" | "xai"
            | "portable" => 128,
            "gemini" | "gemini-openapi" => 512,
            _ => 600,
        };
        assert!(validate_tools_for(dialect, first(most)).is_empty(), "{}", dialect.name());
        if most < 600 {
            let refusals = validate_tools_for(dialect, first(most + 1));
            let words = format!("root: {} tools, and at most {most} are accepted", most + 1);
            assert_eq!(refusals.iter().map(ToString::to_string).collect::<Vec<_>>(), [words]);
        }
    }
}

#[test]
fn only_bedrock_wants_at_least_one() {
    for dialect in Dialect::ALL {
        assert_eq!(
            rules(dialect, &[]).is_empty(),
            dialect.name() != "bedrock",
            "{}",
            dialect.name()
        );
    }
}

#[test]
fn too_many_tools_are_reported_before_their_names() {
    let names = vec!["a b"; 1_000];
    let refusals = rules(Dialect::OPENAI, &names);
    assert_eq!(refusals[0], "root: 1000 tools, and at most 128 are accepted");
    assert_eq!(refusals.len(), 101);
}

#[test]
fn the_rule_is_shown_as_a_pattern() {
    let rows = [
        (Dialect::OPENAI, "^[a-zA-Z0-9_-]{1,64}$"),
        (Dialect::ANTHROPIC, "^[a-zA-Z0-9_-]{1,128}$"),
        (Dialect::GEMINI, "^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$"),
        (Dialect::MCP, "^[a-zA-Z0-9_.-]{1,128}$"),
        (Dialect::PORTABLE, "^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$"),
    ];
    for (dialect, pattern) in rows {
        assert_eq!(
            rules(dialect, &["a b"]),
            [format!("/0: the name `a b` does not match `{pattern}`")]
        );
    }
}
