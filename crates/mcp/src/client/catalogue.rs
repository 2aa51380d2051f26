//! The tools and prompts of one server in a registry, kept in sync with what the server lists.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;
use toolwright_core::schema::Dialect;
use toolwright_core::wire::wire_names;
use toolwright_core::{BundleItem, Registry};

use crate::client::catalogue::listing::Listing;
use crate::client::connection::shared_connection::SharedConnection;
use crate::client::oauth::ISSUER_PIN;
use crate::client::setup::validated_server::ValidatedServer;
use crate::import::{RemoteDefinition, parse_prompt, parse_tool};
use crate::pin::{Fingerprint, PinStatus};

pub(crate) mod listing;
pub(crate) mod proxy_tool;
pub(crate) mod remote_call;

/// Further notes are dropped.
const MAX_NOTES: usize = 100;

/// A tool or prompt of an attached server.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RemoteItem {
    /// Its name in the registry.
    pub name: String,
    /// The server's name of it.
    #[serde(rename = "remote")]
    pub remote_name: String,
    /// Whether it is a prompt.
    pub is_prompt: bool,
    /// Why it is not in the registry, if it is hidden: it has changed since it was pinned.
    pub hidden: Option<String>,
}

#[derive(Default)]
pub(super) struct Catalogue {
    entries: Vec<CatalogueEntry>,
    pub(super) notes: Vec<String>,
    /// The last listing, to be checked again when a change was accepted.
    pub(super) listing: Listing,
    /// Whether there was a listing yet.
    was_synced: bool,
    /// Whether the server was detached: nothing may be added any more.
    pub(super) is_closed: bool,
}

struct CatalogueEntry {
    item: RemoteItem,
    fingerprint: Fingerprint,
}

/// What the names of pinned prompts begin with.
const PROMPT_PREFIX: &str = "prompt:";

/// What the names of pinned tools begin with that would be the pin of something else.
const TOOL_PREFIX: &str = "tool:";

/// The name that a definition is pinned under. A server chooses the names of its tools: none may be the pin of a prompt, or of the
/// server's issuer.
fn pin_name(remote: &str, is_prompt: bool) -> String {
    let is_taken = || {
        remote == ISSUER_PIN || [PROMPT_PREFIX, TOOL_PREFIX].iter().any(|it| remote.starts_with(it))
    };
    match is_prompt {
        true => format!("{PROMPT_PREFIX}{remote}"),
        false if is_taken() => format!("{TOOL_PREFIX}{remote}"),
        false => remote.to_owned(),
    }
}

impl RemoteItem {
    /// Returns the name that its definition is [pinned](crate::PinStore) under.
    pub fn pin_name(&self) -> String {
        pin_name(&self.remote_name, self.is_prompt)
    }
}

impl Catalogue {
    pub(super) fn items(&self) -> impl Iterator<Item = &RemoteItem> {
        self.entries.iter().map(|entry| &entry.item)
    }

    /// Updates the registry to the listing, without what has drifted from its pin; returns what is newly hidden. `statuses` are
    /// those of its [fingerprints](ParsedListing::fingerprints).
    pub(super) fn sync(
        &mut self,
        config: &ValidatedServer,
        link: &Arc<SharedConnection>,
        registry: &Registry,
        parsed: ParsedListing,
        statuses: Vec<PinStatus>,
    ) -> Vec<RemoteItem> {
        if self.is_closed {
            return Vec::new();
        }
        let ParsedListing { listing, definitions, mut notes } = parsed;
        let names = self.registry_names(config, registry, &definitions);
        let (mut entries, mut added) = (Vec::new(), Vec::new());
        for ((definition, name), status) in definitions.into_iter().zip(names).zip(statuses) {
            let hidden = match status {
                PinStatus::Drifted { changed } => Some(drift_note(&name, &changed)),
                _ => None,
            };
            notes.extend(hidden.clone());
            let entry = CatalogueEntry {
                item: RemoteItem {
                    name,
                    remote_name: definition.name.clone(),
                    is_prompt: definition.is_prompt,
                    hidden,
                },
                fingerprint: definition.fingerprint.clone(),
            };
            if entry.item.hidden.is_none() && !is_registered(&self.entries, &entry) {
                match definition.into_bundle_item(config, link, &entry.item.name) {
                    Ok(item) => added.push(item),
                    Err(error) => {
                        notes.push(format!("`{}` is left out: {error}", entry.item.remote_name));
                        continue;
                    }
                }
            }
            entries.push(entry);
        }
        let removed = self.entries.iter();
        for old in removed.filter(|old| !is_registered(&entries, old)) {
            unregister(registry, &old.item);
        }
        self.register(registry, added, &mut entries, &mut notes);
        notes.truncate(MAX_NOTES);
        let hidden = match std::mem::replace(&mut self.was_synced, true) {
            true => self.newly_hidden(&entries),
            false => Vec::new(),
        };
        (self.entries, self.notes, self.listing) = (entries, notes, listing);
        hidden
    }

    /// Adds a note, unless it is there already.
    pub(super) fn add_note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Removes everything from the registry, for good.
    pub(super) fn close(&mut self, registry: &Registry) {
        self.is_closed = true;
        for entry in self.entries.drain(..) {
            unregister(registry, &entry.item);
        }
    }

