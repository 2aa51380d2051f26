//! Builds the book from `docs/`, and checks that it needs nothing but its own files.
//!
//! Pages link to files outside of `docs/`: examples, sources, READMEs. So the book is built from a copy that has the layout of the
//! repository, with `docs/SUMMARY.md` at its root and each linked file in it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use crate::command_runner::{CommandRunner, workspace_root};
use crate::files::{read, remove_dir, write};
use crate::markdown;
use crate::tools::Tool;

/// Builds the book.
const MDBOOK: Tool = Tool { name: "mdbook", version: "0.5.4" };
/// The copy that the book is built from.
const SOURCE: &str = "target/book-source";
/// The book.
const BOOK: &str = "target/book";
const SUMMARY: &str = "docs/SUMMARY.md";

/// Builds the book; returns the number of its pages.
pub(crate) fn build() -> Result<usize, String> {
    copy_source()?;
    let mdbook = MDBOOK.find()?;
    let destination = workspace_root().join(BOOK);
    remove_dir(&destination)?;
    let destination = destination.display().to_string();
    CommandRunner::new(&mdbook)
        .args(&["build", SOURCE, "--dest-dir", &destination])
        .run_inherited()?;
    check_html(&workspace_root().join(BOOK))
}

/// Copies the chapters, every page that they link to, and every other file as a text that a browser shows.
fn copy_source() -> Result<(), String> {
    let source = workspace_root().join(SOURCE);
    remove_dir(&source)?;
    let summary = read(SUMMARY)?;
    let mut pending: VecDeque<String> = VecDeque::new();
    let mut chapters = summary.clone();
    // From the end, so that the places of the links before stay right.
    for link in markdown::links(&summary).into_iter().rev() {
        let chapter = resolve(SUMMARY, &link)?;
        chapters.replace_range(link.span, &chapter);
        pending.push_front(chapter);
    }
    let listed: BTreeSet<String> = pending.iter().cloned().collect();
    let mut copied = BTreeMap::new();
    while let Some(page) = pending.pop_front() {
        if copied.contains_key(&page) {
            continue;
        }
        let mut text = read(&page)?;
        for link in markdown::links(&text).into_iter().rev() {
            if link.path.is_empty() {
                continue;
            }
            let target = resolve(&page, &link)?;
            if target.ends_with(".md") {
                pending.push_back(target);
            } else if workspace_root().join(&target).is_dir() {
                return Err(format!("{page}:{}: a link to a folder: {target}", link.line));
            } else if [".png", ".svg"].iter().any(|image| target.ends_with(image)) {
                write(
                    &source.join("src").join(&target),
                    &fs::read(workspace_root().join(&target))
                        .map_err(|error| format!("{target}: {error}"))?,
                )?;
            } else {
                let shown = format!("{target}.txt");
                write(&source.join("src").join(&shown), read(&target)?.as_bytes())?;
                text.insert_str(link.span.end, ".txt");
            }
        }
        write(&source.join("src").join(&page), text.as_bytes())?;
        copied.insert(page, text);
    }
    let further: Vec<_> = copied.iter().filter(|(page, _)| !listed.contains(*page)).collect();
    if !further.is_empty() {
        chapters.push_str("\n# Further pages\n\n");
    }
    for (page, text) in further {
        let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(page);
        chapters.push_str(&format!("- [{title}]({page})\n"));
    }
    write(&source.join("src/SUMMARY.md"), chapters.as_bytes())?;
    write(&source.join("book.toml"), read("docs/book.toml")?.as_bytes())
}

fn resolve(page: &str, link: &markdown::Link) -> Result<String, String> {
    markdown::resolve(page, &link.path)
        .ok_or_else(|| format!("{page}:{}: {} leaves the repository", link.line, link.path))
}

/// Checks every link, anchor and asset of the pages; returns how many pages there are.
fn check_html(book: &Path) -> Result<usize, String> {
    let mut pages = Vec::new();
    collect_html(book, &mut pages)?;
    let mut texts = BTreeMap::new();
    for page in pages {
        let text =
            fs::read_to_string(&page).map_err(|error| format!("{}: {error}", page.display()))?;
        texts.insert(page, text);
    }
    let mut faults = Vec::new();
    for (page, text) in &texts {
        let folder = page.parent().unwrap_or(book);
        let mut fault = |message: String| {
            let page = page.strip_prefix(book).unwrap_or(page).display();
            faults.push(format!("{page}: {message}"));
        };
        for asset in attribute_values(text, "src") {
            if asset.contains("://") || asset.starts_with("//") {
                fault(format!("{asset} is loaded from elsewhere"));
            }
        }
        for link in attribute_values(text, "href") {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            if path.contains(':') || path.starts_with("//") {
                continue;
            }
            let target = match path {
                "" => page.clone(),
                path => normalize(&folder.join(path)),
            };
            if !target.is_file() {
                fault(format!("{link} has no target"));
            } else if let Some(text) = texts.get(&target)
                && !anchor.is_empty()
                && !text.contains(&format!("id=\"{anchor}\""))
            {
                fault(format!("{link} has no heading"));
            }
        }
    }
    for fault in &faults {
        println!("{fault}");
    }
    match faults.len() {
        0 => Ok(texts.len()),
        count => Err(format!("{count} links of the book are dead or lead to other hosts' assets")),
    }
}

fn collect_html(folder: &Path, pages: &mut Vec<PathBuf>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            collect_html(&path, pages)?;
        // The page for missing pages has addresses of the root of a host; the table of contents is part of each page.
        } else if path.extension().is_some_and(|extension| extension == "html")
            && !path.ends_with("404.html")
            && !path.ends_with("toc.html")
        {
            pages.push(path);
        }
    }
    Ok(())
}

/// The values of an attribute in a page.
fn attribute_values<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let start = format!(" {name}=\"");
    let values: Vec<&str> =
        text.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect();
    values.into_iter()
}

/// Removes `..` without asking the file system.
fn normalize(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(parts.pop()),
            std::path::Component::CurDir => {}
            other => parts.push(other),
        }
    }
    parts
}
