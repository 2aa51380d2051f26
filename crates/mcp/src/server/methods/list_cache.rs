//! The lists of tools and prompts as JSON for each revision, rendered once per change of the registry.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest as _, Sha256};
use toolwright_auth::ScopedTools;
use toolwright_core::{
    CallScope, Caller, Invoker, Prompt, RegisteredTool, RegistryError, Snapshot, ToolSpec,
};

use crate::export;
use crate::lock::lock;
use crate::server::{Request, Revision, RpcError, ToolGateway};

/// After this time it is checked again what a caller may see: that can change without a change of the registry.
const MAX_AGE: Duration = Duration::from_secs(1);
/// The number of cached entries; callers that see the same items share one list.
const MAX_CALLERS: usize = 1024;
/// How many sets of scopes have cached lists.
const MAX_SCOPE_SETS: usize = 64;

/// The lists of each set of scopes: a list never serves another set than its own.
#[derive(Default)]
pub(crate) struct ListCaches {
    /// Of principals that no scopes limit.
    unscoped: Arc<ListCache>,
    by_scopes: Mutex<HashMap<BTreeSet<String>, Arc<ListCache>>>,
}

/// The lists of all principals with the same tools.
#[derive(Default)]
struct ListCache(Mutex<HashMap<ListKey, CachedList>>);

/// The kind, the revision, and the name of the caller.
type ListKey = (ListKind, Revision, Option<Box<str>>);

/// The list of one caller, and when it was last checked what the caller may see.
struct CachedList {
    list: Arc<RenderedList>,
    checked_at: Instant,
}

/// The rendered entries of one list.
pub(crate) struct RenderedList {
    snapshot: Arc<Snapshot>,
    /// The addresses of the listed specs, which identify them within one snapshot.
    spec_addresses: Vec<usize>,
    entries: Vec<(Box<str>, Box<str>)>,
    /// The digest of all entries, by which subscriptions notice a change.
    pub(crate) digest: [u8; 32],
    pages: Mutex<HashMap<usize, Arc<str>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ListKind {
    Tools,
    Prompts,
}

impl ListKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
        }
    }
}

impl Request {
    /// Returns the list of the tools or prompts that the sender may see.
    pub(crate) fn rendered_list(&self, kind: ListKind) -> Result<Arc<RenderedList>, RegistryError> {
        let lists = self.server.0.lists.of_scopes(self.tools());
        let (revision, caller) = (self.context.revision, &self.context.caller);
        let gateway = self.server.0.gateway.as_ref();
        lists.get_or_render(kind, self.tools().invoker(), gateway, revision, caller)
    }
}

impl ListCaches {
    fn of_scopes(&self, tools: &ScopedTools) -> Arc<ListCache> {
        let Some(scopes) = tools.scopes() else {
            return Arc::clone(&self.unscoped);
        };
        let mut caches = lock(&self.by_scopes);
        if let Some(lists) = caches.get(scopes) {
            return Arc::clone(lists);
        }
        if caches.len() >= MAX_SCOPE_SETS {
            caches.clear();
        }
        Arc::clone(caches.entry(scopes.clone()).or_default())
    }
}

impl ListCache {
    fn get_or_render(
        &self,
        kind: ListKind,
        invoker: &Invoker,
        gateway: Option<&ToolGateway>,
        revision: Revision,
        caller: &Caller,
    ) -> Result<Arc<RenderedList>, RegistryError> {
        let snapshot = invoker.snapshot()?;
        let key = (kind, revision, caller.name().map(Box::from));
        let is_current = |cached: &&CachedList| Arc::ptr_eq(&cached.list.snapshot, &snapshot);
        if let Some(cached) = lock(&self.0).get(&key).filter(is_current)
            && cached.checked_at.elapsed() < MAX_AGE
        {
            return Ok(Arc::clone(&cached.list));
        }
        let items = visible_items(kind, invoker, gateway, caller)?;
        let addresses: Vec<usize> =
            items.iter().map(|item| std::ptr::from_ref(item.spec()).addr()).collect();
        let same = lock(&self.0)
            .iter()
            .filter(|((kind, revision, _), cached)| {
                (*kind, *revision) == (key.0, key.1) && is_current(cached)
            })
            .find(|(_, cached)| cached.list.spec_addresses == addresses)
            .map(|(_, cached)| Arc::clone(&cached.list));
        let list = same.unwrap_or_else(|| {
            let list = RenderedList::new(&items, addresses, Arc::clone(&snapshot), revision);
            Arc::new(list)
        });
        let entry = CachedList { list: Arc::clone(&list), checked_at: Instant::now() };
        let mut cache = lock(&self.0);
        // Lists of older snapshots are never requested again.
        cache.retain(|_, cached| is_current(&&*cached));
        if cache.len() >= MAX_CALLERS {
            cache.clear();
        }
        cache.insert(key, entry);
        Ok(list)
    }
}

