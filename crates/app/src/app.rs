//! [`App`], and its methods.

use std::error::Error;
use std::path::PathBuf;
#[cfg(feature = "cli")]
use std::process::ExitCode;
use std::sync::Arc;

use futures::FutureExt as _;
use toolwright_bus::Bus;
use toolwright_chat::{ChatBuilder, Model, Store};
use toolwright_core::__internal::set_program;
use toolwright_core::{AppKind, Bundle, InvokerBuilder, Registry, RegistryError};
use toolwright_server::{Branding, Endpoint, Mount, ServerBuilder};

use crate::app_command::AppCommand;
use crate::app_info::AppInfo;
use crate::attach_options::AttachOptions;
use crate::error::AppError;
use crate::open_state::{OpenState, StateSource};
use crate::project::Project;
use crate::running_app::RunningApp;
use crate::setup::AppSetup;

/// A program: its tools, state, model, store, endpoints and commands.
///
/// Made by the macro `app!`, with every linked tool. What is not set here comes from the settings (`toolwright.toml`, the
/// environment, flags) and has a default.
///
/// # Examples
///
/// ```no_run
/// use toolwright::server::Endpoint;
/// use toolwright::{State, tool};
///
/// struct Shop;
///
/// impl Shop {
///     async fn open() -> std::io::Result<Self> {
///         Ok(Self)
///     }
/// }
///
/// /// Counts the books in stock.
/// #[tool(read_only)]
/// fn count_books(shop: State<Shop>) -> u32 {
///     3
/// }
///
/// # async fn start() -> Result<(), Box<dyn std::error::Error>> {
/// let app = toolwright::app!()
///     .state_with(Shop::open)
///     .endpoint(Endpoint::new("/support/{customer}").for_subject("customer").memory(true))
///     .start()
///     .await?;
/// let answer = app.chat().message().user("How many books are there?").call().await?;
/// println!("{}", answer.text());
/// # Ok(()) }
/// ```
#[must_use = "an app does nothing before `run` or `start`"]
pub struct App {
    info: AppInfo,
    registry: Result<Registry, RegistryError>,
    setup: AppSetup,
    commands: Vec<AppCommand>,
}

/// The parts of an app, for the command line.
pub(crate) struct AppParts {
    /// The name, version and description.
    pub info: AppInfo,
    /// The tools.
    pub registry: Result<Registry, RegistryError>,
    /// Everything else that the program sets.
    pub setup: AppSetup,
    /// The program's own commands.
    pub commands: Vec<AppCommand>,
}

impl App {
    /// Starts an app with every linked tool that is not restricted to an application; `app!` calls it.
    #[doc(hidden)]
    pub fn new(info: AppInfo) -> Self {
        let setup = AppSetup::default();
        Self { info, registry: Registry::discover(), setup, commands: Vec::new() }
    }

