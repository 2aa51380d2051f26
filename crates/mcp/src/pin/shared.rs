//! Pins in the state that all nodes share.

use std::sync::Arc;

use toolwright_core::{SharedState, subject_key_prefix};

use super::file::FilePins;
use super::pin_set::PinSet;
use super::{Fingerprint, PinError, PinFuture, PinStatus, PinStore};

/// The space of the shared state; a key is the program and the server.
const SPACE: &str = "mcp_pin";

/// How often a change is attempted that other nodes come before.
const MAX_ATTEMPTS: usize = 32;

/// Pins that all nodes share: a definition that is accepted at one of them is accepted at all.
///
/// They never expire.
pub struct SharedPins {
    state: Arc<dyn SharedState>,
    /// What the keys begin with: empty, or the prefix of a person.
    prefix: String,
    program: String,
    initial: Option<FilePins>,
    keeps_drifted: bool,
}

impl SharedPins {
    /// Stores the pins of this program in the shared state. Programs of another name have pins of their own.
    pub fn new(state: Arc<dyn SharedState>, program: impl Into<String>) -> Self {
        let prefix = String::new();
        Self { state, prefix, program: program.into(), initial: None, keeps_drifted: false }
    }

    /// Stores the pins of one person, `None` for the operator, apart from those of others.
    #[must_use]
    pub fn person(mut self, subject: Option<&str>) -> Self {
        self.prefix = subject_key_prefix(subject);
        self
    }

    /// Removes the pins of a server: what it lists next is pinned anew.
    ///
    /// # Errors
    ///
    /// When the shared state cannot be written.
    pub async fn remove(&self, server: &str) -> Result<(), PinError> {
        self.state.remove(SPACE, &self.key(server)).await?;
        Ok(())
    }

    /// Takes the pins of a server that has none yet from this file, where the program stored them before.
    #[must_use]
    pub fn initial(mut self, file: FilePins) -> Self {
        self.initial = Some(file);
        self
    }

    /// Keeps drift that another node has recorded, as [`FilePins::keep_drifted`] does.
    #[must_use]
    pub fn keep_drifted(mut self) -> Self {
        self.keeps_drifted = true;
        self
    }

    fn key(&self, server: &str) -> String {
        format!("{}{}/{server}", self.prefix, self.program)
    }

    /// Reads the pins of a server, and the text that they are stored as; `None` if it has none.
    async fn read(&self, server: &str) -> Result<(PinSet, Option<String>), PinError> {
        let Some(text) = self.state.get(SPACE, &self.key(server)).await? else {
            let initial = self.initial.as_ref().map(|file| file.of_server(server));
            return Ok((initial.transpose()?.unwrap_or_default(), None));
        };
        let pins = serde_json::from_str(&text).map_err(|error| PinError::Shared {
            server: server.to_owned(),
            message: error.to_string(),
        })?;
        Ok((pins, Some(text)))
    }

    /// Changes the pins of a server, unless `change` returns false; starts anew if another node has changed them meanwhile.
    async fn update<T>(
        &self,
        server: &str,
        mut change: impl FnMut(&mut PinSet) -> (T, bool),
    ) -> Result<T, PinError> {
        let key = self.key(server);
        for _ in 0..MAX_ATTEMPTS {
            let (mut pins, text) = self.read(server).await?;
            // Those of the file count for nodes without it, too.
            let is_from_file = text.is_none() && !pins.is_empty();
            let (result, has_changed) = change(&mut pins);
            if !has_changed && !is_from_file {
                return Ok(result);
            }
            let new = serde_json::to_string(&pins).map_err(|error| PinError::Shared {
                server: server.to_owned(),
                message: error.to_string(),
            })?;
            let is_written = match text {
                Some(text) => self.state.replace(SPACE, &key, &text, &new, None).await?,
                None => self.state.insert(SPACE, &key, &new, None).await?,
            };
            if is_written {
                return Ok(result);
            }
        }
        let message = "other nodes change them all the time".to_owned();
        Err(PinError::Shared { server: server.to_owned(), message })
    }
}

