//! Scopes in, which tools they open out.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use toolwright_core::ToolSpec;

/// The tools, prompts and resources that a scope opens; every prompt counts as read-only.
#[derive(Clone)]
pub struct ScopeRule(Vec<Predicate>);

type Predicate = Arc<dyn Fn(&ToolSpec) -> bool + Send + Sync>;

impl ScopeRule {
    /// Opens everything.
    pub fn all() -> Self {
        Self::matching(|_| true)
    }

    /// Opens what changes nothing, as its author declares.
    pub fn read_only() -> Self {
        Self::matching(|spec| spec.hints.read_only == Some(true))
    }

    /// Opens what has one of these names.
    pub fn names<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        let names: BTreeSet<String> = names.into_iter().map(Into::into).collect();
        Self::matching(move |spec| names.contains(spec.name.as_str()))
    }

    /// Opens what belongs to a bundle.
    pub fn bundle(bundle: impl Into<String>) -> Self {
        let bundle = bundle.into();
        Self::matching(move |spec| *spec.bundle == *bundle)
    }

    /// Opens what `test` accepts.
    pub fn matching(test: impl Fn(&ToolSpec) -> bool + Send + Sync + 'static) -> Self {
        Self(vec![Arc::new(test)])
    }

    /// Opens what the other opens as well.
    #[must_use]
    pub fn or(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    pub(super) fn none() -> Self {
        Self(Vec::new())
    }

    fn grants(&self, spec: &ToolSpec) -> bool {
        let opens = || self.0.iter().any(|test| test(spec));
        // One who cannot decide has not allowed it.
        catch_unwind(AssertUnwindSafe(opens)).unwrap_or(false)
    }
}

impl std::fmt::Debug for ScopeRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Opens by {} tests", self.0.len())
    }
}

/// What all scopes mean.
#[derive(Default)]
pub(super) struct ScopeRules {
    pub(super) by_scope: Vec<(String, ScopeRule)>,
    pub(super) implied_scopes: Vec<(String, Vec<String>)>,
    pub(super) required_scopes: BTreeSet<String>,
}

impl ScopeRules {
    /// Refuses names that no header could carry.
    pub(super) fn validate(&self) -> Result<(), String> {
        let opens = self.by_scope.iter().map(|(scope, _)| scope);
        let implied = self
            .implied_scopes
            .iter()
            .flat_map(|(scope, others)| others.iter().chain([scope]));
        for scope in opens.chain(implied).chain(&self.required_scopes) {
            let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
            if scope.is_empty() || !scope.bytes().all(plain) {
                return Err(format!(
                    "scope `{scope}`: write letters, digits and signs, without blanks and quotes"
                ));
            }
        }
        Ok(())
    }

    /// Returns every scope that means something here.
    pub(super) fn supported_scopes(&self) -> BTreeSet<&str> {
        let opens = self.by_scope.iter().map(|(scope, _)| scope);
        opens
            .chain(&self.required_scopes)
            .map(String::as_str)
            .collect()
    }

    /// Adds what the scopes imply, and what that implies.
    pub(super) fn expand_implied(&self, mut granted: BTreeSet<String>) -> BTreeSet<String> {
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

    /// Keeps the scopes that decide what is open: whoever has the same of these reaches the same.
    pub(super) fn granting_scopes(&self, granted: &BTreeSet<String>) -> BTreeSet<String> {
        let opens = self.by_scope.iter().map(|(scope, _)| scope);
        opens
            .filter(|scope| granted.contains(*scope))
            .cloned()
            .collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_scope.is_empty()
    }

    /// Tells whether the scopes open it.
    pub(super) fn grants(&self, scopes: &BTreeSet<String>, spec: &ToolSpec) -> bool {
        let mut granted = self
            .by_scope
            .iter()
            .filter(|(scope, _)| scopes.contains(scope));
        self.is_empty() || granted.any(|(_, opens)| opens.grants(spec))
    }

    /// Returns the scope that opens it and as little else as possible of `all`, if any does.
    pub(super) fn least_privileged_scope<'s>(
        &self,
        spec: &ToolSpec,
        all: impl Iterator<Item = &'s ToolSpec> + Clone,
    ) -> Option<&str> {
        let opening = self.by_scope.iter().filter(|(_, opens)| opens.grants(spec));
        let narrowest = opening
            .min_by_key(|(_, opens)| all.clone().filter(|other| opens.grants(other)).count())?;
        Some(&narrowest.0)
    }
}
