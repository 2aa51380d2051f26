//! Tools for files in the project directory only.

use std::fmt::Write;

use toolwright::guard::Jail;
use toolwright::{ToolError, tool};

/// Reads a text file of the project.
#[tool(read_only, open_world = false, blocking, title = "Read file")]
pub fn read_file(
    /// The file's path, relative to the project directory.
    path: String,
    jail: Jail,
) -> Result<String, ToolError> {
    let file = jail.read(&path)?;
    let mut text = file.text;
    if file.truncated {
        let shown = text.len();
        write!(text, "\n[cut: {shown} of {} bytes]", file.size)?;
    }
    Ok(text)
}

/// Lists a directory of the project: one name per line, directories with `/`, links with `@`.
#[tool(read_only, open_world = false, blocking, title = "List files")]
pub fn list_files(
    /// The directory's path, relative to the project directory.
    #[param(default = ".")]
    path: String,
    jail: Jail,
) -> Result<String, ToolError> {
    let listing = jail.list(&path)?;
    let mut text = String::new();
    for entry in &listing.entries {
        writeln!(text, "{entry}")?;
    }
    if listing.truncated {
        let shown = listing.entries.len();
        writeln!(text, "[cut: {shown} entries, there are more]")?;
    } else if listing.entries.is_empty() {
        writeln!(text, "[empty]")?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;
    use toolwright::{Invoker, Registry, ToolCall};

    use super::*;

    fn project() -> (TempDir, Jail) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("src")).unwrap();
        fs::write(dir.path().join("README.md"), "# Project").unwrap();
        let jail = Jail::new(dir.path()).unwrap();
        (dir, jail)
    }

    #[test]
    fn a_file_is_read_whole_or_says_that_it_is_cut() {
        let (_dir, jail) = project();
        let read = |jail| read_file("README.md".to_owned(), jail).unwrap();
        assert_eq!(read(jail.clone()), "# Project");
        assert_eq!(read(jail.max_bytes(3)), "# P\n[cut: 3 of 9 bytes]");
    }

    #[test]
    fn a_directory_is_listed_whole_or_says_that_it_is_cut() {
        let (_dir, jail) = project();
        let list = |path: &str, jail| list_files(path.to_owned(), jail).unwrap();
        assert_eq!(list(".", jail.clone()), "README.md\nsrc/\n");
        assert_eq!(list("src", jail.clone()), "[empty]\n");
        assert!(list(".", jail.max_entries(1)).ends_with("[cut: 1 entries, there are more]\n"));
    }

    #[tokio::test]
    async fn the_model_reads_the_project_and_nothing_else() {
        let (dir, _jail) = project();
        let registry = Registry::new();
        registry.add(read_file::tool()).unwrap();
        registry.add(list_files::tool()).unwrap();
        let invoker = Invoker::builder(&registry).project_dir(dir.path());
        let invoker = invoker.build().unwrap();

        let result = invoker.invoke(&ToolCall::new("list_files", "{}")).await;
        assert_eq!(result.text(), "README.md\nsrc/\n");
        let call = ToolCall::new("read_file", r#"{"path": "../../etc/passwd"}"#);
        let result = invoker.invoke(&call).await;
        assert!(result.is_error());
        assert_eq!(
            result.text(),
            "`../../etc/passwd` leads out of the directory that tools may use"
        );
    }
}