impl PinStore for SharedPins {
    fn check<'a>(
        &'a self,
        server: &'a str,
        definitions: &'a [(String, Fingerprint)],
    ) -> PinFuture<'a, Vec<PinStatus>> {
        Box::pin(self.update(server, |pins| pins.check(server, definitions, self.keeps_drifted)))
    }

    fn accept<'a>(&'a self, server: &'a str, definition: &'a str) -> PinFuture<'a, bool> {
        Box::pin(self.update(server, |pins| {
            let is_accepted = pins.accept(server, definition);
            (is_accepted, is_accepted)
        }))
    }

    fn drifted<'a>(&'a self, server: &'a str) -> PinFuture<'a, Vec<(String, Vec<String>)>> {
        Box::pin(async move { Ok(self.read(server).await?.0.drifted(server)) })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolwright_core::MemorySharedState;

    use super::*;

    fn seen(description: &str) -> Vec<(String, Fingerprint)> {
        let definition = json!({"name": "add", "description": description});
        vec![("add".to_owned(), Fingerprint::of(definition.as_object().unwrap()))]
    }

    /// Two nodes of a program.
    fn nodes() -> [SharedPins; 2] {
        let state: Arc<dyn SharedState> = Arc::new(MemorySharedState::new());
        [SharedPins::new(Arc::clone(&state), "app"), SharedPins::new(state, "app")]
    }

    #[tokio::test]
    async fn a_change_that_one_node_accepts_is_accepted_at_all() {
        let [one, two] = nodes();
        assert_eq!(one.check("shop", &seen("Adds.")).await.unwrap(), [PinStatus::New]);
        assert_eq!(two.check("shop", &seen("Adds.")).await.unwrap(), [PinStatus::Unchanged]);
        let changed = vec!["description".to_owned()];
        let drifted = [PinStatus::Drifted { changed: changed.clone() }];
        for pins in [&one, &two] {
            assert_eq!(pins.check("shop", &seen("Steals.")).await.unwrap(), drifted);
            assert_eq!(pins.drifted("shop").await.unwrap(), [("add".to_owned(), changed.clone())]);
        }
        assert!(!two.accept("shop", "subtract").await.unwrap());
        assert!(two.accept("shop", "add").await.unwrap());
        assert!(!one.accept("shop", "add").await.unwrap());
        assert_eq!(one.check("shop", &seen("Steals.")).await.unwrap(), [PinStatus::Unchanged]);
        assert_eq!(one.check("bank", &seen("Adds!")).await.unwrap(), [PinStatus::New]);
    }

    #[tokio::test]
    async fn nodes_that_see_a_server_first_at_the_same_time_agree_on_one_definition() {
        for _ in 0..50 {
            let [one, two] = nodes();
            let (adds, steals) = (seen("Adds."), seen("Steals."));
            let (first, second) =
                tokio::join!(one.check("shop", &adds), two.check("shop", &steals));
            let statuses = [first.unwrap(), second.unwrap()].concat();
            let new = statuses.iter().filter(|status| **status == PinStatus::New);
            assert_eq!(new.count(), 1, "{statuses:?}");
        }
    }

    #[tokio::test]
    async fn the_pins_of_the_file_that_was_used_before_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("toolwright.pins");
        FilePins::new(&path).check("shop", &seen("Adds.")).await.unwrap();
        let [pins, other] = nodes();
        let pins = pins.initial(FilePins::new(&path));
        assert_eq!(pins.check("shop", &seen("Adds.")).await.unwrap(), [PinStatus::Unchanged]);
        // A node without the file knows the pins now.
        for pins in [other, pins] {
            let drifted = pins.check("shop", &seen("Steals.")).await.unwrap();
            assert!(matches!(drifted[..], [PinStatus::Drifted { .. }]), "{drifted:?}");
        }
    }
}
