//! Writes shell completions and manual pages of the command line: `command-docs FOLDER`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap_complete::Shell;

/// The shells with completions.
const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Fish, Shell::Zsh];
const PROGRAM: &str = "toolwright";

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("error: pass the folder to write to");
        return ExitCode::from(2);
    };
    match write_all(&folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}: {error}", folder.display());
            ExitCode::FAILURE
        }
    }
}

/// Writes `completions/` and `man/` into the folder.
fn write_all(folder: &Path) -> io::Result<()> {
    let completions = folder.join("completions");
    fs::create_dir_all(&completions)?;
    for shell in SHELLS {
        let mut command = toolwright_app::cli::__internal::command_line();
        clap_complete::generate_to(shell, &mut command, PROGRAM, &completions)?;
    }
    let pages = folder.join("man");
    fs::create_dir_all(&pages)?;
    clap_mangen::generate_to(toolwright_app::cli::__internal::command_line(), &pages)
}
