//! Builds the book from `docs/`, and checks that it needs nothing but its own files.
//!
//! Pages link to files outside of `docs/`: examples, sources, READMEs. So the book is built from a copy that has the layout of the
//! repository, with the chapters of `docs/SUMMARY.md` at its root, every other page after them, and each file that a page links to.

use crate::checks::LYCHEE;
use crate::files::{clear, copy, read, tracked, write};
use crate::process::{Program, workspace_root};
use crate::programs::tool;

/// The copy that the book is built from.
const SOURCE: &str = "target/book-source";
const BOOK: &str = "target/book";
const SUMMARY: &str = "docs/SUMMARY.md";
/// Scripts, styles and images of other hosts.
const FOREIGN: &str = "grep -rnoE --include=*.html '<(script|img|iframe|link)[^>]* (src|href)=\"(https?:)?//[^\"]*' .";

pub(crate) fn build() -> Result<String, String> {
    let (source, book) = (workspace_root().join(SOURCE), workspace_root().join(BOOK));
    clear(&source)?;
    clear(&book)?;
    // From the root of the repository.
    let mut chapters = read(SUMMARY)?.replace("](", "](docs/").replace("](docs/../", "](");
    chapters += "\n# Further pages\n\n";
    let pages = tracked(&["*.md", ":!target", ":!docs/SUMMARY.md"])?;
    for page in &pages {
        copy(page, &source.join("src").join(page))?;
        if !chapters.contains(&format!("]({page})")) {
            let text = read(page)?;
            let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(page);
            chapters += &format!("- [{title}]({page})\n");
        }
    }
    write(source.join("src/SUMMARY.md"), &chapters)?;
    copy("docs/book.toml", &source.join("book.toml"))?;
    let links =
        Program::shell(&format!("{LYCHEE} --dump \"$@\"")).args(&["dump"]).args(&pages).stdout()?;
    let root = format!("file://{}/", workspace_root().display());
    for link in links.lines().filter_map(|link| link.strip_prefix(&root)) {
        let file = link.split('#').next().unwrap_or_default();
        if workspace_root().join(file).is_file() {
            copy(file, &source.join("src").join(file))?;
        }
    }
    let mdbook = Program::new(tool("mdbook", "0.5.4")?);
    mdbook.args(&["build", SOURCE, "--dest-dir"]).args(&[&book]).run()?;
    if Program::shell(FOREIGN).folder(&book).run().is_ok() {
        return Err("the book loads something from another host".to_owned());
    }
    // The page for missing pages has addresses of the root of a host; the table of contents is part of each page.
    Program::shell(&format!("{LYCHEE} --exclude-path 404.html --exclude-path toc.html {BOOK}"))
        .run()?;
    Ok(format!("{BOOK}/index.html: {} pages, every link has a target", pages.len()))
}
