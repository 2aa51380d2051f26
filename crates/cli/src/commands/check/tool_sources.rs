//! The tools to check: those linked or attached, those that files define, or those of a live server.

use std::fmt;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use tokio::runtime::Runtime;
use toolwright_core::schema::SchemaFix;
use toolwright_core::wire::{self, CandidateTool, ImportError, RejectedDefinition, ToolDefinition};
use toolwright_core::{Invoker, InvokerBuilder, RegisteredTool, Registry, Snapshot};

use crate::cli_error::CliError;
use crate::config::ProjectConfig;
use crate::remote_servers::{self, CommandLifetime, RemoteServers};

/// Everything there is to check.
#[derive(Default)]
pub(super) struct ToolsToCheck {
    snapshot: Option<Arc<Snapshot>>,
    definitions: Vec<(String, ToolDefinition)>,
    pub(super) rejected: Vec<SourceRejection>,
    /// Servers whose tools are not checked, because they could not be attached.
    pub(super) unavailable_servers: Vec<String>,
}

/// A definition that could not be imported, and the file or server it came from.
#[derive(Serialize)]
pub(super) struct SourceRejection {
    pub(super) source: String,
    #[serde(flatten)]
    pub(super) rejection: RejectedDefinition,
}

impl SourceRejection {
    /// Whether somebody should mend it; a tool that the API hosts is no definition to begin with.
    pub(super) fn is_error(&self) -> bool {
        !self.rejection.hosted
    }
}

impl fmt::Display for SourceRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source, self.rejection)
    }
}

/// One tool to check.
#[derive(Clone, Copy)]
pub(super) struct ToolToCheck<'f> {
    pub(super) candidate: CandidateTool<'f>,
    /// Its bundle, or the file that defines it.
    pub(super) source: &'f str,
    /// What was mended when its definition was read.
    pub(super) notes: &'f [SchemaFix],
}

impl ToolsToCheck {
    pub(super) fn from_registry(
        surroundings: &ProjectConfig,
        registry: &Registry,
        setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
    ) -> Result<Self, CliError> {
        let work = |_: &Runtime, servers: &RemoteServers| {
            servers.print_warnings();
            let builder = setup(surroundings.configure_invoker(Invoker::builder(registry)));
            let invoker = servers.build_invoker(builder, surroundings.config())?;
            let snapshot = invoker
                .snapshot()
                .map_err(|error| CliError::from_error(&error))?;
            if snapshot.is_empty() {
                eprintln!("no tools are linked; name a file of definitions to check those");
            }
            Ok(Self {
                snapshot: Some(snapshot),
                unavailable_servers: servers.unavailable(),
                ..Self::default()
            })
        };
        remote_servers::with_servers(surroundings, registry, CommandLifetime::OneShot, true, work)
    }

    pub(super) fn from_files(files: &[PathBuf]) -> Result<Self, CliError> {
        let mut found = Self::default();
        for file in files {
            let source = file.display().to_string();
            let text =
                read_text(file).map_err(|error| CliError::usage(format!("{source}: {error}")))?;
            let read = found.add_definitions(&source, &text);
            read.map_err(|error| CliError::usage(format!("{source}: {error}")))?;
        }
        Ok(found)
    }

    /// Adds what a text defines.
    pub(super) fn add_definitions(&mut self, source: &str, text: &str) -> Result<(), ImportError> {
        let source = source.to_owned();
        for definition in wire::import_definitions(text)? {
            match definition {
                Ok(definition) => self.definitions.push((source.clone(), definition)),
                Err(refused) => self.rejected.push(SourceRejection {
                    source: source.clone(),
                    rejection: refused,
                }),
            }
        }
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.snapshot
            .as_ref()
            .map_or(self.definitions.len(), |snapshot| snapshot.len())
    }

    pub(super) fn tools(&self) -> impl Iterator<Item = ToolToCheck<'_>> {
        let linked = self
            .snapshot
            .iter()
            .flat_map(|snapshot| snapshot.iter())
            .map(|entry: &RegisteredTool| ToolToCheck {
                candidate: entry.into(),
                source: &entry.spec().bundle,
                notes: &[],
            });
        let read = self
            .definitions
            .iter()
            .map(|(source, definition)| ToolToCheck {
                candidate: definition.into(),
                source,
                notes: &definition.notes,
            });
        linked.chain(read)
    }
}

fn read_text(file: &Path) -> io::Result<String> {
    if file == Path::new("-") {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    fs::read_to_string(file)
}
