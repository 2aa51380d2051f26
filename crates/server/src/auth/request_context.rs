//! The context of a request: its principal, the tools that its scopes grant, its credential and the client's own tools.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use axum::http::HeaderValue;
use toolwright_auth::Principal;
use toolwright_chat::{Owner, PendingApproval, PrincipalRecord, TurnRequest};
use toolwright_core::__internal::unix_millis_of;
use toolwright_core::{CallScope, Caller, Invoker, Tool};

use crate::auth::session_cookie::CookieSession;
use crate::endpoint::EndpointRuntime;
use crate::endpoint::server_state::ServerState;
use crate::http::error_response::ErrorResponse;

/// The bundle of the tools that a client defines and runs itself.
pub(crate) const CLIENT_TOOLS_BUNDLE: &str = "brought by the caller";

/// Returns true if the call is of a tool that the client runs itself.
pub(crate) fn is_client_tool_call(approval: &PendingApproval) -> bool {
    &*approval.tool.bundle == CLIENT_TOOLS_BUNDLE
}

/// The principal of a request and what it may use; cheap to clone.
#[derive(Clone)]
pub(crate) struct RequestContext {
    principal: Principal,
    credential: Arc<Credential>,
    /// The tools that the client runs itself.
    client_tools: Arc<[Tool]>,
}

/// The credential of a request; empty where the server requires none, and for what the server does itself.
#[derive(Default)]
pub(crate) struct Credential {
    pub(crate) authorization: Option<HeaderValue>,
    pub(crate) cookie_session: Option<CookieSession>,
}

impl RequestContext {
    pub(crate) fn new(principal: Principal, credential: Credential) -> Self {
        Self { principal, credential: Arc::new(credential), client_tools: Arc::default() }
    }

    /// The operator, on whose behalf the server itself acts.
    pub(crate) fn operator(app: &ServerState) -> Self {
        Self::new(app.auth.operator(), Credential::default())
    }

    /// The principal that a journal records, with the scopes that it has now; `None` if its credential has expired, or the
    /// server does not know it any more.
    pub(crate) fn from_record(app: &ServerState, record: Option<&PrincipalRecord>) -> Option<Self> {
        let principal = match record {
            // Without a record the principal was the operator, which a server with subjects does not have.
            None => app.auth.has_operator().then(|| app.auth.operator()),
            Some(record) => {
                let expires = record.expires.map(Duration::from_millis);
                let expires = expires.map(|since| UNIX_EPOCH + since);
                let scopes = record.scopes.iter().cloned();
                app.auth.restore_principal(&record.subject, scopes, expires).ok()
            }
        };
        principal.map(|principal| Self::new(principal, Credential::default()))
    }

    /// Verifies the credential of a connection again.
    ///
    /// # Errors
    ///
    /// When it is no longer valid, or belongs to another subject now.
    pub(crate) async fn reauthenticate(&self, app: &ServerState) -> Result<Self, ErrorResponse> {
        let ended = || {
            let message = "the credential of this connection is not good any more: sign in again";
            ErrorResponse::unauthorized(message)
        };
        let session = self.credential.cookie_session.as_ref();
        if session.is_some_and(CookieSession::is_expired) {
            return Err(ended());
        }
        let authorization = self.credential.authorization.as_ref();
        let principal = app.auth.authenticate(authorization).await?;
        if principal.caller() != self.caller() {
            return Err(ended());
        }
        Ok(Self {
            principal,
            credential: Arc::clone(&self.credential),
            client_tools: Arc::clone(&self.client_tools),
        })
    }

    /// Returns true if the credential is no longer valid; false if that cannot be determined now.
    pub(crate) async fn is_revoked(&self, app: &ServerState) -> bool {
        let renewed = self.reauthenticate(app).await;
        renewed.is_err_and(|error| !error.is_transient())
    }

    /// Waits until the credential expires, or its cookie session ends.
    pub(crate) async fn wait_expired(&self) {
        let session = async {
            match &self.credential.cookie_session {
                Some(session) => session.wait_expired().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.principal.wait_expired() => {}
            () = session => {}
        }
    }

    /// Returns true if the credential has expired.
    pub(crate) fn is_expired(&self) -> bool {
        self.principal.is_expired()
    }

    pub(crate) fn caller(&self) -> &Caller {
        self.principal.caller()
    }

    /// The tools and prompts that the scopes grant.
    pub(crate) fn invoker(&self) -> &Invoker {
        self.principal.invoker()
    }

    /// Returns true if scopes limit the tools that it may use.
    pub(crate) fn is_scoped(&self) -> bool {
        self.principal.is_scoped()
    }

    /// The owner of conversations that it begins.
    pub(crate) fn owner(&self) -> Owner {
        match self.principal.subject() {
            Some(subject) => Owner::Subject(subject.to_owned()),
            None => Owner::Operator,
        }
    }

    /// What the journal records of the principal; `None` for the operator.
    pub(crate) fn principal_record(&self) -> Option<PrincipalRecord> {
        let mut record = PrincipalRecord::new(self.principal.subject()?);
        let scopes: BTreeSet<&str> = self.principal.scopes().collect();
        record.scopes = scopes.into_iter().map(str::to_owned).collect();
        record.expires =
            self.principal.expires_at().map(|at| unix_millis_of(at).unwrap_or_default());
        Some(record)
    }

    /// Adds the client's own tools; a call of one pauses the turn until the client sends the result.
    #[must_use]
    pub(crate) fn with_client_tools(mut self, tools: Vec<Tool>) -> Self {
        self.client_tools = tools.into();
        self
    }

    /// The scope of tool calls on behalf of this principal.
    pub(crate) fn call_scope(&self) -> CallScope {
        CallScope::new().caller(self.caller().clone())
    }

    /// Limits a turn to the endpoint's tools that the scopes grant when it begins.
    pub(crate) fn apply_to_turn(
        &self,
        request: TurnRequest,
        endpoint: &EndpointRuntime,
    ) -> TurnRequest {
        let mut request = request.caller(self.caller().clone()).principal(self.principal_record());
        if !self.client_tools.is_empty() {
            request = request.tools(self.client_tools.to_vec());
        }
        if !self.is_scoped() {
            return request;
        }
        let (principal, local) = (self.principal.clone(), Arc::clone(&endpoint.endpoint_tools));
        // Tools of the endpoint itself are granted to every principal that may use the endpoint.
        request.allow(move |spec| local.contains(spec.name.as_str()) || principal.may_use(spec))
    }
}
