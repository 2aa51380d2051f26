//! What a server lists in, what the registry shows of it out.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;
use toolwright_core::schema::Dialect;
use toolwright_core::wire::wire_names;
use toolwright_core::{Item, Registry};

use super::item::Definition;
use super::link::Link;
use super::list::Listing;
use super::plan::Plan;
use crate::pin::{Fingerprint, PinError, Verdict};

/// More notes than these nobody reads.
const NOTES: usize = 100;

/// A tool or prompt of an attached server.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Listed {
    /// What it is called here.
    pub name: String,
    /// What its server calls it.
    pub remote: String,
    /// Whether it is a prompt.
    pub is_prompt: bool,
    /// Why it is neither shown nor called, if it is not: it has changed since it was pinned.
    pub hidden: Option<String>,
}

/// What one server has in a registry.
#[derive(Default)]
pub(super) struct Catalogue {
    held: Vec<Held>,
    pub(super) notes: Vec<String>,
    /// What was listed last, to be looked at again when something was accepted.
    pub(super) listing: Listing,
    /// Whether anything was listed yet.
    is_listed: bool,
    /// Whether the server was detached: nothing is added any more.
    pub(super) is_closed: bool,
}

struct Held {
    listed: Listed,
    fingerprint: Fingerprint,
}

/// The name that a definition is pinned by.
pub(super) fn pinned(remote: &str, is_prompt: bool) -> String {
    match is_prompt {
        true => format!("prompt:{remote}"),
        false => remote.to_owned(),
    }
}

impl Catalogue {
    pub(super) fn listed(&self) -> impl Iterator<Item = &Listed> {
        self.held.iter().map(|held| &held.listed)
    }

    /// Makes the registry show what is listed now, except what has drifted from its pin; returns what is hidden since now.
    pub(super) fn sync(
        &mut self,
        plan: &Plan,
        link: &Arc<Link>,
        registry: &Registry,
        listing: Listing,
    ) -> Result<Vec<Listed>, PinError> {
        if self.is_closed {
            return Ok(Vec::new());
        }
        let mut notes = Vec::new();
        let definitions = read(&listing, &mut notes);
        let seen: Vec<(String, Fingerprint)> = definitions
            .iter()
            .map(|it| (pinned(it.name(), it.is_prompt()), it.fingerprint().clone()))
            .collect();
        let verdicts = plan.pins.check(&plan.name, &seen)?;
        let names = self.names(plan, registry, &definitions);
        let (mut held, mut added) = (Vec::new(), Vec::new());
        for ((definition, name), verdict) in definitions.into_iter().zip(names).zip(verdicts) {
            let hidden = match verdict {
                Verdict::Drifted { changed } => Some(drifted(&name, &changed)),
                _ => None,
            };
            notes.extend(hidden.clone());
            let next = Held {
                listed: Listed {
                    name,
                    remote: definition.name().to_owned(),
                    is_prompt: definition.is_prompt(),
                    hidden,
                },
                fingerprint: definition.fingerprint().clone(),
            };
            if next.listed.hidden.is_none() && !self.shows(&next) {
                match definition.into_item(plan, link, &next.listed.name) {
                    Ok(item) => added.push(item),
                    Err(error) => {
                        notes.push(format!("`{}` is left out: {error}", next.listed.remote));
                        continue;
                    }
                }
            }
            held.push(next);
        }
        for gone in self.held.iter().filter(|old| !is_shown(&held, old)) {
            remove(registry, &gone.listed);
        }
        self.add(registry, added, &mut held, &mut notes);
        notes.truncate(NOTES);
        let hidden = match std::mem::replace(&mut self.is_listed, true) {
            true => self.newly_hidden(&held),
            false => Vec::new(),
        };
        (self.held, self.notes, self.listing) = (held, notes, listing);
        Ok(hidden)
    }

    /// Adds a note, unless it is there already.
    pub(super) fn note(&mut self, note: String) {
        if self.notes.len() < NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Takes everything out of the registry, for good.
    pub(super) fn close(&mut self, registry: &Registry) {
        self.is_closed = true;
        for held in self.held.drain(..) {
            remove(registry, &held.listed);
        }
    }

    /// Returns what was not hidden before, or hidden for another reason.
    fn newly_hidden(&self, held: &[Held]) -> Vec<Listed> {
        let known = |it: &Listed| {
            self.listed()
                .any(|old| (&old.name, &old.hidden) == (&it.name, &it.hidden))
        };
        let hidden = held.iter().map(|held| &held.listed);
        let hidden = hidden.filter(|it| it.hidden.is_some() && !known(it));
        hidden.cloned().collect()
    }

    fn shows(&self, wanted: &Held) -> bool {
        is_shown(&self.held, wanted)
    }

    /// Names definitions `prefix_name`; no name is one that somebody else has.
    fn names(&self, plan: &Plan, registry: &Registry, definitions: &[Definition]) -> Vec<String> {
        let snapshot = registry.snapshot();
        let ours: HashSet<&str> = self.listed().map(|listed| listed.name.as_str()).collect();
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

    fn add(
        &self,
        registry: &Registry,
        added: Vec<Item>,
        held: &mut Vec<Held>,
        notes: &mut Vec<String>,
    ) {
        if registry.add(added.clone()).is_ok() {
            return;
        }
        // Somebody else was quicker with a name: the others are not to blame.
        for item in added {
            let (name, is_prompt) = (item.name().to_string(), matches!(item, Item::Prompt(_)));
            if let Err(error) = registry.add(vec![item]) {
                notes.push(format!("`{name}` is left out: {error}"));
                held.retain(|held| held.listed.name != name || held.listed.is_prompt != is_prompt);
            }
        }
    }
}

/// Whether the registry shows exactly this already.
fn is_shown(held: &[Held], wanted: &Held) -> bool {
    held.iter().any(|held| {
        held.listed.hidden.is_none()
            && held.listed.name == wanted.listed.name
            && held.listed.is_prompt == wanted.listed.is_prompt
            && held.listed.remote == wanted.listed.remote
            && held.fingerprint == wanted.fingerprint
    })
}

fn remove(registry: &Registry, listed: &Listed) {
    match (listed.hidden.is_some(), listed.is_prompt) {
        (true, _) => {}
        (false, true) => drop(registry.remove_prompt(&listed.name)),
        (false, false) => drop(registry.remove(&listed.name)),
    }
}

fn drifted(name: &str, changed: &[String]) -> String {
    let changed = match changed {
        [] => "something".to_owned(),
        parts => parts.join(" and "),
    };
    format!(
        "`{name}` is hidden: its {changed} changed since it was pinned; look at it, then accept it"
    )
}

/// Reads what is listed; of two with one name, the first counts.
fn read(listing: &Listing, notes: &mut Vec<String>) -> Vec<Definition> {
    let tools = listing.tools.iter().map(Definition::tool);
    let prompts = listing.prompts.iter().map(Definition::prompt);
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
            Ok(Definition::Tool(tool)) => {
                let told = tool
                    .notes
                    .iter()
                    .map(|note| format!("`{}`: {note}", tool.name));
                notes.extend(told);
                definitions.push(Definition::Tool(tool));
            }
            Ok(prompt) => definitions.push(prompt),
            Err(note) => notes.push(note),
        }
    }
    definitions
}
