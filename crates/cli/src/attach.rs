//! Settings in, the servers that they name attached to a registry out.
//!
//! Whatever uses tools comes through here, so that servers are read, connected and warned about in one way. A server that
//! cannot be reached costs its own tools and a warning, never the command.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use toolwright_core::schema::redact;
use toolwright_core::{BundleItem, Config, Invoker, InvokerBuilder, Registry, ToolSpec};
use toolwright_mcp::{
    AttachError, AttachedServer, AttachmentStatus, FilePins, PinStore, RemoteItem, RemoteServer,
};

use crate::call;
use crate::clean::clean;
use crate::config::Surroundings;
use crate::failure::{Failure, chain};
use crate::print;

mod desk;
mod person;
mod slow;
mod stand_in;

use desk::{Desk, State};
pub(crate) use person::Person;

/// The file that remembers which definitions were accepted, in the project directory.
const PINS: &str = "toolwright.pins";

/// How long a command that stays waits before it begins without the servers that are slow.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long the command runs that tools are attached for.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Stay {
    /// It does one thing: a server is tried once.
    Short,
    /// It stays: what could not be attached is tried again, and what is hidden comes back once it is accepted.
    Long,
}

/// Reads which servers we attach; `hosted` tells whether the vendor of the model attaches those of the groups `MCP.*`.
pub(crate) fn wanted(config: &Config, hosted: bool) -> Result<Vec<RemoteServer>, Failure> {
    let mut wanted = RemoteServer::from_config(config).map_err(|error| Failure::finding(&error))?;
    let groups =
        RemoteServer::from_groups(config, hosted).map_err(|error| Failure::finding(&error))?;
    wanted.extend(groups);
    let mut names = HashSet::new();
    match wanted.iter().find(|server| !names.insert(server.name())) {
        None => Ok(wanted),
        Some(twice) => Err(Failure::told(format!(
            "two MCP servers are named `{}`: give one of them another name",
            twice.name()
        ))),
    }
}

/// Where definitions are pinned.
pub(crate) fn pins(surroundings: &Surroundings, stay: Stay) -> Arc<FilePins> {
    let pins = FilePins::new(surroundings.directory().join(PINS));
    Arc::new(match stay {
        Stay::Short => pins.keep_drifted(),
        Stay::Long => pins,
    })
}

/// Does some work with the servers of the settings attached, then lets them go.
///
/// With `needed` unset nobody is connected to: the work is known to need linked tools only.
pub(crate) fn with<T>(
    surroundings: &Surroundings,
    registry: &Registry,
    stay: Stay,
    needed: bool,
    work: impl FnOnce(&Runtime, &Servers) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let wanted = wanted(surroundings.config(), false)?;
    let runtime = call::runtime()?;
    // Whoever stays serves others: what it reads from stdin is not for us.
    let person = (stay == Stay::Short).then(Arc::default);
    let servers = Servers::new(registry, pins(surroundings, stay), person, stay);
    match needed {
        true => runtime.block_on(servers.attach(wanted)),
        false => servers.leave(wanted),
    }
    let done = work(&runtime, &servers);
    runtime.block_on(servers.detach());
    // A blocking tool that nobody waits for any more must not keep the process.
    runtime.shutdown_background();
    done
}

/// The servers that are attached to a registry, for as long as this is kept.
pub(crate) struct Servers {
    desk: Arc<Desk>,
    stay: Stay,
    tasks: Mutex<JoinSet<()>>,
}

impl Servers {
    /// Begins without any; what they ask in the middle of a call, the person answers.
    pub(crate) fn new(
        registry: &Registry,
        pins: Arc<dyn PinStore>,
        person: Option<Arc<Person>>,
        stay: Stay,
    ) -> Self {
        Self {
            desk: Arc::new(Desk::new(registry.clone(), pins, person)),
            stay,
            tasks: Mutex::default(),
        }
    }

