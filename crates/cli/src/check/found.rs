//! The tools to check: those linked, or those that files define.

use std::fmt;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use toolwright_core::schema::Note;
use toolwright_core::wire::{self, Candidate, Definition, Refused};
use toolwright_core::{Entry, Invoker, InvokerBuilder, Registry, Snapshot};

use crate::config::Surroundings;
use crate::failure::Failure;

/// Everything there is to check.
#[derive(Default)]
pub(super) struct Found {
    linked: Option<Arc<Snapshot>>,
    read: Vec<(String, Definition)>,
    pub(super) refused: Vec<RefusedIn>,
}

/// A definition that is none.
#[derive(Serialize)]
pub(super) struct RefusedIn {
    pub(super) source: String,
    #[serde(flatten)]
    pub(super) refused: Refused,
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
    pub(super) candidate: Candidate<'f>,
    /// Its bundle, or the file that defines it.
    pub(super) source: &'f str,
    /// What was mended when its definition was read.
    pub(super) notes: &'f [Note],
}

impl Found {
    pub(super) fn linked(
        surroundings: &Surroundings,
        registry: &Registry,
        setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
    ) -> Result<Self, Failure> {
        let invoker = setup(surroundings.apply(Invoker::builder(registry)))
            .build()
            .map_err(|error| Failure::finding(&error))?;
        let snapshot = invoker
            .snapshot()
            .map_err(|error| Failure::finding(&error))?;
        if snapshot.is_empty() {
            eprintln!("no tools are linked; name a file of definitions to check those");
        }
        Ok(Self {
            linked: Some(snapshot),
            ..Self::default()
        })
    }

    pub(super) fn read(files: &[PathBuf]) -> Result<Self, Failure> {
        let mut found = Self::default();
        for file in files {
            let source = file.display().to_string();
            let text = text(file).map_err(|error| Failure::usage(format!("{source}: {error}")))?;
            let definitions =
                wire::read(&text).map_err(|error| Failure::usage(format!("{source}: {error}")))?;
            for definition in definitions {
                match definition {
                    Ok(definition) => found.read.push((source.clone(), definition)),
                    Err(refused) => found.refused.push(RefusedIn {
                        source: source.clone(),
                        refused,
                    }),
                }
            }
        }
        Ok(found)
    }

    pub(super) fn len(&self) -> usize {
        self.linked
            .as_ref()
            .map_or(self.read.len(), |snapshot| snapshot.len())
    }

    pub(super) fn tools(&self) -> impl Iterator<Item = Tool<'_>> {
        let linked =
            self.linked
                .iter()
                .flat_map(|snapshot| snapshot.iter())
                .map(|entry: &Entry| Tool {
                    candidate: entry.into(),
                    source: &entry.spec().bundle,
                    notes: &[],
                });
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
