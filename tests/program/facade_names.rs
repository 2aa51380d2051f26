//! Every public type of the facade has its own name, with all features on.
//!
//! Reads the sources with `syn`: `pub` items and `pub use` of the workspace's crates, from `crates/toolwright` on. Types that a
//! macro defines are known only where a `pub use` names them. `#[doc(hidden)]` items do not count.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Attribute, File, Ident, Item, UseTree, Visibility};

const FACADE: &str = "toolwright";

#[test]
fn no_two_public_types_of_the_facade_share_a_name() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let names = fs::read_dir(crates).unwrap().map(|entry| entry.unwrap());
    let sources = names.map(|entry| {
        let name = entry.file_name().into_string().unwrap().replace('-', "_");
        let name = match name.as_str() {
            FACADE => name,
            _ => format!("{FACADE}_{name}"),
        };
        (name, read_source(&entry.path().join("src/lib.rs")))
    });
    let types = public_types(&parse_crates(sources));
    println!("{} public types in the facade", types.len());
    assert!(types.len() > 200 && types.contains_key("Registry") && types.contains_key("ChatEvent"));
    assert_eq!(shared_names(&types), Vec::<String>::new());
}

/// What an example may import: the facade, the standard library, and the frameworks that a program plugs it into.
const IMPORTED: [&str; 5] = ["toolwright", "std", "axum", "tower", "tracing_subscriber"];

#[test]
fn examples_in_the_documentation_import_from_the_facade_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pending = vec![root.join("crates"), root.join("docs"), root.join("README.md")];
    let (mut wrong, mut examples) = (Vec::new(), 0);
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let is_source = path.extension().is_some_and(|extension| extension == "rs")
            && path.components().any(|part| part.as_os_str() == "src");
        let is_page = path.extension().is_some_and(|extension| extension == "md");
        if !is_source && !is_page {
            continue;
        }
        let (mut in_block, mut in_example) = (false, false);
        for line in fs::read_to_string(&path).unwrap().lines() {
            let line = match is_page {
                true => line,
                false => match line.trim_start().strip_prefix("//") {
                    Some(comment) => comment.trim_start_matches(['/', '!']).trim_start(),
                    None => "",
                },
            };
            if line.starts_with("```") {
                in_block = !in_block;
                // A program of other software is shown as text.
                in_example = in_block && line != "```text";
                examples += usize::from(in_example);
            }
            if in_example && imported_crate(line).is_some_and(|name| !IMPORTED.contains(&name)) {
                wrong.push(format!("{}: {line}", path.display()));
            }
        }
    }
    assert!(examples > 100, "{examples} examples");
    assert_eq!(wrong, Vec::<String>::new());
}

/// The crate that a line of an example imports from; hidden lines count, items of the example itself do not.
fn imported_crate(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("# ").unwrap_or(line).trim_start();
    let path = line.strip_prefix("pub ").unwrap_or(line).strip_prefix("use ")?;
    let path = path.strip_prefix("::").unwrap_or(path);
    let name = path.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    let is_local =
        ["crate", "self", "super"].contains(&name) || name.starts_with(char::is_uppercase);
    (!is_local).then_some(name)
}

#[test]
fn the_crate_of_an_import_is_recognized_wherever_the_line_stands() {
    for (line, name) in [
        ("use futures::stream;", Some("futures")),
        ("# use toolwright_guard::Jail;", Some("toolwright_guard")),
        ("    use ::serde::Serialize;", Some("serde")),
        ("use my_tools as _;", Some("my_tools")),
        ("use super::tools;", None),
        ("use Shape::*;", None),
        ("let used = 1;", None),
    ] {
        assert_eq!(imported_crate(line), name, "{line}");
    }
}

#[test]
fn a_name_with_two_definitions_is_found_through_globs_and_renames() {
    let crates = parse_crates([
        (
            FACADE.to_owned(),
            "pub use toolwright_core::*; pub use toolwright_chat as chat;",
        ),
        (
            "toolwright_core".to_owned(),
            "mod layer { pub struct Next; pub struct Private; mod deep { pub enum Verdict {} } pub use deep::*; }
             pub use layer::{Next, Verdict}; pub use self::layer::Next as Also;
             #[doc(hidden)] pub mod private { pub struct Hidden; }",
        ),
        (
            "toolwright_chat".to_owned(),
            "mod turn { pub trait Action {} pub type Hidden = u8; pub struct Ruling; pub fn next() {} }
             pub use crate::turn::{Action as Next, Hidden, next};
             pub mod approval { pub use super::turn::Ruling as Verdict; pub use foreign::Verdict as Foreign; }
             pub use toolwright_core::Next as Reexport;",
        ),
    ]);
    let types = public_types(&crates);
    let names: Vec<&str> = types.keys().map(String::as_str).collect();
    assert_eq!(names, ["Also", "Foreign", "Hidden", "Next", "Reexport", "Verdict"]);
    assert_eq!(
        shared_names(&types),
        [
            "Next: toolwright_chat::turn::Action, toolwright_core::layer::Next",
            "Verdict: toolwright_chat::turn::Ruling, toolwright_core::layer::deep::Verdict"
        ]
    );
}

