//! Who may enter a room, a conversation that the parameters of its path name: **a principal and a path in, allowed or not out.**
//!
//! The only place that decides. Requests, open connections, messages that have waited and turns that are resumed all ask here, by
//! [`Room::check_access`](crate::conversation::room::Room::check_access).

use std::fmt::Display;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use serde::de::DeserializeOwned;
use tokio::time::timeout;
use toolwright_auth::Principal;
use toolwright_conversation::ConversationError;
use toolwright_core::schema::nearest;
use toolwright_core::{BoxFuture, Invoker, State};

use crate::endpoint::handler::Path;
use crate::endpoint::path_params;
use crate::endpoint::path_template::{PathParams, PathTemplate};

/// How long a function may take to decide.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);

/// A principal that wants to enter a room.
pub struct AccessRequest<'a> {
    principal: &'a Principal,
    params: &'a PathParams,
    invoker: &'a Invoker,
}

/// An argument of a function that decides who may enter, extracted by its type.
pub trait FromAccessRequest: Sized {
    /// Extracts the value; `None` if the path does not have one: then nobody is let in.
    fn from_access_request(request: &AccessRequest<'_>) -> Option<Self>;

    /// Checks, when the server is built, that the value can be extracted at a path with these parameters.
    ///
    /// # Errors
    ///
    /// The reason why it never can.
    fn check(_params: &[String], _invoker: &Invoker) -> Result<(), String> {
        Ok(())
    }
}

impl FromAccessRequest for Principal {
    fn from_access_request(request: &AccessRequest<'_>) -> Option<Self> {
        Some(request.principal.clone())
    }
}

impl<T: DeserializeOwned> FromAccessRequest for Path<T> {
    fn from_access_request(request: &AccessRequest<'_>) -> Option<Self> {
        path_params::deserialize_params(request.params).ok().map(Self)
    }

    fn check(params: &[String], _: &Invoker) -> Result<(), String> {
        Self::check_type(params)
    }
}

impl<T: Send + Sync + 'static> FromAccessRequest for State<T> {
    fn from_access_request(request: &AccessRequest<'_>) -> Option<Self> {
        request.invoker.state().map(Self)
    }

    fn check(_: &[String], invoker: &Invoker) -> Result<(), String> {
        let name = std::any::type_name::<T>();
        let missing =
            || format!("needs state of type `{name}`: write `.state(…)`, where tools get theirs");
        invoker.state::<T>().map(drop).ok_or_else(missing)
    }
}

/// The return type of a function that decides who may enter: a `bool`, or a `Result` of one.
pub trait IntoAllowed {
    /// Converts the return value.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be decided now.
    fn into_allowed(self) -> Result<bool, String>;
}

impl IntoAllowed for bool {
    fn into_allowed(self) -> Result<bool, String> {
        Ok(self)
    }
}

impl<E: Display> IntoAllowed for Result<bool, E> {
    fn into_allowed(self) -> Result<bool, String> {
        self.map_err(|error| error.to_string())
    }
}

/// An async function that decides who may enter, whose arguments implement [`FromAccessRequest`].
pub trait AccessCheck<Args>: Send + Sync + 'static {
    /// Extracts the arguments and calls the function; the error is the reason why it cannot be decided now.
    fn call(&self, request: &AccessRequest<'_>) -> BoxFuture<'static, Result<bool, String>>;

    /// Checks, when the server is built, that all arguments can be extracted at a path with these parameters.
    ///
    /// # Errors
    ///
    /// The reason why one never can.
    fn check(_params: &[String], _invoker: &Invoker) -> Result<(), String> {
        Ok(())
    }
}

