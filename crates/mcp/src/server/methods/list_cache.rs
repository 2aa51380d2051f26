//! The lists of tools and prompts as JSON for each revision, each page rendered once per change of the registry.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock};
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

/// One list; a page is rendered when it is first requested.
pub(crate) struct RenderedList {
    snapshot: Arc<Snapshot>,
    revision: Revision,
    items: Vec<VisibleItem>,
    digest: OnceLock<[u8; 32]>,
    pages: Mutex<HashMap<usize, Arc<[u8]>>>,
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
        let same = lock(&self.0)
            .iter()
            .filter(|((kind, revision, _), cached)| {
                (*kind, *revision) == (key.0, key.1) && is_current(cached)
            })
            .find(|(_, cached)| cached.list.has_items(&items))
            .map(|(_, cached)| Arc::clone(&cached.list));
        let list = same.unwrap_or_else(|| {
            Arc::new(RenderedList {
                snapshot: Arc::clone(&snapshot),
                revision,
                items,
                digest: OnceLock::new(),
                pages: Mutex::default(),
            })
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
    fn name(&self) -> &str {
        self.spec().name.as_str()
    }

    fn spec(&self) -> &ToolSpec {
        match self {
            Self::Tool(tool) => tool.spec(),
            Self::Prompt(prompt) => prompt.spec(),
        }
    }

    fn write_entry(&self, body: &mut Vec<u8>, revision: Revision) {
        match self {
            Self::Tool(tool) => export::tool::write_tool_entry(body, tool.spec(), revision),
            Self::Prompt(prompt) => export::prompt::write_prompt_entry(body, prompt, revision),
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
    /// Returns true if the list has these items, which are of the same snapshot: there, an address identifies a spec.
    fn has_items(&self, items: &[VisibleItem]) -> bool {
        self.items.len() == items.len()
            && self.items.iter().zip(items).all(|(own, it)| std::ptr::eq(own.spec(), it.spec()))
    }

    /// Returns the digest of all entries, by which subscriptions notice a change.
    pub(crate) fn digest(&self) -> [u8; 32] {
        *self.digest.get_or_init(|| {
            digest_entries(&self.items, |body, item| item.write_entry(body, self.revision))
        })
    }

    /// Returns one page: the entries as an array, and the cursor of the next page.
    pub(crate) fn page(&self, cursor: Option<&str>, size: usize) -> Result<Arc<[u8]>, RpcError> {
        let size = size.max(1);
        let from = match cursor {
            None => 0,
            Some(cursor) => self.position_after_cursor(cursor)?,
        };
        let mut pages = lock(&self.pages);
        if let Some(page) = pages.get(&from) {
            return Ok(Arc::clone(page));
        }
        let page: Arc<[u8]> = self.render_page(from, size).into();
        // A client may send any cursor; only pages at multiples of the page size are cached.
        if from.is_multiple_of(size) {
            pages.insert(from, Arc::clone(&page));
        }
        Ok(page)
    }

    fn render_page(&self, from: usize, size: usize) -> Vec<u8> {
        let to = from.saturating_add(size).min(self.items.len());
        let items = self.items.get(from..to).unwrap_or_default();
        let mut page = vec![b'['];
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                page.push(b',');
            }
            item.write_entry(&mut page, self.revision);
        }
        page.push(b']');
        if let Some(last) = items.last().filter(|_| to < self.items.len()) {
            let cursor = BASE64URL_NOPAD.encode(format!("{to}:{}", last.name()).as_bytes());
            page.extend_from_slice(br#","nextCursor":""#);
            page.extend_from_slice(cursor.as_bytes());
            page.push(b'"');
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
        let is_last = |at: usize| self.items.get(at).is_some_and(|item| item.name() == last);
        if position.checked_sub(1).is_some_and(is_last) {
            return Ok(position);
        }
        let moved = self.items.iter().position(|item| item.name() == last);
        Ok(moved.map_or(position.min(self.items.len()), |at| at + 1))
    }
}

/// Returns the digest of entries; `write` writes one of them.
pub(crate) fn digest_entries<T>(
    items: impl IntoIterator<Item = T>,
    write: impl Fn(&mut Vec<u8>, T),
) -> [u8; 32] {
    let mut digest = Sha256::new();
    let mut entry = Vec::new();
    for item in items {
        entry.clear();
        write(&mut entry, item);
        digest.update((entry.len() as u64).to_be_bytes());
        digest.update(&entry);
    }
    digest.finalize().into()
}
