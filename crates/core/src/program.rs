//! The name and version of the running program, which its requests to other servers carry.

use std::sync::OnceLock;

/// The name and version of the program, once they are set.
static PROGRAM: OnceLock<(String, String)> = OnceLock::new();

/// The name and version of a program that has not set them.
const TOOLWRIGHT: (&str, &str) = ("toolwright", env!("CARGO_PKG_VERSION"));

/// The longest name or version in a header.
const MAX_TOKEN_CHARS: usize = 64;

/// Sets the name and version of this program; the first call counts.
pub fn set_program(name: &str, version: &str) {
    let _ = PROGRAM.set((name.to_owned(), version.to_owned()));
}

/// The name and version of this program; those of Toolwright unless they are set.
pub fn program() -> (&'static str, &'static str) {
    PROGRAM.get().map_or(TOOLWRIGHT, |(name, version)| (name, version))
}

/// The `User-Agent` of requests: the program, and Toolwright.
pub fn user_agent() -> String {
    user_agent_of(program())
}

fn user_agent_of(program: (&str, &str)) -> String {
    let toolwright = format!("{}/{}", TOOLWRIGHT.0, TOOLWRIGHT.1);
    let (name, version) = (token(program.0), token(program.1));
    match (name.as_str(), version.as_str()) {
        ("", _) | ("toolwright", _) => toolwright,
        (name, "") => format!("{name} {toolwright}"),
        (name, version) => format!("{name}/{version} {toolwright}"),
    }
}

/// Replaces the characters that a product in a `User-Agent` must not have.
fn token(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let chars = text.trim().chars().take(MAX_TOKEN_CHARS);
    chars.map(|c| if is_plain(c) { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_agent_has_the_program_and_toolwright() {
        let toolwright = concat!("toolwright/", env!("CARGO_PKG_VERSION"));
        assert_eq!(user_agent_of(TOOLWRIGHT), toolwright);
        assert_eq!(user_agent_of(("", "1.0")), toolwright);
        assert_eq!(user_agent_of(("shop", "1.2.3")), format!("shop/1.2.3 {toolwright}"));
        let hostile = user_agent_of(("my shop\r\nx: y", "(1)"));
        assert_eq!(hostile, format!("my-shop--x--y/-1- {toolwright}"));
    }
}