macro_rules! impl_access_check {
    ($($arg:ident),*) => {
        impl<F, Fut, $($arg),*> AccessCheck<($($arg,)*)> for F
        where
            F: Fn($($arg),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output: IntoAllowed> + Send + 'static,
            $($arg: FromAccessRequest,)*
        {
            #[allow(unused_variables, non_snake_case, reason = "one macro for every number of arguments")]
            fn call(&self, request: &AccessRequest<'_>) -> BoxFuture<'static, Result<bool, String>> {
                $(
                    let Some($arg) = $arg::from_access_request(request) else {
                        return Box::pin(std::future::ready(Ok(false)));
                    };
                )*
                let future = self($($arg),*);
                Box::pin(async move { future.await.into_allowed() })
            }

            fn check(_params: &[String], _invoker: &Invoker) -> Result<(), String> {
                $($arg::check(_params, _invoker)?;)*
                Ok(())
            }
        }
    };
}

impl_access_check!();
impl_access_check!(A);
impl_access_check!(A, B);
impl_access_check!(A, B, C);
impl_access_check!(A, B, C, D);

/// A rule about who may enter the rooms of an endpoint.
#[derive(Clone)]
pub(crate) enum RoomRule {
    /// Everyone may.
    Everyone,
    /// The person whose subject is the value of a parameter.
    Subject { param: String },
    /// People of whom a claim has the value of a parameter.
    Claim { param: String, claim: String },
    /// People whom a function allows.
    Function {
        name: &'static str,
        call: CheckFn,
        check: fn(&[String], &Invoker) -> Result<(), String>,
    },
}

type CheckFn =
    Arc<dyn Fn(&AccessRequest<'_>) -> BoxFuture<'static, Result<bool, String>> + Send + Sync>;

impl RoomRule {
    pub(crate) fn check<Args, C: AccessCheck<Args>>(check: C) -> Self {
        Self::Function {
            name: std::any::type_name::<C>(),
            call: Arc::new(move |request| check.call(request)),
            check: C::check,
        }
    }

    /// The claim that it compares.
    pub(crate) fn claim(&self) -> Option<&str> {
        match self {
            Self::Claim { claim, .. } => Some(claim),
            _ => None,
        }
    }

    /// Checks that it fits a path with these parameters.
    fn check_params(&self, params: &[String], invoker: &Invoker) -> Result<(), String> {
        match self {
            Self::Everyone => Ok(()),
            Self::Subject { param } | Self::Claim { param, .. } if !params.contains(param) => {
                let names = params.iter().map(String::as_str);
                let near = nearest(param, names, 1)
                    .first()
                    .map(|near| format!("; did you mean `{near}`?"));
                let near = near.unwrap_or_else(|| format!("; it has `{}`", params.join("`, `")));
                Err(format!("its path has no parameter `{param}` that says who may enter{near}"))
            }
            Self::Subject { .. } | Self::Claim { .. } => Ok(()),
            Self::Function { name, check, .. } => check(params, invoker).map_err(|reason| {
                let params = params.join("`, `");
                format!(
                    "its parameters are `{params}`, and its allow_if function `{name}` {reason}"
                )
            }),
        }
    }

    /// The error is the reason why it cannot be decided now.
    async fn allows(&self, request: &AccessRequest<'_>) -> Result<bool, String> {
        let value = |name: &str| {
            let found = request.params.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str())
        };
        match self {
            Self::Everyone => Ok(true),
            Self::Subject { param } => {
                Ok(value(param).is_some_and(|value| request.principal.subject() == Some(value)))
            }
            Self::Claim { param, claim } => {
                Ok(value(param).is_some_and(|value| request.principal.has_claim(claim, value)))
            }
            Self::Function { call, .. } => {
                let decided = AssertUnwindSafe(async { call(request).await }).catch_unwind();
                match timeout(CHECK_TIMEOUT, decided).await {
                    Ok(Ok(decided)) => decided,
                    Ok(Err(_)) => Err("the function panicked".to_owned()),
                    Err(_) => Err("the function took too long".to_owned()),
                }
            }
        }
    }
}

/// Who may enter the rooms of an endpoint: people whom all of its rules let in.
pub(crate) struct RoomAccess(Vec<RoomRule>);

impl RoomAccess {
    /// Checks that rules fit a path, and that there are some if people can be told apart.
    pub(crate) fn new(
        rules: Vec<RoomRule>,
        template: &PathTemplate,
        invoker: &Invoker,
        has_subjects: bool,
    ) -> Result<Self, String> {
        let params = template.param_names();
        if template.collection_path().is_some() {
            return match rules.is_empty() {
                true => Ok(Self(rules)),
                false => Err("its path has no parameters, so every conversation belongs to the person who began it already: \
                              remove the rule about who may enter"
                    .to_owned()),
            };
        }
        for rule in &rules {
            rule.check_params(params, invoker)?;
        }
        if rules.len() > 1 && rules.iter().any(|rule| matches!(rule, RoomRule::Everyone)) {
            return Err("`.open_to_all()` contradicts its other rules about who may enter: remove it or them".to_owned());
        }
        if rules.is_empty() && has_subjects {
            let param = params.first().map_or("id", String::as_str);
            return Err(format!(
                "people can be told apart, and its path has parameters: say who may enter, with \
                 `.for_subject(\"{param}\")` for the person whom `{param}` names, \
                 `.allow_if(|caller: Principal, path: Path<…>| …)` for a function that decides, or \
                 `.open_to_all()` for everyone"
            ));
        }
        Ok(Self(rules))
    }

    /// Returns true if the decision about a principal may change while its credential stays the same.
    pub(crate) fn may_change(&self) -> bool {
        let changes =
            |rule: &RoomRule| !matches!(rule, RoomRule::Everyone | RoomRule::Subject { .. });
        self.0.iter().any(changes)
    }

    /// Checks that a principal may enter the room with these parameters.
    ///
    /// `NotFound` if it may not, as for a conversation that does not exist; `Undecided` if that cannot be decided now.
    pub(crate) async fn check(
        &self,
        principal: &Principal,
        params: &PathParams,
        invoker: &Invoker,
    ) -> Result<(), ConversationError> {
        // The operator.
        let Some(subject) = principal.subject() else { return Ok(()) };
        let request = AccessRequest { principal, params, invoker };
        let mut is_allowed = !self.0.is_empty();
        for rule in &self.0 {
            is_allowed = is_allowed && rule.allows(&request).await.map_err(undecided)?;
        }
        match is_allowed {
            true => Ok(()),
            false => {
                tracing::debug!(
                    subject,
                    ?params,
                    "the rules of the endpoint do not let this person enter"
                );
                Err(ConversationError::NotFound)
            }
        }
    }
}

fn undecided(error: String) -> ConversationError {
    tracing::warn!(error, "it cannot be decided who may enter a conversation");
    let message = "it cannot be decided now who may enter this conversation";
    ConversationError::Undecided { message }
}