/// The definitions of each public name. A type that is re-exported at several paths has one definition.
type PublicTypes = BTreeMap<String, BTreeSet<String>>;

/// The root modules of the crates, by crate name.
type Crates = BTreeMap<String, Module>;

#[derive(Default)]
struct Module {
    types: BTreeSet<String>,
    /// Functions, constants and macros.
    values: BTreeSet<String>,
    /// With true if the module is public. A file is parsed when a path leads to it, which most do not.
    modules: BTreeMap<String, (bool, LazyModule)>,
    reexports: Vec<Reexport>,
}

type LazyModule = LazyCell<Module, Box<dyn FnOnce() -> Module>>;

struct Reexport {
    path: Vec<String>,
    /// `None` for a glob.
    name: Option<String>,
}

/// The target of a path.
enum Target {
    Type(String),
    Value,
    Module(ModulePath),
}

/// A crate, and the names of the modules in it.
#[derive(Clone, PartialEq)]
struct ModulePath(String, Vec<String>);

fn shared_names(types: &PublicTypes) -> Vec<String> {
    let shared = types.iter().filter(|(_, definitions)| definitions.len() > 1);
    let line = |(name, definitions): (&String, &BTreeSet<String>)| {
        let definitions: Vec<&str> = definitions.iter().map(String::as_str).collect();
        format!("{name}: {}", definitions.join(", "))
    };
    shared.map(line).collect()
}

fn public_types(crates: &Crates) -> PublicTypes {
    let mut types = PublicTypes::new();
    let root = ModulePath(FACADE.to_owned(), Vec::new());
    collect(crates, root, &mut Vec::new(), &mut types);
    types
}

/// Adds the public types of a module and of the public modules in it.
fn collect(
    crates: &Crates,
    at: ModulePath,
    visited: &mut Vec<ModulePath>,
    types: &mut PublicTypes,
) {
    if visited.contains(&at) {
        return;
    }
    visited.push(at.clone());
    let module = module_at(crates, &at);
    let mut add = |name: &String, definition| {
        types.entry(name.clone()).or_default().insert(definition);
    };
    for name in &module.types {
        add(name, at.join(name));
    }
    let mut modules: Vec<ModulePath> = Vec::new();
    for reexport in &module.reexports {
        match (resolve(crates, &at, &reexport.path), &reexport.name) {
            (Target::Type(definition), Some(name)) => add(name, definition),
            (Target::Module(path), _) => modules.push(path),
            _ => {}
        }
    }
    let public = module.modules.iter().filter(|(_, (is_public, _))| *is_public);
    modules.extend(public.map(|(name, _)| at.child(name)));
    for path in modules {
        collect(crates, path, visited, types);
    }
}

/// Resolves the path of a `use` in the module `at`; foreign paths are types if they look like one.
fn resolve(crates: &Crates, at: &ModulePath, path: &[String]) -> Target {
    let mut module = match path[0].as_str() {
        "crate" => ModulePath(at.0.clone(), Vec::new()),
        "self" => at.clone(),
        "super" => at.parent(),
        name if module_at(crates, at).modules.contains_key(name) => at.child(name),
        name if crates.contains_key(name) => ModulePath(name.to_owned(), Vec::new()),
        _ => return unknown_target(path),
    };
    for (index, name) in path.iter().enumerate().skip(1) {
        let is_last = index + 1 == path.len();
        module = match find(crates, &module, name) {
            Some(Target::Module(next)) => next,
            Some(target) if is_last => return target,
            _ if name == "super" => module.parent(),
            _ => return unknown_target(&[module.0, name.clone()]),
        };
    }
    Target::Module(module)
}

/// Finds a name in a module: its own item, or one that it re-exports.
fn find(crates: &Crates, at: &ModulePath, name: &str) -> Option<Target> {
    let module = module_at(crates, at);
    if module.types.contains(name) {
        return Some(Target::Type(at.join(name)));
    }
    if module.modules.contains_key(name) {
        return Some(Target::Module(at.child(name)));
    }
    if module.values.contains(name) {
        return Some(Target::Value);
    }
    module.reexports.iter().find_map(|reexport| {
        let target = || resolve(crates, at, &reexport.path);
        match &reexport.name {
            Some(exported) => (exported == name).then(target),
            None => match target() {
                Target::Module(glob) => find(crates, &glob, name),
                _ => None,
            },
        }
    })
}

/// A type of a foreign crate or of a macro is recognized by its upper camel case. A derive has the name of its trait.
fn unknown_target(path: &[String]) -> Target {
    let name = path.last().unwrap();
    let is_camel_case = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
    match is_camel_case && path[0] != "toolwright_macros" {
        true => Target::Type(path.join("::")),
        false => Target::Value,
    }
}

fn module_at<'a>(crates: &'a Crates, path: &ModulePath) -> &'a Module {
    let root = &crates[&path.0];
    path.1.iter().fold(root, |module, name| &module.modules[name].1)
}

