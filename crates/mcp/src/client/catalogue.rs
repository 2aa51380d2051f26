//! What a server lists in, what the registry shows of it out.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;
use toolwright_core::schema::Dialect;
use toolwright_core::wire::wire_names;
use toolwright_core::{BundleItem, Registry};

use crate::client::catalogue::listing::Listing;
use crate::client::catalogue::proxy_tool::RemoteDefinition;
use crate::client::connection::shared_connection::SharedConnection;
use crate::client::setup::validated_server::ValidatedServer;
use crate::pin::{Fingerprint, PinError, PinStatus};

pub(crate) mod listing;
pub(crate) mod proxy_tool;
pub(crate) mod remote_call;

/// More notes than these nobody reads.
const MAX_NOTES: usize = 100;

/// A tool or prompt of an attached server.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RemoteItem {
    /// What it is called here.
    pub name: String,
    /// What its server calls it.
    #[serde(rename = "remote")]
    pub remote_name: String,
    /// Whether it is a prompt.
    pub is_prompt: bool,
    /// Why it is neither shown nor called, if it is not: it has changed since it was pinned.
    pub hidden: Option<String>,
}

/// What one server has in a registry.
#[derive(Default)]
pub(super) struct Catalogue {
    entries: Vec<CatalogueEntry>,
    pub(super) notes: Vec<String>,
    /// What was listed last, to be looked at again when something was accepted.
    pub(super) listing: Listing,
    /// Whether anything was listed yet.
    was_synced: bool,
    /// Whether the server was detached: nothing is added any more.
    pub(super) is_closed: bool,
}

struct CatalogueEntry {
    item: RemoteItem,
    fingerprint: Fingerprint,
}

/// The name that a definition is pinned by.
pub(super) fn pin_name(remote: &str, is_prompt: bool) -> String {
    match is_prompt {
        true => format!("prompt:{remote}"),
        false => remote.to_owned(),
    }
}

impl Catalogue {
    pub(super) fn items(&self) -> impl Iterator<Item = &RemoteItem> {
        self.entries.iter().map(|held| &held.item)
    }

    /// Makes the registry show what is listed now, except what has drifted from its pin; returns what is hidden since now.
    pub(super) fn sync(
        &mut self,
        plan: &ValidatedServer,
        link: &Arc<SharedConnection>,
        registry: &Registry,
        listing: Listing,
    ) -> Result<Vec<RemoteItem>, PinError> {
        if self.is_closed {
            return Ok(Vec::new());
        }
        let mut notes = Vec::new();
        let definitions = parse_listing(&listing, &mut notes);
        let seen: Vec<(String, Fingerprint)> = definitions
            .iter()
            .map(|it| {
                (
                    pin_name(it.name(), it.is_prompt()),
                    it.fingerprint().clone(),
                )
            })
            .collect();
        let verdicts = plan.pins.check(&plan.name, &seen)?;
        let names = self.registry_names(plan, registry, &definitions);
        let (mut held, mut added) = (Vec::new(), Vec::new());
        for ((definition, name), verdict) in definitions.into_iter().zip(names).zip(verdicts) {
            let hidden = match verdict {
                PinStatus::Drifted { changed } => Some(drift_note(&name, &changed)),
                _ => None,
            };
            notes.extend(hidden.clone());
            let next = CatalogueEntry {
                item: RemoteItem {
                    name,
                    remote_name: definition.name().to_owned(),
                    is_prompt: definition.is_prompt(),
                    hidden,
                },
                fingerprint: definition.fingerprint().clone(),
            };
            if next.item.hidden.is_none() && !self.contains(&next) {
                match definition.into_bundle_item(plan, link, &next.item.name) {
                    Ok(item) => added.push(item),
                    Err(error) => {
                        notes.push(format!("`{}` is left out: {error}", next.item.remote_name));
                        continue;
                    }
                }
            }
            held.push(next);
        }
        for gone in self.entries.iter().filter(|old| !is_registered(&held, old)) {
            unregister(registry, &gone.item);
        }
        self.register(registry, added, &mut held, &mut notes);
        notes.truncate(MAX_NOTES);
        let hidden = match std::mem::replace(&mut self.was_synced, true) {
            true => self.newly_hidden(&held),
            false => Vec::new(),
        };
        (self.entries, self.notes, self.listing) = (held, notes, listing);
        Ok(hidden)
    }