    /// Attaches these, all at once, except those that are known already.
    pub(crate) async fn attach(&self, wanted: Vec<RemoteServer>) {
        let first = self.desk.names().len();
        for wanted in wanted {
            let Some(place) = self.desk.begin(&wanted) else {
                continue;
            };
            let (desk, stay) = (Arc::clone(&self.desk), self.stay);
            self.spawn(async move { desk.keep(place, wanted, stay).await });
        }
        if self.desk.names().len() == first {
            return;
        }
        if self.stay == Stay::Long && first == 0 {
            let desk = Arc::clone(&self.desk);
            self.spawn(async move { desk.recheck().await });
        }
        let patience = (self.stay == Stay::Long).then_some(PATIENCE);
        slow::wait(&self.desk, patience).await;
        self.order();
    }

    /// Notes that these exist, without a connection.
    pub(crate) fn leave(&self, wanted: Vec<RemoteServer>) {
        for wanted in wanted {
            if let Some(place) = self.desk.begin(&wanted) {
                self.desk.set(place, State::Left);
            }
        }
    }

    /// Tells whether a server of this name is ours, attached or not.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.desk.names().iter().any(|known| known == name)
    }

    /// The servers that could not be attached.
    pub(crate) fn missing(&self) -> Vec<String> {
        let missing = self.desk.each(|name, state| match state {
            State::Connecting | State::Failed(_) => Some(name.to_owned()),
            State::Attached(_) | State::Left => None,
        });
        missing.into_iter().flatten().collect()
    }

    /// What is wrong with them, in words for a person.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let warnings = self.desk.warnings().into_iter();
        warnings.map(|told| clean(&told).into_owned()).collect()
    }

    /// Tells stderr what is wrong with them.
    pub(crate) fn warn(&self) {
        for warning in self.desk.warnings() {
            print::aside(&format!("warning: {warning}\n"));
        }
    }

    /// Returns what tells at any time what is wrong with them.
    pub(crate) fn watch(&self) -> impl Fn() -> Vec<String> + Send + Sync + use<> {
        let desk = Arc::clone(&self.desk);
        move || desk.warnings()
    }

    /// Shows what goes wrong later in this way; unless it is set, on stderr.
    pub(crate) fn report_with(&self, report: impl Fn(&str) + Send + Sync + 'static) {
        self.desk.report_with(Arc::new(report));
    }

    /// Lets the person's yes to a call of this tool also answer its server, where that asks whether the tool may run.
    pub(crate) fn approve(&self, spec: &ToolSpec) {
        let Some(person) = self.desk.person() else {
            return;
        };
        for status in self.statuses().into_iter().flatten() {
            let mut listed = status.items.into_iter();
            if let Some(listed) = listed.find(|it| !it.is_prompt && spec.name == *it.name) {
                let title = spec.title.clone().unwrap_or(listed.remote_name);
                person.approve(status.server, title);
            }
        }
    }

    /// How each is, in the order of the settings; `Err` says why it could not be attached.
    pub(crate) fn statuses(&self) -> Vec<Result<AttachmentStatus, String>> {
        self.desk.each(|name, state| match state {
            State::Attached(server) => Ok(server.status()),
            State::Failed(why) => Err(why.clone()),
            State::Connecting | State::Left => Err(format!("server `{name}` is not connected")),
        })
    }

    /// What each that is attached defines, as it wrote it.
    pub(crate) fn definitions(&self) -> Vec<Value> {
        let definitions = self.desk.each(|_, state| match state {
            State::Attached(server) => server.raw_definitions(),
            _ => Vec::new(),
        });
        definitions.concat()
    }

    /// Accepts what a tool or prompt has become, by the name it has here or the one its server gives it; returns the
    /// server that has it.
    pub(crate) fn accept(&self, name: &str) -> Result<String, Failure> {
        let (mut here, mut there) = (Vec::new(), Vec::new());
        for status in self.statuses().into_iter().flatten() {
            let mut hidden = status.items.into_iter();
            let hidden = hidden
                .find(|it| it.hidden.is_some() && (it.name == name || it.remote_name == name));
            match hidden {
                Some(listed) if listed.name == name => here.push((status.server, listed.name)),
                Some(listed) => there.push((status.server, listed.name)),
                None => {}
            }
        }
        let found = if here.is_empty() { there } else { here };
        let [(server, _)] = &found[..] else {
            let names: Vec<String> = found.into_iter().map(|(_, name)| name).collect();
            return Err(self.cannot_accept(name, &names));
        };
        let accepted = self.desk.each(|known, state| match state {
            State::Attached(attached) if known == server => attached.accept_change(name),
            _ => Ok(()),
        });
        let accepted: Result<Vec<()>, AttachError> = accepted.into_iter().collect();
        accepted.map_err(|error| Failure::finding(&error))?;
        Ok(server.clone())
    }

    /// Says why nothing, or nothing in particular, can be accepted.
    fn cannot_accept(&self, name: &str, several: &[String]) -> Failure {
        if !several.is_empty() {
            let names = several.join("` or `");
            return Failure::usage(format!(
                "several servers have a changed `{name}`: name `{names}`"
            ));
        }
        let mut told = vec![format!(
            "no server has a changed tool or prompt named `{name}`"
        )];
        told.extend(self.statuses().into_iter().filter_map(Result::err));
        Failure::told(told.join("\n"))
    }

    /// Builds an invoker: settings for a tool that is not there only because its server is not are no mistake.
    pub(crate) fn build(
        &self,
        builder: InvokerBuilder,
        config: &Config,
    ) -> Result<Invoker, Failure> {
        let absent = self.desk.each(|name, state| match state {
            State::Attached(server) => {
                let hidden = server.status().items.into_iter();
                let hidden = hidden.filter(|listed| listed.hidden.is_some());
                let mut absent: Vec<String> = hidden.map(|listed| listed.name).collect();
                // The bundle of a server without a tool that shows.
                absent.push(name.to_owned());
                Some(absent)
            }
            _ => None,
        });
        // Of a server that is not there nobody knows the tools.
        let names: Option<Vec<Vec<String>>> = absent.into_iter().collect();
        let names = names.map(|names| names.concat());
        let registry = self.desk.registry();
        let stand_ins = stand_in::add(registry, config, names.as_deref());
        let built = builder.build().map_err(|error| Failure::finding(&error));
        for name in stand_ins {
            registry.remove(name.as_str());
        }
        built
    }

    /// Lets all of them go.
    pub(crate) async fn detach(&self) {
        let mut tasks = std::mem::take(&mut *self.tasks());
        tasks.shutdown().await;
        join_all(self.desk.take().into_iter().map(AttachedServer::detach)).await;
    }

    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks().spawn(work);
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts tools and prompts in the order of the settings, whoever answered first.
    fn order(&self) {
        let registry = self.desk.registry();
        let statuses = self.statuses().into_iter().flatten();
        let listed = statuses.flat_map(|status| status.items);
        let mut items: Vec<BundleItem> = Vec::new();
        for listed in listed.filter(|listed| listed.hidden.is_none()) {
            match listed.is_prompt {
                true => items.extend(registry.remove_prompt(&listed.name).map(BundleItem::from)),
                false => items.extend(registry.remove(&listed.name).map(BundleItem::from)),
            }
        }
        // They were all there a moment ago.
        let _ = registry.add(items);
    }
}

