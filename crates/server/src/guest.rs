//! The principal of a request: who it is, which tools its scopes open now, and the credential that this depends on.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::HeaderValue;
use toolwright_chat::{TurnRequest, PendingApproval, Owner, PrincipalRecord};
use toolwright_core::{Caller, Invoker, Scope, Tool};
use toolwright_mcp::Visitor;

use crate::app::App;
use crate::endpoint::Live;
use crate::pass::CookieSession;
use crate::problem::Problem;

/// The bundle of the tools that somebody brings and runs themselves.
pub(crate) const BROUGHT: &str = "brought by the caller";

/// Whether a call is one that whoever asked runs themselves.
pub(crate) fn is_brought(asked: &PendingApproval) -> bool {
    &*asked.tool.bundle == BROUGHT
}

/// The principal of a request; cheap to clone.
#[derive(Clone)]
pub(crate) struct Guest {
    visitor: Visitor,
    credential: Arc<Credential>,
    /// The tools that they run themselves.
    brought: Arc<[Tool]>,
}

/// What a connection was opened with; empty where the server needs no credential, and for what the server does itself.
#[derive(Default)]
pub(crate) struct Credential {
    pub(crate) authorization: Option<HeaderValue>,
    pub(crate) session: Option<CookieSession>,
}

impl Guest {
    pub(crate) fn new(visitor: Visitor, credential: Credential) -> Self {
        Self {
            visitor,
            credential: Arc::new(credential),
            brought: Arc::default(),
        }
    }

    /// The operator, in whose name the server itself acts.
    pub(crate) fn operator(app: &App) -> Self {
        Self::new(app.mcp.operator(), Credential::default())
    }

    /// The principal that a journal records, with the rights that it has today; `None` if its credential has expired, or the
    /// server does not know it any more.
    pub(crate) fn recorded(app: &App, record: Option<&PrincipalRecord>) -> Option<Self> {
        let visitor = match record {
            // A server that knows subjects has no operator among them.
            None => app.mcp.has_operator().then(|| app.mcp.operator()),
            Some(record) => {
                let expires = record.expires.map(Duration::from_millis);
                let expires = expires.map(|since| UNIX_EPOCH + since);
                let scopes = record.scopes.iter().cloned();
                app.mcp.readmit(&record.subject, scopes, expires).ok()
            }
        };
        visitor.map(|visitor| Self::new(visitor, Credential::default()))
    }

    /// Checks the credential of a connection once more.
    ///
    /// # Errors
    ///
    /// When it is not good any more, or has become another subject's.
    pub(crate) async fn renewed(&self, app: &App) -> Result<Self, Problem> {
        let ended = || {
            let message = "the credential of this connection is not good any more: sign in again";
            Problem::unauthorized(message)
        };
        let session = self.credential.session.as_ref();
        if session.is_some_and(CookieSession::is_over) {
            return Err(ended());
        }
        let authorization = self.credential.authorization.as_ref();
        let visitor = app.mcp.authenticate(authorization).await?;
        if visitor.caller() != self.caller() {
            return Err(ended());
        }
        Ok(Self {
            visitor,
            credential: Arc::clone(&self.credential),
            brought: Arc::clone(&self.brought),
        })
    }

    /// Returns true if the credential is not good any more; false while nobody can tell.
    pub(crate) async fn is_revoked(&self, app: &App) -> bool {
        let renewed = self.renewed(app).await;
        renewed.is_err_and(|problem| !problem.is_passing())
    }

    /// Waits until the credential expires, or its cookie session ends.
    pub(crate) async fn ended(&self) {
        let session = async {
            match &self.credential.session {
                Some(session) => session.over().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.visitor.expired() => {}
            () = session => {}
        }
    }

    /// Returns true if the credential has expired.
    pub(crate) fn is_expired(&self) -> bool {
        self.visitor.is_expired()
    }

    pub(crate) fn caller(&self) -> &Caller {
        self.visitor.caller()
    }

    /// The tools and prompts that the scopes open.
    pub(crate) fn invoker(&self) -> &Invoker {
        self.visitor.invoker()
    }

    /// Returns true if its scopes decide which tools it may use.
    pub(crate) fn is_limited(&self) -> bool {
        self.visitor.is_limited()
    }

    /// The owner of the conversations that it begins.
    pub(crate) fn owner(&self) -> Owner {
        match self.visitor.subject() {
            Some(subject) => Owner::Subject(subject.to_owned()),
            None => Owner::Operator,
        }
    }

    /// What a journal records of it; nothing of the operator.
    pub(crate) fn record(&self) -> Option<PrincipalRecord> {
        let mut record = PrincipalRecord::new(self.visitor.subject()?);
        let scopes: BTreeSet<&str> = self.visitor.scopes().collect();
        record.scopes = scopes.into_iter().map(str::to_owned).collect();
        record.expires = self.visitor.expires().map(millis);
        Some(record)
    }

    /// Brings tools of their own, which wait for whoever brought them when they are called.
    #[must_use]
    pub(crate) fn bringing(mut self, tools: Vec<Tool>) -> Self {
        self.brought = tools.into();
        self
    }

    /// In whose name tools are called.
    pub(crate) fn scope(&self) -> Scope {
        Scope::new().caller(self.caller().clone())
    }

    /// Keeps a prompt to the tools of an endpoint that the scopes open when its turn begins.
    pub(crate) fn limit(&self, ask: TurnRequest, live: &Live) -> TurnRequest {
        let mut ask = ask.caller(self.caller().clone()).principal(self.record());
        if !self.brought.is_empty() {
            ask = ask.tools(self.brought.to_vec());
        }
        if !self.is_limited() {
            return ask;
        }
        let (visitor, local) = (self.visitor.clone(), Arc::clone(&live.local));
        // Tools that only the endpoint has are open to everybody who may use the endpoint.
        ask.allow(move |spec| local.contains(spec.name.as_str()) || visitor.may_use(spec))
    }
}

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