impl ModulePath {
    fn join(&self, name: &str) -> String {
        [std::slice::from_ref(&self.0), &self.1, &[name.to_owned()]].concat().join("::")
    }

    fn child(&self, name: &str) -> Self {
        let mut child = self.clone();
        child.1.push(name.to_owned());
        child
    }

    fn parent(&self) -> Self {
        let mut parent = self.clone();
        parent.1.pop();
        parent
    }
}

/// Source text, and the folder of the modules in it.
struct Source {
    text: String,
    folder: Option<PathBuf>,
}

impl From<&str> for Source {
    fn from(text: &str) -> Self {
        let text = text.to_owned();
        Self { text, folder: None }
    }
}

fn read_source(file: &Path) -> Source {
    let text =
        fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let folder = match file.ends_with("lib.rs") {
        true => file.parent().unwrap().to_owned(),
        false => file.with_extension(""),
    };
    Source { text, folder: Some(folder) }
}

fn parse_crates(sources: impl IntoIterator<Item = (String, impl Into<Source>)>) -> Crates {
    let parse = |(name, source)| (name, parse_source(Into::into(source)));
    sources.into_iter().map(parse).collect()
}

fn parse_source(source: Source) -> Module {
    let file: File = syn::parse_str(&source.text).unwrap();
    parse_module(file.items, source.folder.as_deref())
}

fn parse_module(items: Vec<Item>, folder: Option<&Path>) -> Module {
    let mut module = Module::default();
    let mut add_type = |attrs: &[Attribute], vis: &Visibility, ident: &Ident| {
        if is_exported(attrs, vis) {
            module.types.insert(ident.to_string());
        }
    };
    for item in items {
        match item {
            Item::Struct(it) => add_type(&it.attrs, &it.vis, &it.ident),
            Item::Enum(it) => add_type(&it.attrs, &it.vis, &it.ident),
            Item::Union(it) => add_type(&it.attrs, &it.vis, &it.ident),
            Item::Trait(it) => add_type(&it.attrs, &it.vis, &it.ident),
            Item::Type(it) => add_type(&it.attrs, &it.vis, &it.ident),
            Item::Fn(it) => drop(module.values.insert(it.sig.ident.to_string())),
            Item::Const(it) => drop(module.values.insert(it.ident.to_string())),
            Item::Static(it) => drop(module.values.insert(it.ident.to_string())),
            Item::Use(it) if is_exported(&it.attrs, &it.vis) => {
                add_reexports(&it.tree, &mut Vec::new(), &mut module.reexports);
            }
            Item::Mod(it) if !is_test(&it.attrs) => {
                let name = it.ident.to_string();
                let folder = folder.map(|folder| folder.join(&name));
                let parse = move || match (it.content, folder) {
                    (Some((_, items)), folder) => parse_module(items, folder.as_deref()),
                    (None, folder) => {
                        let file = folder.expect("inline modules have no files");
                        parse_source(read_source(&file.with_extension("rs")))
                    }
                };
                let is_public = is_exported(&it.attrs, &it.vis);
                module.modules.insert(name, (is_public, LazyCell::new(Box::new(parse))));
            }
            _ => {}
        }
    }
    module
}

fn add_reexports(tree: &UseTree, path: &mut Vec<String>, reexports: &mut Vec<Reexport>) {
    let mut add = |path: &[String], name: Option<&Ident>| {
        reexports.push(Reexport { path: path.to_vec(), name: name.map(ToString::to_string) });
    };
    match tree {
        UseTree::Path(it) => {
            path.push(it.ident.to_string());
            add_reexports(&it.tree, path, reexports);
            path.pop();
        }
        UseTree::Group(it) => {
            for tree in &it.items {
                add_reexports(tree, path, reexports);
            }
        }
        UseTree::Glob(_) => add(path, None),
        // `{self}` names the module itself, whose name does not matter here.
        UseTree::Name(it) if it.ident == "self" => add(path, Some(&it.ident)),
        UseTree::Name(it) => add(&[&path[..], &[it.ident.to_string()]].concat(), Some(&it.ident)),
        UseTree::Rename(it) => {
            add(&[&path[..], &[it.ident.to_string()]].concat(), Some(&it.rename))
        }
    }
}

fn is_exported(attrs: &[Attribute], vis: &Visibility) -> bool {
    matches!(vis, Visibility::Public(_)) && !has(attrs, "doc", "hidden")
}

fn is_test(attrs: &[Attribute]) -> bool {
    has(attrs, "cfg", "test")
}

/// Returns true for `#[name(word)]`, or if `word` is among several words.
fn has(attrs: &[Attribute], name: &str, word: &str) -> bool {
    attrs.iter().any(|attr| {
        let list = attr.meta.require_list();
        attr.path().is_ident(name)
            && list.is_ok_and(|list| {
                let tokens = list.tokens.to_string();
                tokens.split(|c: char| !c.is_alphanumeric()).any(|it| it == word)
            })
    })
}
