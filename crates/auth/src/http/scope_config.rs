//! What scopes grant, as the settings define it: `[scopes.NAME]`, and `[mcp.oauth.scopes.NAME]`.

use std::collections::BTreeSet;

use toolwright_core::{Config, ConfigError};

use crate::http::error::AuthBuildError;
use crate::scope_rules::{ScopeRule, ScopeRules};

/// The section of scopes that do not depend on an authorization server.
const SECTION: &str = "scopes";
/// The keys of a scope.
const SCOPE_KEYS: [&str; 6] = ["scope", "all", "read_only", "names", "bundles", "implies"];

/// What each scope grants, for [`AuthenticatorBuilder::scopes`](crate::AuthenticatorBuilder::scopes).
pub struct Scopes(pub(crate) ScopeRules);

impl Scopes {
    /// Reads the sections `[scopes.NAME]`; `None` if there are none.
    ///
    /// The keys are those of `[mcp.oauth.scopes.NAME]`: what the scope grants (`all`, `read_only`, `names`, `bundles`), and which
    /// other scopes it `implies`. A scope with dots in it is given by `scope`, and NAME is arbitrary.
    ///
    /// # Errors
    ///
    /// When a setting is unknown or invalid; the error names its key.
    pub fn from_config(config: &Config) -> Result<Option<Self>, AuthBuildError> {
        let rules = read_scope_rules(&config.section(SECTION))?;
        Ok((!rules.is_empty()).then_some(Self(rules)))
    }
}

impl std::fmt::Debug for Scopes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scopes = self.0.by_scope.iter().map(|(scope, _)| scope);
        f.debug_list().entries(scopes).finish()
    }
}

/// Reads the scopes of a section; their names are its first keys.
pub(crate) fn read_scope_rules(section: &Config) -> Result<ScopeRules, AuthBuildError> {
    let mut rules = ScopeRules::default();
    let names = section.keys_under("").into_iter();
    let names: BTreeSet<&str> = names.filter_map(|key| key.split('.').next()).collect();
    for name in names {
        section.reject_unknown(name, &SCOPE_KEYS)?;
        let rule = section.section(name);
        let scope = rule.get_or("scope", name.to_owned())?;
        rules.by_scope.push((scope.clone(), parse_scope_rule(&rule)?));
        rules.implied_scopes.push((scope, string_list(&rule, "implies")?));
    }
    Ok(rules)
}

fn parse_scope_rule(rule: &Config) -> Result<ScopeRule, ConfigError> {
    let mut granted = ScopeRule::none().or(ScopeRule::names(string_list(rule, "names")?));
    for bundle in string_list(rule, "bundles")? {
        granted = granted.or(ScopeRule::bundle(bundle));
    }
    if rule.get_or("read_only", false)? {
        granted = granted.or(ScopeRule::read_only());
    }
    match rule.get_or("all", false)? {
        true => Ok(ScopeRule::all()),
        false => Ok(granted),
    }
}

/// Reads a list of texts; empty if it is not set.
pub(crate) fn string_list(section: &Config, key: &str) -> Result<Vec<String>, ConfigError> {
    section.get_or(key, Vec::new())
}

#[cfg(test)]
mod tests {
    use toolwright_core::ConfigSources;

    use super::*;

    fn read(settings: &[(&str, &str)]) -> Result<Option<Scopes>, AuthBuildError> {
        let sources = ConfigSources::new().defaults(settings.iter().copied());
        Scopes::from_config(&Config::load(sources).unwrap().config)
    }

    #[test]
    fn scopes_are_defined_without_an_authorization_server() {
        let scopes = read(&[
            ("scopes.look.read_only", "true"),
            ("scopes.shop.bundles", "orders, stock"),
            ("scopes.shop.implies", "look"),
        ]);
        let rules = scopes.unwrap().unwrap().0;
        let names: Vec<&str> = rules.by_scope.iter().map(|(scope, _)| &**scope).collect();
        assert_eq!(names, ["look", "shop"]);
        assert_eq!(rules.implied_scopes[1].1, ["look"]);
        assert!(read(&[("mail.host", "x")]).unwrap().is_none());
    }

    #[test]
    fn an_unknown_key_of_a_scope_is_an_error() {
        let message = read(&[("scopes.look.readonly", "true")]).unwrap_err().to_string();
        assert!(message.contains("scopes.look.readonly"), "{message}");
    }
}
