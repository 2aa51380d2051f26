//! The context of a request: its principal, the tools that its scopes grant, its credential and the client's own tools.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::http::request::Parts;
use serde_json::Value;
use toolwright_auth::{ADMIN_ROLE, Authenticator, Principal};
use toolwright_chat::{Owner, PendingApproval, PrincipalRecord, TurnRequest};
use toolwright_core::__internal::unix_millis_of;
use toolwright_core::{Approvers, CallScope, Caller, Invoker, ToolSpec};

use crate::auth::session_cookie::CookieSession;
use crate::auth::session_credential::identity_of;
use crate::endpoint::EndpointRuntime;
use crate::endpoint::client_tools::{ClientTools, parse_client_tools};
use crate::http::error_response::ErrorResponse;
use crate::quota::account::QuotaAccount;

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
    client_tools: Arc<ClientTools>,
}

/// The credential of a request, to be verified again.
pub(crate) struct Credential {
    auth: Authenticator,
    /// What the authenticator needs of the head of the request; `None` for what the server does itself.
    head: Option<Parts>,
    cookie_session: Option<CookieSession>,
}

impl Credential {
    pub(crate) fn new(
        auth: &Authenticator,
        head: &Parts,
        cookie_session: Option<CookieSession>,
    ) -> Self {
        Self { head: Some(auth.credential_of(head)), auth: auth.clone(), cookie_session }
    }

    /// No credential, for what the server does itself.
    pub(crate) fn none(auth: &Authenticator) -> Self {
        Self { auth: auth.clone(), head: None, cookie_session: None }
    }
}

impl RequestContext {
    pub(crate) fn new(principal: Principal, credential: Credential) -> Self {
        Self { principal, credential: Arc::new(credential), client_tools: Arc::default() }
    }

    /// The operator, on whose behalf the server itself acts.
    pub(crate) fn operator(auth: &Authenticator) -> Self {
        Self::new(auth.operator(), Credential::none(auth))
    }

    /// The principal that a journal records, with the scopes that it has now; `None` if its credential has expired, or the
    /// server does not know it any more.
    pub(crate) fn from_record(
        auth: &Authenticator,
        record: Option<&PrincipalRecord>,
    ) -> Option<Self> {
        let principal = match record {
            // Without a record the principal was the operator, which a server with subjects does not have.
            None => auth.has_operator().then(|| auth.operator()),
            Some(record) => auth.restore_principal(identity_of(record)).ok(),
        };
        principal.map(|principal| Self::new(principal, Credential::none(auth)))
    }

