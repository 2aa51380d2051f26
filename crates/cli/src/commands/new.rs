//! `new DIR`: creates a project with one tool, a test of it and a README.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cli_error::CliError;
use crate::terminal::output;

/// The files of a new project; `@name@` and `@dependency@` are replaced.
const PROJECT_FILES: [(&str, &str); 5] = [
    ("Cargo.toml", include_str!("new/Cargo.toml.txt")),
    ("README.md", include_str!("new/README.md.txt")),
    (".gitignore", "/target\n"),
    ("src/main.rs", include_str!("new/main.rs.txt")),
    ("src/tools.rs", include_str!("new/tools.rs.txt")),
];

/// Creates the project in a new or empty directory.
pub(crate) fn execute(directory: &Path, published: bool) -> Result<ExitCode, CliError> {
    let name = package_name(directory)?;
    if fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(CliError::usage(format!(
            "{} is there already and not empty: choose another directory",
            directory.display()
        )));
    }
    let dependency = dependency_spec(published);
    for (file, template) in PROJECT_FILES {
        let text = template.replace("@name@", &name).replace("@dependency@", &dependency);
        write_file(&directory.join(file), &text)?;
    }
    let shown = directory.display();
    output::print_text(&format!(
        "made {shown}: one tool, one test of it\n\nnext:\n  cd {shown}\n  cargo run -- tools list\n  cargo run -- tools call greet name=Ada\n  cargo test\n"
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn write_file(file: &Path, text: &str) -> Result<(), CliError> {
    let to_cli_error =
        |error: std::io::Error| CliError::usage(format!("{}: {error}", file.display()));
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(to_cli_error)?;
    }
    fs::write(file, text).map_err(to_cli_error)
}

/// The name of the directory, if it is a valid package name.
fn package_name(directory: &Path) -> Result<String, CliError> {
    let name = directory.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let starts_with_letter = name.starts_with(|c: char| c.is_ascii_lowercase());
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if starts_with_letter && name.chars().all(is_allowed) && name != "toolwright" && name != "test"
    {
        return Ok(name);
    }
    Err(CliError::usage(format!(
        "`{name}` cannot be a package's name: use lower-case letters, digits, `-` or `_`, beginning with a letter"
    )))
}

/// The path of the checkout that this program was built from, if it still exists; else, or with `published`, the version.
fn dependency_spec(published: bool) -> String {
    let checkout: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "toolwright"].iter().collect();
    match checkout.canonicalize() {
        Ok(path) if !published => format!("path = {:?}", path.display().to_string()),
        _ => format!("version = {:?}", env!("CARGO_PKG_VERSION")),
    }
}
