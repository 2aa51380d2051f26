//! Links and headings of Markdown pages, and the check that every link has a target.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;

use crate::command_runner::workspace_root;
use crate::forbidden::tracked_files;

/// A link of a page to a file of the repository, or to a heading.
#[derive(Debug, PartialEq)]
pub(crate) struct Link {
    /// The line, from 1.
    pub(crate) line: usize,
    /// Where the target is in the text of the page, without the anchor.
    pub(crate) span: Range<usize>,
    /// The path as it is written; empty for a heading of the same page.
    pub(crate) path: String,
    /// The id of a heading; empty if there is none.
    pub(crate) anchor: String,
}

/// The links of a page that do not leave the repository; code is skipped.
pub(crate) fn links(text: &str) -> Vec<Link> {
    let mut found = Vec::new();
    for (line, start, content) in prose_lines(text) {
        let mut in_code = false;
        for (at, c) in content.char_indices() {
            in_code ^= c == '`';
            let rest = content.get(at..).unwrap_or_default();
            let Some(target) = rest.strip_prefix("](").and_then(|rest| rest.split(')').next())
            else {
                continue;
            };
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            if in_code || path.contains("://") || path.starts_with("mailto:") {
                continue;
            }
            let span = start + at + 2..start + at + 2 + path.len();
            found.push(Link { line, span, path: path.to_owned(), anchor: anchor.to_owned() });
        }
    }
    found
}

/// The ids that headings of a page get, as mdBook and most hosts of Markdown make them.
pub(crate) fn heading_ids(text: &str) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for (_, _, line) in prose_lines(text) {
        let Some(heading) = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#')) else {
            continue;
        };
        let id = slug(&without_links(heading.trim()));
        let taken = |id: &String| ids.contains(id);
        let numbered = (1..).map(|n| format!("{id}-{n}"));
        let free = std::iter::once(id.clone()).chain(numbered).find(|id| !taken(id));
        ids.extend(free);
    }
    ids
}

/// Lower case, spaces as dashes, no punctuation.
fn slug(heading: &str) -> String {
    let kept = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c.to_ascii_lowercase()),
        c if c.is_whitespace() => Some('-'),
        _ => None,
    };
    heading.chars().filter_map(kept).collect()
}

/// The text of links without their targets.
fn without_links(heading: &str) -> String {
    let mut parts = heading.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(')').map_or("", |(_, rest)| rest))
}

/// The lines outside of code blocks, each with its number and its start in the text.
fn prose_lines(text: &str) -> impl Iterator<Item = (usize, usize, &str)> {
    let mut start = 0;
    let mut in_block = false;
    text.split_inclusive('\n').enumerate().filter_map(move |(index, line)| {
        let at = start;
        start += line.len();
        let line = line.trim_end_matches('\n');
        let is_fence = line.trim_start().starts_with("```");
        in_block ^= is_fence;
        (!in_block && !is_fence).then_some((index + 1, at, line))
    })
}

/// Resolves a path that is relative to the folder of `page`; `None` if it leaves the repository.
pub(crate) fn resolve(page: &str, path: &str) -> Option<String> {
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Checks the links of every page of the repository; returns how many there are.
pub(crate) fn check_links() -> Result<usize, String> {
    let files = tracked_files()?;
    let mut texts = BTreeMap::new();
    for file in files.iter().filter(|file| file.ends_with(".md")) {
        if let Ok(text) = fs::read_to_string(workspace_root().join(file)) {
            texts.insert(file.as_str(), text);
        }
    }
    let ids: BTreeMap<&str, BTreeSet<String>> =
        texts.iter().map(|(file, text)| (*file, heading_ids(text))).collect();
    let (mut count, mut dead) = (0, 0);
    for (page, text) in &texts {
        for link in links(text) {
            count += 1;
            if let Err(fault) = find_target(page, &link, &ids) {
                dead += 1;
                println!("{page}:{}: {fault}", link.line);
            }
        }
    }
    match dead {
        0 => Ok(count),
        _ => Err(format!("{dead} of {count} links have no target")),
    }
}

fn find_target(
    page: &str,
    link: &Link,
    ids: &BTreeMap<&str, BTreeSet<String>>,
) -> Result<(), String> {
    let target = match link.path.as_str() {
        "" => page.to_owned(),
        path => resolve(page, path).ok_or(format!("{path} leaves the repository"))?,
    };
    if !workspace_root().join(&target).exists() {
        return Err(format!("there is no {target}"));
    }
    match ids.get(target.as_str()) {
        Some(ids) if !link.anchor.is_empty() && !ids.contains(&link.anchor) => {
            Err(format!("{target} has no heading #{}", link.anchor))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_of_code_with_their_places() {
        let text =
            "a [b](c.md#d) and `[x](y.md)`\n```\n[no](no.md)\n```\n[`e`](../f) [w](https://g)\n";
        let found = links(text);
        let shown: Vec<_> = found
            .iter()
            .map(|link| (link.line, link.path.as_str(), link.anchor.as_str()))
            .collect();
        assert_eq!(shown, [(1, "c.md", "d"), (5, "../f", "")]);
        let spans: Vec<_> = found.iter().filter_map(|link| text.get(link.span.clone())).collect();
        assert_eq!(spans, ["c.md", "../f"]);
    }

    #[test]
    fn headings_get_the_ids_that_hosts_give_them() {
        let ids = heading_ids(
            "# A `main` of its own\n## Why, then?\n## Why, then?\n```\n# no\n```\n## [a](b)\n",
        );
        let ids: Vec<_> = ids.iter().map(String::as_str).collect();
        assert_eq!(ids, ["a", "a-main-of-its-own", "why-then", "why-then-1"]);
    }

    #[test]
    fn paths_are_relative_to_the_page() {
        assert_eq!(resolve("docs/a.md", "../b.md").as_deref(), Some("b.md"));
        assert_eq!(resolve("docs/a.md", "c/d.md").as_deref(), Some("docs/c/d.md"));
        assert_eq!(resolve("README.md", "../x"), None);
    }
}
