//! Handlers: async functions of an endpoint's author whose arguments are extracted from the session.

use std::any::Any;
use std::fmt::Display;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use toolwright_core::{BoxFuture, Caller};

use crate::conversation::room_command::IncomingMessage;
use crate::conversation::session::Session;
use crate::conversation::turn_error::TurnError;
use crate::endpoint::path_params;

/// An argument of a handler, extracted by its type.
pub trait FromSession: Sized {
    /// Extracts the value from a session and the message that is being answered.
    ///
    /// # Errors
    ///
    /// When the value is missing or malformed; the message is shown to the user.
    fn from_session(session: &Session, message: &IncomingMessage) -> Result<Self, TurnError>;

    /// Checks, when the server is built, that the value can be extracted at a path with these parameters.
    ///
    /// # Errors
    ///
    /// The reason why it never can.
    fn check_params(_params: &[String]) -> Result<(), String> {
        Ok(())
    }
}

/// The parameters of the path, deserialized: a string or a number for one; for several a tuple in path order or a struct
/// with a field for each.
#[derive(Clone, Debug)]
pub struct Path<T>(pub T);

/// The number of connected clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerCount(pub usize);

impl FromSession for Session {
    fn from_session(session: &Session, _: &IncomingMessage) -> Result<Self, TurnError> {
        Ok(session.clone())
    }
}

impl FromSession for IncomingMessage {
    fn from_session(_: &Session, message: &IncomingMessage) -> Result<Self, TurnError> {
        Ok(message.clone())
    }
}

impl FromSession for PeerCount {
    fn from_session(session: &Session, _: &IncomingMessage) -> Result<Self, TurnError> {
        Ok(Self(session.peer_count()))
    }
}

impl FromSession for Caller {
    fn from_session(session: &Session, _: &IncomingMessage) -> Result<Self, TurnError> {
        Ok(session.caller().clone())
    }
}

impl<T: DeserializeOwned> FromSession for Path<T> {
    fn from_session(session: &Session, _: &IncomingMessage) -> Result<Self, TurnError> {
        let read = path_params::deserialize_params(session.params()).map(Self);
        read.map_err(|error| TurnError::new("path", error))
    }

    fn check_params(params: &[String]) -> Result<(), String> {
        Self::check_type(params)
    }
}

impl<T: DeserializeOwned> Path<T> {
    /// Checks that values of these parameters fit the type.
    pub(crate) fn check_type(params: &[String]) -> Result<(), String> {
        path_params::check_params_type::<T>(params).map_err(|reason| {
            let type_name = std::any::type_name::<T>();
            format!("cannot read them into `{type_name}`: {reason}")
        })
    }
}

/// The return type of a handler: nothing, or a `Result`.
pub trait IntoHandlerResult {
    /// Converts the return value.
    ///
    /// # Errors
    ///
    /// When the handler failed.
    fn into_handler_result(self) -> Result<(), TurnError>;
}

impl IntoHandlerResult for () {
    fn into_handler_result(self) -> Result<(), TurnError> {
        Ok(())
    }
}

impl<E: Display + 'static> IntoHandlerResult for Result<(), E> {
    fn into_handler_result(self) -> Result<(), TurnError> {
        self.map_err(|error| {
            // A `TurnError` passes through unchanged.
            let turn_error = (&error as &dyn Any).downcast_ref::<TurnError>().cloned();
            turn_error.unwrap_or_else(|| TurnError::new("endpoint", error))
        })
    }
}

/// An async function whose arguments implement [`FromSession`].
pub trait Handler<Args>: Send + Sync + 'static {
    /// Extracts the arguments and calls the function.
    fn call(
        &self,
        session: &Session,
        message: &IncomingMessage,
    ) -> BoxFuture<'static, Result<(), TurnError>>;

    /// Checks, when the server is built, that all arguments can be extracted at a path with these parameters.
    ///
    /// # Errors
    ///
    /// The reason why one never can.
    fn check_params(_params: &[String]) -> Result<(), String> {
        Ok(())
    }
}

/// A handler without its argument types.
pub(crate) type ErasedHandler = Arc<
    dyn Fn(&Session, &IncomingMessage) -> BoxFuture<'static, Result<(), TurnError>> + Send + Sync,
>;

pub(crate) fn erase_handler<Args, H: Handler<Args>>(handler: H) -> ErasedHandler {
    Arc::new(move |session, message| handler.call(session, message))
}

/// The name and the parameter check of a handler, kept for error messages of the build.
#[derive(Clone)]
pub(crate) struct HandlerSignature {
    /// The builder method that set the handler.
    event: &'static str,
    name: &'static str,
    check: fn(&[String]) -> Result<(), String>,
}

impl HandlerSignature {
    pub(crate) fn of<Args, H: Handler<Args>>(event: &'static str, _: &H) -> Self {
        Self { event, name: std::any::type_name::<H>(), check: H::check_params }
    }

    /// Checks that the handler fits a path with these parameters.
    pub(crate) fn check(&self, params: &[String]) -> Result<(), String> {
        (self.check)(params).map_err(|reason| {
            let Self { event, name, .. } = self;
            let params = params.join("`, `");
            format!("its parameters are `{params}`, and its {event} handler `{name}` {reason}")
        })
    }
}

macro_rules! impl_handler {
    ($($arg:ident),*) => {
        impl<F, Fut, $($arg),*> Handler<($($arg,)*)> for F
        where
            F: Fn($($arg),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output: IntoHandlerResult> + Send + 'static,
            $($arg: FromSession,)*
        {
            #[allow(unused_variables, non_snake_case, reason = "one macro for every number of arguments")]
            fn call(
                &self,
                session: &Session,
                message: &IncomingMessage,
            ) -> BoxFuture<'static, Result<(), TurnError>> {
                $(
                    let $arg = match $arg::from_session(session, message) {
                        Ok(value) => value,
                        Err(error) => return Box::pin(async move { Err(error) }),
                    };
                )*
                let future = self($($arg),*);
                Box::pin(async move { future.await.into_handler_result() })
            }

            fn check_params(_params: &[String]) -> Result<(), String> {
                $($arg::check_params(_params)?;)*
                Ok(())
            }
        }
    };
}

impl_handler!();
impl_handler!(A);
impl_handler!(A, B);
impl_handler!(A, B, C);
impl_handler!(A, B, C, D);