    /// Verifies the credential of a connection again.
    ///
    /// # Errors
    ///
    /// When it is no longer valid, or belongs to another subject now.
    pub(crate) async fn reauthenticate(&self) -> Result<Self, ErrorResponse> {
        let ended = || {
            let message = "the credential of this connection is not good any more: sign in again";
            ErrorResponse::unauthorized(message)
        };
        let Credential { auth, head, cookie_session } = &*self.credential;
        if let Some(session) = cookie_session
            && !session.is_valid().await?
        {
            return Err(ended());
        }
        let identity = cookie_session.as_ref().and_then(CookieSession::identity);
        let principal = match identity {
            Some(identity) => auth.authenticate_session(identity)?,
            None => auth.authenticate(head.as_ref().ok_or_else(ended)?).await?,
        };
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
    pub(crate) async fn is_revoked(&self) -> bool {
        let renewed = self.reauthenticate().await;
        renewed.is_err_and(|error| !error.is_transient())
    }

    /// Waits until the credential expires, or its cookie session ends.
    pub(crate) async fn wait_expired(&self) {
        let session = async {
            match &self.credential.cookie_session {
                // Boxed, because most requests have no cookie.
                Some(session) => Box::pin(session.wait_expired()).await,
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

    pub(crate) fn principal(&self) -> &Principal {
        &self.principal
    }

    /// The id of the cookie session, if the request has one.
    pub(crate) fn session_id(&self) -> Option<&str> {
        self.credential.cookie_session.as_ref().map(CookieSession::id)
    }

    pub(crate) fn caller(&self) -> &Caller {
        self.principal.caller()
    }

    /// The subject of the credential; `None` for the operator.
    pub(crate) fn subject(&self) -> Option<&str> {
        self.principal.subject()
    }

    /// The name that other people see, if it has one beside the subject.
    pub(crate) fn display_name(&self) -> Option<&str> {
        self.principal.display_name()
    }

    /// The name that other people see: the display name, else the subject; `None` for the operator.
    pub(crate) fn visible_name(&self) -> Option<&str> {
        self.display_name().or(self.subject())
    }

    /// Returns true if these approvers include it, for a call that runs for `owner`.
    pub(crate) fn may_approve(&self, approvers: &Approvers, owner: Option<&str>) -> bool {
        approvers.allow(owner, self.subject(), self.principal.roles())
    }

    /// Returns true if it may read the conversations of all owners.
    pub(crate) fn is_admin(&self) -> bool {
        self.subject().is_some() && self.principal.has_role(ADMIN_ROLE)
    }

    /// Returns true if the scopes grant a tool.
    pub(crate) fn may_use(&self, spec: &ToolSpec) -> bool {
        !self.is_scoped() || self.principal.may_use(spec)
    }

    /// The tools and prompts of the route that the scopes grant.
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

    /// The person whose quota it uses; `None` for what the program itself does.
    pub(crate) fn quota_account(&self) -> Option<QuotaAccount> {
        let is_program = self.principal.subject().is_none() && self.credential.head.is_none();
        (!is_program).then(|| QuotaAccount::of_principal(&self.principal))
    }

    /// What the journal records of the principal; `None` for the operator.
    pub(crate) fn principal_record(&self) -> Option<PrincipalRecord> {
        let mut record = PrincipalRecord::new(self.principal.subject()?);
        let scopes: BTreeSet<&str> = self.principal.scopes().collect();
        record.scopes = scopes.into_iter().map(str::to_owned).collect();
        record.roles = self.principal.roles().map(str::to_owned).collect();
        record.claims.clone_from(self.principal.claims());
        record.name = self.principal.display_name().map(str::to_owned);
        record.expires =
            self.principal.expires_at().map(|at| unix_millis_of(at).unwrap_or_default());
        Some(record)
    }

    /// Adds the client's own tools; a call of one pauses the turn until the client sends the result.
    #[must_use]
    pub(crate) fn with_client_tools(mut self, tools: ClientTools) -> Self {
        self.client_tools = Arc::new(tools);
        self
    }

    /// Replaces the client's own tools by those of stored definitions, if there are any.
    #[must_use]
    pub(crate) fn with_stored_client_tools(
        self,
        definitions: &[Value],
        endpoint: &EndpointRuntime,
    ) -> Self {
        if definitions.is_empty() {
            return self;
        }
        match parse_client_tools(definitions, endpoint) {
            Ok(tools) => self.with_client_tools(tools),
            // The server has a tool of that name by now: the call is one of a tool that has changed.
            Err((at, error)) => {
                tracing::warn!(at, error, "the tools of a client cannot be used any more");
                self
            }
        }
    }

    /// The definitions of the client's own tools.
    pub(crate) fn client_tool_definitions(&self) -> &[Value] {
        &self.client_tools.definitions
    }

    /// Adds the tools of the client that has sent another request.
    #[must_use]
    pub(crate) fn with_client_tools_of(mut self, other: &Self) -> Self {
        self.client_tools = Arc::clone(&other.client_tools);
        self
    }

    /// The scope of tool calls on behalf of this principal.
    pub(crate) fn call_scope(&self) -> CallScope {
        CallScope::new().caller(self.caller().clone())
    }

    /// Limits a turn to the endpoint's tools that the scopes grant when it begins. A conversation of another endpoint than the
    /// request was sent to is limited to the tools of both.
    pub(crate) fn apply_to_turn(
        &self,
        request: TurnRequest,
        endpoint: &EndpointRuntime,
    ) -> TurnRequest {
        let mut request = request.caller(self.caller().clone()).principal(self.principal_record());
        if !self.client_tools.tools.is_empty() {
            request = request.tools(self.client_tools.tools.clone());
        }
        let is_elsewhere =
            !Arc::ptr_eq(self.credential.auth.all_tools(), endpoint.auth.all_tools());
        if is_elsewhere {
            let offered = self.invoker().snapshot();
            return request.allow(move |spec| {
                let offered = offered.as_ref().ok().and_then(|all| all.get(spec.name.as_str()));
                offered.is_some_and(|tool| tool.spec().bundle == spec.bundle)
            });
        }
        if !self.is_scoped() {
            return request;
        }
        let (principal, local) = (self.principal.clone(), Arc::clone(&endpoint.endpoint_tools));
        // Tools of the endpoint itself are granted to every principal that may use the endpoint.
        request.allow(move |spec| local.contains(spec.name.as_str()) || principal.may_use(spec))
    }
}
