//! Scopes in, which tools they open out.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use toolwright_core::ToolSpec;

/// The tools, prompts and resources that a scope opens; every prompt counts as read-only.
#[derive(Clone)]
pub struct Opens(Vec<Test>);

type Test = Arc<dyn Fn(&ToolSpec) -> bool + Send + Sync>;

impl Opens {
    /// Opens everything.
    pub fn all() -> Self {
        Self::when(|_| true)
    }

    /// Opens what changes nothing, as its author declares.
    pub fn read_only() -> Self {
        Self::when(|spec| spec.hints.read_only == Some(true))
    }

    /// Opens what has one of these names.
    pub fn names<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        let names: BTreeSet<String> = names.into_iter().map(Into::into).collect();
        Self::when(move |spec| names.contains(spec.name.as_str()))
    }

    /// Opens what belongs to a bundle.
    pub fn bundle(bundle: impl Into<String>) -> Self {
        let bundle = bundle.into();
        Self::when(move |spec| *spec.bundle == *bundle)
    }

    /// Opens what `test` accepts.
    pub fn when(test: impl Fn(&ToolSpec) -> bool + Send + Sync + 'static) -> Self {
        Self(vec![Arc::new(test)])
    }

    /// Opens what the other opens as well.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    pub(super) fn nothing() -> Self {
        Self(Vec::new())
    }

    fn opens(&self, spec: &ToolSpec) -> bool {
        let opens = || self.0.iter().any(|test| test(spec));
        // One who cannot decide has not allowed it.
        catch_unwind(AssertUnwindSafe(opens)).unwrap_or(false)
    }
}

impl std::fmt::Debug for Opens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Opens by {} tests", self.0.len())
    }
}

/// What all scopes mean.
#[derive(Default)]
pub(super) struct Rules {
    pub(super) opens: Vec<(String, Opens)>,
    pub(super) implied: Vec<(String, Vec<String>)>,
    pub(super) needs: BTreeSet<String>,
}

impl Rules {
    /// Refuses names that no header could carry.
    pub(super) fn check(&self) -> Result<(), String> {
        let opens = self.opens.iter().map(|(scope, _)| scope);
        let implied = self
            .implied
            .iter()
            .flat_map(|(scope, others)| others.iter().chain([scope]));
        for scope in opens.chain(implied).chain(&self.needs) {
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
    pub(super) fn known(&self) -> BTreeSet<&str> {
        let opens = self.opens.iter().map(|(scope, _)| scope);
        opens.chain(&self.needs).map(String::as_str).collect()
    }

    /// Adds what the scopes imply, and what that implies.
    pub(super) fn widened(&self, mut granted: BTreeSet<String>) -> BTreeSet<String> {
        loop {
            let before = granted.len();
            for (scope, others) in &self.implied {
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
    pub(super) fn deciding(&self, granted: &BTreeSet<String>) -> BTreeSet<String> {
        let opens = self.opens.iter().map(|(scope, _)| scope);
        opens
            .filter(|scope| granted.contains(*scope))
            .cloned()
            .collect()
    }

    pub(super) fn are_none(&self) -> bool {
        self.opens.is_empty()
    }

    /// Tells whether the scopes open it.
    pub(super) fn open(&self, scopes: &BTreeSet<String>, spec: &ToolSpec) -> bool {
        let mut granted = self
            .opens
            .iter()
            .filter(|(scope, _)| scopes.contains(scope));
        self.are_none() || granted.any(|(_, opens)| opens.opens(spec))
    }

    /// Returns the scope that opens it and as little else as possible of `all`, if any does.
    pub(super) fn narrowest<'s>(
        &self,
        spec: &ToolSpec,
        all: impl Iterator<Item = &'s ToolSpec> + Clone,
    ) -> Option<&str> {
        let opening = self.opens.iter().filter(|(_, opens)| opens.opens(spec));
        let narrowest = opening
            .min_by_key(|(_, opens)| all.clone().filter(|other| opens.opens(other)).count())?;
        Some(&narrowest.0)
    }
}
