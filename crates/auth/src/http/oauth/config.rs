//! The section `[mcp.oauth]` of the settings in, a [`ResourceServer`] out.

use std::time::Duration;

use toolwright_core::Config;

use super::ResourceServer;
use crate::http::error::AuthBuildError;
use crate::http::scope_config::{read_scope_rules, string_list};
use crate::http::verify::Jwks;

const SECTION: &str = "mcp.oauth";
const KEYS: [&str; 7] = ["resource", "issuer", "keys", "audiences", "needs", "skew_s", "scopes"];

impl ResourceServer {
    /// Reads the section `[mcp.oauth]`; `None` where there is none.
    ///
    /// `resource` is the address of this server and `issuer` that of the authorization server; `keys` is the address of its key
    /// set where its metadata lack it, `audiences` are its other names for this server, `needs` are the scopes that every request
    /// needs, `skew_s` is the tolerated clock skew in seconds. `[mcp.oauth.scopes.NAME]` defines what a scope grants (`all`,
    /// `read_only`, `names`, `bundles`) and `implies`; a scope with dots in it is given by `scope`, and NAME is arbitrary.
    ///
    /// # Errors
    ///
    /// When a setting is missing, unknown or invalid; the error names its key.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::{Config, ConfigSources};
    /// use toolwright::auth::ResourceServer;
    ///
    /// let sources = ConfigSources::new().defaults([
    ///     ("mcp.oauth.resource", "https://tools.example.com/mcp"),
    ///     ("mcp.oauth.issuer", "https://login.example.com"),
    ///     ("mcp.oauth.scopes.read.read_only", "true"),
    ///     ("mcp.oauth.scopes.shop.bundles", "orders, stock"),
    ///     ("mcp.oauth.scopes.shop.implies", "read"),
    /// ]);
    /// let oauth = ResourceServer::from_config(&Config::load(sources)?.config)?;
    /// assert!(oauth.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_config(config: &Config) -> Result<Option<Self>, AuthBuildError> {
        let section = config.section(SECTION);
        // `keys_under` does not list settings that come from an environment variable alone.
        let is_set = KEYS.iter().any(|key| section.origin(key).is_some());
        if section.keys_under("").is_empty() && !is_set {
            return Ok(None);
        }
        config.reject_unknown(SECTION, &KEYS)?;
        let issuer: String = section.get("issuer")?;
        let jwks = match section.get_optional::<String>("keys")? {
            Some(keys) => Jwks::with_keys_url(issuer, &keys),
            None => Jwks::new(issuer),
        }?;
        let mut server = Self::new(section.get::<String>("resource")?, jwks)
            .required_scopes(string_list(&section, "needs")?);
        for audience in string_list(&section, "audiences")? {
            server = server.audience(audience);
        }
        if let Some(seconds) = section.get_optional("skew_s")? {
            server = server.clock_skew(Duration::from_secs(seconds));
        }
        server.rules = server.rules.merge(Some(read_scope_rules(&section.section("scopes"))?));
        Ok(Some(server))
    }
}

#[cfg(test)]
mod tests {
    use toolwright_core::ConfigSources;

    use super::*;

    const REQUIRED: [(&str, &str); 2] = [
        ("mcp.oauth.resource", "https://tools.example/mcp"),
        ("mcp.oauth.issuer", "https://login.example"),
    ];

    fn read(settings: &[(&str, &str)]) -> Result<Option<ResourceServer>, AuthBuildError> {
        let sources = ConfigSources::new().defaults(settings.iter().copied());
        ResourceServer::from_config(&Config::load(sources).unwrap().config)
    }

    #[test]
    fn all_settings_are_read() {
        let mut settings = REQUIRED.to_vec();
        settings.extend([
            ("mcp.oauth.keys", "https://login.example/keys"),
            ("mcp.oauth.audiences", "api://tools"),
            ("mcp.oauth.needs", "read"),
            ("mcp.oauth.skew_s", "5"),
            ("mcp.oauth.scopes.read.read_only", "true"),
            ("mcp.oauth.scopes.write.scope", "files.write"),
            ("mcp.oauth.scopes.write.names", "erase, move"),
            ("mcp.oauth.scopes.write.implies", "read"),
        ]);
        let server = read(&settings).unwrap().unwrap();
        assert_eq!(server.resource, "https://tools.example/mcp");
        assert_eq!(server.issuers, ["https://login.example"]);
        assert_eq!(server.audiences, ["api://tools"]);
        assert_eq!(server.clock_skew, Duration::from_secs(5));
        let rules = &server.rules;
        let scopes: Vec<&str> = rules.by_scope.iter().map(|(scope, _)| &**scope).collect();
        assert_eq!(scopes, ["read", "files.write"]);
        assert_eq!(rules.implied_scopes[1].1, ["read"]);
        assert!(rules.required_scopes.contains("read"));
    }

    #[test]
    fn no_section_is_no_oauth_and_an_incomplete_one_is_an_error() {
        assert!(read(&[("mcp.servers.a.url", "x")]).unwrap().is_none());
        for (settings, named) in [
            (&REQUIRED[..1], "mcp.oauth.issuer"),
            (&REQUIRED[1..], "mcp.oauth.resource"),
            (&[REQUIRED[0], ("mcp.oauth.issuer", "login")], "issuer"),
            (&[REQUIRED[0], REQUIRED[1], ("mcp.oauth.need", "x")], "mcp.oauth.need"),
            (
                &[REQUIRED[0], REQUIRED[1], ("mcp.oauth.scopes.a.readonly", "true")],
                "mcp.oauth.scopes.a.readonly",
            ),
        ] {
            let message = read(settings).unwrap_err().to_string();
            assert!(message.contains(named), "{message}");
        }
    }
}
