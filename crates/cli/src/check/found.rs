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

use crate::attach::{self, Servers, Stay};
use crate::config::Surroundings;
use crate::failure::Failure;

/// Everything there is to check.
#[derive(Default)]
pub(super) struct Found {
    linked: Option<Arc<Snapshot>>,
    read: Vec<(String, ToolDefinition)>,
    pub(super) refused: Vec<RefusedIn>,
    /// Servers whose tools are not checked, because they could not be attached.
    pub(super) missing: Vec<String>,
}

/// A definition that is none.
#[derive(Serialize)]
pub(super) struct RefusedIn {
    pub(super) source: String,
    #[serde(flatten)]
    pub(super) refused: RejectedDefinition,
}

impl RefusedIn {
    /// Whether somebody should mend it; a tool that the API hosts is no definition to begin with.
    pub(super) fn is_finding(&self) -> bool {
        !self.refused.hosted
    }
}

impl fmt::Display for RefusedIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source, self.refused)
    }
}

/// One tool to check.
#[derive(Clone, Copy)]
pub(super) struct Tool<'f> {
    pub(super) candidate: CandidateTool<'f>,
    /// Its bundle, or the file that defines it.
    pub(super) source: &'f str,
    /// What was mended when its definition was read.
    pub(super) notes: &'f [SchemaFix],
}

impl Found {
    pub(super) fn linked(
        surroundings: &Surroundings,
        registry: &Registry,
        setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
    ) -> Result<Self, Failure> {
        let work = |_: &Runtime, servers: &Servers| {
            servers.warn();
            let builder = setup(surroundings.apply(Invoker::builder(registry)));
            let invoker = servers.build(builder, surroundings.config())?;
            let snapshot = invoker
                .snapshot()
                .map_err(|error| Failure::finding(&error))?;
            if snapshot.is_empty() {
                eprintln!("no tools are linked; name a file of definitions to check those");
            }
            Ok(Self {
                linked: Some(snapshot),
                missing: servers.missing(),
                ..Self::default()
            })
        };
        attach::with(surroundings, registry, Stay::Short, true, work)
    }

    pub(super) fn read(files: &[PathBuf]) -> Result<Self, Failure> {
        let mut found = Self::default();
        for file in files {
            let source = file.display().to_string();
            let text = text(file).map_err(|error| Failure::usage(format!("{source}: {error}")))?;
            let read = found.add(&source, &text);
            read.map_err(|error| Failure::usage(format!("{source}: {error}")))?;
        }
        Ok(found)
    }

    /// Adds what a text defines.
    pub(super) fn add(&mut self, source: &str, text: &str) -> Result<(), ImportError> {
        let source = source.to_owned();
        for definition in wire::import_definitions(text)? {
            match definition {
                Ok(definition) => self.read.push((source.clone(), definition)),
                Err(refused) => self.refused.push(RefusedIn {
                    source: source.clone(),
                    refused,
                }),
            }
        }
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.linked
            .as_ref()
            .map_or(self.read.len(), |snapshot| snapshot.len())
    }

    pub(super) fn tools(&self) -> impl Iterator<Item = Tool<'_>> {
        let linked = self.linked.iter().flat_map(|snapshot| snapshot.iter()).map(
            |entry: &RegisteredTool| Tool {
                candidate: entry.into(),
                source: &entry.spec().bundle,
                notes: &[],
            },
        );
        let read = self.read.iter().map(|(source, definition)| Tool {
            candidate: definition.into(),
            source,
            notes: &definition.notes,
        });
        linked.chain(read)
    }
}

fn text(file: &Path) -> io::Result<String> {
    if file == Path::new("-") {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    fs::read_to_string(file)
}