    /// Returns the items that were not hidden before, or for another reason.
    fn newly_hidden(&self, entries: &[CatalogueEntry]) -> Vec<RemoteItem> {
        let was_hidden = |item: &RemoteItem| {
            self.items().any(|old| (&old.name, &old.hidden) == (&item.name, &item.hidden))
        };
        let hidden = entries.iter().map(|entry| &entry.item);
        let hidden = hidden.filter(|item| item.hidden.is_some() && !was_hidden(item));
        hidden.cloned().collect()
    }

    /// Returns the names `prefix_name` of the definitions, different from all other names in the registry.
    fn registry_names(
        &self,
        config: &ValidatedServer,
        registry: &Registry,
        definitions: &[RemoteDefinition],
    ) -> Vec<String> {
        let snapshot = registry.snapshot();
        let own: HashSet<&str> = self.items().map(|item| item.name.as_str()).collect();
        let tools = snapshot.iter().map(|entry| entry.spec().name.as_str());
        let prompts = snapshot.prompts().map(|prompt| prompt.name().as_str());
        let taken = tools.chain(prompts).filter(|name| !own.contains(name));
        let taken: Vec<String> =
            taken.filter(|name| name.starts_with(&config.prefix)).map(str::to_owned).collect();
        let rule = Dialect::OPENAI.tool_name();
        let names = |is_prompt: bool| {
            let of_kind = definitions.iter().filter(|definition| definition.is_prompt == is_prompt);
            let names: Vec<String> = of_kind
                .map(|definition| format!("{}_{}", config.prefix, definition.name))
                .collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            wire_names(&names, rule, &taken)
        };
        // A listing has tools before prompts.
        names(false).into_iter().chain(names(true)).collect()
    }

    fn register(
        &self,
        registry: &Registry,
        added: Vec<BundleItem>,
        entries: &mut Vec<CatalogueEntry>,
        notes: &mut Vec<String>,
    ) {
        if registry.add(added.clone()).is_ok() {
            return;
        }
        // Another name was added in the meantime: only that item is left out.
        for item in added {
            let (name, is_prompt) =
                (item.name().to_string(), matches!(item, BundleItem::Prompt(_)));
            if let Err(error) = registry.add(vec![item]) {
                notes.push(format!("`{name}` is left out: {error}"));
                entries
                    .retain(|entry| entry.item.name != name || entry.item.is_prompt != is_prompt);
            }
        }
    }
}

/// Returns true if exactly this is in the registry already.
fn is_registered(entries: &[CatalogueEntry], entry: &CatalogueEntry) -> bool {
    entries.iter().any(|other| {
        other.item.hidden.is_none()
            && other.item.name == entry.item.name
            && other.item.is_prompt == entry.item.is_prompt
            && other.item.remote_name == entry.item.remote_name
            && other.fingerprint == entry.fingerprint
    })
}

fn unregister(registry: &Registry, item: &RemoteItem) {
    match (item.hidden.is_some(), item.is_prompt) {
        (true, _) => {}
        (false, true) => drop(registry.remove_prompt(&item.name)),
        (false, false) => drop(registry.remove(&item.name)),
    }
}

fn drift_note(name: &str, changed: &[String]) -> String {
    let changed = match changed {
        [] => "something".to_owned(),
        parts => parts.join(" and "),
    };
    format!(
        "`{name}` is hidden: its {changed} changed since it was pinned; look at it, then accept it"
    )
}

/// The definitions of a listing.
pub(super) struct ParsedListing {
    listing: Listing,
    definitions: Vec<RemoteDefinition>,
    notes: Vec<String>,
}

impl ParsedListing {
    /// Parses a listing; of two definitions with one name, the first counts.
    pub(super) fn parse(listing: Listing) -> Self {
        let tools = listing.tools.iter().map(parse_tool);
        let prompts = listing.prompts.iter().map(parse_prompt);
        let mut names = HashSet::new();
        let (mut definitions, mut notes) = (Vec::new(), Vec::new());
        for parsed in tools.chain(prompts) {
            match parsed {
                Ok(definition) if names.insert((definition.name.clone(), definition.is_prompt)) => {
                    let name = &definition.name;
                    notes.extend(definition.notes.iter().map(|note| format!("`{name}`: {note}")));
                    definitions.push(definition);
                }
                Ok(other) => {
                    notes.push(format!("`{}` is listed twice: only the first counts", other.name));
                }
                Err(note) => notes.push(note),
            }
        }
        Self { listing, definitions, notes }
    }

    /// Returns the fingerprint of each definition, by the name that it is pinned under.
    pub(super) fn fingerprints(&self) -> Vec<(String, Fingerprint)> {
        let fingerprint = |definition: &RemoteDefinition| {
            let name = pin_name(&definition.name, definition.is_prompt);
            (name, definition.fingerprint.clone())
        };
        self.definitions.iter().map(fingerprint).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tool_has_the_pin_of_a_prompt_of_the_issuer_or_of_another_tool() {
        let names =
            ["say", "prompt:say", "tool:say", "tool:prompt:say", ISSUER_PIN, "tool:tool:say"];
        let tools = names.iter().map(|name| pin_name(name, false));
        let prompts = names.iter().map(|name| pin_name(name, true));
        let pins: HashSet<String> = tools.chain(prompts).chain([ISSUER_PIN.to_owned()]).collect();
        assert_eq!(pins.len(), 2 * names.len() + 1, "{pins:?}");
        // Pins that are stored stay valid.
        assert_eq!(
            (pin_name("say", false), pin_name("say", true)),
            ("say".into(), "prompt:say".into())
        );
    }
}
