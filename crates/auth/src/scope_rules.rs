//! The rules that decide which tools a set of scopes grants.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use toolwright_core::ToolSpec;
#[cfg(feature = "http")]
use toolwright_core::schema::did_you_mean;

/// The tools, prompts and resources that a scope grants; every prompt counts as read-only.
#[derive(Clone)]
pub struct ScopeRule(Vec<Predicate>);

type Predicate = Arc<dyn Fn(&ToolSpec) -> bool + Send + Sync>;

impl ScopeRule {
    /// Grants everything.
    pub fn all() -> Self {
        Self::matching(|_| true)
    }

    /// Grants what its author declares as read-only.
    pub fn read_only() -> Self {
        Self::matching(|spec| spec.hints.read_only == Some(true))
    }

    /// Grants what has one of these names.
    pub fn names<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        let names: BTreeSet<String> = names.into_iter().map(Into::into).collect();
        Self::matching(move |spec| names.contains(spec.name.as_str()))
    }

    /// Grants what belongs to a bundle.
    pub fn bundle(bundle: impl Into<String>) -> Self {
        let bundle = bundle.into();
        Self::matching(move |spec| *spec.bundle == *bundle)
    }

    /// Grants what `predicate` accepts; where it panics, it has not accepted.
    pub fn matching(predicate: impl Fn(&ToolSpec) -> bool + Send + Sync + 'static) -> Self {
        Self(vec![Arc::new(predicate)])
    }

    /// Grants what the other rule grants as well.
    #[must_use]
    pub fn or(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    #[cfg(feature = "http")]
    pub(crate) fn none() -> Self {
        Self(Vec::new())
    }

    fn grants(&self, spec: &ToolSpec) -> bool {
        let accepts = || self.0.iter().any(|accepts| accepts(spec));
        catch_unwind(AssertUnwindSafe(accepts)).unwrap_or(false)
    }
}

impl std::fmt::Debug for ScopeRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ScopeRule of {} predicates", self.0.len())
    }
}

/// The rules of all scopes.
#[derive(Default)]
pub(crate) struct ScopeRules {
    /// Without any, every valid token grants everything.
    pub(crate) by_scope: Vec<(String, ScopeRule)>,
    pub(crate) implied_scopes: Vec<(String, Vec<String>)>,
    pub(crate) required_scopes: BTreeSet<String>,
}

impl ScopeRules {
    /// Adds other rules.
    pub(crate) fn merge(mut self, other: Option<Self>) -> Self {
        if let Some(other) = other {
            self.by_scope.extend(other.by_scope);
            self.implied_scopes.extend(other.implied_scopes);
            self.required_scopes.extend(other.required_scopes);
        }
        self
    }

    /// Rejects names that a header cannot contain.
    pub(crate) fn validate(&self) -> Result<(), String> {
        let granting = self.by_scope.iter().map(|(scope, _)| scope);
        let implied =
            self.implied_scopes.iter().flat_map(|(scope, others)| others.iter().chain([scope]));
        for scope in granting.chain(implied).chain(&self.required_scopes) {
            let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
            if scope.is_empty() || !scope.bytes().all(is_plain) {
                return Err(format!(
                    "scope `{scope}`: write letters, digits and signs, without blanks and quotes"
                ));
            }
        }
        Ok(())
    }

    /// Rejects a scope that is implied or granted and does not exist. Each granted one comes with the words for what grants it.
    #[cfg(feature = "http")]
    pub(crate) fn check_known(&self, granted: &[(String, String)]) -> Result<(), String> {
        let with_rule = self.by_scope.iter().map(|(scope, _)| scope);
        let implying = self.implied_scopes.iter().map(|(scope, _)| scope);
        let known: BTreeSet<&str> =
            with_rule.chain(implying).chain(&self.required_scopes).map(String::as_str).collect();
        let implied = self.implied_scopes.iter().flat_map(|(scope, others)| {
            others.iter().map(move |other| (format!("the scope `{scope}` implies"), other))
        });
        let granted = granted.iter().map(|(who, scope)| (format!("{who} is granted"), scope));
        for (what, scope) in granted.chain(implied) {
            if !known.contains(&**scope) {
                let hint = did_you_mean(scope, known.iter().copied());
                let hint = hint.unwrap_or_else(|| {
                    format!("define it in a section `[scopes.{scope}]`, or with `.scope(…)`")
                });
                return Err(format!("{what} the scope `{scope}`, which does not exist: {hint}"));
            }
        }
        Ok(())
    }

    /// Returns the scopes that grant none of these, whatever they imply.
    pub(crate) fn empty_scopes<'s>(
        &self,
        all: impl Iterator<Item = &'s ToolSpec> + Clone,
    ) -> Vec<&str> {
        let scopes = self.by_scope.iter().map(|(scope, _)| scope);
        let empty = scopes.filter(|scope| {
            let scopes = self.expand_implied(BTreeSet::from([(*scope).clone()]));
            !all.clone().any(|spec| self.grants(&scopes, spec))
        });
        empty.map(String::as_str).collect()
    }

    /// Returns the scopes that have a rule or are required, for the metadata document.
    #[cfg(feature = "http")]
    pub(crate) fn supported_scopes(&self) -> BTreeSet<&str> {
        let granting = self.by_scope.iter().map(|(scope, _)| scope);
        granting.chain(&self.required_scopes).map(String::as_str).collect()
    }

    /// Adds the implied scopes, transitively.
    pub(crate) fn expand_implied(&self, mut granted: BTreeSet<String>) -> BTreeSet<String> {
        loop {
            let before = granted.len();
            for (scope, others) in &self.implied_scopes {
                if granted.contains(scope) {
                    granted.extend(others.iter().cloned());
                }
            }
            if granted.len() == before {
                return granted;
            }
        }
    }

    /// Returns the scopes that have a rule: tokens with the same of these grant the same tools.
    pub(crate) fn granting_scopes(&self, granted: &BTreeSet<String>) -> BTreeSet<String> {
        let granting = self.by_scope.iter().map(|(scope, _)| scope);
        granting.filter(|scope| granted.contains(*scope)).cloned().collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_scope.is_empty()
    }

    /// Returns true if one of the scopes grants it.
    pub(crate) fn grants(&self, scopes: &BTreeSet<String>, spec: &ToolSpec) -> bool {
        let mut granted = self.by_scope.iter().filter(|(scope, _)| scopes.contains(scope));
        self.is_empty() || granted.any(|(_, rule)| rule.grants(spec))
    }

    /// Returns the scope that grants it and as little else as possible of `all`, if any does.
    pub(crate) fn least_privileged_scope<'s>(
        &self,
        spec: &ToolSpec,
        all: impl Iterator<Item = &'s ToolSpec> + Clone,
    ) -> Option<&str> {
        let granting = self.by_scope.iter().filter(|(_, rule)| rule.grants(spec));
        let narrowest = granting
            .min_by_key(|(_, rule)| all.clone().filter(|other| rule.grants(other)).count())?;
        Some(&narrowest.0)
    }
}
