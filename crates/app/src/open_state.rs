//! State that is opened when it is needed.

use std::any::type_name;
use std::error::Error;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use toolwright_core::{Config, InvokerBuilder};

use crate::error::{AppError, error_chain};

/// A function that opens the state `T` of a program: `async fn() -> Result<T, E>`, or `async fn(Config) -> Result<T, E>` where
/// it needs the settings.
#[diagnostic::on_unimplemented(
    message = "state cannot be opened with this",
    label = "is no async function that returns a `Result`",
    note = "write `async fn open() -> Result<Shop, Error>`, or `async fn open(config: Config) -> Result<Shop, Error>`",
    note = "a value that is there already is given with `.state(value)`"
)]
pub trait OpenState<T, Args>: Send + 'static {
    /// Opens the state.
    fn open(self, config: Config) -> BoxFuture<'static, Result<T, Box<dyn Error + Send + Sync>>>;
}

#[diagnostic::do_not_recommend]
impl<T, E, F, Fut> OpenState<T, (E,)> for F
where
    T: Send + Sync + 'static,
    E: Into<Box<dyn Error + Send + Sync>>,
    F: FnOnce() -> Fut + Send + 'static,
    Fut: Future<Output = Result<T, E>> + Send + 'static,
{
    fn open(self, _: Config) -> BoxFuture<'static, Result<T, Box<dyn Error + Send + Sync>>> {
        async move { self().await.map_err(Into::into) }.boxed()
    }
}

#[diagnostic::do_not_recommend]
impl<T, E, F, Fut> OpenState<T, (E, Config)> for F
where
    T: Send + Sync + 'static,
    E: Into<Box<dyn Error + Send + Sync>>,
    F: FnOnce(Config) -> Fut + Send + 'static,
    Fut: Future<Output = Result<T, E>> + Send + 'static,
{
    fn open(self, config: Config) -> BoxFuture<'static, Result<T, Box<dyn Error + Send + Sync>>> {
        async move { self(config).await.map_err(Into::into) }.boxed()
    }
}

/// Adds an opened value to an invoker.
type AddState = Box<dyn FnOnce(InvokerBuilder) -> InvokerBuilder + Send>;

/// A state of the program, not yet opened.
pub(crate) struct StateSource {
    declare: fn(InvokerBuilder) -> InvokerBuilder,
    open: Box<dyn FnOnce(Config) -> BoxFuture<'static, Result<AddState, AppError>> + Send>,
}

impl StateSource {
    pub(crate) fn new<T: Send + Sync + 'static, Args>(source: impl OpenState<T, Args>) -> Self {
        let open = |config: Config| {
            let opened = source.open(config);
            async move {
                let state = opened.await.map_err(|error| {
                    let (name, error) = (type_name::<T>(), error_chain(&*error));
                    AppError::new(format!("the state `{name}` cannot be opened: {error}"))
                })?;
                Ok(Box::new(|invoker: InvokerBuilder| invoker.state(state)) as AddState)
            }
            .boxed()
        };
        Self { declare: InvokerBuilder::declare_state::<T>, open: Box::new(open) }
    }

    /// Declares the state without opening it.
    pub(crate) fn declare(self, invoker: InvokerBuilder) -> InvokerBuilder {
        (self.declare)(invoker)
    }

    /// Opens the state.
    pub(crate) async fn open(self, config: Config) -> Result<AddState, AppError> {
        (self.open)(config).await
    }
}
