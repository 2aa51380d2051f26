//! The sections `[login.NAME]` of the settings in, [`SignIn`] out.

use std::collections::BTreeSet;

use toolwright_core::{Config, ConfigError};

use super::{OpenIdProvider, SignIn};
use crate::http::error::AuthBuildError;
use crate::http::scope_config::string_list;

const SECTION: &str = "login";
/// The keys of `[login.NAME]`.
const KEYS: [&str; 8] =
    ["issuer", "client_id", "client_secret", "label", "scopes", "groups", "roles", "grants"];

impl SignIn {
    /// Reads the sections `[login.NAME]`, one for each provider; `None` if there are none.
    ///
    /// `issuer` is the address of the provider, `client_id` and `client_secret` are those of this server there; `label` is the name
    /// that people see, `scopes` are requested, `groups` is the claim that has the groups of a person. `[login.NAME.roles]` has the
    /// roles of each group, `[login.NAME.grants]` the scopes; the group `*` is every person.
    ///
    /// # Errors
    ///
    /// When a setting is missing, unknown or invalid; the error names its key.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::{Config, ConfigSources};
    /// use toolwright::auth::SignIn;
    ///
    /// let sources = ConfigSources::new().defaults([
    ///     ("login.corp.issuer", "https://login.example.com"),
    ///     ("login.corp.client_id", "toolwright"),
    ///     ("login.corp.roles.it-operations", "admin"),
    ///     ("login.corp.grants.*", "orders:read"),
    /// ]);
    /// let sign_in = SignIn::from_config(&Config::load(sources)?.config)?.unwrap();
    /// assert_eq!(sign_in.providers()[0].name(), "corp");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_config(config: &Config) -> Result<Option<Self>, AuthBuildError> {
        let section = config.section(SECTION);
        let keys = section.keys_under("").into_iter();
        let names: BTreeSet<&str> = keys.filter_map(|key| key.split('.').next()).collect();
        let mut sign_in = Self::new();
        for name in &names {
            if section.keys_under(name).is_empty() {
                let message = format!(
                    "`{SECTION}.{name}` is no section: write `[{SECTION}.NAME]`, with a name of your own for the provider"
                );
                return Err(AuthBuildError::SignIn { message });
            }
            section.reject_unknown(name, &KEYS)?;
            sign_in = sign_in.provider(read_provider(name, &section.section(name))?);
        }
        Ok((!names.is_empty()).then_some(sign_in))
    }
}

fn read_provider(name: &str, section: &Config) -> Result<OpenIdProvider, AuthBuildError> {
    let (issuer, client_id): (String, String) = (section.get("issuer")?, section.get("client_id")?);
    let mut provider = OpenIdProvider::new(name, issuer, client_id)?;
    if let Some(secret) = section.secret("client_secret")? {
        provider = provider.client_secret(secret);
    }
    if let Some(label) = section.get_optional::<String>("label")? {
        provider = provider.label(label);
    }
    if let Some(scopes) = section.get_optional::<Vec<String>>("scopes")? {
        provider = provider.scopes(scopes);
    }
    if let Some(claim) = section.get_optional::<String>("groups")? {
        provider = provider.groups_claim(claim);
    }
    for (group, roles) in by_group(section, "roles")? {
        provider = provider.roles(group, roles);
    }
    for (group, scopes) in by_group(section, "grants")? {
        provider = provider.grants(group, scopes);
    }
    Ok(provider)
}

/// Reads a table whose keys are groups, which may have dots in their names.
fn by_group(section: &Config, key: &str) -> Result<Vec<(String, Vec<String>)>, ConfigError> {
    let table = section.section(key);
    let groups = table.keys_under("").into_iter();
    groups.map(|group| Ok((group.to_owned(), words(&table, group)?))).collect()
}

/// Reads a list of names; a text is one name, or several with commas between them.
fn words(table: &Config, key: &str) -> Result<Vec<String>, ConfigError> {
    string_list(table, key).or_else(|error| match table.get::<String>(key) {
        Ok(text) => Ok(text.split(',').map(|word| word.trim().to_owned()).collect()),
        Err(_) => Err(error),
    })
}

#[cfg(test)]
mod tests {
    use toolwright_core::ConfigSources;

    use super::*;

    const REQUIRED: [(&str, &str); 2] =
        [("login.corp.issuer", "https://login.example"), ("login.corp.client_id", "me")];

    fn read(settings: &[(&str, &str)]) -> Result<Option<SignIn>, AuthBuildError> {
        let sources = ConfigSources::new().defaults(settings.iter().copied());
        SignIn::from_config(&Config::load(sources).unwrap().config)
    }

    #[test]
    fn several_providers_are_read() {
        let mut settings = REQUIRED.to_vec();
        settings.extend([
            ("login.corp.client_secret", "hidden-from-everybody"),
            ("login.corp.label", "Example Corp."),
            ("login.corp.groups", "realm_access.roles"),
            ("login.corp.roles./it/ops", "admin, manager"),
            ("login.corp.grants.staff.north", "look"),
            ("login.other.issuer", "https://other.example/tenant"),
            ("login.other.client_id", "me-too"),
        ]);
        let sign_in = read(&settings).unwrap().unwrap();
        let [corp, other] = sign_in.providers() else { panic!("{sign_in:?}") };
        assert_eq!((corp.name(), corp.display_label()), ("corp", "Example Corp."));
        assert_eq!((other.name(), other.display_label()), ("other", "other"));
        assert!(sign_in.find("corp").is_some() && sign_in.find("corps").is_none());
        assert!(!format!("{sign_in:?}").contains("hidden"), "{sign_in:?}");
    }

    #[test]
    fn roles_and_grants_of_a_file_are_texts_or_lists() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("toolwright.toml");
        let settings = r#"
            [login.corp]
            issuer = "https://login.example"
            client_id = "me"
            roles = { "it-ops" = "admin, manager", "/leads" = ["manager"] }
            grants = { "*" = "look" }
        "#;
        std::fs::write(&file, settings).unwrap();
        let config = Config::load(ConfigSources::new().file(file)).unwrap().config;
        let section = config.section("login.corp");
        let own = |text: &str, words: &[&str]| {
            (text.to_owned(), words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
        };
        let roles = by_group(&section, "roles").unwrap();
        assert_eq!(roles, [own("/leads", &["manager"]), own("it-ops", &["admin", "manager"])]);
        assert_eq!(by_group(&section, "grants").unwrap(), [own("*", &["look"])]);
        assert!(SignIn::from_config(&config).unwrap().is_some());
    }

    #[test]
    fn no_section_is_no_sign_in_and_an_incomplete_one_is_an_error() {
        assert!(read(&[("mcp.servers.a.url", "x")]).unwrap().is_none());
        for (settings, named) in [
            (&REQUIRED[..1], "login.corp.client_id"),
            (&REQUIRED[1..], "login.corp.issuer"),
            (&[("login.issuer", "https://login.example")], "[login.NAME]"),
            (&[REQUIRED[0], REQUIRED[1], ("login.corp.secret", "x")], "login.corp.secret"),
            (&[("login.corp.issuer", "http://login.example"), REQUIRED[1]], "https"),
            (&[("login.a:b.issuer", "https://a.example"), ("login.a:b.client_id", "x")], "a:b"),
        ] {
            let message = read(settings).unwrap_err().to_string();
            assert!(message.contains(named), "{message}");
        }
    }
}