/// A name that nobody has: a mistake of whoever wrote it, unless a server that may have it could not be attached.
pub(crate) fn unknown(told: String, missing: &[String]) -> Failure {
    match missing {
        [] => Failure::usage(told),
        missing => Failure::told(format!(
            "{told}\nit may belong to `{}`, which could not be attached",
            missing.join("` or `")
        )),
    }
}

/// Why a tool or prompt is hidden, and how it comes back; nothing where it is not.
fn hidden(listed: &RemoteItem) -> Option<String> {
    let why = listed.hidden.as_deref()?;
    Some(format!("{why} with `{}`", accepting(&listed.name)))
}

/// The command that accepts a tool.
pub(crate) fn accepting(name: &str) -> String {
    format!("{} mcp accept {name}", crate::program())
}

/// What went wrong, without secrets, and what to set.
fn told(error: &AttachError) -> String {
    let told = match error {
        AttachError::Unauthorized { server, .. } => format!(
            "server `{server}` wants authorization, or refuses the one it got: set its `authorization` in toolwright.toml, under [mcp.servers.NAME]"
        ),
        AttachError::Connect { .. } => {
            format!("{}; check that it runs, and speaks MCP there", chain(error))
        }
        other => chain(other),
    };
    redact(&told).into_owned()
}
