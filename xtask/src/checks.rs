//! Checks that are a few commands.

use crate::process::Program;
use crate::suites::EVERYTHING;

/// Workspaces of their own, which `--workspace` does not include.
pub(crate) const OTHER_WORKSPACES: &str = "bridges fuzz bench/peers xtask/api-lines";
pub(crate) const BRIDGES: &str = "bridges/Cargo.toml";

/// The programs that people build, and their features. What compiles only because another feature is on, shows here.
const LEAN: [(&str, &str); 5] = [
    ("a crate of tools", "macros"),
    ("an MCP server over stdio", "macros,mcp"),
    ("a chat with a vendor's model", "macros,models"),
    ("endpoints in an axum server", "macros,server"),
    ("a program of `toolwright new`", "macros,cli,sqlite"),
];

/// What no file may have, and the arguments with which `git grep` finds it.
#[rustfmt::skip]
const FORBIDDEN: [(&str, &[&str]); 4] = [
    ("a path of one machine", &["(^|file://|[^][:alnum:]/._*}>)~-])/(home|root|tmp|work|Users)/[[:alnum:]._{$<-]"]),
    ("the host of a registry", &["(index|static)[.]crates[.]io|registry[.]npmjs[.]org|(files[.]pythonhosted|pypi|proxy[.]golang)[.]org"]),
    ("another registry", &["^source = \"(registry|sparse)", "--and", "--not", "-e", "github.com/rust-lang/crates.io-index\"", "--", "*Cargo.lock"]),
    // They forbid `unwrap`, `todo!` and their like. The step `test` fails if a test is ignored.
    ("no lints in", &["^\\[lints\\]", "--files-without-match", "--", "Cargo.toml", "crates/*/Cargo.toml", "examples/*/Cargo.toml"]),
];

pub(crate) fn fmt() -> Result<String, String> {
    Program::cargo("fmt", &["--all", "--check"]).run()?;
    let others =
        "for it in $OTHERS; do cargo fmt --manifest-path $it/Cargo.toml --all --check; done";
    Program::shell(others).env("OTHERS", OTHER_WORKSPACES).run()
}

/// Runs clippy, whose warnings are errors.
pub(crate) fn lint(args: &[&str]) -> Result<String, String> {
    Program::cargo("clippy", args).args(&["--", "-D", "warnings"]).run()
}

pub(crate) fn clippy() -> Result<String, String> {
    lint(&[&EVERYTHING[..], &["--all-targets"]].concat())
}

pub(crate) fn lean() -> Result<String, String> {
    for (program, features) in LEAN {
        println!("{program}:");
        lint(&["--package", "toolwright", "--no-default-features", "--features", features])?;
    }
    Ok(format!("{} programs", LEAN.len()))
}

/// Fails if README.md has 150 lines, or its first program begins after line 14.
pub(crate) fn readme() -> Result<String, String> {
    Program::shell("test $(wc -l <README.md) -lt 150; head -n 14 README.md | grep -q '^```rust'")
        .run()
}

/// Checks links within the repository, and to headings.
pub(crate) fn links() -> Result<String, String> {
    let files = "git ls-files -z --cached --others --exclude-standard '*.md'";
    Program::shell(&format!("{files} | xargs -0 {LYCHEE}")).run()
}

/// `cargo xtask test setup` installs it.
pub(crate) const LYCHEE: &str =
    "target/tools/lychee/bin/lychee --offline --include-fragments --no-progress";

pub(crate) fn forbidden() -> Result<String, String> {
    let mut found = 0;
    for (what, args) in FORBIDDEN {
        let grep = Program::git(&["grep", "--untracked", "-I", "-n", "-E", "-e"]).args(args);
        let (output, status) = grep.capture(std::time::Duration::from_secs(60))?;
        // 1: there is none.
        if !matches!(status.code(), Some(0 | 1)) {
            return Err(format!("git grep: {output}"));
        }
        output.lines().for_each(|line| println!("{what}: {line}"));
        found += output.lines().count();
    }
    if found == 0 { Ok("none".to_owned()) } else { Err(format!("{found} lines must not be there")) }
}

pub(crate) fn bridges() -> Result<String, String> {
    let args = ["--manifest-path", BRIDGES, "--workspace", "--no-fail-fast"];
    Program::cargo("test", &args).run()
}

pub(crate) fn lint_bridges() -> Result<String, String> {
    let all = ["--manifest-path", BRIDGES, "--workspace"];
    Program::cargo("doc", &all).args(&["--no-deps"]).env("RUSTDOCFLAGS", "-D warnings").run()?;
    lint(&[&all[..], &["--all-targets"]].concat())
}
