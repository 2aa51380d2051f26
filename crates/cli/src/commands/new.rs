//! `new DIR`: a project with one tool, one test of it and a README.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cli_error::CliError;
use crate::terminal::output;

/// Every file of a new project; `@name@` and `@dependency@` are filled in.
const PROJECT_FILES: [(&str, &str); 5] = [
    ("Cargo.toml", include_str!("new/Cargo.toml.txt")),
    ("README.md", include_str!("new/README.md.txt")),
    (".gitignore", "/target\n"),
    ("src/main.rs", include_str!("new/main.rs.txt")),
    ("src/tools.rs", include_str!("new/tools.rs.txt")),
];

/// Makes the project.
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
        let text = template
            .replace("@name@", &name)
            .replace("@dependency@", &dependency);
        write_file(&directory.join(file), &text)?;
    }
    let shown = directory.display();
    output::print_text(&format!(
        "made {shown}: one tool, one test of it\n\nnext:\n  cd {shown}\n  cargo run -- tools list\n  cargo run -- tools call greet name=Ada\n  cargo test\n"
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn write_file(file: &Path, text: &str) -> Result<(), CliError> {
    let told = |error: std::io::Error| CliError::usage(format!("{}: {error}", file.display()));
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(told)?;
    }
    fs::write(file, text).map_err(told)
}

/// The directory's own name, if Cargo takes it for a package.
fn package_name(directory: &Path) -> Result<String, CliError> {
    let name = directory
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if begins && name.chars().all(fits) && name != "toolwright" && name != "test" {
        return Ok(name);
    }
    Err(CliError::usage(format!(
        "`{name}` cannot be a package's name: use lower-case letters, digits, `-` or `_`, beginning with a letter"
    )))
}

/// A checkout that this program was built from and that is still there is the newest there is.
fn dependency_spec(published: bool) -> String {
    let checkout: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "toolwright"]
        .iter()
        .collect();
    match checkout.canonicalize() {
        Ok(path) if !published => format!("path = {:?}", path.display().to_string()),
        _ => format!("version = {:?}", env!("CARGO_PKG_VERSION")),
    }
}
