//! The tools to check: linked or attached ones, those in files, or those of a live server.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use tokio::runtime::Runtime;
use toolwright_core::schema::SchemaFix;
use toolwright_core::wire::{self, CandidateTool, ImportError, RejectedDefinition, ToolDefinition};
use toolwright_core::{Invoker, RegisteredTool, Snapshot};

use crate::attach_options::ProgramLifetime;
use crate::cli::cli_error::CliError;
use crate::cli::program::Program;
use crate::cli::terminal::input::read_file_or_stdin;
use crate::remote_servers::RemoteServers;
use crate::setup::StateMode;

/// All tools to check; either a snapshot of the registry or imported definitions.
#[derive(Default)]
pub(super) struct ToolsToCheck {
    snapshot: Option<Arc<Snapshot>>,
    definitions: Vec<(String, ToolDefinition)>,
    pub(super) rejected: Vec<SourceRejection>,
    /// Names of the servers that could not be attached; their tools are not checked.
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
    /// Returns false for a tool that the vendor hosts: it has no definition to check.
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
    /// Corrections that were made when its definition was imported.
    pub(super) notes: &'f [SchemaFix],
}

impl ToolsToCheck {
    pub(super) fn from_program(program: Program) -> Result<Self, CliError> {
        let work = |_: &Runtime, servers: &RemoteServers, invoker: Invoker| {
            let snapshot = invoker.snapshot()?;
            if snapshot.is_empty() {
                eprintln!("no tools are linked; name a file of definitions to check those");
            }
            Ok(Self {
                snapshot: Some(snapshot),
                unavailable_servers: servers.unavailable(),
                ..Self::default()
            })
        };
        program.with_invoker(ProgramLifetime::OneShot, true, StateMode::Declare, work)
    }

    pub(super) fn from_files(files: &[PathBuf]) -> Result<Self, CliError> {
        let mut sources = Self::default();
        for file in files {
            let source = file.display().to_string();
            let text = read_file_or_stdin(file)
                .map_err(|error| CliError::usage(format!("{source}: {error}")))?;
            let added = sources.add_definitions(&source, &text);
            added.map_err(|error| CliError::usage(format!("{source}: {error}")))?;
        }
        Ok(sources)
    }

    /// Adds the definitions in a JSON text of any known shape.
    pub(super) fn add_definitions(&mut self, source: &str, text: &str) -> Result<(), ImportError> {
        let source = source.to_owned();
        for definition in wire::import_definitions(text)? {
            match definition {
                Ok(definition) => self.definitions.push((source.clone(), definition)),
                Err(rejection) => {
                    self.rejected.push(SourceRejection { source: source.clone(), rejection })
                }
            }
        }
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.snapshot.as_ref().map_or(self.definitions.len(), |snapshot| snapshot.len())
    }

    pub(super) fn tools(&self) -> impl Iterator<Item = ToolToCheck<'_>> {
        let linked = self.snapshot.iter().flat_map(|snapshot| snapshot.iter()).map(
            |entry: &RegisteredTool| ToolToCheck {
                candidate: entry.into(),
                source: &entry.spec().bundle,
                notes: &[],
            },
        );
        let imported = self.definitions.iter().map(|(source, definition)| ToolToCheck {
            candidate: definition.into(),
            source,
            notes: &definition.notes,
        });
        linked.chain(imported)
    }
}
