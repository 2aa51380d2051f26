//! The modules at the root of a crate depend on each other in one direction.
//!
//! Reads every path that begins with `crate`, `super` or `self`, in groups, too, and follows what the root re-exports. Tests do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Item, UseTree};

/// The crates without a cycle.
const CRATES: [&str; 1] = ["conversation"];

/// The modules at the root of a crate that each of them names.
type Edges = BTreeMap<String, BTreeSet<String>>;

#[test]
fn modules_depend_on_each_other_in_one_direction() {
    for name in CRATES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates").join(name).join("src");
        let mut sources = Vec::new();
        read_sources(&folder, &mut Vec::new(), &mut sources);
        let edges = edges(&sources);
        assert!(edges.values().map(BTreeSet::len).sum::<usize>() > 5, "{name}: {edges:?}");
        assert_eq!(find_cycle(&edges), None, "in crates/{name}");
    }
}

#[test]
fn a_cycle_is_found_through_groups_parents_and_reexports() {
    let source = |path: &[&str], text: &str| {
        (path.iter().map(|name| (*name).to_owned()).collect(), text.to_owned())
    };
    let root = source(&[], "mod a; mod b; mod c; pub use c::{deep::Thing, Other as Renamed};");
    let cycle = |a: &str, b: &str, c: &str| {
        let sources =
            [root.clone(), source(&["a"], a), source(&["b", "inner"], b), source(&["c"], c)];
        find_cycle(&edges(&sources))
    };
    assert_eq!(cycle("use crate::b::X;", "use super::Y;", "use crate::{a, b};"), None);
    assert_eq!(
        cycle("use crate::{b::X, c};", "fn f() { super::super::a::g() }", "").unwrap(),
        "a → b → a"
    );
    assert_eq!(
        cycle("use crate::Renamed;", "", "mod deep { use super::super::a; }").unwrap(),
        "a → c → a"
    );
    let tests = "#[cfg(test)] mod tests { use crate::a; }";
    assert_eq!(cycle("use crate::Thing;", "", tests), None);
}

fn read_sources(folder: &Path, path: &mut Vec<String>, sources: &mut Vec<(Vec<String>, String)>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_stem().unwrap().to_str().unwrap().to_owned();
        let is_root = name == "lib";
        path.extend((!is_root).then_some(name));
        match entry.is_dir() {
            true => read_sources(&entry, path, sources),
            false => sources.push((path.clone(), fs::read_to_string(&entry).unwrap())),
        }
        path.truncate(path.len() - usize::from(!is_root));
    }
}

fn edges(sources: &[(Vec<String>, String)]) -> Edges {
    let mut edges = Edges::new();
    let mut reexports = BTreeMap::new();
    for (path, text) in sources {
        let file = syn::parse_file(text).unwrap();
        for item in &file.items {
            if let (true, Item::Use(item)) = (path.is_empty(), item) {
                find_reexports(&item.tree, None, &mut reexports);
            }
        }
        if let Some(root) = path.first() {
            let named = edges.entry(root.clone()).or_default();
            find_paths(file.items, path, named);
        }
    }
    let modules: BTreeSet<String> = edges.keys().cloned().collect();
    for (module, named) in &mut edges {
        let names = std::mem::take(named).into_iter();
        let resolved = names.filter_map(|name| match modules.contains(&name) {
            true => Some(name),
            false => reexports.get(&name).cloned(),
        });
        *named = resolved.filter(|name| name != module).collect();
    }
    edges
}

/// Adds the names that the root has from its modules, each with its module.
fn find_reexports(tree: &UseTree, module: Option<&str>, found: &mut BTreeMap<String, String>) {
    let mut add = |name: String| {
        if let Some(module) = module {
            found.insert(name, module.to_owned());
        }
    };
    match tree {
        UseTree::Path(path) => {
            let name = path.ident.to_string();
            let at_root = ["self", "crate"].contains(&name.as_str());
            let first = (!at_root).then_some(name);
            find_reexports(&path.tree, module.or(first.as_deref()), found);
        }
        UseTree::Name(name) => add(name.ident.to_string()),
        UseTree::Rename(rename) => add(rename.rename.to_string()),
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| find_reexports(tree, module, found));
        }
        UseTree::Glob(_) => {}
    }
}

/// Adds the first names of all paths that begin at the root of the crate, or lead there.
fn find_paths(items: Vec<Item>, path: &[String], found: &mut BTreeSet<String>) {
    for item in items {
        match item {
            Item::Mod(module) if module.attrs.iter().any(|it| it.path().is_ident("cfg")) => {}
            Item::Mod(module) => {
                let path = [path, &[module.ident.to_string()]].concat();
                let (_, items) = module.content.unwrap_or_default();
                find_paths(items, &path, found);
            }
            item => scan(item.to_token_stream(), path, found),
        }
    }
}

fn scan(tokens: TokenStream, path: &[String], found: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        let mut base = match tokens[at].to_string().as_str() {
            "crate" => Vec::new(),
            "self" => path.to_vec(),
            "super" => path[..path.len().saturating_sub(1)].to_vec(),
            _ => {
                if let TokenTree::Group(group) = &tokens[at] {
                    scan(group.stream(), path, found);
                }
                at += 1;
                continue;
            }
        };
        at += 1;
        while let Some(next) = after_colons(&tokens, at) {
            at += 2;
            match next {
                TokenTree::Ident(name) if name == "super" => {
                    base.pop();
                    at += 1;
                }
                TokenTree::Ident(name) => {
                    found.insert(base.first().cloned().unwrap_or_else(|| name.to_string()));
                    break;
                }
                TokenTree::Group(group) => {
                    found.extend(match base.first() {
                        Some(first) => vec![first.clone()],
                        None => first_names(group.stream()),
                    });
                    break;
                }
                _ => break,
            }
        }
    }
}

/// The token after `::`.
fn after_colons(tokens: &[TokenTree], at: usize) -> Option<&TokenTree> {
    let is_colon =
        |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(it)) if it.as_char() == ':');
    (is_colon(at) && is_colon(at + 1)).then(|| tokens.get(at + 2)).flatten()
}

/// The first names of the items of a group.
fn first_names(group: TokenStream) -> Vec<String> {
    let tokens: Vec<TokenTree> = group.into_iter().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == ',');
    tokens.split(is_comma).filter_map(|item| Some(item.first()?.to_string())).collect()
}

/// A cycle, as `a → b → a`.
fn find_cycle(edges: &Edges) -> Option<String> {
    fn visit<'a>(at: &'a str, edges: &'a Edges, path: &mut Vec<&'a str>) -> Option<String> {
        if let Some(begin) = path.iter().position(|name| *name == at) {
            return Some(format!("{} → {at}", path[begin..].join(" → ")));
        }
        path.push(at);
        let mut named = edges.get(at).into_iter().flatten();
        let found = named.find_map(|next| visit(next, edges, path));
        path.pop();
        found
    }
    edges.keys().find_map(|at| visit(at, edges, &mut Vec::new()))
}