    /// Sets the name; default: that of the crate.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.info.name = name.into().into();
        self
    }

    /// Sets the description; default: that of the crate.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.info.description = description.into().into();
        self
    }

    /// Takes every linked tool that admits the application `A`, instead of those without a restriction.
    pub fn kind<A: AppKind>(mut self) -> Self {
        self.registry = Registry::discover_for::<A>();
        self
    }

    /// Takes the tools of this registry instead of the linked ones.
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = Ok(registry);
        self
    }

    /// Adds tools and prompts.
    pub fn tools(mut self, bundle: impl Bundle) -> Self {
        self.registry = self.registry.and_then(|registry| {
            registry.add(bundle)?;
            Ok(registry)
        });
        self
    }

    /// Adds a value shared by all calls, which tools receive as [`State<T>`](toolwright_core::State).
    pub fn state<T: Send + Sync + 'static>(self, state: T) -> Self {
        self.invoker(|invoker| invoker.state(state))
    }

    /// Adds state that is opened before the first call can be made, as by connecting to a database; `tools list` and `check`
    /// do not open it.
    pub fn state_with<T: Send + Sync + 'static, Args>(
        mut self,
        open: impl OpenState<T, Args>,
    ) -> Self {
        self.setup.states.push(StateSource::new(open));
        self
    }

    /// Sets the model, unless the settings name one; default: that of the first vendor whose key is set, else the demo.
    pub fn model(mut self, model: impl Model) -> Self {
        self.setup.model = Some(Arc::new(model));
        self
    }

    /// Sets the store of conversations, unless the settings name one; default: a file of the user's, or memory in a program
    /// without SQLite.
    pub fn store(mut self, store: impl Store) -> Self {
        self.setup.store = Some(Arc::new(store));
        self
    }

    /// Sets the bus to the other nodes that use the same store, unless the settings name one; default: none, because there is one
    /// node.
    ///
    /// The store has to be one that nodes can share: PostgreSQL, or one that [`store`](Self::store) sets.
    pub fn bus(mut self, bus: impl Bus) -> Self {
        self.setup.bus = Some(Arc::new(bus));
        self
    }

    /// Sets the default of a setting, which the settings file, the environment and flags override.
    pub fn default_setting(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.setup.sources.defaults.push((key.into(), value.into()));
        self
    }

    /// Sets the settings file, which has to exist; default: `toolwright.toml` in the current directory, if it exists.
    pub fn config_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.setup.sources.config_file = Some(file.into());
        self
    }

    /// Adds a part to the router of [`RunningApp::router`]: the console, the API, a protocol. `serve` of the command line
    /// mounts all parts, with the selections that are made here.
    pub fn mount(mut self, mount: Mount) -> Self {
        self.setup.mounts.push(mount);
        self
    }

    /// Adds an endpoint.
    pub fn endpoint(mut self, endpoint: Endpoint) -> Self {
        self.setup.endpoints.push(endpoint);
        self
    }

    /// Sets title, logo, colour, greeting, suggestions and links of the console; settings of `[console]` override it.
    pub fn branding(mut self, branding: Branding) -> Self {
        self.setup.branding = branding;
        self
    }

    /// Changes the invoker: limits, an audit sink, an approver.
    pub fn invoker(
        mut self,
        change: impl FnOnce(InvokerBuilder) -> InvokerBuilder + Send + 'static,
    ) -> Self {
        self.setup.configure_invoker.push(Box::new(change));
        self
    }

    /// Changes every chat: limits, model options, resolvers.
    pub fn chat(
        mut self,
        change: impl Fn(ChatBuilder) -> ChatBuilder + Send + Sync + 'static,
    ) -> Self {
        self.setup.configure_chat.push(Arc::new(change));
        self
    }

    /// Changes the server: authentication, limits, allowed origins.
    pub fn server(
        mut self,
        change: impl FnOnce(ServerBuilder) -> ServerBuilder + Send + 'static,
    ) -> Self {
        self.setup.configure_server.push(Box::new(change));
        self
    }

    /// Adds a command to the command line: its name, its line in `--help`, and the function that runs it with the arguments
    /// after its name and the started app.
    pub fn command<F, E>(
        mut self,
        name: impl Into<String>,
        about: impl Into<String>,
        run: impl FnOnce(Vec<String>, RunningApp) -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        self.commands.push(AppCommand {
            name: name.into(),
            about: about.into(),
            run: Box::new(|arguments, app| {
                let work = run(arguments, app);
                async move { work.await.map_err(Into::into) }.boxed()
            }),
        });
        self
    }

    /// Runs the command line, as the whole of `main`: `serve`, `chat`, `tools`, `mcp`, `check` and the program's own commands.
    #[cfg(feature = "cli")]
    #[must_use = "return it from `main`, so that errors are seen by scripts"]
    pub fn run(self) -> ExitCode {
        crate::cli::run_app(self)
    }

    /// Loads the settings, opens state and store, attaches the servers of the settings, and returns the program's parts for a
    /// `main` of its own.
    ///
    /// # Errors
    ///
    /// When a setting is invalid, state or store cannot be opened, or a tool needs state that was not given.
    pub async fn start(self) -> Result<RunningApp, AppError> {
        let AppParts { info, registry, mut setup, .. } = self.into_parts();
        let project = Project::load(&info.name, std::mem::take(&mut setup.sources))?;
        for warning in &project.warnings {
            tracing::warn!("{warning}");
        }
        if !project.settings_of_tools.is_empty() {
            tracing::info!(settings = ?project.settings_of_tools, "settings that only tools can read");
        }
        let accept_command = format!("{} mcp accept", info.name);
        let login_command = format!("{} mcp login", info.name);
        let options = AttachOptions { accept_command, login_command, ..AttachOptions::default() };
        setup.start(info, registry?, &project, options).await
    }

    /// Splits the app, for the command line.
    pub(crate) fn into_parts(self) -> AppParts {
        let Self { info, registry, setup, commands } = self;
        set_program(&info.name, &info.version);
        AppParts { info, registry, setup, commands }
    }
}
