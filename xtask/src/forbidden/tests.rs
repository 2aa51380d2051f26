//! Findings, and exceptions from them.

use super::*;

const UNWRAP: &str = FORBIDDEN_IN_SHIPPED_CODE[0];

fn lines(file: &str, text: &str) -> Vec<usize> {
    scan(file, text).into_iter().map(|finding| finding.line).collect()
}

#[test]
fn each_needle_is_found_in_shipped_code() {
    for needle in FORBIDDEN_IN_SHIPPED_CODE {
        let text = format!("//! Text.\nfn f() {{ {needle} }}\n");
        assert_eq!(lines("crates/core/src/lib.rs", &text), [2], "{needle}");
    }
}

#[test]
fn tests_examples_and_other_languages_may_unwrap() {
    let text = format!("x{UNWRAP};\n");
    for file in [
        "tests/layering.rs",
        "crates/core/tests/it/main.rs",
        "crates/core/src/invoke/tests.rs",
        "crates/core/benches/call.rs",
        "bridges/conformance/src/lib.rs",
        "examples/01-add.rs",
        "examples/assistant-tools/src/lib.rs",
        "fuzz/fuzz_targets/arguments.rs",
        "README.md",
    ] {
        assert!(lines(file, &text).is_empty(), "{file}");
    }
    assert_eq!(lines("src/contests.rs", &text), [1]);
}

#[test]
fn a_doc_example_may_unwrap_and_a_plain_comment_may_not() {
    let text = format!("//! x{UNWRAP}\n    /// x{UNWRAP}\n// x{UNWRAP}\n");
    assert_eq!(lines("src/lib.rs", &text), [3]);
}

#[test]
fn a_test_module_at_the_end_of_a_file_is_skipped() {
    let text = format!(
        "fn f() {{}}\n\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn t() {{\n        x{UNWRAP};\n    }}\n}}\n"
    );
    assert!(lines("src/lib.rs", &text).is_empty());
}

#[test]
fn code_after_a_test_module_is_scanned_again() {
    let text = format!(
        "#[cfg(test)]\nmod tests {{\n    x{UNWRAP};\n}}\n\nfn f() {{\n    x{UNWRAP};\n}}\n"
    );
    assert_eq!(lines("src/lib.rs", &text), [7]);
}

#[test]
fn a_test_item_without_a_body_ends_at_once() {
    for item in ["mod tests;", "use std::fs;", "fn f() {}", "#[path = \"x\"]\nmod t;"] {
        let text = format!("#[cfg(test)]\n{item}\nx{UNWRAP};\n");
        assert_eq!(lines("src/lib.rs", &text).len(), 1, "{item}");
    }
    let one_method = format!(
        "impl T {{\n    #[cfg(test)]\n    fn t(\n        a: A,\n    ) {{\n        x{UNWRAP};\n    }}\n\n    fn f() {{\n        x{UNWRAP};\n    }}\n}}\n"
    );
    assert_eq!(lines("src/lib.rs", &one_method), [10]);
}

#[test]
fn a_test_that_does_not_run_is_found_even_among_tests() {
    let text = format!("#[test]\n{FORBIDDEN_IN_ALL_RUST} = \"slow\"]\nfn t() {{}}\n");
    assert_eq!(lines("crates/core/tests/it/main.rs", &text), [2]);
}

#[test]
fn a_doc_test_that_does_not_run_is_found() {
    for language in ["ignore", "rust,ignore", "ignore-wasm32", "rust ignore"] {
        let text = format!("/// {FENCE}{language}\n/// f();\n/// {FENCE}\n");
        assert_eq!(lines("src/lib.rs", &text), [1], "{language}");
    }
    let text = format!("/// {FENCE}no_run\n//! {FENCE}\nlet s = \"{FENCE}ignore\";\n");
    assert!(lines("src/lib.rs", &text).is_empty());
}

#[test]
fn paths_of_one_machine_are_found_in_any_file() {
    for folder in LOCAL_PATH_ROOTS {
        for text in [
            format!("cd /{folder}/me"),
            format!("path = \"/{folder}/x\""),
            format!("file:///{folder}/x"),
            format!("x:/{folder}/x"),
        ] {
            assert_eq!(lines("docs/notes.md", &text), [1], "{text}");
        }
        for text in [
            format!("https://example.com/{folder}/x"),
            format!("./{folder}/x"),
            format!("crates/{folder}/src"),
            format!("{{root}}/{folder}/x"),
            format!("the /{folder} route"),
        ] {
            assert!(lines("docs/notes.md", &text).is_empty(), "{text}");
        }
    }
}

#[test]
fn registry_hosts_are_found_in_any_file() {
    for host in REGISTRY_HOSTS {
        assert_eq!(lines("config.toml", &format!("url = \"https://{host}/\"")), [1]);
    }
}

#[test]
fn a_lock_file_names_the_standard_registry_only() {
    let standard = format!("source = \"{LOCK_SOURCE}\"\n");
    assert!(lines("Cargo.lock", &standard).is_empty());
    let mirror = "source = \"sparse+https://mirror.example/index/\"\n";
    assert_eq!(lines("bench/peers/Cargo.lock", mirror), [1]);
    assert!(lines("notes.md", mirror).is_empty());
}

#[test]
fn this_scanner_is_not_its_own_finding() {
    for (file, text) in [
        ("xtask/src/forbidden.rs", include_str!("../forbidden.rs")),
        ("xtask/src/forbidden/tests.rs", include_str!("tests.rs")),
    ] {
        assert_eq!(scan(file, text), []);
    }
}