    /// Adds a note, unless it is there already.
    pub(super) fn add_note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Takes everything out of the registry, for good.
    pub(super) fn close(&mut self, registry: &Registry) {
        self.is_closed = true;
        for held in self.entries.drain(..) {
            unregister(registry, &held.item);
        }
    }

    /// Returns what was not hidden before, or hidden for another reason.
    fn newly_hidden(&self, held: &[CatalogueEntry]) -> Vec<RemoteItem> {
        let known = |it: &RemoteItem| {
            self.items()
                .any(|old| (&old.name, &old.hidden) == (&it.name, &it.hidden))
        };
        let hidden = held.iter().map(|held| &held.item);
        let hidden = hidden.filter(|it| it.hidden.is_some() && !known(it));
        hidden.cloned().collect()
    }

    fn contains(&self, wanted: &CatalogueEntry) -> bool {
        is_registered(&self.entries, wanted)
    }

    /// Names definitions `prefix_name`; no name is one that somebody else has.
    fn registry_names(
        &self,
        plan: &ValidatedServer,
        registry: &Registry,
        definitions: &[RemoteDefinition],
    ) -> Vec<String> {
        let snapshot = registry.snapshot();
        let ours: HashSet<&str> = self.items().map(|listed| listed.name.as_str()).collect();
        let tools = snapshot.iter().map(|entry| entry.spec().name.as_str());
        let prompts = snapshot.prompts().map(|prompt| prompt.name().as_str());
        let taken = tools.chain(prompts).filter(|name| !ours.contains(name));
        let taken: Vec<String> = taken
            .filter(|name| name.starts_with(&plan.prefix))
            .map(str::to_owned)
            .collect();
        let rule = Dialect::OPENAI.tool_name();
        let named = |prompts: bool| {
            let of_kind = definitions.iter().filter(|it| it.is_prompt() == prompts);
            let wanted: Vec<String> = of_kind
                .map(|it| format!("{}_{}", plan.prefix, it.name()))
                .collect();
            let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
            wire_names(&wanted, rule, &taken)
        };
        // Tools come before prompts.
        named(false).into_iter().chain(named(true)).collect()
    }

    fn register(
        &self,
        registry: &Registry,
        added: Vec<BundleItem>,
        held: &mut Vec<CatalogueEntry>,
        notes: &mut Vec<String>,
    ) {
        if registry.add(added.clone()).is_ok() {
            return;
        }
        // Somebody else was quicker with a name: the others are not to blame.
        for item in added {
            let (name, is_prompt) = (
                item.name().to_string(),
                matches!(item, BundleItem::Prompt(_)),
            );
            if let Err(error) = registry.add(vec![item]) {
                notes.push(format!("`{name}` is left out: {error}"));
                held.retain(|held| held.item.name != name || held.item.is_prompt != is_prompt);
            }
        }
    }
}

/// Whether the registry shows exactly this already.
fn is_registered(held: &[CatalogueEntry], wanted: &CatalogueEntry) -> bool {
    held.iter().any(|held| {
        held.item.hidden.is_none()
            && held.item.name == wanted.item.name
            && held.item.is_prompt == wanted.item.is_prompt
            && held.item.remote_name == wanted.item.remote_name
            && held.fingerprint == wanted.fingerprint
    })
}

fn unregister(registry: &Registry, listed: &RemoteItem) {
    match (listed.hidden.is_some(), listed.is_prompt) {
        (true, _) => {}
        (false, true) => drop(registry.remove_prompt(&listed.name)),
        (false, false) => drop(registry.remove(&listed.name)),
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

/// Reads what is listed; of two with one name, the first counts.
fn parse_listing(listing: &Listing, notes: &mut Vec<String>) -> Vec<RemoteDefinition> {
    let tools = listing.tools.iter().map(RemoteDefinition::parse_tool);
    let prompts = listing.prompts.iter().map(RemoteDefinition::parse_prompt);
    let mut names = HashSet::new();
    let mut definitions = Vec::new();
    for read in tools.chain(prompts) {
        match read {
            Ok(it) if !names.insert((it.name().to_owned(), it.is_prompt())) => {
                notes.push(format!(
                    "`{}` is listed twice: only the first counts",
                    it.name()
                ));
            }
            Ok(RemoteDefinition::Tool(tool)) => {
                let told = tool
                    .notes
                    .iter()
                    .map(|note| format!("`{}`: {note}", tool.name));
                notes.extend(told);
                definitions.push(RemoteDefinition::Tool(tool));
            }
            Ok(prompt) => definitions.push(prompt),
            Err(note) => notes.push(note),
        }
    }
    definitions
}
