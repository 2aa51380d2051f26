//! `new DIR`: creates a project with one tool, tests and a README.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use crate::cli::cli_error::CliError;
use crate::cli::terminal::output;

/// Whether the version of this program can be downloaded from crates.io.
const IS_PUBLISHED: bool = false;

/// The flags of `new`.
#[derive(clap::Args)]
pub(crate) struct NewArgs {
    /// The project's directory, which must be new or empty; its name becomes the package's
    directory: PathBuf,
    /// What the program is
    #[arg(long, value_enum, default_value_t)]
    template: Template,
    /// Take toolwright from this repository, which others can reach, too
    #[arg(long, value_name = "URL", group = "source")]
    git: Option<String>,
    /// Take toolwright from this checkout; a relative path stays relative
    #[arg(long, value_name = "DIR", group = "source")]
    path: Option<PathBuf>,
    /// Take the version of this program from crates.io
    #[arg(long, group = "source")]
    published: bool,
}

/// The programs that can be created.
#[derive(Clone, Copy, Default, clap::ValueEnum)]
enum Template {
    /// Every command: the console, the chat, the MCP server
    #[default]
    App,
    /// An MCP server over stdio, and nothing else
    Mcp,
    /// A chat of your own in the terminal
    Chat,
    /// An axum application with a chat and the console below `/ai`
    Axum,
}

impl Template {
    /// The files that differ; `@name@` and `@dependency@` are replaced.
    fn files(self) -> [(&'static str, &'static str); 3] {
        macro_rules! files {
            ($folder:literal) => {
                [
                    ("Cargo.toml", include_str!(concat!("new/", $folder, "/Cargo.toml.txt"))),
                    ("README.md", include_str!(concat!("new/", $folder, "/README.md.txt"))),
                    ("src/main.rs", include_str!(concat!("new/", $folder, "/main.rs.txt"))),
                ]
            };
        }
        match self {
            Self::App => files!("app"),
            Self::Mcp => files!("mcp"),
            Self::Chat => files!("chat"),
            Self::Axum => files!("axum"),
        }
    }

    /// The commands to try next.
    fn next_commands(self) -> &'static [&'static str] {
        match self {
            Self::App => &["cargo run", "cargo run -- tools call greet name=Ada", "cargo test"],
            Self::Mcp => &["cargo test", "cargo build --release"],
            Self::Chat | Self::Axum => &["cargo run", "cargo test"],
        }
    }
}

/// The files of every project.
const SHARED_FILES: [(&str, &str); 2] =
    [(".gitignore", "/target\n"), ("src/tools.rs", include_str!("new/tools.rs.txt"))];

/// Creates the project in a new or empty directory.
pub(crate) fn execute(command: &NewArgs) -> Result<ExitCode, CliError> {
    let directory = &*command.directory;
    let name = package_name(directory)?;
    if fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(CliError::usage(format!(
            "{} is there already and not empty: choose another directory",
            directory.display()
        )));
    }
    let dependency = dependency_spec(command)?;
    for (file, template) in command.template.files().into_iter().chain(SHARED_FILES) {
        let text = template.replace("@name@", &name).replace("@dependency@", &dependency);
        write_file(&directory.join(file), &text)?;
    }
    if command.path.as_deref().is_some_and(Path::is_absolute) {
        let note = "note: toolwright is taken from an absolute path, which is there on this machine only; others need --git\n";
        output::print_stderr(note);
    }
    let shown = directory.display();
    let next = command.template.next_commands().iter().map(|command| format!("  {command}\n"));
    let next: String = next.collect();
    output::print_text(&format!("made {shown}: one tool, tests\n\nnext:\n  cd {shown}\n{next}"))?;
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

/// Where Cargo finds toolwright.
fn dependency_spec(command: &NewArgs) -> Result<String, CliError> {
    let version = env!("CARGO_PKG_VERSION");
    match (&command.git, &command.path) {
        (Some(url), _) => Ok(format!("git = {}", toml_string(url))),
        (_, Some(path)) => {
            let path = path_from_project(&command.directory, &facade_folder(path)?)?;
            Ok(format!("path = {}", toml_string(&path.to_string_lossy())))
        }
        _ if command.published || IS_PUBLISHED => Ok(format!("version = {version:?}")),
        _ => Err(CliError::usage(format!(
            "toolwright {version} is not on crates.io yet: pass --git URL, of a repository that others can reach, too, or \
             --path DIR, of a checkout{}",
            checkout_hint()
        ))),
    }
}

/// Names the checkout that this program was built from, if it still exists.
fn checkout_hint() -> String {
    let checkout: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", ".."].iter().collect();
    match checkout.canonicalize() {
        Ok(checkout) if facade_folder(&checkout).is_ok() => {
            format!(" such as {}", checkout.display())
        }
        _ => String::new(),
    }
}

fn toml_string(text: &str) -> String {
    // The escapes of JSON are escapes of TOML, too.
    serde_json::Value::from(text).to_string()
}

/// The folder of the crate `toolwright` in a checkout.
fn facade_folder(checkout: &Path) -> Result<PathBuf, CliError> {
    let candidates = [checkout.join("crates").join("toolwright"), checkout.to_owned()];
    let is_facade = |folder: &PathBuf| {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        manifest.lines().any(|line| line.trim() == r#"name = "toolwright""#)
    };
    candidates.into_iter().find(is_facade).ok_or_else(|| {
        let shown = checkout.display();
        CliError::usage(format!("--path {shown}: there is no checkout of toolwright"))
    })
}

/// Changes a path that is relative to the current directory to one that is relative to the project; an absolute one is kept.
fn path_from_project(project: &Path, path: &Path) -> Result<PathBuf, CliError> {
    if path.is_absolute() {
        return Ok(path.to_owned());
    }
    let failed = |path: &Path, error| CliError::usage(format!("{}: {error}", path.display()));
    fs::create_dir_all(project).map_err(|error| failed(project, error))?;
    let from = project.canonicalize().map_err(|error| failed(project, error))?;
    let to = path.canonicalize().map_err(|error| failed(path, error))?;
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    Ok(up.chain(to.components().skip(shared)).collect())
}
