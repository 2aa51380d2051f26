//! [`is_secret_key`]: which settings are secrets, by their keys.

use toolwright_schema::looks_secret_name;

/// The endings of secret names.
const SECRET_ENDINGS: [&str; 5] = ["key", "token", "secret", "password", "authorization"];

/// Sections with names of other software, whose values may all be secrets.
const SECRET_SECTIONS: [&str; 2] = ["headers", "env"];

/// Returns true if the value of this setting must never be shown, whatever it looks like.
pub(super) fn is_secret_key(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let (sections, name) = key.rsplit_once('.').unwrap_or(("", key.as_str()));
    if sections.split('.').any(|section| SECRET_SECTIONS.contains(&section)) {
        return true;
    }
    // The path of a file with a secret is none.
    let is_path = name == "file" || name.ends_with("_file");
    !is_path && (SECRET_ENDINGS.iter().any(|end| key.ends_with(end)) || looks_secret_name(&key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_secret_by_its_ending_its_words_or_its_section() {
        for key in [
            "models.mistral.key",
            "models.llama.cpp.key",
            "models.vllm.headers.X-Team",
            "MCP.servers.a.Env.REGION",
            "server.token",
            "MCP_1.authorization",
            "login.a.client_secret",
            "mail.smtpPassword",
            "mail.stripekey",
            "secrets.mail",
            "token",
        ] {
            assert!(is_secret_key(key), "{key}");
        }
    }

    #[test]
    fn a_key_that_only_resembles_a_secret_one_is_shown() {
        for key in [
            "credentials.key_file",
            "credentials.key.file",
            "mcp.oauth.keys",
            "quota.tokens_per_day",
            "tools.search_max_tokens",
            "models.openai.tool_namespaces",
            "env",
            "system",
        ] {
            assert!(!is_secret_key(key), "{key}");
        }
    }
}
