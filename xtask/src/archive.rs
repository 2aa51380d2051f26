//! Builds the program, and puts it into an archive with completions and manual pages.

use std::fs;
use std::path::{Path, PathBuf};

use crate::api::target_folder;
use crate::command_runner::{CommandRunner, cargo_command, workspace_root};
use crate::files::{copy, remove_dir};
use crate::packages::{list, metadata, text};

/// The package and the program that are released.
pub(crate) const PACKAGE: &str = "toolwright-assistant";
pub(crate) const PROGRAM: &str = "toolwright";
/// Files that every archive has.
const PAGES: [&str; 3] = ["CHANGELOG.md", "LICENSE", "README.md"];

/// The target of this machine, as `x86_64-unknown-linux-gnu`.
pub(crate) fn host_target() -> Result<String, String> {
    let version = CommandRunner::new("rustc").arg("-vV").stdout()?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "`rustc -vV` names no host".to_owned())
}

/// Builds the program with the profile `release`.
pub(crate) fn build_program() -> Result<PathBuf, String> {
    cargo_command("build", &["--release", "--package", PACKAGE, "--bin", PROGRAM])
        .run_inherited()?;
    Ok(target_folder()?.join("release").join(PROGRAM))
}

/// Writes `toolwright-VERSION-TARGET.tar.gz` into a folder; returns its path.
pub(crate) fn write_archive(
    program: &Path,
    version: &str,
    target: &str,
    folder: &Path,
) -> Result<PathBuf, String> {
    let name = format!("{PROGRAM}-{version}-{target}");
    check_binstall(version, target, &format!("{name}.tar.gz"), &format!("{name}/{PROGRAM}"))?;
    let content = workspace_root().join("target/archive").join(&name);
    remove_dir(&content)?;
    copy(program, &content.join(PROGRAM))?;
    for page in PAGES {
        copy(&workspace_root().join(page), &content.join(page))?;
    }
    cargo_command("run", &["--quiet", "--package", "command-docs", "--"])
        .arg(&content.display().to_string())
        .run_inherited()?;
    let archive = folder.join(format!("{name}.tar.gz"));
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let time = CommandRunner::new("git").args(&["log", "-1", "--format=@%ct"]).stdout()?;
    // The same files give the same bytes: no names or times of this machine.
    CommandRunner::new("tar")
        .args(&["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime", time.trim()])
        .args(&["--use-compress-program", "gzip -n9", "-cf", &archive.display().to_string(), &name])
        .in_folder(&workspace_root().join("target/archive"))
        .run_inherited()?;
    Ok(archive)
}

/// Fails if `cargo binstall` would look for another archive, or for another file in it.
fn check_binstall(version: &str, target: &str, archive: &str, program: &str) -> Result<(), String> {
    let metadata = metadata(&["--no-deps"])?;
    let package = list(&metadata, "packages").iter().find(|it| text(it, "name") == PACKAGE);
    let settings = package.and_then(|it| it.pointer("/metadata/binstall"));
    let settings = settings.ok_or("Cargo.toml has no [package.metadata.binstall]")?;
    let fill = |key| fill_in(text(settings, key), version, target);
    if !fill("pkg-url").ends_with(&format!("/{archive}")) {
        return Err(format!("binstall looks for {}, not for {archive}", fill("pkg-url")));
    }
    if fill("bin-dir") != program {
        return Err(format!(
            "binstall looks for {} in the archive, not for {program}",
            fill("bin-dir")
        ));
    }
    Ok(())
}

/// Replaces the placeholders of binstall.
fn fill_in(pattern: &str, version: &str, target: &str) -> String {
    [("version", version), ("target", target), ("bin", PROGRAM), ("binary-ext", "")]
        .iter()
        .fold(pattern.to_owned(), |text, (name, value)| {
            text.replace(&format!("{{ {name} }}"), value)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binstall_finds_the_archive_and_the_program_in_it() {
        let name = "toolwright-1.2.3-x86_64-unknown-linux-gnu";
        let check = |archive: &str, program: &str| {
            check_binstall("1.2.3", "x86_64-unknown-linux-gnu", archive, program)
        };
        assert_eq!(check(&format!("{name}.tar.gz"), &format!("{name}/toolwright")), Ok(()));
        assert!(check(&format!("{name}.zip"), &format!("{name}/toolwright")).is_err());
        assert!(check(&format!("{name}.tar.gz"), "toolwright").is_err());
    }
}
