//! The principal of a request: who it is, which tools its scopes open now, and the credential that this depends on.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::HeaderValue;
use toolwright_auth::Principal;
use toolwright_chat::{Owner, PendingApproval, PrincipalRecord, TurnRequest};
use toolwright_core::{CallScope, Caller, Invoker, Tool};

use crate::endpoint::EndpointRuntime;
use crate::error_response::ErrorResponse;
use crate::server_state::ServerState;
use crate::session_cookie::CookieSession;

/// The bundle of the tools that somebody brings and runs themselves.
pub(crate) const CLIENT_TOOLS_BUNDLE: &str = "brought by the caller";

/// Whether a call is one that whoever asked runs themselves.
pub(crate) fn is_client_tool_call(asked: &PendingApproval) -> bool {
    &*asked.tool.bundle == CLIENT_TOOLS_BUNDLE
}

/// The principal of a request; cheap to clone.
#[derive(Clone)]
pub(crate) struct RequestContext {
    principal: Principal,
    credential: Arc<Credential>,
    /// The tools that they run themselves.
    client_tools: Arc<[Tool]>,
}

/// What a connection was opened with; empty where the server needs no credential, and for what the server does itself.
#[derive(Default)]
pub(crate) struct Credential {
    pub(crate) authorization: Option<HeaderValue>,
    pub(crate) cookie_session: Option<CookieSession>,
}

impl RequestContext {
    pub(crate) fn new(visitor: Principal, credential: Credential) -> Self {
        Self {
            principal: visitor,
            credential: Arc::new(credential),
            client_tools: Arc::default(),
        }
    }

    /// The operator, in whose name the server itself acts.
    pub(crate) fn operator(app: &ServerState) -> Self {
        Self::new(app.auth.operator(), Credential::default())
    }

    /// The principal that a journal records, with the rights that it has today; `None` if its credential has expired, or the
    /// server does not know it any more.
    pub(crate) fn from_record(app: &ServerState, record: Option<&PrincipalRecord>) -> Option<Self> {
        let visitor = match record {
            // A server that knows subjects has no operator among them.
            None => app.auth.has_operator().then(|| app.auth.operator()),
            Some(record) => {
                let expires = record.expires.map(Duration::from_millis);
                let expires = expires.map(|since| UNIX_EPOCH + since);
                let scopes = record.scopes.iter().cloned();
                app.auth
                    .restore_principal(&record.subject, scopes, expires)
                    .ok()
            }
        };
        visitor.map(|visitor| Self::new(visitor, Credential::default()))
    }

    /// Checks the credential of a connection once more.
    ///
    /// # Errors
    ///
    /// When it is not good any more, or has become another subject's.
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
        let visitor = app.auth.authenticate(authorization).await?;
        if visitor.caller() != self.caller() {
            return Err(ended());
        }
        Ok(Self {
            principal: visitor,
            credential: Arc::clone(&self.credential),
            client_tools: Arc::clone(&self.client_tools),
        })
    }

    /// Returns true if the credential is not good any more; false while nobody can tell.
    pub(crate) async fn is_revoked(&self, app: &ServerState) -> bool {
        let renewed = self.reauthenticate(app).await;
        renewed.is_err_and(|problem| !problem.is_transient())
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

    /// The tools and prompts that the scopes open.
    pub(crate) fn invoker(&self) -> &Invoker {
        self.principal.invoker()
    }

    /// Returns true if its scopes decide which tools it may use.
    pub(crate) fn is_scoped(&self) -> bool {
        self.principal.is_scoped()
    }

    /// The owner of the conversations that it begins.
    pub(crate) fn owner(&self) -> Owner {
        match self.principal.subject() {
            Some(subject) => Owner::Subject(subject.to_owned()),
            None => Owner::Operator,
        }
    }

    /// What a journal records of it; nothing of the operator.
    pub(crate) fn principal_record(&self) -> Option<PrincipalRecord> {
        let mut record = PrincipalRecord::new(self.principal.subject()?);
        let scopes: BTreeSet<&str> = self.principal.scopes().collect();
        record.scopes = scopes.into_iter().map(str::to_owned).collect();
        record.expires = self.principal.expires_at().map(unix_millis_of);
        Some(record)
    }

    /// Brings tools of their own, which wait for whoever brought them when they are called.
    #[must_use]
    pub(crate) fn with_client_tools(mut self, tools: Vec<Tool>) -> Self {
        self.client_tools = tools.into();
        self
    }

    /// In whose name tools are called.
    pub(crate) fn call_scope(&self) -> CallScope {
        CallScope::new().caller(self.caller().clone())
    }

    /// Keeps a prompt to the tools of an endpoint that the scopes open when its turn begins.
    pub(crate) fn apply_to_turn(&self, ask: TurnRequest, live: &EndpointRuntime) -> TurnRequest {
        let mut ask = ask
            .caller(self.caller().clone())
            .principal(self.principal_record());
        if !self.client_tools.is_empty() {
            ask = ask.tools(self.client_tools.to_vec());
        }
        if !self.is_scoped() {
            return ask;
        }
        let (visitor, local) = (self.principal.clone(), Arc::clone(&live.endpoint_tools));
        // Tools that only the endpoint has are open to everybody who may use the endpoint.
        ask.allow(move |spec| local.contains(spec.name.as_str()) || visitor.may_use(spec))
    }
}

fn unix_millis_of(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
