//! The subject of a request, its scopes, roles and expiry.

use std::collections::{BTreeMap, BTreeSet};
use std::future::{Ready, ready};
use std::time::SystemTime;

use axum::http::request::Parts;

use crate::http::verify_error::VerifyError;

/// The role whose members may read the conversations of all owners; each access is audited.
pub const ADMIN_ROLE: &str = "admin";

/// Longer subjects are rejected.
pub(crate) const MAX_SUBJECT_BYTES: usize = 256;

/// The subject of a request, its scopes and roles, and when they expire: what a login of the program, or a verified token, yields.
///
/// Scopes grant tools, roles grant rights over the conversations and approvals of others.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use toolwright::auth::Identity;
///
/// let session_end = SystemTime::now() + Duration::from_secs(3600);
/// let ada = Identity::new("ada").scopes(["orders:read"]).expires_at(session_end);
/// ```
#[derive(Clone, Debug)]
pub struct Identity {
    pub(crate) subject: String,
    pub(crate) display_name: Option<String>,
    pub(crate) scopes: BTreeSet<String>,
    pub(crate) roles: BTreeSet<String>,
    pub(crate) claims: BTreeMap<String, BTreeSet<String>>,
    pub(crate) expires_at: Option<SystemTime>,
}

impl Identity {
    /// The identity of a subject, which owns the conversations that it begins. It has no scopes and no
    /// roles, and does not expire.
    pub fn new(subject: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            display_name: None,
            scopes: BTreeSet::new(),
            roles: BTreeSet::new(),
            claims: BTreeMap::new(),
            expires_at: None,
        }
    }

    /// Sets the name that other people see; by default the subject.
    #[must_use]
    pub fn display_name(mut self, name: impl Into<String>) -> Self {
        self.display_name = Some(name.into());
        self
    }

    /// Adds roles: [`ADMIN_ROLE`], or any that the `approvers` of a tool name.
    #[must_use]
    pub fn roles<R: Into<String>>(mut self, roles: impl IntoIterator<Item = R>) -> Self {
        self.roles.extend(roles.into_iter().map(Into::into));
        self
    }

    /// Adds a value of a claim, which a rule of an endpoint may compare: the customer number of the person, or one of their teams.
    #[must_use]
    pub fn claim(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.claims.entry(name.into()).or_default().insert(value.into());
        self
    }

    /// Adds granted scopes.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Sets the expiry: connections end then, and a turn that a restart has interrupted is not resumed later.
    #[must_use]
    pub fn expires_at(mut self, at: SystemTime) -> Self {
        self.expires_at = Some(at);
        self
    }

    /// Returns the identity that a middleware of the program has inserted into the extensions of the request: an argument for
    /// [`AuthenticatorBuilder::login`](crate::AuthenticatorBuilder::login).
    pub fn from_extensions(head: Parts) -> Ready<Result<Option<Self>, VerifyError>> {
        ready(Ok(head.extensions.get::<Self>().cloned()))
    }
}