/// A tool or prompt that a caller may see.
enum VisibleItem {
    Tool(RegisteredTool),
    Prompt(Prompt),
}

impl VisibleItem {
    fn spec(&self) -> &ToolSpec {
        match self {
            Self::Tool(tool) => tool.spec(),
            Self::Prompt(prompt) => prompt.spec(),
        }
    }

    fn render(&self, revision: Revision) -> String {
        match self {
            Self::Tool(tool) => export::tool::tool_entry(tool.spec(), revision),
            Self::Prompt(prompt) => export::prompt::prompt_entry(prompt, revision),
        }
    }
}

fn visible_items(
    kind: ListKind,
    invoker: &Invoker,
    gateway: Option<&ToolGateway>,
    caller: &Caller,
) -> Result<Vec<VisibleItem>, RegistryError> {
    let scope = CallScope::new().caller(caller.clone());
    Ok(match kind {
        ListKind::Tools => {
            let visible = invoker.list(&scope)?;
            let listed = match gateway {
                Some(gateway) => gateway.listed_tools(visible, &scope)?,
                None => visible,
            };
            listed.into_iter().map(VisibleItem::Tool).collect()
        }
        ListKind::Prompts => {
            invoker.list_prompts(&scope)?.into_iter().map(VisibleItem::Prompt).collect()
        }
    })
}

impl RenderedList {
    fn new(
        items: &[VisibleItem],
        spec_addresses: Vec<usize>,
        snapshot: Arc<Snapshot>,
        revision: Revision,
    ) -> Self {
        let entries: Vec<(Box<str>, Box<str>)> = items
            .iter()
            .map(|item| (item.spec().name.as_str().into(), item.render(revision).into()))
            .collect();
        let mut digest = Sha256::new();
        for (_, entry) in &entries {
            digest.update(entry.as_bytes());
        }
        Self {
            snapshot,
            spec_addresses,
            entries,
            digest: digest.finalize().into(),
            pages: Mutex::default(),
        }
    }

    /// Returns one page: the entries as an array, and the cursor of the next page.
    pub(crate) fn page(&self, cursor: Option<&str>, size: usize) -> Result<Arc<str>, RpcError> {
        let size = size.max(1);
        let from = match cursor {
            None => 0,
            Some(cursor) => self.position_after_cursor(cursor)?,
        };
        let mut pages = lock(&self.pages);
        if let Some(page) = pages.get(&from) {
            return Ok(Arc::clone(page));
        }
        let page: Arc<str> = self.render_page(from, size).into();
        // A client may send any cursor; only pages at multiples of the page size are cached.
        if from.is_multiple_of(size) {
            pages.insert(from, Arc::clone(&page));
        }
        Ok(page)
    }

    fn render_page(&self, from: usize, size: usize) -> String {
        let to = from.saturating_add(size).min(self.entries.len());
        let entries = self.entries.get(from..to).unwrap_or_default();
        let length = entries.iter().map(|(_, entry)| entry.len() + 1).sum();
        let mut page = String::with_capacity(length);
        page.push('[');
        for (index, (_, entry)) in entries.iter().enumerate() {
            if index > 0 {
                page.push(',');
            }
            page.push_str(entry);
        }
        page.push(']');
        if let Some((last, _)) = entries.last().filter(|_| to < self.entries.len()) {
            let cursor = BASE64URL_NOPAD.encode(format!("{to}:{last}").as_bytes());
            page.push_str(r#","nextCursor":""#);
            page.push_str(&cursor);
            page.push('"');
        }
        page
    }

    /// Returns the position after the entry that a cursor names, even if it has moved.
    ///
    /// If the entry is gone, this is its old position: entries that moved may be missing from the pages.
    fn position_after_cursor(&self, cursor: &str) -> Result<usize, RpcError> {
        let unknown =
            || RpcError::invalid_params("the cursor is not one of ours: start without one");
        let cursor = BASE64URL_NOPAD.decode(cursor.as_bytes()).map_err(|_| unknown())?;
        let cursor = String::from_utf8(cursor).map_err(|_| unknown())?;
        let (position, last) = cursor.split_once(':').ok_or_else(unknown)?;
        let position: usize = position.parse().map_err(|_| unknown())?;
        let is_last = |at: usize| self.entries.get(at).is_some_and(|(name, _)| **name == *last);
        if position.checked_sub(1).is_some_and(is_last) {
            return Ok(position);
        }
        let moved = self.entries.iter().position(|(name, _)| **name == *last);
        Ok(moved.map_or(position.min(self.entries.len()), |at| at + 1))
    }
}
